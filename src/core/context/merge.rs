//! Merges the found notes into one list of concepts without duplicates, each with all its signals.

use std::collections::BTreeMap;

use crate::core::context::found::{FoundConcept, FoundNote, Signal};
use crate::core::note::concept::Concept;

/// Collects the concepts of the notes, sorted by name. The result does not depend on the order of the notes.
pub fn merge<'a>(found: impl IntoIterator<Item = &'a FoundNote>) -> Vec<FoundConcept> {
    let mut concepts: BTreeMap<&Concept, Vec<Signal>> = BTreeMap::new();
    for note in found {
        for concept in &note.concepts {
            let signals = concepts.entry(concept).or_default();
            if !signals.contains(&note.signal) {
                signals.push(note.signal);
            }
        }
    }
    let in_order = |mut signals: Vec<Signal>| {
        signals.sort();
        signals
    };
    concepts
        .into_iter()
        .map(|(concept, signals)| FoundConcept {
            concept: concept.clone(),
            signals: in_order(signals),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn note(place: usize, concepts: &[String]) -> FoundNote {
        let uri = format!("memory://n{place}");
        FoundNote {
            title: String::new(),
            excerpt: String::new(),
            concepts: concepts.iter().filter_map(|name| Concept::parse(name)).collect(),
            modified: crate::core::time::Timestamp::from_seconds(0),
            signal: Signal::Recent { place },
            uri,
        }
    }

    proptest! {
        #[test]
        fn the_order_of_the_notes_does_not_matter(
            notes in prop::collection::vec(prop::collection::vec("[A-D ]{1,3}", 0..5), 0..8),
            turn in 0usize..8,
        ) {
            let notes: Vec<FoundNote> =
                notes.iter().enumerate().map(|(n, concepts)| note(n, concepts)).collect();
            let expect = merge(&notes);
            let mut turned = notes.clone();
            turned.rotate_left(turn.min(notes.len()));
            turned.reverse();
            prop_assert_eq!(merge(&turned), expect.clone());
            let mentions = |concept: &Concept| {
                notes.iter().filter(|note| note.concepts.contains(concept)).count()
            };
            for found in &expect {
                prop_assert_eq!(found.signals.len(), mentions(&found.concept));
            }
        }
    }
}
