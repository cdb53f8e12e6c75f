//! A second kgctx process that kills the programs that we started if we end before they do. A
//! signal to us, or Ctrl-C, does not reach them, because they have their own process groups.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::{self, BufRead, Write};
use std::os::unix::process::CommandExt;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::system::process::find;

/// The hidden command that runs it.
const COMMAND: &str = "watchdog";

/// The reaper's standard input; `None` without a reaper, as in tests.
static PIPE: OnceLock<Option<Mutex<ChildStdin>>> = OnceLock::new();

/// Starts the reaper if necessary.
pub(crate) fn start() {
    PIPE.get_or_init(spawn);
}

/// From now on, this process group is killed when we end.
pub(crate) fn watch(group: Pid) {
    send(&format!("+{}\n", group.as_raw_nonzero()));
}

/// Undoes [`watch`], because the process group has ended.
pub(crate) fn release(group: Pid) {
    send(&format!("-{}\n", group.as_raw_nonzero()));
}

fn send(line: &str) {
    if let Some(pipe) = PIPE.get_or_init(spawn) {
        // Programs also run without a reaper.
        let _ = pipe.lock().unwrap_or_else(PoisonError::into_inner).write_all(line.as_bytes());
    }
}

fn spawn() -> Option<Mutex<ChildStdin>> {
    // Test programs contain this code, but do not have the command.
    let this = find::this().filter(|file| file.file_stem() == Some(OsStr::new("kgctx")))?;
    let mut command = Command::new(this);
    command.arg(COMMAND).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    command.process_group(0).spawn().ok()?.stdin.map(Mutex::new)
}

/// Reads process groups until the process that started us ends, then kills those that are left.
pub fn run() {
    let mut groups = BTreeSet::new();
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        let Some((sign, number)) = line.split_at_checked(1) else { continue };
        let Ok(number) = number.parse::<i32>() else { continue };
        match sign {
            "+" => drop(groups.insert(number)),
            _ => drop(groups.remove(&number)),
        }
    }
    for group in groups.into_iter().filter_map(Pid::from_raw) {
        // It may have just ended.
        let _ = kill_process_group(group, Signal::KILL);
    }
}
