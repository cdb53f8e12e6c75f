//! The operating system: files, processes, environment and clock. Knows nothing of contexts and sessions.

#![expect(clippy::disallowed_methods, reason = "this room is behind the I/O fence")]

pub mod atomic_file;
pub mod breakpoint;
pub mod clock;
pub mod directories;
pub(crate) mod durable;
pub mod environment;
pub mod folders;
pub mod git;
pub(crate) mod git_history;
pub mod git_program;
pub mod git_work;
pub mod listed_files;
pub mod log_file;
pub mod maenifold_places;
pub mod note_places;
pub(crate) mod path_bytes;
pub(crate) mod permissions;
pub(crate) mod plain_file;
pub mod process;
pub mod random;
pub(crate) mod seen;
pub mod signed_folders;
pub mod summariser;
pub(crate) mod temp_folder;
pub(crate) mod temp_vault;
pub mod tmux;
pub mod user_input;
pub mod vault;
pub mod watcher;
#[cfg(windows)]
mod windows;
pub mod within;
