//! How we touch the world: one file or folder per outside thing. Adapters know the domain; of each other they know
//! only where kgctx's own files are, how a file is written as a whole, how a program is found and run, the environment
//! and the clock.

#![expect(clippy::disallowed_methods, reason = "this layer is the I/O fence's gate")]

pub mod amplifier;
pub mod background;
pub mod breakpoint;
pub mod child;
pub mod claude_code;
pub mod clock;
pub mod directories;
pub mod document;
pub mod environment;
pub mod folders;
pub mod git;
pub mod handoff_files;
pub mod index;
#[cfg(unix)]
pub mod instance;
pub mod listed_files;
pub mod log_file;
pub mod maenifold;
pub mod opencode;
pub mod process;
pub mod program;
pub mod repository;
pub mod settings;
pub mod stage;
pub mod state;
pub mod summariser;
pub mod typing;
pub mod vault;
#[cfg(unix)]
pub mod watchdog;
pub mod watcher;
