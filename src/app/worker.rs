//! A worker: the threads that find and open the notes, ask the sources, and report events.
//!
//! It asks the last index while the vaults are still being listed: usually nothing has changed, and
//! the answers are right. If something has changed, it asks again; if listing takes too long, the
//! first answers are used.
//!
//! A source beside the index answers for its own notes, and the index for the rest. A slow source
//! is asked in parallel, and the index covers all notes, because the slow source may be late.

pub(super) mod event;
mod questions;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::thread;
use std::time::{Duration, Instant};

use crate::app::deadline::Deadline;
use crate::app::gather::UnfinishedIndex;
use crate::app::session::Session;
use crate::app::worker::event::{IndexState, Stopgap, WorkerEvent};
use crate::core::context::found::Found;
use crate::core::context::rank::{Ranking, shortlist};
use crate::core::context::receipt::{Fault, FaultSource};
use crate::core::context::supplement::Given;
use crate::core::relevance::prompt::Prompt;
use crate::sources::blend::Blended;
use crate::sources::local_index::LocalIndex;
use crate::sources::slow::SlowSource;
use crate::sources::source::SharedSource;
use crate::sources::{self, Chosen, Plan};
use crate::store::index::{Index, Unusable};
use crate::system::within::{self, Started};
use crate::workspace::refresh::{Listed, Mode, Patience, Refreshed, list, refresh_listed};
use crate::workspace::{Place, Workspace};

/// The error of a thread that panicked.
const OUR_FAULT: &str = "kgctx crashed; please report it";

/// What the sources are asked for; known when the settings are read.
#[derive(Clone, Default)]
pub(super) struct Asked {
    ranking: Ranking,
    /// The most tokens.
    budget: usize,
    prompt: Option<Prompt>,
    branch: Option<String>,
    /// What the session already has; only for a supplement.
    given: Option<Given>,
    /// The working tree, if its uncommitted files count.
    checkout: Option<PathBuf>,
}

#[derive(Clone)]
pub(super) struct Worker {
    /// Distinguishes workers.
    pub(super) number: usize,
    pub(super) session: Arc<Session>,
    pub(super) asked: Asked,
    /// Whether there are more cores than listing and searching need.
    pub(super) has_spare_core: bool,
    /// The time limit until the settings are read.
    pub(super) deadline: Deadline,
    pub(super) events: Sender<(usize, WorkerEvent)>,
}

/// An open workspace, and the source of the notes that its index does not cover.
#[derive(Clone)]
struct Opened {
    workspace: Arc<Workspace>,
    beside: Option<SharedSource>,
    project: Option<String>,
}

impl Opened {
    fn sources(&self, index: Option<Index>) -> Blended {
        let workspace = || Arc::clone(&self.workspace);
        let index = index.map(|index| LocalIndex { workspace: workspace(), index });
        Blended { beside: self.beside.clone(), index }
    }
}

impl Worker {
    /// Reports an event; does nothing if the listener has stopped.
    fn report(&self, event: WorkerEvent) {
        let _ = self.events.send((self.number, event));
    }

    fn timed<T>(&self, stage: &'static str, work: impl FnOnce() -> T) -> T {
        let started = Instant::now();
        let done = work();
        self.report(WorkerEvent::Took(stage, started.elapsed()));
        done
    }

    /// Starts a thread. With `patience`, skips vaults that do not answer within it.
    pub(super) fn start(&self, patience: Option<Duration>) {
        let worker = self.clone();
        thread::spawn(move || {
            let mut listed = None;
            let done = catch_unwind(AssertUnwindSafe(|| worker.run(patience, &mut listed)));
            if done.is_err() {
                let fault = Fault::new(FaultSource::Index, OUR_FAULT);
                worker.report(WorkerEvent::Refreshed(Some(fault)));
            }
            worker.report(WorkerEvent::Done);
            // Freeing a long listing takes time, and the listener must not wait for it.
            drop(listed);
        });
    }

    fn run(&self, patience: Option<Duration>, listed: &mut Option<Listed<'static>>) {
        let Session { found, place: request, .. } = &*self.session;
        let place = self.timed("find", || {
            found.clone().map_or_else(|| Place::find_rest(request).map(|(place, _)| place), Ok)
        });
        let found = place.as_ref().ok().cloned();
        self.report(WorkerEvent::Place(Box::new(place)));
        let Some(mut place) = found.filter(|place| place.settings.enabled.value) else { return };
        place.settings.rank.value = self.session.ranking_in(Some(&place));
        let budget = self.session.budget_in(Some(&place)).tokens;
        let asked = Asked {
            ranking: place.settings.rank.value,
            budget,
            prompt: self.session.prompt.as_deref().and_then(Prompt::parse),
            branch: place.project.branch.clone(),
            given: self.session.given.clone(),
            checkout: place
                .project
                .checkout
                .clone()
                .filter(|_| place.settings.uncommitted_files.value.are_looked_for())
                .filter(|_| self.session.given.is_none()),
        };
        let worker = Worker { asked, ..self.clone() };
        worker.ask_about(place, patience, listed);
    }

    /// Chooses the source of a place's notes and asks it.
    fn ask_about(
        &self,
        place: Place,
        patience: Option<Duration>,
        listed: &mut Option<Listed<'static>>,
    ) {
        if patience.is_some() || self.asked.given.is_some() {
            // The first worker hangs, perhaps on the folder of another source. Only the index knows which notes fit a
            // prompt.
            return self.follow(place, None, patience, listed);
        }
        let mut deadline = self.deadline;
        deadline.allow(Duration::from_millis(place.settings.deadline_ms.value));
        let until = deadline.for_slow_work();
        let chosen = self.timed("choose", || sources::choose(&place, self.session.now, until));
        let Chosen { plan, choice, faults } = chosen;
        let (place, beside, slow) = match plan {
            Plan::Index => (place, None, None),
            Plan::Beside(source, rest) => (*rest, Some(source), None),
            Plan::Slow(slow) => (place, None, Some(slow)),
        };
        self.report(WorkerEvent::Chosen(choice, faults, slow.clone()));
        if let Some(slow) = slow {
            self.start_slow(slow);
        }
        self.follow(place, beside, patience, listed);
    }

    fn start_slow(&self, slow: Arc<SlowSource>) {
        let worker = self.clone();
        thread::spawn(move || {
            let ask = || slow.ask(worker.session.now).map(Box::new).map_err(|error| error.reason);
            let asked = worker.timed("program", || catch_unwind(AssertUnwindSafe(ask)));
            let asked = asked.unwrap_or_else(|_| Err(OUR_FAULT.to_owned()));
            worker.report(WorkerEvent::Slow(asked));
        });
    }

    /// Asks another source, in a separate thread, because the first index takes long.
    pub(super) fn start_stopgap(&self, mut place: Place) {
        let worker = self.clone();
        thread::spawn(move || {
            place.settings.rank.value = worker.session.ranking_in(Some(&place));
            let ask = || worker.stopgap(&place);
            let found = worker.timed("database", || catch_unwind(AssertUnwindSafe(ask)));
            worker.report(WorkerEvent::Stopgap(found.ok().flatten().map(Box::new)));
        });
    }

    fn stopgap(&self, place: &Place) -> Option<Stopgap> {
        if self.session.given.is_some() {
            // Only the index knows which notes fit a prompt.
            return None;
        }
        let (project, now) = (place.project.name.as_deref(), self.session.now);
        let Chosen { plan, choice, .. } = sources::before_the_first_index(place, now)?;
        let Plan::Beside(source, _) = plan else { return None };
        let (search, recent) = source.search_and_recent(project, now);
        let mut found = Found { search: search.ok()?, recent: recent.ok()?, ..Found::default() };
        let ranking = place.settings.rank.value;
        found.details = source.around(&shortlist(ranking, &found), ranking.expansion()).ok()?;
        Some(Stopgap { found, choice })
    }

    /// Asks the last index of a place, lists the vaults in the meantime, and asks again if
    /// necessary.
    fn follow(
        &self,
        place: Place,
        beside: Option<SharedSource>,
        patience: Option<Duration>,
        listed: &mut Option<Listed<'static>>,
    ) {
        let project = place.project.name.clone();
        let Some(workspace) = self.open(place, beside.is_some(), patience) else {
            if beside.is_some() {
                let sources = Blended { beside, index: None };
                let _ = self.ask(IndexState::Last, &sources, project.as_deref());
                self.report(WorkerEvent::Refreshed(None));
            }
            return;
        };
        let opened = Opened { workspace: Arc::new(workspace), beside, project };
        let project = opened.project.as_deref();
        // The index is known to be up to date.
        if self.session.is_watched
            && opened.beside.is_none()
            && let Ok(index) = opened.workspace.last_index()
            && self.ask(IndexState::Last, &opened.sources(Some(index)), project).is_ok()
        {
            self.report(WorkerEvent::Refreshed(None));
            return;
        }
        let asked = self.ask_last_index(&opened);
        let listed = listed.insert(list(&opened.workspace));
        // `None` if the thread panicked.
        let (asked, last) = asked.wait().unwrap_or_else(|| (None, opened.workspace.last_index()));
        let fresh = self.refresh(&opened, listed, last, Mode::Incremental);
        let Some((index, refreshed)) = fresh else { return };
        let earlier = asked.filter(|(_, version)| {
            // Another process may have written it between the questions and the listing.
            refreshed.is_as_before && index.version().is_ok_and(|now| now == *version)
        });
        let sources = opened.sources(Some(index));
        let answered = match earlier {
            Some((answered, _)) => answered,
            None => self.ask(IndexState::Fresh, &sources, project),
        };
        let (Err(damage), Some(LocalIndex { index, .. })) = (answered, sources.index) else {
            return;
        };
        // Rebuilds a damaged index, and asks once more.
        let fault = Fault::new(FaultSource::Index, format!("it was rebuilt: {damage}"));
        self.report(WorkerEvent::Rebuilding(fault));
        *listed = list(&opened.workspace);
        if let Some((index, _)) = self.refresh(&opened, listed, Ok(index), Mode::Full) {
            let _ = self.ask(IndexState::Fresh, &opened.sources(Some(index)), project);
        }
    }

    fn open(
        &self,
        place: Place,
        has_other_source: bool,
        patience: Option<Duration>,
    ) -> Option<Workspace> {
        let (workspace, errors) = match place.settings.vaults.is_empty() && has_other_source {
            true => (None, Vec::new()),
            false => self.timed("open", || Workspace::open_reachable(place, patience)),
        };
        let faults = errors.iter().map(|error| Fault::new(FaultSource::Vault, error)).collect();
        self.report(WorkerEvent::Opened(workspace.is_some() || has_other_source, faults));
        workspace
    }

    /// Opens the last index and asks it, in a separate thread that then returns the index.
    fn ask_last_index(
        &self,
        opened: &Opened,
    ) -> Started<(Option<Earlier>, Result<Index, Unusable>)> {
        let (worker, opened) = (self.clone(), opened.clone());
        within::start(move || {
            let (index, unusable) = match opened.workspace.last_index() {
                Ok(index) => (Some(index), Unusable::Missing),
                Err(unusable) => (None, unusable),
            };
            let version = index.as_ref().and_then(|index| index.version().ok());
            let sources = opened.sources(index);
            // Without an index, there can still be another source.
            let answered = (version.is_some() || sources.beside.is_some())
                .then(|| worker.ask(IndexState::Last, &sources, opened.project.as_deref()));
            (answered.zip(version), sources.index.map(|source| source.index).ok_or(unusable))
        })
    }

    fn refresh(
        &self,
        opened: &Opened,
        listed: &mut Listed<'_>,
        last: Result<Index, Unusable>,
        mode: Mode,
    ) -> Option<(Index, Refreshed)> {
        let started = Instant::now();
        let mut is_reported = false;
        let progress = &mut |_, _| {
            if !std::mem::replace(&mut is_reported, true) {
                self.report(WorkerEvent::Reading { covers_all: opened.beside.is_none() });
            }
        };
        let workspace = &opened.workspace;
        match refresh_listed(workspace, listed, last, mode, Patience::Skip, progress) {
            Ok((index, refreshed)) => {
                self.report(WorkerEvent::Took("list", refreshed.listed_in));
                self.report(WorkerEvent::Took("refresh", started.elapsed()));
                if refreshed.has_undated {
                    let unfinished = UnfinishedIndex { covers_all: opened.beside.is_none() };
                    let unfinished = refreshed.is_stored().then_some(unfinished);
                    self.report(WorkerEvent::Undated(unfinished));
                }
                let fault = refreshed
                    .notice
                    .as_ref()
                    .map(|notice| Fault::new(FaultSource::Index, notice.about("it")));
                self.report(WorkerEvent::Refreshed(fault));
                Some((index, refreshed))
            }
            Err(error) => {
                let fault = Fault::new(FaultSource::Index, error);
                self.report(WorkerEvent::Refreshed(Some(fault)));
                None
            }
        }
    }
}

/// The answers of an index, and its version at that time.
type Earlier = (Answered, i64);

/// Whether all questions were asked, or the reason why the index is damaged.
type Answered = Result<(), String>;

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test writes its own notes")]
mod tests {
    use super::*;
    use crate::core::host::Host;
    use crate::workspace::Request;
    use std::sync::mpsc;

    /// All answers about a vault, in any order of the threads.
    fn reported(request: &Request, has_spare_core: bool) -> Vec<String> {
        let (events, reported) = mpsc::channel();
        let session = Arc::new(Session::new("ses", request.clone(), Host::Plain));
        let deadline = Deadline::start(Duration::from_secs(60), None);
        let asked = Asked::default();
        let worker = Worker { number: 0, session, asked, has_spare_core, deadline, events };
        worker.run(None, &mut None);
        drop(worker);
        let mut answers: Vec<String> = reported
            .iter()
            .filter_map(|(_, event)| match event {
                WorkerEvent::Search(_, answer) => Some(format!("search {answer:?}")),
                WorkerEvent::Recent(_, answer) => Some(format!("recent {answer:?}")),
                WorkerEvent::Details(_, answer) => Some(format!("details {answer:?}")),
                _ => None,
            })
            .collect();
        // A note that was just written is read again, and the questions are then asked twice.
        answers.sort();
        answers.dedup();
        answers
    }

    #[test]
    fn recent_activity_beside_the_search_or_after_it_is_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let vault = folder.path().join("zephyr");
        std::fs::create_dir_all(vault.join(".kgctx")).unwrap();
        std::fs::write(vault.join("mast.md"), "# Mast\n\nOf zephyr, its [[Sail]] and [[Keel]].")
            .unwrap();
        // No search finds this note, so only recent activity can have added its concept to the
        // details.
        std::fs::write(vault.join("hull.md"), "# Hull\n\nMade of [[Planks]].").unwrap();
        let home = Some(folder.path().join("home"));
        let request =
            Request { dir: Some(vault.clone()), vaults: vec![vault], home, ..Request::default() };
        let first = reported(&request, false);
        assert_eq!(first.len(), 3, "{first:#?}");
        assert!(first[0].contains("planks") && !first[2].contains("planks"), "{first:#?}");
        assert_eq!(reported(&request, true), first);
        assert_eq!(reported(&request, false), first);
    }
}
