//! A worker's questions to its sources.

use super::{Answered, OUR_FAULT, Worker};
use crate::app::worker::event::{IndexState, WorkerEvent};
use crate::core::context::found::FoundNote;
use crate::core::context::rank::{Ranking, shortlist};
use crate::sources::blend::Blended;
use crate::sources::source::{Source, SourceAnswer, SourceError};
use crate::system::within::{self, Started};

impl Worker {
    /// Asks all questions and reports the answers.
    pub(super) fn ask(
        &self,
        state: IndexState,
        source: &Blended,
        project: Option<&str>,
    ) -> Answered {
        let elsewhere = self.start_recent(source);
        let search = self.found(source, "search", |source| source.search(project));
        self.report(WorkerEvent::Search(state, search.clone()));
        let recent = match elsewhere {
            Some(recent) => recent.wait().unwrap_or_else(|| Err(OUR_FAULT.to_owned().into())),
            None => self.found(source, "recent", |source| source.recent(self.session.now)),
        };
        self.report(WorkerEvent::Recent(state, recent.clone()));
        let (searched, changed) = (search.as_deref(), recent.as_deref());
        let (searched, changed) = (searched.unwrap_or_default(), changed.unwrap_or_default());
        let ranking = Ranking::default();
        let concepts = shortlist(ranking, searched, changed);
        let n_expanded = ranking.n_expanded();
        let details = self.timed("graph", || source.around(&concepts, n_expanded));
        let errors = [search.err(), recent.err(), details.as_ref().err().cloned()];
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
        let recent = source.recent_elsewhere(self.session.now).filter(|_| self.has_spare_core)?;
        let worker = self.clone();
        Some(within::start(move || worker.timed("recent", recent)))
    }
}
