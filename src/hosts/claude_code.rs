//! Claude Code: its hooks, whether it runs them, and its transcripts.

mod guest;
mod hook;
pub mod permission;
pub mod transcript;
pub mod usage;

pub use guest::Guest;
pub use hook::ClaudeCode;
