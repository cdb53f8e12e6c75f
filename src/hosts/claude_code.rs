//! Claude Code: what its hooks are told and may answer, and the transcripts that it writes.

pub mod env_file;
mod event;
pub mod transcript;

pub use event::{Event, EventError, MAX_CONTEXT_UNITS, Source, additional_context, fits};
