//! The index as a source.

use std::sync::Arc;

use crate::core::context::found::{
    ConceptDetail, ConceptDetails, FoundConcept, FoundNote, Link, NEIGHBOURS, SEARCHED, Signal,
};
use crate::core::time::Timestamp;
use crate::sources::recent::{self, RecentQuestion};
use crate::sources::search;
use crate::sources::source::{RecentElsewhere, Source, SourceAnswer};
use crate::store::index::{Index, IndexError, NoteCard, NoteId};
use crate::workspace::Workspace;

/// Words of the project's name in this many notes or more do not rank: a session start has no time for that, and the
/// newest notes with these words are just as good.
const COMMON_FROM: i64 = 100;

/// One state of a workspace's index.
pub(crate) struct LocalIndex {
    workspace: Arc<Workspace>,
    pub(crate) index: Index,
}

impl LocalIndex {
    pub(crate) fn new(workspace: &Arc<Workspace>, index: Index) -> LocalIndex {
        LocalIndex { workspace: Arc::clone(workspace), index }
    }
}

impl Source for LocalIndex {
    fn search(&self, project: Option<&str>) -> SourceAnswer<Vec<FoundNote>> {
        let Some(project) = project else { return Ok(Vec::new()) };
        Ok(self.index.consistently(|index| {
            let best = search::best(&self.workspace, index, project, SEARCHED, COMMON_FROM)?;
            let found = best.into_iter().enumerate().map(|(n, ranked)| {
                let card = index.card(ranked.note)?;
                let uri = search::uri(&self.workspace, &card);
                let signal = Signal::Search { place: n + 1, matched: ranked.matched };
                found(index, ranked.note, card, uri, signal)
            });
            found.collect::<Result<_, IndexError>>()
        })?)
    }

    fn recent(&self, now: Option<Timestamp>) -> SourceAnswer<Vec<FoundNote>> {
        Ok(self.index.consistently(|index| {
            let question = RecentQuestion::of_last_day(now);
            let (newest, _) = recent::newest(&self.workspace, index, question)?;
            let found = newest.into_iter().enumerate().map(|(n, (note, uri, card))| {
                found(index, note, card, uri, Signal::Recent { place: n + 1 })
            });
            found.collect::<Result<_, IndexError>>()
        })?)
    }

    fn around(&self, concepts: &[FoundConcept], n_expanded: usize) -> SourceAnswer<ConceptDetails> {
        Ok(self.index.consistently(|index| {
            let mut details = ConceptDetails::new();
            for (n, FoundConcept { concept, .. }) in concepts.iter().enumerate() {
                let Some((row, notes)) = index.concept_and_notes(concept)? else { continue };
                let own = index.own_note(concept)?;
                let note = own.map(|card| (search::uri(&self.workspace, &card), card.excerpt));
                let neighbours = if n < n_expanded { neighbours(index, row)? } else { Vec::new() };
                details.insert(concept.clone(), ConceptDetail { note, notes, neighbours });
            }
            Ok(details)
        })?)
    }

    fn recent_elsewhere(&self) -> Option<RecentElsewhere> {
        let workspace = Arc::clone(&self.workspace);
        Some(Box::new(move |now| {
            let index = workspace.last_index()?;
            LocalIndex { workspace, index }.recent(now)
        }))
    }
}

fn found(
    index: &Index,
    note: NoteId,
    card: NoteCard,
    uri: String,
    signal: Signal,
) -> Result<FoundNote, IndexError> {
    let NoteCard { title, excerpt, modified, .. } = card;
    let concepts = index.concepts_of(note)?;
    Ok(FoundNote { uri, title, excerpt, concepts, modified, signal })
}

/// The concepts that share the most notes with one. Ignores the weights that decay daily: a context changes with the
/// notes, not with the clock.
fn neighbours(index: &Index, concept: i64) -> Result<Vec<Link>, IndexError> {
    let mut links: Vec<Link> = index
        .neighbours(concept, NEIGHBOURS, 0)?
        .into_iter()
        .map(|neighbour| Link { concept: neighbour.name, notes: neighbour.notes })
        .collect();
    links.sort_by(|a, b| b.notes.cmp(&a.notes).then_with(|| a.concept.cmp(&b.concept)));
    Ok(links)
}
