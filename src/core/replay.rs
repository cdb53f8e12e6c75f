//! Replays: how well contexts would have served the sessions of the past. A history of commits tells which notes each
//! session went on to need, and recall is the share of these that a context shows.
//!
//! What counts as needed and as shown is decided by rules of its own here, not by the code that reads notes and builds
//! contexts: a measure must not share the faults of what it measures.

pub mod links;
pub mod newest_first;
pub mod note;
pub mod past_notes;
pub mod session;
pub mod shown;
pub mod step;
