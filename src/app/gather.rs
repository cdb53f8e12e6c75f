//! Gathers what a session's context is made of, under a deadline. What fails or comes too late is a fault beside the
//! rest.
//!
//! Everything that touches the outside is done by threads that tell what they found. This one only listens, and goes
//! on with what it has when time is up: a thread that hangs on a dead network folder ends with the process.

use std::num::NonZero;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use crate::app::deadline::Deadline;
use crate::app::session::Session;
use crate::app::worker::{State, Told, Work};
use crate::core::context::found::{ConceptDetails, Found, FoundNote};
use crate::core::context::rank::Ranking;
use crate::core::context::receipt::{Fault, Stage};
use crate::core::source::{Source, SourceChoice, SourcePreference};
use crate::sources::questions::Answer;
use crate::workspace::{AppError, Place};

/// The worker who is there from the start.
const FIRST: usize = 0;
/// The one who is called when the first one hangs.
const SECOND: usize = 1;

/// What was found in time.
pub(super) struct Gathered<Draft> {
    /// The project and its settings; `None` where even that took too long.
    pub(super) place: Option<Place>,
    pub(super) found: Found,
    /// Who answered about maenifold's memory, if that was decided.
    pub(super) source: Option<SourceChoice>,
    /// Whether maenifold's program was asked in vain.
    pub(super) has_program_failed: bool,
    /// What was made of `found` while there was time, if it was.
    pub(super) draft: Option<Draft>,
    pub(super) faults: Vec<Fault>,
    pub(super) stages: Vec<Stage>,
    /// The notes that were being read for the index when time was up, and still have to be.
    pub(super) unfinished: Option<Unfinished>,
}

/// The notes of an index that is not finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unfinished {
    /// Those of all vaults.
    All,
    /// Those of all vaults but maenifold's memory.
    Others,
}

/// Gathers as much as can be had in time. Only wrong usage or configuration is an error.
///
/// While the vaults are still being looked through, `draft` is called with what the last index answered: mostly that is
/// what will be needed.
pub(super) fn gather<Draft>(
    session: &Session,
    ranking: Ranking,
    deadline: &mut Deadline,
    draft: impl FnMut(&Place, &Found) -> Draft,
) -> Result<Gathered<Draft>, AppError> {
    let (teller, told) = mpsc::channel();
    let n_cores = thread::available_parallelism().map_or(1, NonZero::get);
    let work = Work {
        number: FIRST,
        request: session.place.clone(),
        now: session.now,
        ranking,
        has_spare_core: n_cores > 2,
        is_watched: session.is_watched,
        deadline: *deadline,
        teller,
    };
    work.start(None);
    let listener = Listener {
        place: None,
        faults: Vec::new(),
        stages: Vec::new(),
        choice: None,
        program: Program::NotAsked,
        last: Answers::default(),
        fresh: Answers::default(),
        heard: None,
        unheard_faults: Vec::new(),
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
    details: Option<Answer<ConceptDetails>>,
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

/// What is known of maenifold's program.
enum Program {
    NotAsked,
    Asked,
    Answered(Box<(Found, Vec<Fault>)>),
    /// It cannot be counted on any more, and why.
    Failed(String),
}

/// Hears what the threads tell.
struct Listener<Draft, Make> {
    place: Option<Place>,
    faults: Vec<Fault>,
    stages: Vec<Stage>,
    /// Whom the first worker chose to be asked about maenifold's memory. The second one asks the index alone.
    choice: Option<SourceChoice>,
    program: Program,
    last: Answers,
    fresh: Answers,
    /// The worker who opened a vault first: only that one is listened to then.
    heard: Option<usize>,
    /// What a worker who could open none said about that.
    unheard_faults: Vec<Fault>,
    is_reading: bool,
    is_refreshed: bool,
    drafted: Option<Draft>,
    draft: Make,
}

impl<Draft, Make: FnMut(&Place, &Found) -> Draft> Listener<Draft, Make> {
    fn listen(
        mut self,
        told: &Receiver<(usize, Told)>,
        work: &Work,
        deadline: &mut Deadline,
    ) -> Result<Gathered<Draft>, AppError> {
        let mut is_careful = false;
        let mut n_working = 1;
        let mut is_done = false;
        loop {
            let is_asked = matches!(self.program, Program::Asked);
            if self.has_whole_answer() || (is_done && !is_asked) {
                return Ok(self.end(is_done));
            }
            let hangs = self.place.is_some() && self.heard.is_none() && !is_careful && !is_done;
            // Who has something to say does not wait to the end for something newer.
            let may_stop_early = !self.is_refreshed && self.last.are_complete();
            if may_stop_early && self.drafted.is_none() {
                self.make_draft();
            }
            let until = if hangs {
                deadline.for_opening()
            } else if is_asked && (is_done || may_stop_early) {
                deadline.for_program(self.wish())
            } else if may_stop_early {
                deadline.for_refreshing()
            } else {
                deadline.for_gathering()
            };
            match told.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok((worker, Told::Done)) => {
                    n_working -= 1;
                    is_done |= n_working == 0 || self.heard == Some(worker);
                }
                Ok((_, Told::Place(place))) => {
                    let place = (*place)?;
                    deadline.allow(Duration::from_millis(place.settings.deadline_ms.value));
                    self.place = Some(place);
                }
                Ok((_, Told::Chosen(choice, faults))) => {
                    if choice.source == Source::Cli {
                        self.program = Program::Asked;
                    }
                    self.choice = Some(choice);
                    self.faults.extend(faults);
                }
                Ok((worker, Told::Opened(has_vault, faults))) => {
                    self.opened(worker, has_vault, faults);
                }
                Ok((_, Told::Program(answer))) => {
                    self.program = match answer {
                        Ok(found) => Program::Answered(found),
                        Err(reason) => Program::Failed(reason),
                    };
                }
                Ok((worker, tale)) if self.heard.is_none_or(|heard| heard == worker) => {
                    self.hear(tale);
                }
                Ok(_) => {}
                Err(_) if hangs => {
                    is_careful = true;
                    n_working += 1;
                    let careful = Work { number: SECOND, ..work.clone() };
                    careful.start(Some(deadline.for_one_vault()));
                }
                Err(_) => return Ok(self.end(is_done)),
            }
        }
    }

    /// Whether maenifold's program has said everything, or the index can say the rest.
    fn has_whole_answer(&self) -> bool {
        match &self.program {
            Program::Answered(answered) => {
                let (_, faults) = &**answered;
                faults.is_empty() || self.last.are_complete() || self.fresh.are_complete()
            }
            _ => false,
        }
    }

    fn opened(&mut self, worker: usize, has_vault: bool, faults: Vec<Fault>) {
        if !has_vault {
            self.unheard_faults = faults;
        } else if self.heard.is_none() {
            self.heard = Some(worker);
            self.faults.extend(faults);
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
            Told::Reading => self.is_reading = true,
            Told::Rebuilding(fault) => {
                self.faults.push(fault);
                self.is_refreshed = false;
                self.is_reading = false;
            }
            Told::Refreshed(fault) => {
                self.faults.extend(fault);
                self.is_refreshed = true;
            }
            Told::Failed(fault) => {
                self.faults.push(fault);
                self.is_refreshed = true;
            }
            Told::Took(stage, took) => self.stages.push(Stage::new(stage, took)),
            Told::Place(_)
            | Told::Chosen(..)
            | Told::Opened(..)
            | Told::Program(_)
            | Told::Done => {}
        }
    }

    fn of(&mut self, state: State) -> &mut Answers {
        match state {
            State::Last => &mut self.last,
            State::Fresh => &mut self.fresh,
        }
    }

    fn wish(&self) -> SourcePreference {
        self.place
            .as_ref()
            .map_or_else(SourcePreference::default, |place| place.settings.source.value)
    }

    /// Why the index answered, when the second worker was heard. Whoever the first one chose is not heard then.
    fn instead_of(&mut self, chosen: Option<SourceChoice>) -> SourceChoice {
        let because = match chosen {
            Some(SourceChoice { source: Source::Index, because }) => because,
            Some(_) => "a folder of notes does not answer".to_owned(),
            None => {
                let because = "it took too long to find out what maenifold knows";
                if self.wish() != SourcePreference::Index {
                    self.faults.push(Fault::new("maenifold", because));
                }
                because.to_owned()
            }
        };
        SourceChoice { source: Source::Index, because }
    }

    /// What the program found, with what the index knows where the program failed.
    fn completed(&mut self, (mut found, faults): (Found, Vec<Fault>)) -> Found {
        let of_index = [&self.fresh, &self.last]
            .into_iter()
            .find_map(|answers| answers.details.as_ref().and_then(|details| details.as_ref().ok()));
        if let Some(of_index) = of_index.filter(|_| !faults.is_empty()) {
            for (concept, detail) in
                of_index.iter().filter(|(_, known)| !known.neighbours.is_empty())
            {
                let known = found.details.entry(concept.clone()).or_default();
                if known.neighbours.is_empty() {
                    known.neighbours.clone_from(&detail.neighbours);
                }
            }
        }
        self.faults.extend(faults);
        found
    }

    /// Takes the best answers that there are, and says what is missing.
    fn end(mut self, is_done: bool) -> Gathered<Draft> {
        let mut source = self.choice.take();
        if self.heard == Some(SECOND) && !matches!(&source, Some(by) if by.source == Source::Cli) {
            source = Some(self.instead_of(source));
        }
        let is_by_database = source.as_ref().is_some_and(|by| by.source == Source::Database);
        let unfinished = if is_by_database { Unfinished::Others } else { Unfinished::All };
        let unfinished = (self.is_reading && !self.is_refreshed).then_some(unfinished);
        let reason = match std::mem::replace(&mut self.program, Program::NotAsked) {
            Program::Answered(answered) => {
                let found = self.completed(*answered);
                let Listener { place, faults, stages, .. } = self;
                let (draft, has_program_failed) = (None, false);
                return Gathered {
                    place,
                    found,
                    source,
                    has_program_failed,
                    draft,
                    faults,
                    stages,
                    unfinished,
                };
            }
            Program::Failed(reason) => Some(reason),
            Program::Asked => Some("it did not answer in time".to_owned()),
            Program::NotAsked => None,
        };
        let has_program_failed = reason.is_some();
        if let Some(reason) = reason {
            self.faults.push(Fault::new("maenifold", format!("{reason}; this is from the index")));
            let asked = source.map(|choice| format!("{}, but ", choice.because));
            let because = format!("{}maenifold failed: {reason}", asked.unwrap_or_default());
            source = Some(SourceChoice { source: Source::Index, because });
        }
        let Listener { place, mut faults, last, fresh, is_refreshed, .. } = self;
        let late = "it did not answer in time";
        let newer_is_late = fresh.n_came_in() > 0 && !fresh.are_complete() && last.are_complete();
        let takes_fresh = fresh.n_came_in() > 0 && !newer_is_late;
        if self.heard.is_none() {
            faults.extend(self.unheard_faults);
        }
        if place.is_none() && !is_done {
            faults.push(Fault::new("project", late));
        } else if self.heard.is_some() && !is_done && (!is_refreshed || newer_is_late) {
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
            source,
            has_program_failed,
            draft: self.drafted.filter(|_| !takes_fresh),
            faults,
            stages: self.stages,
            unfinished,
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
