//! Gathers the content of a session's context under a deadline. A failure or a late answer is a
//! fault beside the rest.
//!
//! Workers do all I/O and report events. This thread only listens, and continues with what it has
//! when the time is over: a thread that hangs on a dead network folder ends with the process.

mod answers;

use std::num::NonZero;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use crate::app::deadline::Deadline;
use crate::app::draft::{ContextDraft, Drafter};
use crate::app::gather::answers::Answers;
use crate::app::session::Session;
use crate::app::worker::event::{IndexState, Stopgap, WorkerEvent};
use crate::app::worker::{Asked, Worker};
use crate::core::context::found::Found;
use crate::core::context::receipt::{Fault, FaultSource, Stage};
use crate::core::source::{SourceChoice, SourcePreference};
use crate::sources::blend::add_missing_neighbours;
use crate::sources::index_instead;
use crate::sources::slow::{SlowAnswer, SlowSource};
use crate::workspace::{AppError, Place};

const FIRST: usize = 0;
/// The worker that starts if the first one hangs. It only asks the index.
const SECOND: usize = 1;
const LATE: &str = "it did not answer in time";

/// The results that arrived in time.
#[derive(Default)]
pub(super) struct Gathered {
    /// `None` if even the project took too long.
    pub(super) place: Option<Place>,
    pub(super) found: Found,
    /// The source that answered, if one was chosen.
    pub(super) source: Option<SourceChoice>,
    pub(super) is_from_slow_source: bool,
    /// The context of `found`, if there was time to build it.
    pub(super) draft: Option<ContextDraft>,
    pub(super) faults: Vec<Fault>,
    pub(super) stages: Vec<Stage>,
    /// The index that was unfinished when the time was over.
    pub(super) unfinished: Option<UnfinishedIndex>,
}

/// An index whose notes are still being read.
#[derive(Clone, Copy)]
pub(super) struct UnfinishedIndex {
    /// Whether it covers all vaults, or excludes those of another source.
    pub(super) covers_all: bool,
}

/// Gathers as much as possible in time. Only wrong usage or configuration is an error.
///
/// Builds a draft from the last index's answers while the vaults are still being listed.
pub(super) fn gather(
    session: &Session,
    deadline: &mut Deadline,
    drafter: &mut Drafter<'_>,
) -> Result<Gathered, AppError> {
    let (sender, events) = mpsc::channel();
    let n_cores = thread::available_parallelism().map_or(1, NonZero::get);
    let worker = Worker {
        number: FIRST,
        session: Arc::new(session.clone()),
        asked: Asked::default(),
        has_spare_core: n_cores > 2,
        deadline: *deadline,
        events: sender,
    };
    worker.start(None);
    let gathering = Gathering { n_working: 1, ..Gathering::default() };
    gathering.listen(&events, &worker, deadline, drafter)
}

/// The progress of the workers.
#[derive(Clone, Copy, Default)]
enum Phase {
    /// The place is not known yet.
    #[default]
    Finding,
    /// No worker has opened a vault yet.
    Opening { has_second_worker: bool },
    /// The last index answers while the vaults are listed and changed notes are read.
    Listing { unfinished: Option<UnfinishedIndex> },
    /// The index is up to date, or as current as possible.
    Refreshed,
    /// No more events follow, except from a slow source.
    Done,
}

/// Whether another source is asked because there is no index.
#[derive(Default)]
enum StopgapState {
    #[default]
    NotAsked,
    Asked,
    /// `None` if it knows nothing.
    Answered(Option<Box<Stopgap>>),
}

#[derive(Default)]
struct Gathering {
    phase: Phase,
    n_working: usize,
    /// The worker that opened a vault first; from then on, events of the other one are ignored.
    active: Option<usize>,
    /// The faults of a worker that could not open any vault.
    idle_faults: Vec<Fault>,
    slow: Option<Arc<SlowSource>>,
    /// The slow source's answer, if it has arrived.
    slow_answer: Option<Result<Box<SlowAnswer>, String>>,
    last: Answers,
    fresh: Answers,
    stopgap: StopgapState,
    gathered: Gathered,
}

impl Gathering {
    fn listen(
        mut self,
        events: &Receiver<(usize, WorkerEvent)>,
        worker: &Worker,
        deadline: &mut Deadline,
        drafter: &mut Drafter<'_>,
    ) -> Result<Gathered, AppError> {
        while !self.is_complete() {
            self.draft_while_listing(drafter);
            let until = self.until(deadline);
            match events.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok((number, event)) => self.on_event(number, event, deadline)?,
                Err(_) if self.needs_stopgap() => {
                    self.stopgap = StopgapState::Asked;
                    if let Some(place) = &self.gathered.place {
                        worker.start_stopgap(place.clone());
                    }
                }
                Err(_) if matches!(self.phase, Phase::Opening { has_second_worker: false }) => {
                    self.phase = Phase::Opening { has_second_worker: true };
                    self.n_working += 1;
                    let second = Worker { number: SECOND, ..worker.clone() };
                    second.start(Some(deadline.for_one_vault()));
                }
                Err(_) => break,
            }
        }
        Ok(self.finish())
    }

    /// Whether there is nothing left to wait for.
    fn is_complete(&self) -> bool {
        let awaits_stopgap = self.has_no_index() && matches!(self.stopgap, StopgapState::Asked);
        if awaits_stopgap || self.needs_stopgap() {
            return false;
        }
        let is_done = matches!(self.phase, Phase::Done);
        match &self.slow_answer {
            None => is_done && self.slow.is_none(),
            Some(Err(_)) => is_done,
            // The index adds what the slow source does not know.
            Some(Ok(answer)) => {
                let missing = &answer.missing;
                let has_index = self.last.are_complete() || self.fresh.are_complete();
                is_done || missing.is_none() || has_index
            }
        }
    }

    fn awaits_slow(&self) -> bool {
        self.slow.is_some() && self.slow_answer.is_none()
    }

    /// Whether the last index has answered and only newer answers are missing.
    fn has_last_answers(&self) -> bool {
        matches!(self.phase, Phase::Listing { .. }) && self.last.are_complete()
    }

    fn has_no_index(&self) -> bool {
        !self.last.have_begun() && !self.fresh.have_begun()
    }

    /// Whether another source is to be asked, because the first index takes long or cannot be made.
    fn needs_stopgap(&self) -> bool {
        self.active.is_some()
            && self.slow.is_none()
            && self.has_no_index()
            && matches!(self.stopgap, StopgapState::NotAsked)
    }

    fn draft_while_listing(&mut self, drafter: &mut Drafter<'_>) {
        if self.gathered.draft.is_none()
            && self.has_last_answers()
            && let (Some(place), Some(found)) = (&self.gathered.place, self.last.found())
        {
            self.gathered.draft = Some(drafter.draft(Some(place), &found));
        }
    }

    /// The end of waiting for the next event.
    fn until(&self, deadline: &Deadline) -> Instant {
        let has_answers = self.has_last_answers() || matches!(self.phase, Phase::Done);
        match self.phase {
            Phase::Opening { has_second_worker: false } => deadline.for_opening(),
            _ if has_answers && self.awaits_slow() => deadline.for_gathering(),
            Phase::Done if self.needs_stopgap() => Instant::now(),
            _ if self.needs_stopgap() => deadline.for_refreshing(),
            _ if self.has_last_answers() => deadline.for_refreshing(),
            _ => deadline.for_gathering(),
        }
    }

    fn preference(&self) -> SourcePreference {
        let place = self.gathered.place.as_ref();
        place.map_or_else(SourcePreference::default, |place| place.settings.source.value)
    }

    fn on_event(
        &mut self,
        worker: usize,
        event: WorkerEvent,
        deadline: &mut Deadline,
    ) -> Result<(), AppError> {
        match event {
            WorkerEvent::Place(place) => {
                let place = (*place)?;
                deadline.allow(Duration::from_millis(place.settings.deadline_ms.value));
                self.gathered.place = Some(place);
                if matches!(self.phase, Phase::Finding) {
                    self.phase = Phase::Opening { has_second_worker: false };
                }
            }
            WorkerEvent::Chosen(choice, faults, slow) => {
                self.slow = slow;
                self.gathered.source = Some(choice);
                self.gathered.faults.extend(faults);
            }
            WorkerEvent::Opened(false, faults) => self.idle_faults = faults,
            WorkerEvent::Opened(true, faults) => {
                if self.active.is_none() {
                    self.active = Some(worker);
                    self.phase = Phase::Listing { unfinished: None };
                    self.gathered.faults.extend(faults);
                }
            }
            WorkerEvent::Slow(answer) => self.slow_answer = Some(answer),
            WorkerEvent::Stopgap(stopgap) => self.stopgap = StopgapState::Answered(stopgap),
            WorkerEvent::Done => {
                self.n_working -= 1;
                if self.n_working == 0 || self.active == Some(worker) {
                    self.phase = Phase::Done;
                }
            }
            _ if self.active.is_some_and(|active| active != worker) => {}
            event => self.on_index_event(event),
        }
        Ok(())
    }

    /// Handles an event of the active worker, or of any worker if none is active yet.
    fn on_index_event(&mut self, event: WorkerEvent) {
        match event {
            WorkerEvent::Search(state, answer) => self.answers(state).search = Some(answer),
            WorkerEvent::Recent(state, answer) => self.answers(state).recent = Some(answer),
            WorkerEvent::Notes(state, answer) => self.answers(state).notes = Some(answer),
            WorkerEvent::Details(state, answer) => self.answers(state).details = Some(answer),
            WorkerEvent::Reading { covers_all } => {
                self.phase = Phase::Listing { unfinished: Some(UnfinishedIndex { covers_all }) };
            }
            WorkerEvent::Undated(unfinished) => {
                let reason =
                    "git did not report in time when some notes were committed; they count as old";
                self.gathered.faults.push(Fault::new(FaultSource::Index, reason));
                self.gathered.unfinished = unfinished;
            }
            WorkerEvent::Rebuilding(fault) => {
                self.gathered.faults.push(fault);
                self.phase = Phase::Listing { unfinished: None };
            }
            WorkerEvent::Refreshed(fault) => {
                self.gathered.faults.extend(fault);
                if matches!(self.phase, Phase::Listing { .. }) {
                    self.phase = Phase::Refreshed;
                }
            }
            WorkerEvent::Took(stage, took) => self.gathered.stages.push(Stage::new(stage, took)),
            _ => {}
        }
    }

    fn answers(&mut self, state: IndexState) -> &mut Answers {
        match state {
            IndexState::Last => &mut self.last,
            IndexState::Fresh => &mut self.fresh,
        }
    }

    /// Takes the best answers, and reports the missing ones.
    fn finish(mut self) -> Gathered {
        if self.active == Some(SECOND) && self.slow.is_none() {
            let (choice, fault) = index_instead(self.gathered.source.take(), self.preference());
            self.gathered.source = Some(choice);
            self.gathered.faults.extend(fault);
        }
        if let Phase::Listing { unfinished } = self.phase {
            self.gathered.unfinished = unfinished;
        }
        match (self.slow.take(), self.slow_answer.take()) {
            (None, _) => self.with_index_answers(),
            (_, Some(Ok(answer))) => self.with_slow_answer(*answer),
            (Some(source), answer) => {
                let reason = answer.and_then(Result::err).unwrap_or_else(|| LATE.to_owned());
                let (choice, fault) = source.fail(self.gathered.source.take(), &reason);
                self.gathered.source = Some(choice);
                self.gathered.faults.push(fault);
                self.with_index_answers()
            }
        }
    }

    /// Uses the slow source's results, and adds neighbours from the index if some are missing.
    fn with_slow_answer(self, answer: SlowAnswer) -> Gathered {
        let SlowAnswer { mut found, fault, missing, has_undated } = answer;
        let of_index = self.fresh.known_details().or_else(|| self.last.known_details());
        let mut gathered = self.gathered;
        if let Some(missing) = missing {
            if let Some(details) = of_index {
                add_missing_neighbours(&mut found.details, details);
            }
            let choice = gathered.source.iter_mut();
            choice
                .for_each(|choice| choice.because += &format!("; the index adds to it: {missing}"));
        }
        gathered.faults.extend(fault);
        if has_undated {
            gathered.unfinished = Some(UnfinishedIndex { covers_all: false });
        }
        Gathered { found, is_from_slow_source: true, draft: None, ..gathered }
    }

    fn with_index_answers(self) -> Gathered {
        let has_no_index = self.has_no_index();
        let Gathering { phase, active, idle_faults, last, fresh, stopgap, mut gathered, .. } = self;
        let newer_is_late = fresh.have_begun() && !fresh.are_complete() && last.are_complete();
        let takes_fresh = fresh.have_begun() && !newer_is_late;
        let faults = &mut gathered.faults;
        if active.is_none() {
            faults.extend(idle_faults);
        }
        let is_index_late = match phase {
            Phase::Listing { .. } => true,
            Phase::Refreshed => newer_is_late,
            Phase::Finding | Phase::Opening { .. } | Phase::Done => false,
        };
        let stopgap = match stopgap {
            StopgapState::Answered(stopgap) if has_no_index => stopgap.map(|stopgap| *stopgap),
            _ => None,
        };
        if is_index_late || stopgap.is_some() {
            let reason = match &stopgap {
                Some(Stopgap { choice, .. }) => {
                    format!("it was not ready in time; this is from memory.db: {}", choice.because)
                }
                None if last.have_begun() => {
                    "the notes could not be listed in time; this is from the last index".to_owned()
                }
                None => "it was not ready in time, and there was no earlier one".to_owned(),
            };
            faults.push(Fault::new(FaultSource::Index, reason));
        }
        if let Some(Stopgap { found, choice }) = stopgap {
            return Gathered { found, source: Some(choice), draft: None, ..gathered };
        }
        if matches!(phase, Phase::Finding) {
            faults.push(Fault::new(FaultSource::Project, LATE));
        }
        let missing = (!matches!(phase, Phase::Finding | Phase::Done)).then_some(LATE);
        let answers = if takes_fresh { fresh } else { last };
        gathered.found = answers.into_found(missing, &mut gathered.faults);
        gathered.draft = gathered.draft.filter(|_| !takes_fresh);
        gathered
    }
}
