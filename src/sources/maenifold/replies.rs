//! Parses the output of maenifold's program: text for people, JSON, and failures that exit with success.
//!
//! The format depends on the version, on the tool, and on the error, so it is detected from the output. Unknown
//! output is an error, never an empty answer. Each error message is one line, whatever the output was.

mod context;
mod recent;
mod reply;
mod search;

pub use context::context;
pub use recent::recent;
pub use search::search;

/// The maximum number of notes or relations in an answer.
const MOST: usize = 1_000;
