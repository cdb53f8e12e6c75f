//! Composes candidates from what the sources found, in the order in which they get room.

use crate::core::context::candidate::{Candidate, Line, Part};
use crate::core::context::found::{ConceptDetail, ConceptDetails, FoundConcept, FoundNote, Link};
use crate::core::context::line::linked;
use crate::core::context::rank::Ranked;
use crate::core::note::concept::Concept;
use crate::core::text::for_model;

/// The number of best concepts that are shown with their neighbours.
const EXPANDED: usize = 5;
/// A longer name is a paragraph that was linked by mistake.
const LONGEST_NAME_CHARS: usize = 100;
/// A longer title is cut; the address still identifies the note.
const LONGEST_TITLE_CHARS: usize = 120;

/// Turns the ranked concepts and recent notes into candidates.
///
/// Rounds keep one part from starving the next: the best concepts, the recent notes and the connections of the best
/// concepts come first; the other concepts share the rest of the room.
pub fn compose(
    Ranked { concepts, recent, .. }: &Ranked<'_>,
    details: &ConceptDetails,
) -> Vec<Candidate> {
    let (best, others) = concepts.split_at(concepts.len().min(EXPANDED));
    let unknown = ConceptDetail::default();
    let detail = |concept: &Concept| details.get(concept).unwrap_or(&unknown);
    // The text shows the sentence of a note only once.
    let mut described: Vec<&str> = Vec::new();
    let mut candidates = Vec::new();
    for found in best {
        candidates.push(concept_line(found, detail(&found.concept), &mut described));
    }
    for note in recent {
        candidates.push(note_line(note, &mut described));
    }
    candidates.extend(best.iter().filter_map(|found| connections(found, detail(&found.concept))));
    for found in others {
        candidates.push(concept_line(found, detail(&found.concept), &mut described));
    }
    candidates
}

fn concept_line<'a>(
    found: &FoundConcept,
    detail: &'a ConceptDetail,
    described: &mut Vec<&'a str>,
) -> Candidate {
    let (uri, description) = match &detail.note {
        Some((uri, excerpt)) => (for_model::one_line(uri), once(uri, excerpt, described)),
        None if detail.notes == 1 => (String::new(), "in 1 note".to_owned()),
        None if detail.notes > 1 => (String::new(), format!("in {} notes", detail.notes)),
        None => (String::new(), String::new()),
    };
    Candidate {
        part: Part::Concepts,
        line: Line::Described { name: linked(found.concept.as_str()), description, uri },
        signals: found.signals.clone(),
    }
}

fn note_line<'a>(note: &'a FoundNote, described: &mut Vec<&'a str>) -> Candidate {
    Candidate {
        part: Part::Recent,
        line: Line::Described {
            name: shown_title(&note.title),
            description: once(&note.uri, &note.excerpt, described),
            uri: for_model::one_line(&note.uri),
        },
        signals: vec![note.signal],
    }
}

/// A title for a model, not too long.
pub(super) fn shown_title(title: &str) -> String {
    let title = &title[..title.floor_char_boundary(16 * LONGEST_TITLE_CHARS)];
    let mut title = for_model::one_line(title);
    if let Some((end, _)) = title.char_indices().nth(LONGEST_TITLE_CHARS) {
        title.truncate(end);
        title.push('…');
    }
    title
}

fn once<'a>(uri: &'a str, excerpt: &str, described: &mut Vec<&'a str>) -> String {
    if described.contains(&uri) {
        return String::new();
    }
    described.push(uri);
    for_model::one_line(excerpt)
}

/// Whether the name of a concept can be shown: not empty, and not a paragraph.
pub fn is_name(concept: &Concept) -> bool {
    let name = concept.as_str();
    name.len() <= 4 * LONGEST_NAME_CHARS
        && name.chars().count() <= LONGEST_NAME_CHARS
        && !for_model::one_line(name).is_empty()
}

/// The concept under its displayed name.
fn shown(concept: &Concept) -> Concept {
    Concept::from_normal_form(for_model::one_line(concept.as_str()))
}

/// The line about a concept's neighbours, if it has any.
pub(super) fn connections(found: &FoundConcept, detail: &ConceptDetail) -> Option<Candidate> {
    let links = detail.neighbours.iter().filter(|link| is_name(&link.concept));
    let to: Vec<Link> =
        links.map(|link| Link { concept: shown(&link.concept), notes: link.notes }).collect();
    (!to.is_empty()).then(|| Candidate {
        part: Part::Graph,
        line: Line::Connected { concept: shown(&found.concept), to },
        signals: found.signals.clone(),
    })
}
