//! A context: from what was found to the text a session is given.

pub mod budget;
pub mod build;
pub mod candidate;
pub mod compose;
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
