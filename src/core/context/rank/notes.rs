//! Ranks notes by their relevance; those that speak of the project by its name come earlier. Concepts follow from the
//! best notes.

use std::collections::BTreeSet;

use super::{Evidence, Expansion, Method, Ranked};
use crate::core::context::found::{Found, FoundNote, RankedNote, SPEAKING, Signal};
use crate::core::quote::passage::Passage;

pub(super) const METHOD: Method = Method {
    description: "by relevance",
    n_concepts: 12,
    expansion: Expansion { n_concepts: 8, n_neighbours: 6 },
    speaks,
    order,
};

/// How much a note gains that a search for the project's name finds, in thousandths.
const NAMED: i64 = 500;

/// The best notes. Sources that rank no notes still find some.
fn speaks(found: &Found) -> Vec<&FoundNote> {
    if found.notes.is_empty() {
        return found.search.iter().chain(&found.recent).collect();
    }
    found.notes.iter().take(SPEAKING).map(|ranked| &ranked.note).collect()
}

fn order(evidence: Evidence<'_>) -> Ranked<'_> {
    let Evidence { found, mut concepts } = evidence;
    concepts.sort_by(|a, b| {
        b.signals.len().cmp(&a.signals.len()).then_with(|| a.concept.cmp(&b.concept))
    });
    let named: BTreeSet<&str> = found.search.iter().map(|note| note.uri.as_str()).collect();
    let known: BTreeSet<&str> = found.notes.iter().map(|ranked| ranked.note.uri.as_str()).collect();
    let mut notes = found.notes.clone();
    for ranked in &mut notes {
        if named.contains(ranked.note.uri.as_str()) {
            ranked.relevance += NAMED;
        }
    }
    // By falling relevance; equal notes keep the order of the source.
    notes.sort_by_key(|ranked| -ranked.relevance);
    let mut others: BTreeSet<&str> = BTreeSet::new();
    let unranked = found.search.iter().chain(&found.recent);
    for note in unranked.filter(|note| !known.contains(note.uri.as_str())) {
        if others.insert(&note.uri) {
            let note = RankedNote { note: note.clone(), passage: Passage::default(), relevance: 0 };
            notes.push(note);
        }
    }
    Ranked { concepts, recent: Vec::new(), notes }
}

/// The signals of a note: its relevance, and the search that found it.
pub(crate) fn signals(found: &Found, note: &FoundNote) -> Vec<Signal> {
    let searched = found.search.iter().filter(|other| other.uri == note.uri);
    let mut signals: Vec<Signal> =
        searched.map(|other| other.signal).chain([note.signal]).collect();
    signals.sort();
    signals.dedup();
    signals
}
