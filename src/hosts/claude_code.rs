//! Claude Code: its hooks and its transcripts.

mod hook;
pub mod transcript;

pub use hook::ClaudeCode;
