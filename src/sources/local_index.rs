//! The index as a source.

use std::sync::Arc;

use crate::core::context::found::{
    ConceptDetail, ConceptDetails, FoundConcept, FoundNote, Link, NEIGHBOURS, SEARCHED, Signal,
};
use crate::core::search::ranking::Ranked;
use crate::core::time::Timestamp;
use crate::sources::blend::links;
use crate::sources::recent::{RecentQuestion, newest};
use crate::sources::search::{COMMON_FROM_AT_START, best, uri};
use crate::sources::source::{Source, SourceAnswer};
use crate::store::index::{Index, IndexError, Neighbour, NoteCard, NoteId};
use crate::workspace::Workspace;

/// One state of a workspace's index.
pub(crate) struct LocalIndex {
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) index: Index,
}

impl LocalIndex {
    fn found(&self, note: NoteId, card: NoteCard, signal: Signal) -> Result<FoundNote, IndexError> {
        let (uri, concepts) = (uri(&self.workspace, &card), self.index.concepts_of(note)?);
        let NoteCard { title, excerpt, modified, .. } = card;
        Ok(FoundNote { uri, title, excerpt, concepts, modified, signal })
    }
}

impl Source for LocalIndex {
    fn search(&self, project: Option<&str>) -> SourceAnswer<Vec<FoundNote>> {
        let Some(project) = project else { return Ok(Vec::new()) };
        Ok(self.index.consistently(|index| {
            let best = best(&self.workspace, index, project, SEARCHED, COMMON_FROM_AT_START)?;
            let found = best.into_iter().enumerate().map(|(n, Ranked { note, matched, .. })| {
                self.found(note, index.card(note)?, Signal::Search { place: n + 1, matched })
            });
            found.collect()
        })?)
    }

    fn recent(&self, now: Option<Timestamp>) -> SourceAnswer<Vec<FoundNote>> {
        Ok(self.index.consistently(|index| {
            let question = RecentQuestion::of_last_day(now);
            let newest = newest(&self.workspace, index, question)?.found;
            let found = newest
                .into_iter()
                .enumerate()
                .map(|(n, (note, card))| self.found(note, card, Signal::Recent { place: n + 1 }));
            found.collect()
        })?)
    }

    fn around(&self, concepts: &[FoundConcept], n_expanded: usize) -> SourceAnswer<ConceptDetails> {
        Ok(self.index.consistently(|index| {
            let mut details = ConceptDetails::new();
            for (n, FoundConcept { concept, .. }) in concepts.iter().enumerate() {
                let Some((row, notes)) = index.concept_and_notes(concept)? else { continue };
                let own = index.own_note(concept)?;
                let note = own.map(|card| (uri(&self.workspace, &card), card.excerpt));
                let neighbours = if n < n_expanded { neighbours(index, row)? } else { Vec::new() };
                details.insert(concept.clone(), ConceptDetail { note, notes, neighbours });
            }
            Ok(details)
        })?)
    }
}

/// The concepts that share the most notes with one. Ignores the weights that decay daily: a context changes with the
/// notes, not with the clock.
fn neighbours(index: &Index, concept: i64) -> Result<Vec<Link>, IndexError> {
    let neighbours = index.neighbours(concept, NEIGHBOURS, 0)?.into_iter();
    let link = |neighbour: Neighbour| Link { concept: neighbour.name, notes: neighbour.notes };
    Ok(links(neighbours.map(link), NEIGHBOURS))
}
