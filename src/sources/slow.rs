//! A source that can take long: runs beside the index, which answers if the source is late or fails.

use std::sync::Arc;
use std::time::Instant;

use crate::core::context::found::{Found, NEIGHBOURS, RECENT, SEARCHED};
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
    /// Remembers that the source failed.
    pub(crate) remember_failure: fn(&Place),
}

/// The results of a slow source and of the index of the other notes, with the reason if something is missing.
pub(crate) type SlowAnswer = (Found, Option<Fault>);

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
        let rest = Blended { beside: None, index };
        let search = blend::searched(search, rest.search(project)?, SEARCHED);
        let recent = blend::recent(recent, rest.recent(now)?, RECENT);
        let mut found = Found { search, recent, ..Found::default() };
        let ranking = self.rest.settings.rank.value;
        let concepts = shortlist(ranking, &found);
        let n_expanded = ranking.n_expanded();
        let (details, missing) = match self.source.around(&concepts, n_expanded) {
            Ok(details) => (details, None),
            Err(SourceError { partial, reason, .. }) => (partial, Some(reason)),
        };
        found.details = blend::details(details, rest.around(&concepts, n_expanded)?, NEIGHBOURS);
        let fault = missing.map(|reason| Fault::new(self.label, reason));
        Ok((found, fault))
    }

    /// Remembers the failure, and reports that the index answered instead.
    pub(crate) fn fail(&self, asked: Option<SourceChoice>, reason: &str) -> (SourceChoice, Fault) {
        (self.remember_failure)(&self.rest);
        let asked = asked.map(|choice| format!("{}, but ", choice.because)).unwrap_or_default();
        let because = format!("{asked}{} failed: {reason}", self.label);
        let fault = Fault::new(self.label, format!("{reason}; this is from the index"));
        (SourceChoice { source: INDEX, because }, fault)
    }
}

fn fresh_index(place: Place) -> Result<LocalIndex, String> {
    let (workspace, errors) = Workspace::open_reachable(place, None);
    let workspace = workspace.ok_or_else(|| {
        let reasons: Vec<String> = errors.iter().map(ToString::to_string).collect();
        reasons.join("; ")
    })?;
    let fresh = refresh(&workspace, Mode::Incremental, Patience::Skip, &mut |_, _| {});
    let (index, _) = fresh.map_err(|error| error.to_string())?;
    Ok(LocalIndex { workspace: Arc::new(workspace), index })
}
