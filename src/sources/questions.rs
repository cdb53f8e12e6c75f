//! The three questions that a context is made of, put to one state of the index.

use crate::core::context::found::{
    ConceptDetail, ConceptDetails, FoundConcept, FoundNote, Link, NEIGHBOURS, RECENT, SEARCHED,
    Signal,
};
use crate::core::search::answer::RecentFilter;
use crate::core::time::{Timespan, Timestamp};
use crate::sources::recent::{self, RecentQuestion};
use crate::sources::search;
use crate::store::index::{Index, IndexError, NoteCard, NoteId, Unusable};
use crate::workspace::Workspace;

/// Words of the project's name that stand in more notes than this are not ranked by: a session start has no time for
/// that, and the newest notes that have them are as good.
const COMMON_FROM: i64 = 100;
/// An answer, or why there is none.
pub(crate) type Answer<T> = Result<T, Failed>;

/// Why a question was not answered.
#[derive(Debug, Clone)]
pub(crate) struct Failed {
    pub(crate) reason: String,
    /// Whether the index has to be made again.
    pub(crate) is_damage: bool,
}

impl From<IndexError> for Failed {
    fn from(error: IndexError) -> Failed {
        Failed { reason: error.to_string(), is_damage: matches!(error, IndexError::Damaged(_)) }
    }
}

impl From<Unusable> for Failed {
    fn from(unusable: Unusable) -> Failed {
        match unusable {
            Unusable::Failed(error) => error.into(),
            other => Failed { reason: other.to_string(), is_damage: false },
        }
    }
}

/// The notes that match the project's name.
pub(crate) fn searched(
    workspace: &Workspace,
    index: &Index,
    project: Option<&str>,
) -> Answer<Vec<FoundNote>> {
    let Some(project) = project else { return Ok(Vec::new()) };
    Ok(index.consistently(|index| {
        let best = search::best(workspace, index, project, SEARCHED, COMMON_FROM)?;
        let found = best.into_iter().enumerate().map(|(n, ranked)| {
            let card = index.card(ranked.note)?;
            let uri = search::uri(workspace, &card);
            let signal = Signal::Search { place: n + 1, matched: ranked.matched };
            found(index, ranked.note, card, uri, signal)
        });
        found.collect::<Result<_, IndexError>>()
    })?)
}

/// The notes of the last day.
pub(crate) fn recent(
    workspace: &Workspace,
    index: &Index,
    now: Option<Timestamp>,
) -> Answer<Vec<FoundNote>> {
    let question =
        RecentQuestion { now, span: Timespan::DAY, limit: RECENT, filter: RecentFilter::Memory };
    Ok(index.consistently(|index| {
        let (newest, _) = recent::newest(workspace, index, question)?;
        let found = newest.into_iter().enumerate().map(|(n, (note, uri, card))| {
            found(index, note, card, uri, Signal::Recent { place: n + 1 })
        });
        found.collect::<Result<_, IndexError>>()
    })?)
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

/// What the index knows about found concepts, and what stands around the best of them.
pub(crate) fn details(
    workspace: &Workspace,
    index: &Index,
    ranked: &[FoundConcept],
    n_expanded: usize,
) -> Answer<ConceptDetails> {
    Ok(index.consistently(|index| {
        let mut details = ConceptDetails::new();
        for (n, FoundConcept { concept, .. }) in ranked.iter().enumerate() {
            let Some((row, notes)) = index.concept_and_notes(concept)? else { continue };
            let own = index.own_note(concept)?;
            let note = own.map(|card| (search::uri(workspace, &card), card.excerpt));
            let neighbours = if n < n_expanded { neighbours(index, row)? } else { Vec::new() };
            details.insert(concept.clone(), ConceptDetail { note, notes, neighbours });
        }
        Ok(details)
    })?)
}

/// The concepts around one, those with the most common notes first.
///
/// Without the weights that fade from day to day: what a session is given changes with the notes, not with the clock.
fn neighbours(index: &Index, concept: i64) -> Result<Vec<Link>, IndexError> {
    let mut links: Vec<Link> = index
        .neighbours(concept, NEIGHBOURS, 0)?
        .into_iter()
        .map(|neighbour| Link { concept: neighbour.name, notes: neighbour.notes })
        .collect();
    links.sort_by(|a, b| b.notes.cmp(&a.notes).then_with(|| a.concept.cmp(&b.concept)));
    Ok(links)
}
