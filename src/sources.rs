//! Where notes are asked for: the index, and what maenifold answers.

#![expect(clippy::disallowed_methods, reason = "this room is behind the I/O fence")]

pub mod blend;
pub mod context;
pub mod maenifold;
pub mod questions;
pub mod recent;
pub mod search;
