//! Where a session runs: its project and its settings.

mod escapes;
mod identity;
mod places;
mod settings;
