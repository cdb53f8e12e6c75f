//! Starts kgctx again, for work that continues after this process has ended.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

/// Writes the handoffs of ended sessions.
pub fn finish_endings() -> io::Result<()> {
    detached(|command| command.args(["handoff", "finish"])).map(drop)
}

/// Writes the handoff of this session, and of all other ended sessions.
pub fn finish_ending(session: &str, folder: &Path, transcript: Option<&Path>) -> io::Result<()> {
    detached(|command| {
        command.args(["handoff", "finish", "--ended", session, "--folder"]).arg(folder);
        transcript.iter().fold(command, |command, path| command.arg("--transcript").arg(path))
    })
    .map(drop)
}

/// Goes on with a rotation. Returns the process that does.
pub fn rotate(token: i64) -> io::Result<u32> {
    detached(|command| command.args(["handoff", "rotate-now", "--token"]).arg(token.to_string()))
}

/// Goes on with the rotation of a session whose turn has ended, for which the state was busy.
pub fn rotate_session(session: &str, has_agents: bool, ended_tick: i64) -> io::Result<u32> {
    detached(|command| {
        command.args(["handoff", "rotate-now", "--ended", session, "--tick"]);
        command.arg(ended_tick.to_string()).args(has_agents.then_some("--agents"))
    })
}

/// Updates the index of a folder's notes, with or without maenifold's memory.
pub fn index(dir: Option<&Path>, vaults: &[impl AsRef<Path>], has_memory: bool) -> io::Result<()> {
    detached(|command| {
        command.args(["index", "--what-answers"]);
        command.args((!has_memory).then_some("--without-memory"));
        let command = dir.iter().fold(command, |command, dir| command.arg("--dir").arg(dir));
        vaults.iter().fold(command, |command, vault| command.arg("--vault").arg(vault.as_ref()))
    })
    .map(drop)
}

/// Returns the id of the new process.
fn detached(arguments: impl FnOnce(&mut Command) -> &mut Command) -> io::Result<u32> {
    let mut command = Command::new(std::env::current_exe()?);
    arguments(&mut command);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    part_from_host(&mut command);
    command.spawn().map(|child| child.id())
}

/// A host waits for every process that holds its pipes, and stops every process in its group.
#[cfg(unix)]
fn part_from_host(command: &mut Command) {
    std::os::unix::process::CommandExt::process_group(command, 0);
}

/// There a process also gets the pipes that are not its own input and output.
#[cfg(windows)]
fn part_from_host(command: &mut Command) {
    const CREATE_NEW_PROCESS_GROUP: u32 = 0x200;
    const CREATE_NO_WINDOW: u32 = 0x0800_0000;
    crate::system::windows::keep_own_pipes();
    let flags = CREATE_NEW_PROCESS_GROUP | CREATE_NO_WINDOW;
    std::os::windows::process::CommandExt::creation_flags(command, flags);
}
