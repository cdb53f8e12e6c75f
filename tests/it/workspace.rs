//! Where a session runs: its project and its settings.

mod closed;
mod escapes;
mod hook_limits;
mod identity;
mod pipes;
mod places;
mod settings;
mod strangers;
mod vaults_command;
mod worktrees;
