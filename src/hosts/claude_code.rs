//! Claude Code: its hooks, whether it runs them, its transcripts, and its window.

pub mod arguments;
pub mod composer;
pub mod editor_mode;
mod guest;
mod hook;
pub mod live_session;
pub mod permission;
pub mod transcript;
pub mod usage;

pub use guest::Guest;
pub use hook::ClaudeCode;
