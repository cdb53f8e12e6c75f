//! Ranks concepts. Each way of ranking has a name; which one was used stands in the receipt.

use crate::core::context::candidate::FoundConcept;
use crate::core::context::receipt::Ranking;

/// Puts the best concept first.
pub fn rank(ranking: Ranking, mut concepts: Vec<FoundConcept>) -> Vec<FoundConcept> {
    match ranking {
        Ranking::Frequency => concepts.sort_by(|a, b| {
            b.signals.len().cmp(&a.signals.len()).then_with(|| a.concept.cmp(&b.concept))
        }),
    }
    concepts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::context::candidate::Signal;
    use crate::core::note::concept::Concept;

    #[test]
    fn the_most_frequent_comes_first_and_names_break_ties() {
        let found = |name: &str, frequency: usize| FoundConcept {
            concept: Concept::parse(name).unwrap(),
            signals: (0..frequency).map(|place| Signal::Recent { place }).collect(),
        };
        let ranked = rank(
            Ranking::Frequency,
            vec![found("b", 1), found("c", 3), found("a", 1), found("d", 2)],
        );
        let names: Vec<&str> = ranked.iter().map(|found| found.concept.as_str()).collect();
        assert_eq!(names, ["c", "d", "a", "b"]);
    }
}
