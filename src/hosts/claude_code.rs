//! Claude Code: its hooks and its transcripts.

mod env_file;
mod hook;
pub mod transcript;

pub use hook::{ClaudeCode, additional_context, fits};
