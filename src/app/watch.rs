//! Keeps the index up to date for as long as the process lives.

use std::convert::Infallible;

use thiserror::Error;

use crate::adapters::watcher::VaultWatcher;
use crate::app::refresh::{Mode, Patience, Refreshed, refresh};
use crate::app::workspace::{AppError, Workspace};

/// The system cannot watch folders.
#[derive(Debug, Error)]
#[error("cannot watch the vaults: {0}; run `kgctx index` from time to time instead")]
pub struct WatchError(String);

/// Refreshes whenever a vault changes, and tells `report` what came of it. Only ends if watching cannot begin.
pub fn watch(
    workspace: &Workspace,
    mut report: impl FnMut(Result<Refreshed, AppError>),
) -> Result<Infallible, WatchError> {
    let mut watcher = VaultWatcher::new(workspace.vaults.iter().map(|vault| vault.root.clone()))
        .map_err(|error| WatchError(error.to_string()))?;
    loop {
        let refreshed = refresh(workspace, Mode::Incremental, Patience::Wait, &mut |_, _| {});
        // A refresh fails when the disk is full or another process has the index; the next change tries again.
        report(refreshed.map(|(_, refreshed)| refreshed));
        watcher.wait();
    }
}
