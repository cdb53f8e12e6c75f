//! Answers "which concepts are around this one?" from the index.

use std::collections::BTreeSet;

use crate::core::note::concept::Concept;
use crate::core::search::answer::{ContextAnswer, RelatedConcept};
use crate::core::search::nearest;
use crate::core::text::nfc;
use crate::core::time::Timestamp;
use crate::sources::search::{path, uri};
use crate::store::index::{Index, IndexError};
use crate::system::clock;
use crate::workspace::refresh::{Refreshed, ask};
use crate::workspace::{AppError, Workspace};

/// The number of direct neighbours from which a deeper search continues, as in maenifold.
const EXPAND_FROM: usize = 5;

#[derive(Debug, Clone, Copy)]
pub struct ContextQuestion<'a> {
    /// The time for which weights are computed; `None` reads the clock.
    pub now: Option<Timestamp>,
    /// The concept, in any spelling.
    pub concept: &'a str,
    /// The number of steps from the concept.
    pub depth: u32,
    /// The maximum number of concepts.
    pub max_entities: usize,
}

/// Finds the concepts around one, after a refresh.
pub fn context(
    workspace: &Workspace,
    question: ContextQuestion<'_>,
) -> Result<(ContextAnswer, Refreshed), AppError> {
    ask(workspace, |index| answer(workspace, index, question))
}

/// Finds the concepts around one, without a refresh.
pub fn answer(
    workspace: &Workspace,
    index: &Index,
    question: ContextQuestion<'_>,
) -> Result<ContextAnswer, IndexError> {
    let ContextQuestion { now, concept: wanted, depth, max_entities } = question;
    let today = now.unwrap_or_else(clock::now).day();
    let mut answer = ContextAnswer::unknown(wanted);
    let Some(concept) = Concept::parse(wanted) else { return Ok(answer) };
    let Some((row, concept)) = known(index, wanted)? else {
        answer.nearest = nearest::nearest(&concept, index.concepts()?.into_iter());
        answer.concept = concept.to_string();
        return Ok(answer);
    };
    answer.concept = concept.to_string();
    answer.known = true;
    let direct = index.neighbours(row, max_entities, today)?;
    for neighbour in &direct {
        let mut uris = Vec::new();
        for note in index.shared_notes(row, neighbour)? {
            let card = index.card(note)?;
            let uri = uri(workspace, &card);
            answer.paths.insert(uri.clone(), path(workspace, &card));
            uris.push(uri);
        }
        let name = neighbour.name.clone();
        add_related(&mut answer, RelatedConcept { name, files: neighbour.notes, uris });
    }
    let around = |concept: &i64| -> Result<Vec<(i64, Concept)>, IndexError> {
        let neighbours = index.neighbours(*concept, max_entities, today)?;
        Ok(neighbours.into_iter().map(|neighbour| (neighbour.id, neighbour.name)).collect())
    };
    let direct = direct.iter().map(|neighbour| neighbour.id).collect();
    answer.expanded_concepts = expand(row, direct, depth, max_entities, around)?;
    Ok(answer)
}

/// The row and the name of a concept, in any composition of its characters.
fn known(index: &Index, wanted: &str) -> Result<Option<(i64, Concept)>, IndexError> {
    for concept in nfc::forms(wanted).iter().filter_map(|form| Concept::parse(form)) {
        if let Some(row) = index.concept(&concept)? {
            return Ok(Some((row, concept)));
        }
    }
    Ok(None)
}

/// Adds a concept, and the addresses of its notes.
pub(crate) fn add_related(answer: &mut ContextAnswer, related: RelatedConcept) {
    for uri in &related.uris {
        if !answer.file_references.contains(uri) {
            answer.file_references.push(uri.clone());
        }
    }
    answer.related_concepts.push(related);
}

/// The concepts beyond the direct neighbours, nearest first, without duplicates. `around` returns the neighbours of
/// the concept with a given key.
pub(crate) fn expand<Key: Ord + Clone, Error>(
    start: Key,
    direct: Vec<Key>,
    depth: u32,
    max_entities: usize,
    mut around: impl FnMut(&Key) -> Result<Vec<(Key, Concept)>, Error>,
) -> Result<Vec<Concept>, Error> {
    let mut seen: BTreeSet<Key> = direct.iter().cloned().chain([start]).collect();
    let mut expanded = Vec::new();
    let mut border: Vec<Key> = direct.into_iter().take(EXPAND_FROM).collect();
    for _ in 1..depth {
        let mut next = Vec::new();
        for concept in border {
            for (key, name) in around(&concept)? {
                if expanded.len() == max_entities {
                    return Ok(expanded);
                }
                if seen.insert(key.clone()) {
                    next.push(key);
                    expanded.push(name);
                }
            }
        }
        border = next;
    }
    Ok(expanded)
}
