//! The answers from one state of the index.

use crate::core::context::found::{ConceptDetails, Found, FoundNote};
use crate::core::context::receipt::{Fault, FaultSource};
use crate::sources::source::{RankedNotes, SourceAnswer};

/// The answers so far.
#[derive(Default)]
pub(super) struct Answers {
    pub(super) search: Option<SourceAnswer<Vec<FoundNote>>>,
    pub(super) recent: Option<SourceAnswer<Vec<FoundNote>>>,
    pub(super) notes: Option<SourceAnswer<RankedNotes>>,
    pub(super) details: Option<SourceAnswer<ConceptDetails>>,
}

impl Answers {
    pub(super) fn have_begun(&self) -> bool {
        self.search.is_some() || self.recent.is_some() || self.details.is_some()
    }

    pub(super) fn are_complete(&self) -> bool {
        self.search.is_some()
            && self.recent.is_some()
            && self.notes.is_some()
            && self.details.is_some()
    }

    /// The results, if all answers have arrived without an error.
    pub(super) fn found(&self) -> Option<Found> {
        let search = self.search.as_ref()?.as_ref().ok()?.clone();
        let recent = self.recent.as_ref()?.as_ref().ok()?.clone();
        let RankedNotes { notes, threads, uncommitted } =
            self.notes.as_ref()?.as_ref().ok()?.clone();
        let details = self.details.as_ref()?.as_ref().ok()?.clone();
        Some(Found { search, recent, notes, threads, details, uncommitted })
    }

    pub(super) fn known_details(&self) -> Option<&ConceptDetails> {
        self.details.as_ref()?.as_ref().ok()
    }

    /// The results. `missing` is the reason for missing answers; without one, a worker has already
    /// reported it.
    pub(super) fn into_found(self, missing: Option<&str>, faults: &mut Vec<Fault>) -> Found {
        let search = answer_or_fault(FaultSource::Search, self.search, missing, faults);
        let recent = answer_or_fault(FaultSource::Recent, self.recent, missing, faults);
        let RankedNotes { notes, threads, uncommitted } =
            answer_or_fault(FaultSource::Notes, self.notes, missing, faults);
        let details = answer_or_fault(FaultSource::Graph, self.details, missing, faults);
        Found { search, recent, notes, threads, details, uncommitted }
    }
}

fn answer_or_fault<T: Default>(
    source: FaultSource,
    answer: Option<SourceAnswer<T>>,
    missing: Option<&str>,
    faults: &mut Vec<Fault>,
) -> T {
    let reason = match answer {
        Some(Ok(answer)) => return answer,
        Some(Err(error)) => Some(error.reason),
        None => missing.map(str::to_owned),
    };
    faults.extend(reason.map(|reason| Fault::new(source, reason)));
    T::default()
}
