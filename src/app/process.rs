//! Process functions for commands.

use crate::system::process::{identity, reaper};

/// The peak memory of this process in bytes, if the system reports it.
pub fn peak_memory() -> Option<u64> {
    identity::peak_memory()
}

/// Kills the programs of the process that started this one, once that process has ended.
pub fn reap() {
    reaper::run();
}
