//! Identifies processes: this one, its host, and whether another one is still running.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use serde::{Deserialize, Serialize};

#[cfg(unix)]
use unix::{SHELLS, Table, has_ended, is_in_foreground, started};
#[cfg(windows)]
use windows::{SHELLS, Table, has_ended, is_in_foreground, started};

#[cfg(unix)]
pub use unix::peak_memory;
#[cfg(windows)]
pub use windows::peak_memory;

/// A host can start us through shells.
const MAX_SHELLS: usize = 4;

/// A process, distinct from every earlier or later one with the same id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    pub pid: u32,
    /// The start time in the system's units; 0 if unknown.
    pub started: i64,
}

impl Process {
    pub fn this() -> Process {
        Process::with(std::process::id())
    }

    /// The program that started this process; skips shells.
    pub fn host() -> Option<Process> {
        let table = Table::now();
        let mut pid = table.parent_of_this();
        for _ in 0..MAX_SHELLS {
            match table.name_and_parent(pid) {
                Some((name, parent)) if SHELLS.contains(&name.as_str()) => pid = parent,
                _ => break,
            }
        }
        // Process 1 adopts processes whose parent has ended.
        (pid > 1).then(|| Process::with(pid))
    }

    /// Any process with this id.
    pub fn of_number(pid: u32) -> Process {
        Process { pid, started: 0 }
    }

    /// The process that has this id now.
    pub fn with(pid: u32) -> Process {
        Process { pid, started: started(pid) }
    }

    /// Whether the process is this one, or was started by it, however many are between them.
    pub fn is_within(self, pid: u32) -> bool {
        let table = Table::now();
        let mut at = self.pid;
        while at > 1 {
            if at == pid {
                return true;
            }
            let Some((_, parent)) = table.name_and_parent(at) else { return false };
            at = parent;
        }
        false
    }

    /// Whether what is typed into its terminal reaches it, and no other program: it was not stopped or put into the
    /// background. `None` if the system does not tell.
    pub fn is_in_foreground(self) -> Option<bool> {
        is_in_foreground(self.pid)
    }

    /// Whether the process has certainly ended.
    pub fn is_gone(self) -> bool {
        has_ended(self)
    }
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_within_itself_and_what_started_it() {
        let this = Process::this();
        assert!(this.is_within(this.pid) && this.is_within(std::os::unix::process::parent_id()));
        assert!(!this.is_within(u32::MAX) && !this.is_within(1));
    }

    #[test]
    fn a_1_20_a_reused_number_is_another_process() {
        // a process is identified by its id and start time together.
        let this = Process::this();
        assert!(!this.is_gone());
        assert!(Process { started: this.started + 1, ..this }.is_gone());
        assert!(!Process { started: 0, ..this }.is_gone());
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let process = Process::with(child.id());
        assert!(!process.is_gone());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(process.is_gone());
    }
}
