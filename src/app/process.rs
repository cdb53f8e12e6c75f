//! Process functions for commands.

use crate::system::process::{colours, identity, reaper};

/// The peak memory of this process in bytes, if the system reports it.
pub fn peak_memory() -> Option<u64> {
    identity::peak_memory()
}

/// Whether the terminal shows colours by the usual codes.
pub fn shows_colours() -> bool {
    colours::are_shown()
}

/// Kills the programs of the process that started this one, once that process has ended.
pub fn reap() {
    reaper::run();
}
