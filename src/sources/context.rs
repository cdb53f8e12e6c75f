//! Answers "what stands around this concept?".

use std::collections::BTreeSet;

use crate::core::note::concept::Concept;
use crate::core::search::answer::{ContextAnswer, RelatedConcept};
use crate::core::search::nearest;
use crate::core::time::{Day, Timestamp};
use crate::sources::search::uri;
use crate::store::index::{Index, IndexError, Neighbour};
use crate::system::clock;
use crate::workspace::refresh::{Refreshed, ask};
use crate::workspace::{AppError, Workspace};

/// From how many of a concept's neighbours a wider search goes on, as in maenifold.
pub(crate) const EXPAND_FROM: usize = 5;

/// What to look for.
#[derive(Debug, Clone, Copy)]
pub struct ContextQuestion<'a> {
    /// The day on which weights are taken; the present one if none is named.
    pub now: Option<Timestamp>,
    /// The concept, in any spelling.
    pub concept: &'a str,
    /// How many steps to go.
    pub depth: u32,
    /// How many concepts at most.
    pub max_entities: usize,
}

/// Finds the concepts around one, after a refresh.
pub fn context(
    workspace: &Workspace,
    question: ContextQuestion<'_>,
) -> Result<(ContextAnswer, Refreshed), AppError> {
    ask(workspace, |index| answer(workspace, index, question))
}

/// Finds the concepts around one in an index as it is.
pub fn answer(
    workspace: &Workspace,
    index: &Index,
    question: ContextQuestion<'_>,
) -> Result<ContextAnswer, IndexError> {
    let ContextQuestion { now, concept: wanted, depth, max_entities } = question;
    let today = now.unwrap_or_else(clock::now).day();
    let mut answer = ContextAnswer::unknown(wanted);
    let Some(concept) = Concept::parse(wanted) else { return Ok(answer) };
    answer.concept = concept.to_string();
    let Some(row) = index.concept(&concept)? else {
        answer.nearest = nearest::nearest(&concept, index.concepts()?.into_iter());
        return Ok(answer);
    };
    answer.known = true;
    let direct = index.neighbours(row, max_entities, today)?;
    for neighbour in &direct {
        let mut uris = Vec::new();
        for note in index.shared_notes(row, neighbour)? {
            let uri = uri(workspace, &index.card(note)?);
            if !answer.file_references.contains(&uri) {
                answer.file_references.push(uri.clone());
            }
            uris.push(uri);
        }
        let related = RelatedConcept { name: neighbour.name.clone(), files: neighbour.notes, uris };
        answer.related_concepts.push(related);
    }
    answer.expanded_concepts = expand(index, row, &direct, depth, max_entities, today)?;
    Ok(answer)
}

/// Concepts further away than the direct neighbours, nearest first.
fn expand(
    index: &Index,
    start: i64,
    direct: &[Neighbour],
    depth: u32,
    max_entities: usize,
    today: Day,
) -> Result<Vec<Concept>, IndexError> {
    let mut seen: BTreeSet<i64> =
        direct.iter().map(|neighbour| neighbour.id).chain([start]).collect();
    let mut expanded = Vec::new();
    let mut border: Vec<i64> =
        direct.iter().take(EXPAND_FROM).map(|neighbour| neighbour.id).collect();
    for _ in 1..depth {
        let mut next = Vec::new();
        for concept in border {
            for neighbour in index.neighbours(concept, max_entities, today)? {
                if expanded.len() == max_entities {
                    return Ok(expanded);
                }
                if seen.insert(neighbour.id) {
                    next.push(neighbour.id);
                    expanded.push(neighbour.name);
                }
            }
        }
        border = next;
    }
    Ok(expanded)
}
