//! A draft: the context of the results so far. It usually becomes the final one.

use std::time::{Duration, Instant};

use crate::app::recorder::{Recorder, Recording};
use crate::app::session::Session;
use crate::app::session_handoff::{SessionHandoff, preview_handoff};
use crate::core::context::build::{Context, ContextRequest, build};
use crate::core::context::found::Found;
use crate::core::context::receipt::{Fault, FaultSource};
use crate::core::context::uncommitted::{UncommittedRecord, steered};
use crate::core::relevance::uncommitted::UncommittedFiles;
use crate::core::tokens::encoding::Encoding;
use crate::workspace::Place;

pub(super) struct ContextDraft {
    pub(super) context: Context,
    /// What uncommitted files changed in it, or would have changed.
    pub(super) uncommitted: Option<UncommittedRecord>,
    pub(super) took: Duration,
}

/// Builds drafts of a session's context, and prepares what the final one needs.
pub(super) struct Drafter<'a> {
    session: &'a Session,
    pub(super) recorder: Recorder,
    pub(super) handoff: Option<SessionHandoff>,
}

impl<'a> Drafter<'a> {
    pub(super) fn new(session: &'a Session, recording: Recording) -> Drafter<'a> {
        Drafter { session, recorder: Recorder::new(recording), handoff: session.handoff.clone() }
    }

    pub(super) fn draft(&mut self, place: Option<&Place>, found: &Found) -> ContextDraft {
        if let Some(place) = place {
            self.recorder.prepare(place);
            let (session, recorder) = (self.session, &self.recorder);
            self.handoff.get_or_insert_with(|| {
                preview_handoff(place, session).unwrap_or_else(|error| {
                    // The recorder reports an unusable state.
                    let fault =
                        (!recorder.is_on()).then(|| Fault::new(FaultSource::Handoff, error));
                    SessionHandoff { section: None, faults: fault.into_iter().collect() }
                })
            });
        }
        let started = Instant::now();
        let request = ContextRequest {
            moment: &self.session.moment,
            project: place.and_then(|place| place.project.name.as_deref()),
            handoff: self.handoff.as_ref().and_then(|handoff| handoff.section.as_ref()),
            ranking: self.session.ranking_in(place),
            encoding: encoding(place),
            budget: self.session.budget_in(place),
        };
        let steered = steered(found);
        let counted = counts_uncommitted(place);
        let context = build(&request, steered.as_ref().filter(|_| counted).unwrap_or(found));
        let record = UncommittedRecord::of(found, steered.as_ref(), counted, context.n_notes());
        ContextDraft { context, uncommitted: record, took: started.elapsed() }
    }
}

/// Whether the notes that name uncommitted files gain.
pub(super) fn counts_uncommitted(place: Option<&Place>) -> bool {
    place.is_some_and(|place| place.settings.uncommitted_files.value == UncommittedFiles::On)
}

pub(super) fn encoding(place: Option<&Place>) -> Encoding {
    place.map_or_else(Encoding::default, |place| place.settings.encoding.value)
}
