//! A worker: what the threads do of which a context's gathering is made, and what they tell.
//!
//! The last index is asked while the vaults are still being looked through: mostly nothing has changed, and its answers
//! are the right ones. If something has, the questions are put again; if the look takes too long, they have to do.
//!
//! Where maenifold's database answers about its notes, the index is over the others alone, and both answers are blended.
//! Where its program is asked, that is done beside all this, and the index stays over all notes: nobody knows whether
//! the program answers in time.

mod program;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use crate::app::deadline::Deadline;
use crate::core::context::found::{
    ConceptDetails, Found, FoundConcept, FoundNote, NEIGHBOURS, RECENT, SEARCHED,
};
use crate::core::context::rank::{Ranking, shortlist};
use crate::core::context::receipt::Fault;
use crate::core::source::SourceChoice;
use crate::core::time::Timestamp;
use crate::sources::blend;
use crate::sources::maenifold::{self, Asked, FromDatabase};
use crate::sources::questions::{self, Answer, Failed};
use crate::store::index::{Index, Unusable};
use crate::workspace::refresh::{Listed, Mode, Notice, Patience, Refreshed, list, refresh_listed};
use crate::workspace::{AppError, Place, Request, Workspace};

/// Which state of the index was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// As it was left.
    Last,
    /// After the vaults were looked through.
    Fresh,
}

/// What a thread tells.
pub(super) enum Told {
    Place(Box<Result<Place, AppError>>),
    /// Who is asked about maenifold's memory, and what is wrong with those who are not.
    Chosen(SourceChoice, Vec<Fault>),
    /// Whether there is anybody to ask, and what is wrong with those vaults that cannot be used.
    Opened(bool, Vec<Fault>),
    /// Notes are being read for the index.
    Reading,
    /// The index is up to date, or as good as it gets.
    Refreshed(Option<Fault>),
    /// The index turned out to be damaged, and is made again.
    Rebuilding(Fault),
    /// There is no index to be had.
    Failed(Fault),
    Search(State, Answer<Vec<FoundNote>>),
    Recent(State, Answer<Vec<FoundNote>>),
    Details(State, Answer<ConceptDetails>),
    /// What maenifold's program answered, together with the index of the other notes; or why it did not.
    Program(Result<Box<(Found, Vec<Fault>)>, String>),
    Took(&'static str, Duration),
    /// Nothing more will come, but perhaps from maenifold's program.
    Done,
}

/// What is said of a thread that ended before its time.
const OUR_FAULT: &str = "a fault of this program ended it; please report it";

/// What the threads do.
#[derive(Clone)]
pub(super) struct Work {
    /// Tells workers apart, of whom there may be two.
    pub(super) number: usize,
    pub(super) request: Request,
    pub(super) now: Option<Timestamp>,
    pub(super) ranking: Ranking,
    /// Whether there are more cores than the walk and the search take.
    pub(super) has_spare_core: bool,
    /// Whether the index is known to be up to date, so that no file needs to be looked at.
    pub(super) is_watched: bool,
    /// The time that there is, as long as no settings are read.
    pub(super) deadline: Deadline,
    pub(super) teller: Sender<(usize, Told)>,
}

/// Whom the questions are put to.
#[derive(Clone, Copy)]
struct Known<'a> {
    index: Option<(&'a Arc<Workspace>, &'a Index)>,
    database: Option<&'a FromDatabase>,
    project: Option<&'a str>,
}

impl Work {
    /// Tells the listener, who may have stopped listening.
    fn tell(&self, tale: Told) {
        let _ = self.teller.send((self.number, tale));
    }

    fn timed<T>(&self, stage: &'static str, work: impl FnOnce() -> T) -> T {
        let started = Instant::now();
        let done = work();
        self.tell(Told::Took(stage, started.elapsed()));
        done
    }

    /// Works in a thread of its own, and tells when that is done, for better or worse.
    pub(super) fn start(&self, patience: Option<Duration>) {
        let work = self.clone();
        thread::spawn(move || {
            let mut listed = None;
            let done = catch_unwind(AssertUnwindSafe(|| work.run(patience, &mut listed)));
            if done.is_err() {
                work.tell(Told::Failed(Fault::new("index", OUR_FAULT)));
            }
            work.tell(Told::Done);
            // What was listed is freed here, when everybody has what they wait for.
            drop(listed);
        });
    }

    fn run(&self, patience: Option<Duration>, listed: &mut Option<Listed<'static>>) {
        let place = self.timed("find", || Place::find(&self.request));
        let found = place.as_ref().ok().cloned();
        self.tell(Told::Place(Box::new(place)));
        let Some(place) = found.filter(|place| place.settings.enabled.value) else { return };
        if patience.is_some() {
            // Somebody hangs already, perhaps at maenifold's own folder.
            return self.follow(place, None, patience, listed);
        }
        let until = self.until(&place);
        let chosen = self.timed("choose", || maenifold::choose(&place, self.now, until));
        self.tell(Told::Chosen(chosen.choice, chosen.faults));
        match chosen.asked {
            Asked::Index => self.follow(place, None, patience, listed),
            Asked::Database(database) => {
                let others = place.without_memory();
                self.follow(others, Some(*database), patience, listed);
            }
            Asked::Program(program) => {
                self.start_program(program, &place);
                self.follow(place, None, patience, listed);
            }
        }
    }

    /// Until when maenifold's program may answer.
    fn until(&self, place: &Place) -> Instant {
        let mut deadline = self.deadline;
        deadline.allow(Duration::from_millis(place.settings.deadline_ms.value));
        deadline.for_call(place.settings.source.value)
    }

    /// Asks the index of a place as it was left, looks through the vaults meanwhile, and asks again if that is needed.
    fn follow(
        &self,
        place: Place,
        database: Option<FromDatabase>,
        patience: Option<Duration>,
        listed: &mut Option<Listed<'static>>,
    ) {
        let project = place.project.name.clone();
        let Some(workspace) = self.open(place, database.is_some(), patience) else {
            if let Some(database) = &database {
                let (index, project) = (None, project.as_deref());
                let _ = self.ask(State::Last, Known { index, database: Some(database), project });
                self.tell(Told::Refreshed(None));
            }
            return;
        };
        if self.is_watched
            && database.is_none()
            && let Ok(index) = workspace.last_index()
            && self.ask(State::Last, Known::index(&workspace, &index, &project)).is_ok()
        {
            self.tell(Told::Refreshed(None));
            return;
        }
        let database = database.map(Arc::new);
        let asked = self.ask_the_last_index(&workspace, &database, &project);
        let listed = listed.insert(list(&workspace));
        // Nothing comes from a thread that ended in a fault of this program.
        let (asked, last) = asked.recv().unwrap_or_else(|_| (None, workspace.last_index()));
        let fresh = self.refresh(&workspace, listed, last, Mode::Incremental);
        let Some((index, refreshed)) = fresh else { return };
        let ask = |index: &Index| {
            let known = Known::index(&workspace, index, &project);
            self.ask(State::Fresh, Known { database: database.as_deref(), ..known })
        };
        let answered = match asked {
            // Another process may have written it between the questions and the look at the vaults.
            Some(Earlier { version, answered })
                if refreshed.is_as_before && index.version().is_ok_and(|now| now == version) =>
            {
                answered
            }
            _ => ask(&index),
        };
        // A damaged index is made again, and asked once more.
        if let Err(reason) = answered {
            let reason = format!("it was made anew: {reason}");
            self.tell(Told::Rebuilding(Fault::new("index", reason)));
            *listed = list(&workspace);
            let fresh = self.refresh(&workspace, listed, Ok(index), Mode::Full);
            if let Some((index, _)) = fresh {
                let _ = ask(&index);
            }
        }
    }

    fn open(
        &self,
        place: Place,
        has_database: bool,
        patience: Option<Duration>,
    ) -> Option<Arc<Workspace>> {
        let (workspace, errors) = match place.settings.vaults.is_empty() && has_database {
            true => (None, Vec::new()),
            false => self.timed("open", || Workspace::open_what_answers(place, patience)),
        };
        let faults = errors.iter().map(|error| Fault::new("vault", error)).collect();
        self.tell(Told::Opened(workspace.is_some() || has_database, faults));
        workspace.map(Arc::new)
    }

    fn refresh(
        &self,
        workspace: &Workspace,
        listed: &mut Listed<'_>,
        last: Result<Index, Unusable>,
        mode: Mode,
    ) -> Option<(Index, Refreshed)> {
        let started = Instant::now();
        let mut is_told = false;
        let fresh = refresh_listed(workspace, listed, last, mode, Patience::Skip, &mut |_, _| {
            if !std::mem::replace(&mut is_told, true) {
                self.tell(Told::Reading);
            }
        });
        match fresh {
            Ok((index, refreshed)) => {
                self.tell(Told::Took("list", refreshed.listed_in));
                self.tell(Told::Took("refresh", started.elapsed()));
                let said =
                    refreshed.notice.as_ref().map(|notice| Fault::new("index", said(notice)));
                self.tell(Told::Refreshed(said));
                Some((index, refreshed))
            }
            Err(error) => {
                self.tell(Told::Failed(Fault::new("index", error)));
                None
            }
        }
    }

    /// Opens the index as it was left and puts the questions to it, in a thread of its own, which then hands it over.
    fn ask_the_last_index(
        &self,
        workspace: &Arc<Workspace>,
        database: &Option<Arc<FromDatabase>>,
        project: &Option<String>,
    ) -> Receiver<(Option<Earlier>, Result<Index, Unusable>)> {
        let (sender, asked) = mpsc::channel();
        let work = self.clone();
        let (workspace, project) = (Arc::clone(workspace), project.clone());
        let database = database.clone();
        thread::spawn(move || {
            let last = workspace.last_index();
            let index = last.as_ref().ok().map(|index| (&workspace, index));
            let version = last.as_ref().ok().and_then(|index| index.version().ok());
            let (database, project) = (database.as_deref(), project.as_deref());
            // Without an index there may still be the database.
            let asked = (version.is_some() || database.is_some())
                .then(|| work.ask(State::Last, Known { index, database, project }));
            let asked = asked.zip(version).map(|(answered, version)| Earlier { version, answered });
            let _ = sender.send((asked, last));
        });
        asked
    }

    /// Puts all questions to the index and to the database, and tells their blended answers.
    fn ask(&self, state: State, known: Known<'_>) -> Answered {
        let Known { index, database, project } = known;
        let recent = index.and_then(|(workspace, _)| self.start_recent(workspace));
        let search = index.map_or(Ok(Vec::new()), |(workspace, index)| {
            self.timed("search", || questions::searched(workspace, index, project))
        });
        let search = search.map(|found| match database {
            Some(database) => blend::searched(database.search.clone(), found, SEARCHED),
            None => found,
        });
        self.tell(Told::Search(state, search.clone()));
        let recent = match (recent, index) {
            (Some(recent), _) => recent
                .recv()
                .unwrap_or_else(|_| Err(Failed { reason: OUR_FAULT.to_owned(), is_damage: false })),
            (None, Some((workspace, index))) => self.recent(workspace, index),
            (None, None) => Ok(Vec::new()),
        };
        let recent = recent.map(|found| match database {
            Some(database) => blend::recent(database.recent.clone(), found, RECENT),
            None => found,
        });
        self.tell(Told::Recent(state, recent.clone()));
        let (searched, changed) = (search.as_deref(), recent.as_deref());
        let (searched, changed) = (searched.unwrap_or_default(), changed.unwrap_or_default());
        let concepts = shortlist(self.ranking, searched, changed);
        let n_expanded = self.ranking.n_expanded();
        let details = self.timed("graph", || details(known, &concepts, n_expanded));
        let failed = [search.err(), recent.err(), details.as_ref().err().cloned()];
        self.tell(Told::Details(state, details));
        match failed.into_iter().flatten().find(|failed| failed.is_damage) {
            Some(Failed { reason, .. }) => Err(reason),
            None => Ok(()),
        }
    }

    /// Asks for recent activity beside the search, with a connection of its own, where there is a core for that. To open
    /// another connection takes longer than the answer: with two cores, of which the walk has one, it comes sooner
    /// after the search.
    fn start_recent(&self, workspace: &Arc<Workspace>) -> Option<Receiver<Answer<Vec<FoundNote>>>> {
        if !self.has_spare_core {
            return None;
        }
        let (sender, receiver) = mpsc::channel();
        let work = self.clone();
        let workspace = Arc::clone(workspace);
        thread::spawn(move || {
            let recent = match workspace.last_index() {
                Ok(index) => work.recent(&workspace, &index),
                Err(unusable) => Err(Failed::from(unusable)),
            };
            let _ = sender.send(recent);
        });
        Some(receiver)
    }

    fn recent(&self, workspace: &Workspace, index: &Index) -> Answer<Vec<FoundNote>> {
        self.timed("recent", || questions::recent(workspace, index, self.now))
    }
}

impl<'a> Known<'a> {
    fn index(workspace: &'a Arc<Workspace>, index: &'a Index, project: &'a Option<String>) -> Self {
        let (index, project) = (Some((workspace, index)), project.as_deref());
        Known { index, database: None, project }
    }
}

/// What is known about found concepts.
fn details(known: Known<'_>, ranked: &[FoundConcept], n_expanded: usize) -> Answer<ConceptDetails> {
    let Known { index, database, .. } = known;
    let of_index = index.map_or(Ok(ConceptDetails::new()), |(workspace, index)| {
        questions::details(workspace, index, ranked, n_expanded)
    })?;
    let Some(database) = database else { return Ok(of_index) };
    let of_database = database
        .details(ranked, n_expanded)
        .map_err(|reason| Failed { reason, is_damage: false })?;
    Ok(blend::details(of_database, of_index, NEIGHBOURS))
}

/// An index that was asked before.
struct Earlier {
    /// The state that it was in.
    version: i64,
    answered: Answered,
}

/// That all questions were answered, or what is damaged.
type Answered = Result<(), String>;

fn said(notice: &Notice) -> String {
    match notice {
        Notice::Rebuilt(reason) => format!("it was made anew: {reason}"),
        Notice::Busy => "another process is writing it: this is from the one before".to_owned(),
        Notice::Stale(reason) => format!("it could not be brought up to date: {reason}"),
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test writes its own notes")]
mod tests {
    use super::*;

    /// All that a worker tells about a vault, however its threads took turns.
    fn told(request: &Request, has_spare_core: bool) -> Vec<String> {
        let (teller, told) = mpsc::channel();
        let ranking = Ranking::default();
        let request = request.clone();
        let now = None;
        let is_watched = false;
        let deadline = Deadline::start(Duration::from_secs(60), None);
        let work =
            Work { number: 0, request, now, ranking, has_spare_core, is_watched, deadline, teller };
        work.run(None, &mut None);
        drop(work);
        let mut tales: Vec<String> = told
            .iter()
            .filter_map(|(_, tale)| match tale {
                Told::Search(_, answer) => Some(format!("search {answer:?}")),
                Told::Recent(_, answer) => Some(format!("recent {answer:?}")),
                Told::Details(_, answer) => Some(format!("details {answer:?}")),
                _ => None,
            })
            .collect();
        // A note that was just written is read again, and the questions are then put twice.
        tales.sort();
        tales.dedup();
        tales
    }

    #[test]
    fn recent_activity_beside_the_search_or_after_it_is_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let vault = folder.path().join("zephyr");
        std::fs::create_dir_all(vault.join(".kgctx")).unwrap();
        std::fs::write(vault.join("mast.md"), "# Mast\n\nOf zephyr, its [[Sail]] and [[Keel]].")
            .unwrap();
        // Found by no search, so that only recent activity can have brought its concept into the details.
        std::fs::write(vault.join("hull.md"), "# Hull\n\nMade of [[Planks]].").unwrap();
        let home = Some(folder.path().join("home"));
        let request =
            Request { dir: Some(vault.clone()), vaults: vec![vault], home, ..Request::default() };
        let first = told(&request, false);
        assert_eq!(first.len(), 3, "{first:#?}");
        assert!(first[0].contains("planks") && !first[2].contains("planks"), "{first:#?}");
        assert_eq!(told(&request, true), first);
        assert_eq!(told(&request, false), first);
    }
}
