//! Ranks by frequency: the concepts that most found notes mention come first; names break ties.

use super::{Evidence, Expansion, Method, Ranked};
use crate::core::context::found::{Found, FoundNote};

pub(super) const METHOD: Method = Method {
    description: "by frequency",
    n_concepts: 256,
    expansion: Expansion { n_concepts: 5, n_neighbours: 10 },
    speaks,
    order,
};

fn speaks(found: &Found) -> Vec<&FoundNote> {
    found.search.iter().chain(&found.recent).collect()
}

fn order(evidence: Evidence<'_>) -> Ranked<'_> {
    let Evidence { found, mut concepts } = evidence;
    concepts.sort_by(|a, b| {
        b.signals.len().cmp(&a.signals.len()).then_with(|| a.concept.cmp(&b.concept))
    });
    let mut recent: Vec<_> = found.recent.iter().collect();
    recent.sort_by_key(|note| note.signal);
    Ranked { concepts, recent, notes: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::context::found::{FoundConcept, Signal};
    use crate::core::note::concept::Concept;

    #[test]
    fn the_most_frequent_comes_first_and_names_break_ties() {
        let found = |name: &str, frequency: usize| FoundConcept {
            concept: Concept::parse(name).unwrap(),
            signals: (0..frequency).map(|place| Signal::Recent { place }).collect(),
        };
        let concepts = vec![found("b", 1), found("c", 3), found("a", 1), found("d", 2)];
        let found = Found::default();
        let ranked = order(Evidence { found: &found, concepts });
        let names: Vec<&str> = ranked.concepts.iter().map(|found| found.concept.as_str()).collect();
        assert_eq!(names, ["c", "d", "a", "b"]);
    }
}
