//! Keeps the index up to date until the process ends.

use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::system::watcher::VaultWatcher;
use crate::workspace::refresh::{Mode, Notice, Patience, Refreshed, refresh};
use crate::workspace::{AppError, Workspace};

/// Whether the index of watched vaults is up to date. Shared with threads other than the watching
/// one.
#[derive(Debug, Default)]
pub struct Freshness {
    /// The number of changes so far, and of those that the index includes; `None` if changes can be
    /// missed.
    known: Mutex<Option<(Arc<AtomicU64>, u64)>>,
}

impl Freshness {
    /// The number of changes so far, if the index includes all of them.
    pub fn certain(&self) -> Option<u64> {
        let known = self.known.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let (n_changes, seen) = known.as_ref()?;
        (n_changes.load(Ordering::SeqCst) == *seen).then_some(*seen)
    }

    fn set(&self, known: Option<(Arc<AtomicU64>, u64)>) {
        *self.known.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = known;
    }
}

/// Refreshes whenever a vault changes, and passes the result to `report` and `freshness`. Returns
/// only if watching cannot start.
pub fn watch(
    workspace: &Workspace,
    freshness: &Freshness,
    mut report: impl FnMut(Result<Refreshed, AppError>),
) -> Result<Infallible, AppError> {
    let mut watcher =
        VaultWatcher::new(&workspace.vaults).map_err(|error| AppError::Watch(error.to_string()))?;
    let n_changes = watcher.n_changes();
    let mut workspace = workspace.clone();
    loop {
        let seen = n_changes.load(Ordering::SeqCst);
        workspace.tell_styles();
        let refreshed = refresh(&workspace, Mode::Incremental, Patience::Wait, &mut |_, _| {});
        let is_good = refreshed.as_ref().is_ok_and(|(_, refreshed)| {
            !matches!(refreshed.notice, Some(Notice::Busy | Notice::Stale(_)))
        });
        let is_known = is_good && watcher.sees_everything();
        freshness.set(is_known.then(|| (Arc::clone(&n_changes), seen)));
        // A refresh fails if the disk is full or another process locks the index; the next change
        // tries again.
        report(refreshed.map(|(_, refreshed)| refreshed));
        watcher.wait();
    }
}
