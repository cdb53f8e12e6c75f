//! Claude Code: what its hooks are told and may answer, the transcripts that it writes, and its settings files.

pub mod backup;
pub mod env_file;
mod event;
mod json_text;
pub mod places;
mod settings_file;
pub mod transcript;

pub use event::{Event, EventError, MAX_CONTEXT_UNITS, Source, additional_context, fits};
pub use settings_file::{EVENTS, OurHook, SettingsFile, SettingsFileError};
