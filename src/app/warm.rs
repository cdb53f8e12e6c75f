//! Contexts that the service keeps ready. It watches the notes of a place, so a context stays valid
//! until a note changes or becomes too old.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Instant;

use crate::app::draft::counts_uncommitted;
use crate::app::inject::inject;
use crate::app::recorder::Recording;
use crate::app::session::Session;
use crate::app::session_handoff::SessionHandoff;
use crate::core::context::receipt::{Fault, FaultSource, Injection, Stage};
use crate::core::settings::{Settings, VaultSpec};
use crate::core::time_limits;
use crate::sources;
use crate::system::clock;
use crate::workspace::refresh::Refreshed;
use crate::workspace::watch::{Freshness, watch};
use crate::workspace::{AppError, Place, Workspace};

/// The number of watched sets of vaults. Each takes a thread and the system's watches.
const MAX_WATCHED: usize = 32;
/// The number of contexts to keep per set of vaults: one per project, budget and kind of moment.
const MAX_MADE: usize = 100;

#[derive(Debug, Default)]
pub struct Warm {
    watched: Arc<Mutex<HashMap<String, Arc<Watched>>>>,
}

#[derive(Debug, Default)]
struct Watched {
    freshness: Freshness,
    /// Contexts, each with the number of changes at the time when it was built.
    made: Mutex<HashMap<String, (u64, Injection)>>,
}

impl Warm {
    /// Builds a session's context, or reuses one that is known to be the same.
    pub fn inject(
        &self,
        place: &Place,
        mut session: Session,
        recording: Recording,
    ) -> Result<Injection, AppError> {
        let watched = self.watched(place);
        let certain = watched.as_ref().and_then(|watched| watched.freshness.certain());
        let (Some(watched), Some(n_changes), None) = (watched, certain, session.now) else {
            return inject(&session, recording);
        };
        // A context with a handoff is for one session only.
        let has_no_handoff = matches!(&session.handoff,
            Some(SessionHandoff { section: None, faults }) if faults.is_empty());
        // The same holds for one that fits a prompt, or the state of the working tree.
        let is_for_all =
            has_no_handoff && session.prompt.is_none() && !counts_uncommitted(Some(place));
        let name = is_for_all.then(|| context_name(place, &session));
        if let Some(known) = name.as_ref().and_then(|name| watched.made(name, n_changes)) {
            return Ok(reused(known, &session, recording));
        }
        session.is_watched = true;
        let injection = inject(&session, recording)?;
        if let Some(name) = name
            && injection.receipt.faults.is_empty()
        {
            watched.keep(name, n_changes, &injection);
        }
        Ok(injection)
    }

    pub fn n_watched(&self) -> usize {
        unpoisoned(&self.watched).len()
    }

    /// The watched vaults of a place. Starts watching if necessary, and then returns `None`.
    fn watched(&self, place: &Place) -> Option<Arc<Watched>> {
        let mut all = unpoisoned(&self.watched);
        let name = vaults_name(place);
        if let Some(watched) = all.get(&name) {
            return Some(Arc::clone(watched));
        }
        if all.len() < MAX_WATCHED {
            let watched = Arc::new(Watched::default());
            all.insert(name.clone(), Arc::clone(&watched));
            let place = place.clone();
            let all = Arc::clone(&self.watched);
            thread::spawn(move || {
                watch_place(place, &watched.freshness);
                // Watching failed. A later request tries again.
                thread::sleep(time_limits::WATCH_RETRY);
                unpoisoned(&all).remove(&name);
            });
        }
        None
    }
}

impl Watched {
    fn made(&self, name: &str, n_changes: u64) -> Option<Injection> {
        let made = unpoisoned(&self.made);
        let (made_at, injection) = made.get(name)?;
        let is_recent = injection.good_until.is_none_or(|until| clock::now() < until);
        (*made_at == n_changes && is_recent).then(|| injection.clone())
    }

    fn keep(&self, name: String, n_changes: u64, injection: &Injection) {
        let mut made = unpoisoned(&self.made);
        if made.len() >= MAX_MADE {
            made.clear();
        }
        made.insert(name, (n_changes, injection.clone()));
    }
}

/// Reuses a context for another session, with its own receipt.
fn reused(mut injection: Injection, session: &Session, recording: Recording) -> Injection {
    let started = Instant::now();
    let receipt = &mut injection.receipt;
    receipt.session.clone_from(&session.id);
    receipt.moment = session.moment.clone();
    receipt.at = clock::now();
    receipt.stages.clear();
    // Nobody looked again.
    receipt.uncommitted = None;
    injection.id = None;
    if let Recording::UnderClaim(mut state, token) | Recording::OrNotAtAll(mut state, token) =
        recording
    {
        match state.record(receipt, Some(token)) {
            Ok(id) => injection.id = Some(id),
            Err(error) => receipt.faults.push(Fault::new(FaultSource::Receipt, error)),
        }
    }
    receipt.stages.push(Stage::new("all", started.elapsed()));
    injection
}

/// Watches until the process ends, or returns if watching fails.
fn watch_place(place: Place, freshness: &Freshness) {
    let project = place.project.key.clone();
    let (workspace, errors) = Workspace::open_reachable(place, None);
    for error in errors {
        tracing::warn!(%project, "not watching: {error}");
    }
    let Some(workspace) = workspace else { return };
    let report = |refreshed: Result<Refreshed, AppError>| match refreshed {
        Ok(Refreshed { outcome, .. }) => {
            tracing::debug!(%project, changed = outcome.changed, removed = outcome.removed, "the index is up to date");
        }
        Err(error) => {
            tracing::warn!(%project, "the index could not be updated: {error}")
        }
    };
    let Err(error) = watch(&workspace, freshness, report);
    tracing::warn!(%project, "{error}");
}

/// Identifies a set of vaults, with everything that an index depends on.
fn vaults_name(place: &Place) -> String {
    let Settings { links, max_file_bytes, vaults, .. } = &place.settings;
    let vaults: Vec<&VaultSpec> = vaults.iter().map(|vault| &vault.value).collect();
    format!("{:?}", (&place.directories.cache, links.value, max_file_bytes.value, vaults))
}

/// Identifies a context among those of the same vaults.
fn context_name(place: &Place, session: &Session) -> String {
    let Place { project, settings, .. } = place;
    let ranking = (session.ranking_in(Some(place)), &project.branch);
    let choices = (settings.encoding.value, settings.source.value, sources::state_of(place));
    let budget = session.budget_in(Some(place));
    format!("{:?}", (&project.key, &project.name, session.host, budget, ranking, choices))
}

fn unpoisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
