//! Work that goes on after this process has ended.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

/// Starts a process that writes the handoffs of sessions that have ended, which nobody waits for.
pub fn finish_endings() -> io::Result<()> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["handoff", "finish"]);
    detached(command)
}

/// Starts a process that writes the handoff of one session that has ended, and of all others.
pub fn finish_ending(session: &str, folder: &Path, transcript: Option<&Path>) -> io::Result<()> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["handoff", "finish", "--ended", session, "--folder"]).arg(folder);
    if let Some(transcript) = transcript {
        command.arg("--transcript").arg(transcript);
    }
    detached(command)
}

/// Starts an indexer of its own for the notes of a folder, which nobody waits for; with those of maenifold's memory, or
/// without.
pub fn index(dir: Option<&Path>, vaults: &[impl AsRef<Path>], has_memory: bool) -> io::Result<()> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["index", "--what-answers"]);
    if !has_memory {
        command.arg("--without-memory");
    }
    if let Some(dir) = dir {
        command.arg("--dir").arg(dir);
    }
    for vault in vaults {
        command.arg("--vault").arg(vault.as_ref());
    }
    detached(command)
}

fn detached(mut command: Command) -> io::Result<()> {
    // A host waits for whoever holds its pipes, and stops whoever is in its group.
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.spawn().map(drop)
}
