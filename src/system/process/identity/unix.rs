//! Processes as Unix tells them: on Linux from `/proc`, elsewhere by their numbers alone.

use std::fs;
use std::os::unix::process::parent_id;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};

use crate::system::process::identity::Process;

pub(super) const SHELLS: [&str; 7] = ["sh", "bash", "dash", "zsh", "fish", "ksh", "env"];

/// The processes that are running.
pub(super) struct Table;

impl Table {
    /// Each is looked up when it is asked for.
    pub(super) fn now() -> Table {
        Table
    }

    pub(super) fn parent_of_this(&self) -> u32 {
        parent_id()
    }

    pub(super) fn name_and_parent(&self, pid: u32) -> Option<(String, u32)> {
        Stat::of(pid).map(|stat| (stat.name, stat.parent))
    }
}

/// When a process started; 0 if unknown.
pub(super) fn started(pid: u32) -> i64 {
    Stat::of(pid).map_or(0, |stat| stat.started)
}

pub(super) fn is_in_foreground(pid: u32) -> Option<bool> {
    let Stat { group, foreground, .. } = Stat::of(pid)?;
    // Without a terminal nothing is typed.
    (foreground > 0).then_some(group == foreground)
}

/// Whether a process has certainly ended.
pub(super) fn has_ended(process: Process) -> bool {
    if let Some(stat) = Stat::of(process.pid) {
        return stat.is_dead || (process.started != 0 && stat.started != process.started);
    }
    process.id().is_none_or(|pid| test_kill_process(pid) == Err(Errno::SRCH))
}

impl Process {
    /// Sends a signal, unless the process has ended.
    pub(in crate::system::process) fn send(self, signal: Signal) {
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
}
