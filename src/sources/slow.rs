//! A source that can take long: runs beside the index, which answers if the source is late or fails.

use std::sync::Arc;
use std::time::Instant;

use crate::core::context::found::{Found, RECENT, SEARCHED};
use crate::core::context::rank::shortlist;
use crate::core::context::receipt::{Fault, FaultSource};
use crate::core::source::SourceChoice;
use crate::core::time::Timestamp;
use crate::sources::INDEX;
use crate::sources::blend::{self, Blended};
use crate::sources::local_index::LocalIndex;
use crate::sources::source::{SharedSource, Source, SourceAnswer, SourceError};
use crate::system::within;
use crate::workspace::refresh::{Mode, Patience, refresh};
use crate::workspace::{Place, Workspace};

pub(crate) struct SlowSource {
    /// The name of the source in faults.
    pub(crate) label: FaultSource,
    pub(crate) source: SharedSource,
    /// The place without the notes of the source.
    pub(crate) rest: Place,
    /// The time limit of the source.
    pub(crate) until: Instant,
}

/// The results of a slow source and of the index of the other notes.
pub(crate) struct SlowAnswer {
    pub(crate) found: Found,
    /// The reason if something went wrong.
    pub(crate) fault: Option<Fault>,
    /// The reason if the index has to tell the neighbours of some concepts.
    pub(crate) missing: Option<String>,
    /// Whether git did not say in time when some of the other notes were committed.
    pub(crate) has_undated: bool,
}

impl SlowSource {
    pub(crate) fn ask(&self, now: Option<Timestamp>) -> SourceAnswer<SlowAnswer> {
        let project = self.rest.project.name.as_deref();
        let has_rest = !self.rest.settings.vaults.is_empty();
        let rest = self.rest.clone();
        let refreshing = has_rest.then(|| within::start(move || fresh_index(rest)));
        let (search, recent) = self.source.search_and_recent(project, now);
        let (search, recent) = (search?, recent?);
        let late = || Err("the index of the other notes was not ready in time".to_owned());
        let index =
            refreshing.map(|index| index.by(self.until).unwrap_or_else(late)).transpose()?;
        let has_undated = index.as_ref().is_some_and(|(_, has_undated)| *has_undated);
        let rest = Blended { beside: None, index: index.map(|(index, _)| index) };
        let search = blend::searched(search, rest.search(project)?, SEARCHED);
        let recent = blend::recent(recent, rest.recent(now)?, RECENT);
        let mut found = Found { search, recent, ..Found::default() };
        let ranking = self.rest.settings.rank.value;
        let concepts = shortlist(ranking, &found);
        let expansion = ranking.expansion();
        let (details, missing) = match self.source.around(&concepts, expansion) {
            Ok(details) => (details, None),
            Err(SourceError { partial, reason, is_late, .. }) => (partial, Some((reason, is_late))),
        };
        let of_index = rest.around(&concepts, expansion)?;
        found.details = blend::details(details, of_index, expansion.n_neighbours);
        // The index knows as much: what comes too late is no fault of the session.
        let fault = missing.as_ref().filter(|(_, is_late)| !is_late);
        let fault = fault.map(|(reason, _)| Fault::new(self.label, reason));
        let missing = missing.map(|(reason, _)| reason);
        Ok(SlowAnswer { found, fault, missing, has_undated })
    }

    /// Reports that the index answered instead.
    pub(crate) fn fail(&self, asked: Option<SourceChoice>, reason: &str) -> (SourceChoice, Fault) {
        let asked = asked.map(|choice| format!("{}, but ", choice.because)).unwrap_or_default();
        let because = format!("{asked}{} failed: {reason}", self.label);
        let fault = Fault::new(self.label, format!("{reason}; this is from the index"));
        (SourceChoice { source: INDEX, because }, fault)
    }
}

/// The index of the other notes, and whether the times of some of them are not known yet.
fn fresh_index(place: Place) -> Result<(LocalIndex, bool), String> {
    let (workspace, errors) = Workspace::open_reachable(place, None);
    let workspace = workspace.ok_or_else(|| {
        let reasons: Vec<String> = errors.iter().map(ToString::to_string).collect();
        reasons.join("; ")
    })?;
    let fresh = refresh(&workspace, Mode::Incremental, Patience::Skip, &mut |_, _| {});
    let (index, refreshed) = fresh.map_err(|error| error.to_string())?;
    let is_to_be_dated = refreshed.has_undated && refreshed.is_stored();
    Ok((LocalIndex { workspace: Arc::new(workspace), index }, is_to_be_dated))
}
