//! Other processes: found, run, detached, told apart and ended.

pub mod detach;
pub mod find;
pub mod identity;
#[cfg(unix)]
pub mod reaper;
pub mod run;
