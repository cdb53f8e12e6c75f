//! Where a session runs: its project and its settings.

mod identity;
mod places;
mod settings;
