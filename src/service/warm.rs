//! The places whose notes the service watches, so that whoever asks about them need not look through the files.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::thread;

use crate::app::refresh::Refreshed;
use crate::app::watch::{Freshness, watch};
use crate::app::workspace::{AppError, Place, Workspace};

/// So many sets of vaults are watched. Each takes a thread and the system's watches.
const MAX_WATCHED: usize = 32;

/// All that is watched.
#[derive(Debug, Default)]
pub(super) struct Warm {
    watched: Mutex<HashMap<String, Arc<Freshness>>>,
}

impl Warm {
    /// Whether the index of a place is known to be up to date. A place that is not watched will be from now on.
    pub(super) fn vouches(&self, place: &Place) -> bool {
        let name = name(place);
        let mut watched = self.watched.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(freshness) = watched.get(&name) {
            return freshness.is_certain();
        }
        if watched.len() < MAX_WATCHED {
            let freshness = Arc::new(Freshness::default());
            watched.insert(name, Arc::clone(&freshness));
            let place = place.clone();
            thread::spawn(move || keep(place, &freshness));
        }
        false
    }

    /// How many sets of vaults are watched.
    pub(super) fn n_watched(&self) -> usize {
        self.watched.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).len()
    }
}

/// Watches for as long as the process lives.
fn keep(place: Place, freshness: &Freshness) {
    let project = place.project.key.clone();
    let workspace = match Workspace::open(place) {
        Ok(workspace) => workspace,
        Err(error) => {
            tracing::warn!(%project, "not watching: {error}");
            return;
        }
    };
    let report = |refreshed: Result<Refreshed, AppError>| match refreshed {
        Ok(refreshed) => {
            let outcome = refreshed.outcome;
            tracing::debug!(%project, changed = outcome.changed, removed = outcome.removed, "index is up to date");
        }
        Err(error) => {
            tracing::warn!(%project, "the index could not be brought up to date: {error}")
        }
    };
    let Err(error) = watch(&workspace, freshness, report);
    tracing::warn!(%project, "{error}");
}

/// Tells sets of vaults apart, with all that an index depends on.
fn name(place: &Place) -> String {
    let settings = &place.settings;
    let mut name = format!(
        "{}\0{}\0{}",
        place.directories.cache.display(),
        settings.links.value,
        settings.max_file_bytes.value
    );
    for vault in &settings.vaults {
        name.push('\0');
        name.push_str(&vault.value.name);
        name.push('\0');
        name.push_str(&vault.value.path.to_string_lossy());
    }
    name
}
