//! Identifies processes: this one, its host, and whether another one is still running.

use std::fs;
use std::os::unix::process::parent_id;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde::{Deserialize, Serialize};

/// A host can start us through shells.
const SHELLS: [&str; 7] = ["sh", "bash", "dash", "zsh", "fish", "ksh", "env"];
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
        let mut pid = parent_id();
        for _ in 0..MAX_SHELLS {
            match Stat::of(pid) {
                Some(stat) if SHELLS.contains(&stat.name.as_str()) => pid = stat.parent,
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
        Process { pid, started: Stat::of(pid).map_or(0, |stat| stat.started) }
    }

    /// Whether the process is this one, or was started by it, however many are between them.
    pub fn is_within(self, pid: u32) -> bool {
        let mut at = self.pid;
        while at > 1 {
            if at == pid {
                return true;
            }
            let Some(stat) = Stat::of(at) else { return false };
            at = stat.parent;
        }
        false
    }

    /// Whether what is typed into its terminal reaches it, and no other program: it was not stopped or put into the
    /// background. `None` if the system does not tell.
    pub fn is_in_foreground(self) -> Option<bool> {
        let Stat { group, foreground, .. } = Stat::of(self.pid)?;
        // Without a terminal nothing is typed.
        (foreground > 0).then_some(group == foreground)
    }

    /// Whether the process has certainly ended.
    pub fn is_gone(self) -> bool {
        if let Some(stat) = Stat::of(self.pid) {
            return stat.is_dead || (self.started != 0 && stat.started != self.started);
        }
        self.id().is_none_or(|pid| test_kill_process(pid) == Err(Errno::SRCH))
    }

    /// Sends a signal, unless the process has ended.
    pub(super) fn send(self, signal: Signal) {
        if let Some(pid) = self.id().filter(|_| !self.is_gone()) {
            // It may end at this very moment.
            let _ = kill_process(pid, signal);
        }
    }

    fn id(self) -> Option<Pid> {
        i32::try_from(self.pid).ok().and_then(Pid::from_raw)
    }
}

/// Linux's data about a process.
struct Stat {
    name: String,
    is_dead: bool,
    parent: u32,
    /// Its process group, and the one that its terminal listens to.
    group: i64,
    foreground: i64,
    started: i64,
}

impl Stat {
    fn of(pid: u32) -> Option<Stat> {
        Stat::parse(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
    }

    /// The name is in parentheses, and can contain parentheses.
    fn parse(text: &str) -> Option<Stat> {
        let (name, rest) = text.split_once('(')?.1.rsplit_once(')')?;
        let fields: Vec<&str> = rest.split_whitespace().collect();
        Some(Stat {
            name: name.to_owned(),
            is_dead: matches!(*fields.first()?, "Z" | "X" | "x"),
            parent: fields.get(1)?.parse().ok()?,
            group: fields.get(2)?.parse().ok()?,
            foreground: fields.get(5)?.parse().ok()?,
            started: fields.get(19)?.parse().ok()?,
        })
    }
}

/// The peak memory of this process in bytes, if the system reports it.
pub fn peak_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_is_read() {
        let fields = "S 17 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4711 99";
        let stat = Stat::parse(&format!("42 (a) b (c) {fields}")).unwrap();
        assert_eq!((stat.name.as_str(), stat.parent, stat.started), ("a) b (c", 17, 4711));
        assert!(Stat::parse("nothing").is_none());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_is_within_itself_and_what_started_it() {
        let this = Process::this();
        assert!(this.is_within(this.pid) && this.is_within(parent_id()));
        assert!(!this.is_within(u32::MAX) && !this.is_within(1));
    }

    #[cfg(target_os = "linux")]
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
