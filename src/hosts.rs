//! The programs that agents run in: their files, their JSON and their servers.

#![expect(clippy::disallowed_methods, reason = "this room is behind the I/O fence")]

pub mod amplifier;
pub mod claude_code;
pub mod config_folder;
pub mod handoff_stores;
pub mod json_hooks;
mod json_text;
pub mod opencode;
pub mod plugin_file;
pub mod python;
pub mod transcript;
pub mod words;
pub mod yaml_list;

/// Whether an error means that there is no such file.
fn is_absent(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory)
}
