//! Processes as Windows tells them.

use crate::system::process::identity::Process;
use crate::system::windows::{HeldProcess, ListedProcess, NotOpened, processes};

pub(super) const SHELLS: [&str; 6] = ["sh", "bash", "env", "cmd", "powershell", "pwsh"];

/// The processes that were running at one moment: a list of all costs as much as one of them.
pub(super) struct Table(Vec<ListedProcess>);

impl Table {
    pub(super) fn now() -> Table {
        Table(processes())
    }

    pub(super) fn parent_of_this(&self) -> u32 {
        self.name_and_parent(std::process::id()).map_or(0, |(_, parent)| parent)
    }

    /// The name is that of the program's file, in small letters and without its ending. The parent is 0 if it has ended.
    pub(super) fn name_and_parent(&self, pid: u32) -> Option<(String, u32)> {
        let process = self.0.iter().find(|process| process.pid == pid)?;
        let name = process.name.to_ascii_lowercase();
        let name = name.strip_suffix(".exe").unwrap_or(&name).to_owned();
        // A later process can have the number of a parent that has ended.
        let is_parent = started(process.parent) <= started(pid);
        Some((name, if is_parent { process.parent } else { 0 }))
    }
}

/// When a process started; 0 if unknown.
pub(super) fn started(pid: u32) -> i64 {
    HeldProcess::open(pid).map_or(0, |process| process.started())
}

/// Windows does not tell.
pub(super) fn is_in_foreground(_: u32) -> Option<bool> {
    None
}

/// Whether a process has certainly ended.
pub(super) fn has_ended(process: Process) -> bool {
    match HeldProcess::open(process.pid) {
        Ok(held) => held.has_ended() || (process.started != 0 && held.started() != process.started),
        Err(NotOpened::Missing) => true,
        Err(NotOpened::Denied) => false,
    }
}

/// Not reported.
pub fn peak_memory() -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_itself_until_it_has_ended() {
        let this = Process::this();
        assert!(this.started != 0 && !this.is_gone());
        assert!(Process { started: this.started + 1, ..this }.is_gone());
        let mut child = std::process::Command::new("cmd").arg("/c").arg("pause").spawn().unwrap();
        let process = Process::with(child.id());
        assert!(process.is_within(this.pid) && !process.is_gone());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(process.is_gone());
    }
}
