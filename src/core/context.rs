//! Builds a context: turns what the sources found into the text that a session receives.

pub mod budget;
pub mod build;
pub mod candidate;
pub mod compose;
pub mod compose_notes;
pub mod explain;
pub mod explanation;
pub mod found;
pub mod frame;
pub mod line;
pub mod merge;
pub mod pack;
pub mod page;
pub mod prices;
pub mod rank;
pub mod receipt;
mod render;
pub mod summary;
pub mod supplement;
pub mod uncommitted;
