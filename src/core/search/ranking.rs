//! Ranks what the index found for a query. Knows why each note was found, not how.

use std::collections::BTreeMap;

use crate::core::search::answer::Match;

/// One reason for a note to be in the answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reason<Id> {
    pub note: Id,
    pub matched: Match,
    /// How strongly, within that kind of match: bm25 for text, links for a concept, 1 for a name in the very
    /// spelling of the query.
    pub strength: f64,
}

/// A note with its place in the answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranked<Id> {
    pub note: Id,
    pub matched: Match,
    /// From 0 to 1.
    pub score: f64,
}

/// Puts every note once, best first; among equals the one with the larger id, which is the newer one.
///
/// A note that *is* what was asked for, by address, title, alias or file name, comes before every note that
/// only speaks of it: a hub's own words carry no weight in bm25, which would bury the very note that was meant.
pub fn rank<Id: Ord + Copy>(reasons: impl IntoIterator<Item = Reason<Id>>) -> Vec<Ranked<Id>> {
    let mut notes: BTreeMap<Id, (Match, bool, f64)> = BTreeMap::new();
    for reason in reasons {
        let weight = match reason.matched {
            Match::Uri | Match::Title | Match::Alias | Match::File => 0.0,
            Match::Concept => 2.0 + (1.0 + reason.strength).ln(),
            Match::Text => reason.strength,
        };
        let (best, spelt_alike, sum) =
            notes.entry(reason.note).or_insert((reason.matched, false, 0.0));
        *best = (*best).min(reason.matched);
        *spelt_alike |= reason.matched == Match::Title && reason.strength > 0.0;
        *sum += weight;
    }
    let mut ranked: Vec<Ranked<Id>> = notes
        .into_iter()
        .map(|(note, (matched, spelt_alike, sum))| Ranked {
            note,
            matched,
            score: score(matched, spelt_alike, sum),
        })
        .collect();
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| b.note.cmp(&a.note)));
    ranked
}

/// Adds notes that have only forms of the words, best first: below all that were found before.
pub fn add_forms<Id: PartialEq>(
    ranked: &mut Vec<Ranked<Id>>,
    forms: impl IntoIterator<Item = (Id, f64)>,
) {
    for (note, strength) in forms {
        if ranked.iter().all(|known| known.note != note) {
            let lowest = ranked.last().map_or(1.0, |last| last.score);
            let score = score(Match::Text, false, strength / 2.0).min(lowest);
            ranked.push(Ranked { note, matched: Match::Text, score });
        }
    }
}

/// Maps a match and the sum of its weights into 0 to 1, with a floor of its own for each kind of name, and for a
/// title in the very spelling of the query.
fn score(matched: Match, spelt_alike: bool, sum: f64) -> f64 {
    let share = sum / (sum + 5.0);
    let score = match matched {
        Match::Uri => 1.0,
        Match::Title if spelt_alike => 0.975 + 0.025 * share,
        Match::Title => 0.95 + 0.02 * share,
        Match::Alias => 0.90 + 0.04 * share,
        Match::File => 0.85 + 0.04 * share,
        Match::Concept | Match::Text => 0.80 * share,
    };
    // Four places are what a reader is shown; rounding here keeps order and output the same.
    (score * 10_000.0).round() / 10_000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_note_that_is_meant_comes_first() {
        let reason = |note, matched, strength| Reason { note, matched, strength };
        let ranked = rank([
            reason(1, Match::Text, 40.0),
            reason(2, Match::Title, 0.0),
            reason(2, Match::Text, 0.000_001),
            reason(3, Match::Concept, 9.0),
            reason(3, Match::Text, 30.0),
            reason(4, Match::Alias, 0.0),
            reason(5, Match::File, 0.0),
            reason(6, Match::Text, 40.0),
        ]);
        let order: Vec<i32> = ranked.iter().map(|ranked| ranked.note).collect();
        assert_eq!(order, [2, 4, 5, 6, 1, 3]);
        assert!(ranked.iter().all(|ranked| (0.0..=1.0).contains(&ranked.score)));
    }

    #[test]
    fn among_titles_the_spelling_decides_and_then_the_rest() {
        let reason = |note, matched, strength| Reason { note, matched, strength };
        let ranked = rank([
            reason(1, Match::Title, 1.0),
            reason(1, Match::Concept, 1.0),
            reason(2, Match::Title, 1.0),
            reason(3, Match::Title, 0.0),
            reason(3, Match::Text, 90.0),
        ]);
        assert_eq!(ranked.iter().map(|ranked| ranked.note).collect::<Vec<_>>(), [1, 2, 3]);
    }

    #[test]
    fn forms_come_last() {
        let mut ranked = rank([Reason { note: 1, matched: Match::Text, strength: 0.5 }]);
        let exact = ranked[0];
        add_forms(&mut ranked, [(2, 9.0), (1, 8.0), (3, 0.1)]);
        assert_eq!(ranked[0], exact);
        assert_eq!(ranked.iter().map(|ranked| ranked.note).collect::<Vec<_>>(), [1, 2, 3]);
        assert!(ranked.is_sorted_by(|a, b| a.score >= b.score), "{ranked:?}");
    }

    #[test]
    fn the_order_of_the_reasons_does_not_matter() {
        let mut reasons: Vec<Reason<u32>> = (0..20)
            .map(|n| Reason {
                note: n % 7,
                matched: [Match::Concept, Match::Text][n as usize % 2],
                strength: f64::from(n % 3),
            })
            .collect();
        let expect = rank(reasons.clone());
        reasons.reverse();
        assert_eq!(rank(reasons), expect);
    }
}
