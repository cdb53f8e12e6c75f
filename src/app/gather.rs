//! Gathers what a session's context is made of, under a deadline. What fails or comes too late is a fault beside the
//! rest.
//!
//! Everything that touches the outside is done by threads that tell what they found. This one only listens, and goes
//! on with what it has when time is up: a thread that hangs on a dead network folder ends with the process.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use crate::adapters::index::{Index, IndexError, NoteCard, NoteId, Unusable};
use crate::app::deadline::Deadline;
use crate::app::recent::{self, RecentQuestion};
use crate::app::refresh::{Mode, Notice, Patience, refresh};
use crate::app::search;
use crate::app::workspace::{AppError, Place, Request, Workspace};
use crate::domain::answer::RecentFilter;
use crate::domain::candidate::{ConceptDetail, FoundConcept, FoundNote, Link, Signal};
use crate::domain::concept::Concept;
use crate::domain::receipt::{Fault, Ranking, Stage};
use crate::domain::time::{Timespan, Timestamp};
use crate::engine::compose::EXPANDED;
use crate::engine::merge::merge;
use crate::engine::rank::rank;

/// How many notes a search for the project's name adds.
const SEARCHED: usize = 5;
/// How many notes of the last day are taken in.
const RECENT: usize = 10;
/// How many concepts are looked at: some notes link to thousands, of which no context could hold the names.
const CONCEPTS: usize = 256;
/// How many concepts around each expanded one.
const NEIGHBOURS: usize = 10;

/// What was found in time.
#[derive(Default)]
pub(super) struct Gathered {
    /// The project and its settings; `None` where even that took too long.
    pub(super) place: Option<Place>,
    pub(super) search: Vec<FoundNote>,
    pub(super) recent: Vec<FoundNote>,
    pub(super) details: Details,
    pub(super) faults: Vec<Fault>,
    pub(super) stages: Vec<Stage>,
    /// Whether notes were being read for the index when time was up, and still have to be.
    pub(super) is_index_unfinished: bool,
}

type Details = BTreeMap<Concept, ConceptDetail>;

impl Gathered {
    /// The concepts that were found, best first.
    pub(super) fn ranked(&self, ranking: Ranking) -> Vec<FoundConcept> {
        best(ranking, self.search.iter().chain(&self.recent))
    }
}

/// The best concepts of found notes.
fn best<'a>(ranking: Ranking, found: impl Iterator<Item = &'a FoundNote>) -> Vec<FoundConcept> {
    let mut ranked = rank(ranking, merge(found));
    ranked.truncate(CONCEPTS);
    ranked
}

/// What a thread tells.
enum Told {
    Place(Box<Result<Place, AppError>>),
    Workspace(Option<Arc<Workspace>>, Vec<Fault>),
    /// Notes are being read for the index.
    Reading,
    /// The index is up to date, or as good as it gets.
    Refreshed(Result<Option<Fault>, Fault>),
    Search(Answer<Vec<FoundNote>>),
    Recent(Answer<Vec<FoundNote>>),
    Details(Answer<Details>),
    Took(&'static str, Duration),
    /// Nothing more will come from this thread.
    Done,
}

type Answer<T> = Result<T, Failed>;

/// Why a question was not answered.
#[derive(Debug, Clone)]
struct Failed {
    reason: String,
    /// Whether the index has to be made again.
    damaged: bool,
}

impl From<IndexError> for Failed {
    fn from(error: IndexError) -> Failed {
        Failed { reason: error.to_string(), damaged: matches!(error, IndexError::Damaged(_)) }
    }
}

/// Gathers as much as can be had in time. Only wrong usage or configuration is an error.
pub(super) fn gather(
    request: &Request,
    now: Option<Timestamp>,
    ranking: Ranking,
    deadline: &mut Deadline,
) -> Result<Gathered, AppError> {
    let (teller, told) = mpsc::channel();
    let work = Work { now, ranking, teller };
    let request = request.clone();
    work.start(move |work| work.run(&request));
    let listener = Listener {
        gathered: Gathered::default(),
        workspace: None,
        is_fresh: false,
        is_reading: false,
        came_in: BTreeSet::new(),
    };
    listener.listen(&told, &work, deadline)
}

/// The sources of a context, in the words of its faults.
const SOURCES: [&str; 3] = ["search", "recent", "graph"];

/// Hears what the threads tell.
struct Listener {
    gathered: Gathered,
    workspace: Option<Arc<Workspace>>,
    is_fresh: bool,
    is_reading: bool,
    /// Which of the sources have answered.
    came_in: BTreeSet<&'static str>,
}

impl Listener {
    fn listen(
        mut self,
        told: &Receiver<Told>,
        work: &Work,
        deadline: &mut Deadline,
    ) -> Result<Gathered, AppError> {
        let mut n_working = 1;
        let mut asks_the_last_index = false;
        loop {
            let may_ask_the_last_index =
                self.workspace.is_some() && !self.is_fresh && !asks_the_last_index;
            let until = if may_ask_the_last_index {
                deadline.for_refreshing()
            } else {
                deadline.for_gathering()
            };
            match told.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(Told::Done) => {
                    n_working -= 1;
                    if n_working == 0 || self.came_in.len() == SOURCES.len() {
                        return Ok(self.ended());
                    }
                }
                Ok(Told::Place(place)) => {
                    let place = (*place)?;
                    deadline.allow(Duration::from_millis(place.settings.deadline_ms.value));
                    self.gathered.place = Some(place);
                }
                Ok(tale) => self.hear(tale),
                Err(_) if may_ask_the_last_index => {
                    asks_the_last_index = true;
                    n_working += 1;
                    self.give_up_refreshing(work);
                }
                Err(_) => {
                    self.mark_what_is_late();
                    return Ok(self.ended());
                }
            }
        }
    }

    fn hear(&mut self, tale: Told) {
        match tale {
            Told::Search(answer) => {
                self.gathered.search = self.take("search", answer);
            }
            Told::Recent(answer) => {
                self.gathered.recent = self.take("recent", answer);
            }
            Told::Details(answer) => {
                self.gathered.details = self.take("graph", answer);
            }
            Told::Workspace(workspace, faults) => {
                self.gathered.faults.extend(faults);
                self.workspace = workspace;
            }
            Told::Reading => self.is_reading = true,
            Told::Refreshed(Ok(fault)) => {
                self.gathered.faults.extend(fault);
                self.is_fresh = true;
            }
            Told::Refreshed(Err(fault)) => self.gathered.faults.push(fault),
            Told::Took(stage, took) => self.gathered.stages.push(stage_of(stage, took)),
            Told::Place(_) | Told::Done => {}
        }
    }

    fn ended(mut self) -> Gathered {
        self.gathered.is_index_unfinished = self.is_reading && !self.is_fresh;
        self.gathered
    }

    /// Takes an answer in the place of an earlier one to the same question.
    fn take<T: Default>(&mut self, source: &'static str, answer: Answer<T>) -> T {
        let faults = &mut self.gathered.faults;
        faults.retain(|fault| fault.source != source);
        self.came_in.insert(source);
        answer.unwrap_or_else(|failed| {
            faults.push(Fault::new(source, failed.reason));
            T::default()
        })
    }

    /// Answers from the index as it was left, while the refresh goes on for nobody.
    fn give_up_refreshing(&mut self, work: &Work) {
        let Some(workspace) = self.workspace.clone() else { return };
        let reason = "the notes could not be looked through in time; this is from the last index";
        self.gathered.faults.push(Fault::new("index", reason));
        let project = self.gathered.place.as_ref().and_then(|place| place.project.name.clone());
        work.start(move |work| match workspace.last_index() {
            // Damage is the business of the refresh that goes on.
            Ok(index) => drop(work.ask(&workspace, &index, project.as_deref())),
            Err(unusable) => work.tell(Told::Refreshed(Err(Fault::new("index", unusable)))),
        });
    }

    fn mark_what_is_late(&mut self) {
        let late = "it did not answer in time";
        let faults = &mut self.gathered.faults;
        if self.gathered.place.is_none() {
            faults.push(Fault::new("project", late));
            return;
        }
        for source in SOURCES {
            if !self.came_in.contains(source) {
                faults.push(Fault::new(source, late));
            }
        }
    }
}

/// What the threads do.
#[derive(Clone)]
struct Work {
    now: Option<Timestamp>,
    ranking: Ranking,
    teller: Sender<Told>,
}

impl Work {
    /// Works in a thread of its own, and tells when that is done, for better or worse.
    fn start(&self, work: impl FnOnce(&Work) + Send + 'static) {
        let this = self.clone();
        thread::spawn(move || {
            if catch_unwind(AssertUnwindSafe(|| work(&this))).is_err() {
                let reason = "a fault of the program stopped it; please report it";
                this.tell(Told::Refreshed(Err(Fault::new("index", reason))));
            }
            this.tell(Told::Done);
        });
    }

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

    fn run(&self, request: &Request) {
        if let Some((workspace, project)) = self.open(request) {
            self.refresh_and_ask(&workspace, project.as_deref());
        }
    }

    fn open(&self, request: &Request) -> Option<(Arc<Workspace>, Option<String>)> {
        let place = self.timed("find", || Place::find(request));
        let opened = place.as_ref().ok().cloned();
        self.tell(Told::Place(Box::new(place)));
        let place = opened.filter(|place| place.settings.enabled.value)?;
        let project = place.project.name.clone();
        let patience = Duration::from_millis(place.settings.deadline_ms.value / 4);
        let (workspace, errors) =
            self.timed("open", || Workspace::open_what_answers(place, patience));
        let workspace = workspace.map(Arc::new);
        let faults = errors.iter().map(|error| Fault::new("vault", error)).collect();
        self.tell(Told::Workspace(workspace.clone(), faults));
        Some((workspace?, project))
    }

    fn refresh_and_ask(&self, workspace: &Arc<Workspace>, project: Option<&str>) {
        let mut damage = None;
        for mode in [Mode::Incremental, Mode::Full] {
            let started = Instant::now();
            let mut is_told = false;
            let fresh = refresh(workspace, mode, Patience::Skip, &mut |_, _| {
                if !std::mem::replace(&mut is_told, true) {
                    self.tell(Told::Reading);
                }
            });
            let (index, refreshed) = match fresh {
                Ok(fresh) => fresh,
                Err(error) => return self.tell(Told::Refreshed(Err(Fault::new("index", error)))),
            };
            let all = started.elapsed();
            self.tell(Told::Took("list", refreshed.listed_in));
            self.tell(Told::Took("refresh", all.saturating_sub(refreshed.listed_in)));
            let fault = refreshed.notice.as_ref().map(|notice| Fault::new("index", said(notice)));
            self.tell(Told::Refreshed(Ok(fault.or(damage.take()))));
            match self.ask(workspace, &index, project) {
                Ok(()) => return,
                // A damaged index is made again, and asked once more.
                Err(reason) => {
                    damage = Some(Fault::new("index", format!("it was made anew: {reason}")));
                }
            }
        }
    }

    /// Puts all questions to an index; `Err` tells that it is damaged.
    fn ask(
        &self,
        workspace: &Arc<Workspace>,
        index: &Index,
        project: Option<&str>,
    ) -> Result<(), String> {
        // Side by side: each has its own connection, and neither waits for the other.
        let (sender, receiver) = mpsc::channel();
        let work = self.clone();
        let for_thread = Arc::clone(workspace);
        thread::spawn(move || {
            let recent = work.timed("recent", || work.recent(&for_thread));
            work.tell(Told::Recent(recent.clone()));
            let _ = sender.send(recent);
        });
        let search = self.timed("search", || match project {
            Some(project) => answered(index, |index| searched(workspace, index, project)),
            None => Ok(Vec::new()),
        });
        self.tell(Told::Search(search.clone()));
        let recent = receiver.recv().unwrap_or(Ok(Vec::new()));
        let found = search.iter().flatten().chain(recent.iter().flatten());
        let ranked = best(self.ranking, found);
        let details =
            self.timed("graph", || answered(index, |index| details(workspace, index, &ranked)));
        let failed = [search.err(), recent.err(), details.as_ref().err().cloned()];
        self.tell(Told::Details(details));
        match failed.into_iter().flatten().find(|failed| failed.damaged) {
            Some(failed) => Err(failed.reason),
            None => Ok(()),
        }
    }

    fn recent(&self, workspace: &Workspace) -> Answer<Vec<FoundNote>> {
        let index = workspace.last_index().map_err(|unusable| match unusable {
            Unusable::Failed(error) => Failed::from(error),
            other => Failed { reason: other.to_string(), damaged: false },
        })?;
        let question = RecentQuestion {
            now: self.now,
            span: Timespan::DAY,
            limit: RECENT,
            filter: RecentFilter::Memory,
        };
        answered(&index, |index| {
            let (newest, _) = recent::newest(workspace, index, question)?;
            let found = newest.into_iter().enumerate().map(|(n, (note, uri, card))| {
                found(index, note, card, uri.clone(), Signal::Recent { place: n + 1, uri })
            });
            found.collect()
        })
    }
}

/// Asks something of one state of an index.
fn answered<T>(index: &Index, question: impl FnOnce(&Index) -> Result<T, IndexError>) -> Answer<T> {
    Ok(index.consistently(question)?)
}

fn searched(
    workspace: &Workspace,
    index: &Index,
    project: &str,
) -> Result<Vec<FoundNote>, IndexError> {
    let best = search::best(workspace, index, project, SEARCHED)?;
    let found = best.into_iter().enumerate().map(|(n, ranked)| {
        let card = index.card(ranked.note)?;
        let uri = search::uri(workspace, &card);
        let signal = Signal::Search { place: n + 1, uri: uri.clone(), matched: ranked.matched };
        found(index, ranked.note, card, uri, signal)
    });
    found.collect()
}

fn found(
    index: &Index,
    note: NoteId,
    card: NoteCard,
    uri: String,
    signal: Signal,
) -> Result<FoundNote, IndexError> {
    let NoteCard { title, excerpt, .. } = card;
    Ok(FoundNote { uri, title, excerpt, concepts: index.concepts_of(note)?, signal })
}

/// What the index knows about found concepts, and what stands around the best of them.
fn details(
    workspace: &Workspace,
    index: &Index,
    ranked: &[FoundConcept],
) -> Result<Details, IndexError> {
    let mut details = Details::new();
    for (n, FoundConcept { concept, .. }) in ranked.iter().enumerate() {
        let Some((row, notes)) = index.concept_and_notes(concept)? else { continue };
        let mut detail = ConceptDetail { notes, ..ConceptDetail::default() };
        if let Some((note, ..)) = index.named(concept, 1)?.first() {
            let card = index.card(*note)?;
            detail.note = Some((search::uri(workspace, &card), card.excerpt));
        }
        if n < EXPANDED {
            detail.neighbours = neighbours(index, row)?;
        }
        details.insert(concept.clone(), detail);
    }
    Ok(details)
}

/// The concepts around one, those with the most common notes first.
///
/// Without the weights that fade from day to day: what a session is given changes with the notes, not with the clock.
fn neighbours(index: &Index, concept: i64) -> Result<Vec<Link>, IndexError> {
    let mut links: Vec<Link> = index
        .neighbours(concept, NEIGHBOURS, 0)?
        .into_iter()
        .map(|neighbour| Link { concept: neighbour.name, notes: neighbour.notes })
        .collect();
    links.sort_by(|a, b| b.notes.cmp(&a.notes).then_with(|| a.concept.cmp(&b.concept)));
    Ok(links)
}

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
