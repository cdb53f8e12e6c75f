//! A worker's questions to its sources.

use super::{Answered, Asked, OUR_FAULT, Worker};
use crate::app::worker::event::{IndexState, WorkerEvent};
use crate::core::context::compose_notes::{most_notes, n_at_length};
use crate::core::context::found::{Found, FoundNote, SPEAKING};
use crate::core::context::rank::{Ranking, shortlist};
use crate::sources::blend::Blended;
use crate::sources::source::{NotesQuestion, RankedNotes, Source, SourceAnswer, SourceError};
use crate::system::within::{self, Started};

impl Worker {
    /// Asks all questions and reports the answers.
    pub(super) fn ask(
        &self,
        state: IndexState,
        source: &Blended,
        project: Option<&str>,
    ) -> Answered {
        let is_supplement = self.asked.given.is_some();
        // A supplement consists of notes that fit the prompt, and nothing else.
        let project = project.filter(|_| !is_supplement);
        let elsewhere = self.start_recent(source);
        let search = self.found(source, "search", |source| source.search(project));
        self.report(WorkerEvent::Search(state, search.clone()));
        let notes = match self.asked.ranking {
            Ranking::Frequency => Ok(RankedNotes::default()),
            Ranking::Notes => {
                let Asked { budget, prompt, branch, given, checkout, .. } = &self.asked;
                let question = NotesQuestion {
                    limit: most_notes(*budget),
                    n_at_length: n_at_length(*budget),
                    prompt: prompt.as_ref(),
                    project,
                    branch: branch.as_deref(),
                    given: given.as_ref(),
                    checkout: checkout.as_deref(),
                };
                self.timed("notes", || source.notes(&question))
            }
        };
        // Only the best notes are asked for their concepts; the others are moved and not copied.
        let best = notes.as_ref().map(|found| found.notes.iter().take(SPEAKING).cloned().collect());
        let (best, failed) = (best.unwrap_or_default(), notes.as_ref().err().cloned());
        self.report(WorkerEvent::Notes(state, notes));
        let found = Found { notes: best, ..Found::default() };
        let recent = match elsewhere {
            // Ranked notes tell more than those of the last day, and need no clock.
            _ if is_supplement => Ok(Vec::new()),
            _ if !found.notes.is_empty() && source.beside.is_none() => Ok(Vec::new()),
            Some(recent) => recent.wait().unwrap_or_else(|| Err(OUR_FAULT.to_owned().into())),
            None => self.found(source, "recent", |source| source.recent(self.session.now)),
        };
        self.report(WorkerEvent::Recent(state, recent.clone()));
        let found = Found {
            search: search.as_deref().unwrap_or_default().to_vec(),
            recent: recent.as_deref().unwrap_or_default().to_vec(),
            ..found
        };
        let concepts = match is_supplement {
            true => Vec::new(),
            false => shortlist(self.asked.ranking, &found),
        };
        let expansion = self.asked.ranking.expansion();
        let details = self.timed("graph", || source.around(&concepts, expansion));
        let errors = [search.err(), recent.err(), failed, details.as_ref().err().cloned()];
        self.report(WorkerEvent::Details(state, details));
        match errors.into_iter().flatten().find(|error| error.is_damage) {
            Some(SourceError { reason, .. }) => Err(reason),
            None => Ok(()),
        }
    }

    fn found(
        &self,
        source: &Blended,
        stage: &'static str,
        ask: impl FnOnce(&Blended) -> SourceAnswer<Vec<FoundNote>>,
    ) -> SourceAnswer<Vec<FoundNote>> {
        match source.index {
            // The notes were found when the source was chosen.
            None => ask(source),
            Some(_) => self.timed(stage, || ask(source)),
        }
    }

    /// Asks for recent notes in parallel with the search, if there is a spare core. Opening another
    /// connection takes longer than the answer: with two cores, one of them busy with listing, the
    /// answer is faster after the search.
    fn start_recent(&self, source: &Blended) -> Option<Started<SourceAnswer<Vec<FoundNote>>>> {
        let is_asked = self.has_spare_core && self.asked.ranking == Ranking::Frequency;
        let recent = source.recent_elsewhere(self.session.now).filter(|_| is_asked)?;
        let worker = self.clone();
        Some(within::start(move || worker.timed("recent", recent)))
    }
}
