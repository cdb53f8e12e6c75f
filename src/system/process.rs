//! Other processes: finds, runs, detaches, identifies and kills them.

pub mod colours;
pub mod detach;
pub(crate) mod ending;
pub mod find;
#[cfg(unix)]
pub mod foreground;
mod group;
pub mod identity;
#[cfg(unix)]
pub mod reaper;
pub mod run;
pub mod stop;
#[cfg(unix)]
pub mod terminal;
#[cfg(windows)]
mod windows;

#[cfg(windows)]
pub use windows::{foreground, reaper, terminal};
