//! A watchdog: a process of our own that ends the programs which we have started, should we be gone before they are. Whoever
//! kills us, or presses Ctrl-C, does not reach them: they are in process groups of their own.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::{self, BufRead, Write};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::system::process::find;

/// The command of ours that does it. Nobody else has a use for it.
const COMMAND: &str = "watchdog";

/// Our end of its ear; `None` where there is no watchdog, as in a program that only uses our code.
static EAR: OnceLock<Option<Mutex<ChildStdin>>> = OnceLock::new();

/// Makes sure that there is one, before anybody has to be watched.
pub(crate) fn ready() {
    EAR.get_or_init(start);
}

/// Has a process group ended when we end, until it is [`released`].
pub(crate) fn watched(group: Pid) {
    say(&format!("+{}\n", group.as_raw_nonzero()));
}

/// Says that a process group is over.
pub(crate) fn released(group: Pid) {
    say(&format!("-{}\n", group.as_raw_nonzero()));
}

fn say(line: &str) {
    if let Some(ear) = EAR.get_or_init(start) {
        // Without a watchdog all goes on as well.
        let _ = ear.lock().unwrap_or_else(PoisonError::into_inner).write_all(line.as_bytes());
    }
}

fn start() -> Option<Mutex<ChildStdin>> {
    // The tests run our code in programs that do not know the command.
    let this = find::this().filter(|file| file.file_stem() == Some(OsStr::new("kgctx")))?;
    let mut command = Command::new(this);
    command.arg(COMMAND).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.spawn().ok()?.stdin.map(Mutex::new)
}

/// Listens until whoever started us is gone, and ends what it has left behind.
pub fn listen() {
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
        // It may have ended just now.
        let _ = kill_process_group(group, Signal::KILL);
    }
}
