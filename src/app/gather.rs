//! Gathers what a session's context is made of, under a deadline. What fails or comes too late is a fault beside the
//! rest.
//!
//! Everything that touches the outside is done by threads that tell what they found. This one only listens, and goes
//! on with what it has when time is up: a thread that hangs on a dead network folder ends with the process.
//!
//! The last index is asked while the vaults are still being looked through: mostly nothing has changed, and its answers
//! are the right ones. If something has, the questions are put again; if the look takes too long, they have to do.

use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use crate::adapters::index::{Index, Unusable};
use crate::app::deadline::Deadline;
use crate::app::questions::{self, Answer, Details, Failed};
use crate::app::refresh::{Listed, Mode, Notice, Patience, Refreshed, list, refresh_listed};
use crate::app::workspace::{AppError, Place, Request, Workspace};
use crate::domain::candidate::FoundNote;
use crate::domain::receipt::{Fault, Ranking, Stage};
use crate::domain::time::Timestamp;

/// What was found in time.
pub(super) struct Gathered<Draft> {
    /// The project and its settings; `None` where even that took too long.
    pub(super) place: Option<Place>,
    pub(super) found: Found,
    /// What was made of `found` while there was time, if it was.
    pub(super) draft: Option<Draft>,
    pub(super) faults: Vec<Fault>,
    pub(super) stages: Vec<Stage>,
    /// Whether notes were being read for the index when time was up, and still have to be.
    pub(super) is_index_unfinished: bool,
}

/// What the index answered.
#[derive(Debug, Clone, Default)]
pub(super) struct Found {
    pub(super) search: Vec<FoundNote>,
    pub(super) recent: Vec<FoundNote>,
    pub(super) details: Details,
}

/// Which state of the index was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// As it was left.
    Last,
    /// After the vaults were looked through.
    Fresh,
}

/// What a thread tells.
enum Told {
    Place(Box<Result<Place, AppError>>),
    Opened(Vec<Fault>),
    /// Notes are being read for the index.
    Reading,
    /// The index is up to date, or as good as it gets.
    Refreshed(Option<Fault>),
    /// There is no index to be had.
    Failed(Fault),
    Search(State, Answer<Vec<FoundNote>>),
    Recent(State, Answer<Vec<FoundNote>>),
    Details(State, Answer<Details>),
    Took(&'static str, Duration),
    /// Nothing more will come.
    Done,
}

/// Gathers as much as can be had in time. Only wrong usage or configuration is an error.
///
/// While the vaults are still being looked through, `draft` is called with what the last index answered: mostly that is
/// what will be needed.
pub(super) fn gather<Draft>(
    request: &Request,
    now: Option<Timestamp>,
    ranking: Ranking,
    deadline: &mut Deadline,
    draft: impl FnMut(&Place, &Found) -> Draft,
) -> Result<Gathered<Draft>, AppError> {
    let (teller, told) = mpsc::channel();
    let n_cores = thread::available_parallelism().map_or(1, NonZero::get);
    let work = Work { request: request.clone(), now, ranking, has_spare_core: n_cores > 2, teller };
    work.start(None);
    let listener = Listener {
        place: None,
        faults: Vec::new(),
        stages: Vec::new(),
        last: Answers::default(),
        fresh: Answers::default(),
        is_opened: false,
        is_reading: false,
        is_refreshed: false,
        drafted: None,
        draft,
    };
    listener.listen(&told, &work, deadline)
}

/// The answers of one state of the index, as far as they have come in.
#[derive(Default)]
struct Answers {
    search: Option<Answer<Vec<FoundNote>>>,
    recent: Option<Answer<Vec<FoundNote>>>,
    details: Option<Answer<Details>>,
}

impl Answers {
    fn n_came_in(&self) -> usize {
        usize::from(self.search.is_some())
            + usize::from(self.recent.is_some())
            + usize::from(self.details.is_some())
    }

    fn are_complete(&self) -> bool {
        self.n_came_in() == 3
    }

    /// What was answered, if everything was, and well.
    fn found(&self) -> Option<Found> {
        match (&self.search, &self.recent, &self.details) {
            (Some(Ok(search)), Some(Ok(recent)), Some(Ok(details))) => Some(Found {
                search: search.clone(),
                recent: recent.clone(),
                details: details.clone(),
            }),
            _ => None,
        }
    }
}

/// Hears what the threads tell.
struct Listener<Draft, Make> {
    place: Option<Place>,
    faults: Vec<Fault>,
    stages: Vec<Stage>,
    last: Answers,
    fresh: Answers,
    is_opened: bool,
    is_reading: bool,
    is_refreshed: bool,
    drafted: Option<Draft>,
    draft: Make,
}

impl<Draft, Make: FnMut(&Place, &Found) -> Draft> Listener<Draft, Make> {
    fn listen(
        mut self,
        told: &Receiver<Told>,
        work: &Work,
        deadline: &mut Deadline,
    ) -> Result<Gathered<Draft>, AppError> {
        let mut is_careful = false;
        loop {
            let hangs = self.place.is_some() && !self.is_opened && !is_careful;
            // Who has something to say does not wait to the end for something newer.
            let may_stop_early = !self.is_refreshed && self.last.are_complete();
            if may_stop_early && self.drafted.is_none() {
                self.make_draft();
            }
            let until = if hangs {
                deadline.for_opening()
            } else if may_stop_early {
                deadline.for_refreshing()
            } else {
                deadline.for_gathering()
            };
            match told.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(Told::Done) => return Ok(self.end(true)),
                Ok(Told::Place(place)) => {
                    let place = (*place)?;
                    deadline.allow(Duration::from_millis(place.settings.deadline_ms.value));
                    self.place = Some(place);
                }
                Ok(tale) => self.hear(tale),
                Err(_) if hangs => {
                    is_careful = true;
                    work.start(Some(deadline.for_one_vault()));
                }
                Err(_) => return Ok(self.end(false)),
            }
        }
    }

    /// Uses the time until the vaults are looked through.
    fn make_draft(&mut self) {
        if let (Some(place), Some(found)) = (&self.place, self.last.found()) {
            self.drafted = Some((self.draft)(place, &found));
        }
    }

    fn hear(&mut self, tale: Told) {
        match tale {
            Told::Search(state, answer) => self.of(state).search = Some(answer),
            Told::Recent(state, answer) => self.of(state).recent = Some(answer),
            Told::Details(state, answer) => self.of(state).details = Some(answer),
            Told::Opened(faults) => {
                self.faults.extend(faults);
                self.is_opened = true;
            }
            Told::Reading => self.is_reading = true,
            Told::Refreshed(fault) => {
                self.faults.extend(fault);
                self.is_refreshed = true;
            }
            Told::Failed(fault) => {
                self.faults.push(fault);
                self.is_refreshed = true;
            }
            Told::Took(stage, took) => self.stages.push(stage_of(stage, took)),
            Told::Place(_) | Told::Done => {}
        }
    }

    fn of(&mut self, state: State) -> &mut Answers {
        match state {
            State::Last => &mut self.last,
            State::Fresh => &mut self.fresh,
        }
    }

    /// Takes the best answers that there are, and says what is missing.
    fn end(self, is_done: bool) -> Gathered<Draft> {
        let Listener { place, mut faults, last, fresh, is_refreshed, .. } = self;
        let late = "it did not answer in time";
        let newer_is_late = fresh.n_came_in() > 0 && !fresh.are_complete() && last.are_complete();
        let takes_fresh = fresh.n_came_in() > 0 && !newer_is_late;
        if place.is_none() && !is_done {
            faults.push(Fault::new("project", late));
        } else if self.is_opened && !is_done && (!is_refreshed || newer_is_late) {
            let reason = if last.n_came_in() > 0 {
                "the notes could not be looked through in time; this is from the last index"
            } else {
                "it was not ready in time, and there was none before"
            };
            faults.push(Fault::new("index", reason));
        }
        let Answers { search, recent, details } = if takes_fresh { fresh } else { last };
        // Whoever says that all is done has said why something is missing.
        let missing = (place.is_some() && !is_done).then_some(late);
        let found = Found {
            search: taken("search", search, missing, &mut faults),
            recent: taken("recent", recent, missing, &mut faults),
            details: taken("graph", details, missing, &mut faults),
        };
        Gathered {
            place,
            found,
            draft: self.drafted.filter(|_| !takes_fresh),
            faults,
            stages: self.stages,
            is_index_unfinished: self.is_reading && !is_refreshed,
        }
    }
}

/// Takes an answer, or says why there is none.
fn taken<T: Default>(
    source: &str,
    answer: Option<Answer<T>>,
    missing: Option<&str>,
    faults: &mut Vec<Fault>,
) -> T {
    let reason = match answer {
        Some(Ok(answer)) => return answer,
        Some(Err(failed)) => Some(failed.reason),
        None => missing.map(str::to_owned),
    };
    faults.extend(reason.map(|reason| Fault::new(source, reason)));
    T::default()
}

/// What the threads do.
#[derive(Clone)]
struct Work {
    request: Request,
    now: Option<Timestamp>,
    ranking: Ranking,
    /// Whether there are more cores than the walk and the search take.
    has_spare_core: bool,
    teller: Sender<Told>,
}

impl Work {
    /// Tells the listener, who may have stopped listening.
    fn tell(&self, tale: Told) {
        let _ = self.teller.send(tale);
    }

    fn timed<T>(&self, stage: &'static str, work: impl FnOnce() -> T) -> T {
        let started = Instant::now();
        let done = work();
        self.tell(Told::Took(stage, started.elapsed()));
        done
    }

    /// Works in a thread of its own, and tells when that is done, for better or worse.
    fn start(&self, patience: Option<Duration>) {
        let work = self.clone();
        thread::spawn(move || {
            let mut listed = None;
            let done = catch_unwind(AssertUnwindSafe(|| work.run(patience, &mut listed)));
            if done.is_err() {
                let reason = "a fault of this program ended it; please report it";
                work.tell(Told::Failed(Fault::new("index", reason)));
            }
            work.tell(Told::Done);
            // What was listed is freed here, when everybody has what they wait for.
            drop(listed);
        });
    }

    fn run(&self, patience: Option<Duration>, listed: &mut Option<Listed>) {
        let Some((workspace, project)) = self.open(patience) else { return };
        let asked = self.ask_the_last_index(&workspace, &project);
        let listed = listed.insert(list(&workspace));
        // Nothing comes from a thread that ended in a fault of this program.
        let (answered, last) = asked.recv().unwrap_or_else(|_| (None, workspace.last_index()));
        let fresh = self.refresh(&workspace, listed, last, Mode::Incremental, None);
        let Some((index, refreshed)) = fresh else { return };
        let answered = match answered {
            Some(answered) if refreshed.is_as_before => answered,
            _ => self.ask(State::Fresh, &workspace, &index, &project),
        };
        // A damaged index is made again, and asked once more.
        if let Err(reason) = answered {
            let fault = Fault::new("index", format!("it was made anew: {reason}"));
            *listed = list(&workspace);
            let fresh = self.refresh(&workspace, listed, Ok(index), Mode::Full, Some(fault));
            if let Some((index, _)) = fresh {
                let _ = self.ask(State::Fresh, &workspace, &index, &project);
            }
        }
    }

    fn open(&self, patience: Option<Duration>) -> Option<(Arc<Workspace>, Option<String>)> {
        let place = self.timed("find", || Place::find(&self.request));
        let opened = place.as_ref().ok().cloned();
        self.tell(Told::Place(Box::new(place)));
        let place = opened.filter(|place| place.settings.enabled.value)?;
        let project = place.project.name.clone();
        let (workspace, errors) =
            self.timed("open", || Workspace::open_what_answers(place, patience));
        let faults = errors.iter().map(|error| Fault::new("vault", error)).collect();
        self.tell(Told::Opened(faults));
        Some((Arc::new(workspace?), project))
    }

    fn refresh(
        &self,
        workspace: &Workspace,
        listed: &mut Listed,
        last: Result<Index, Unusable>,
        mode: Mode,
        because: Option<Fault>,
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
                self.tell(Told::Refreshed(because.or(said)));
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
        project: &Option<String>,
    ) -> Receiver<(Option<Answered>, Result<Index, Unusable>)> {
        let (sender, asked) = mpsc::channel();
        let work = self.clone();
        let (workspace, project) = (Arc::clone(workspace), project.clone());
        thread::spawn(move || {
            let last = workspace.last_index();
            let answered =
                last.as_ref().ok().map(|index| work.ask(State::Last, &workspace, index, &project));
            let _ = sender.send((answered, last));
        });
        asked
    }

    /// Puts all questions to an index.
    fn ask(
        &self,
        state: State,
        workspace: &Arc<Workspace>,
        index: &Index,
        project: &Option<String>,
    ) -> Answered {
        let recent = self.start_recent(state, workspace);
        let search =
            self.timed("search", || questions::searched(workspace, index, project.as_deref()));
        self.tell(Told::Search(state, search.clone()));
        let recent = match recent {
            Some(recent) => recent.recv().unwrap_or(Ok(Vec::new())),
            None => self.recent(state, workspace, index),
        };
        let found = search.iter().flatten().chain(recent.iter().flatten());
        let ranked = questions::best(self.ranking, found);
        let details = self.timed("graph", || questions::details(workspace, index, &ranked));
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
    fn start_recent(
        &self,
        state: State,
        workspace: &Arc<Workspace>,
    ) -> Option<Receiver<Answer<Vec<FoundNote>>>> {
        if !self.has_spare_core {
            return None;
        }
        let (sender, receiver) = mpsc::channel();
        let work = self.clone();
        let workspace = Arc::clone(workspace);
        thread::spawn(move || {
            let recent = match workspace.last_index() {
                Ok(index) => work.recent(state, &workspace, &index),
                Err(unusable) => {
                    let failed = Failed::from(unusable);
                    work.tell(Told::Recent(state, Err(failed.clone())));
                    Err(failed)
                }
            };
            let _ = sender.send(recent);
        });
        Some(receiver)
    }

    fn recent(&self, state: State, workspace: &Workspace, index: &Index) -> Answer<Vec<FoundNote>> {
        let recent = self.timed("recent", || questions::recent(workspace, index, self.now));
        self.tell(Told::Recent(state, recent.clone()));
        recent
    }
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

/// A stage that took so long.
pub(super) fn stage_of(name: &str, took: Duration) -> Stage {
    Stage { name: name.to_owned(), ms: (took.as_secs_f64() * 1e6).round() / 1e3 }
}
