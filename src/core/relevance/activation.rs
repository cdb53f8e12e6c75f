//! Activation: how often and how lately a note changed, counted in sessions and not in days.

use std::collections::{BTreeMap, BTreeSet};

/// Changes with a longer gap between them belong to different sessions.
const GAP_SECONDS: i64 = 4 * 60 * 60;
/// Older sessions do not count.
const MOST_BURSTS: usize = 400;
/// A burst of more notes than this counts for less: a clone, a sync or a rename changes many notes at once.
const BULK: f64 = 20.0;
/// A burst of more notes is no session at all: no walk starts from it.
const SEED_BULK: usize = 60;
/// How many of a note's newest bursts decide whether a walk may start from it.
const SEED_BURSTS: usize = 3;
/// The number of notes that a walk starts from.
const SEEDS: usize = 20;

/// A note changed at a time, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Change {
    pub at: i64,
    pub note: i64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Activation {
    pub value: f64,
    /// The number of sessions in which the note changed.
    pub n_sessions: usize,
    /// The number of sessions since its last change.
    pub age: usize,
    /// The number of other notes that changed with it then, if they are too many for a session.
    pub n_with_it: usize,
    /// Whether one of the newest changes was made by hand and not in bulk.
    is_seed: bool,
}

/// The activation of every note that has changed. The order of the changes does not matter.
pub fn activations(changes: &[Change]) -> BTreeMap<i64, Activation> {
    let bursts = bursts(changes);
    let mut bursts_of: BTreeMap<i64, Vec<usize>> = BTreeMap::new();
    for (age, burst) in bursts.iter().enumerate() {
        for &note in burst {
            bursts_of.entry(note).or_default().push(age);
        }
    }
    let activation = |ages: &[usize]| {
        let value =
            ages.iter().map(|&age| (BULK / bursts[age].len() as f64).min(1.0) / (1 + age) as f64);
        let by_hand = |&age: &usize| bursts[age].len() <= SEED_BULK;
        let newest = ages.first().map_or(0, |&age| bursts[age].len());
        Activation {
            value: value.sum(),
            n_with_it: if newest as f64 > BULK { newest - 1 } else { 0 },
            n_sessions: ages.len(),
            age: ages.first().copied().unwrap_or_default(),
            is_seed: ages.iter().take(SEED_BURSTS).any(by_hand),
        }
    };
    bursts_of.iter().map(|(&note, ages)| (note, activation(ages))).collect()
}

/// The notes that a walk starts from, with their weights.
pub fn seeds(activations: &BTreeMap<i64, Activation>) -> Vec<(i64, f64)> {
    let mut seeds: Vec<(i64, f64)> = activations
        .iter()
        .filter(|(_, activation)| activation.is_seed)
        .map(|(&note, activation)| (note, activation.value))
        .collect();
    seeds.sort_by(|(a, of_a), (b, of_b)| of_b.total_cmp(of_a).then_with(|| b.cmp(a)));
    seeds.truncate(SEEDS);
    seeds
}

/// The notes that changed together, newest burst first.
fn bursts(changes: &[Change]) -> Vec<BTreeSet<i64>> {
    let mut changes = changes.to_vec();
    changes.sort_unstable_by(|a, b| b.cmp(a));
    let mut bursts: Vec<BTreeSet<i64>> = Vec::new();
    let mut last = None;
    for Change { at, note } in changes {
        if last.is_none_or(|last: i64| last.saturating_sub(at) > GAP_SECONDS) {
            if bursts.len() == MOST_BURSTS {
                break;
            }
            bursts.push(BTreeSet::new());
        }
        last = Some(at);
        if let Some(burst) = bursts.last_mut() {
            burst.insert(note);
        }
    }
    bursts
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const DAY: i64 = 24 * 60 * 60;

    fn change(note: i64, day: i64) -> Change {
        Change { at: day * DAY, note }
    }

    fn order(changes: &[Change]) -> Vec<i64> {
        let mut order: Vec<(i64, f64)> =
            activations(changes).iter().map(|(&note, of)| (note, of.value)).collect();
        order.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        order.into_iter().map(|(note, _)| note).collect()
    }

    #[test]
    fn what_changes_in_every_session_leads() {
        let often = (0..10).map(|day| change(1, day));
        let last = [change(2, 9)];
        let long_ago = [change(3, 0), change(3, 1), change(4, 4)];
        let changes: Vec<Change> = often.chain(last).chain(long_ago).collect();
        assert_eq!(order(&changes), [1, 2, 3, 4]);
    }

    #[test]
    fn a_bulk_change_counts_little_and_starts_no_walk() {
        let bulk = (0..200).map(|note| change(note, 5));
        let changes: Vec<Change> = bulk.chain([change(7, 4)]).collect();
        let activations = activations(&changes);
        assert_eq!(order(&changes)[0], 7);
        assert_eq!((activations[&1].n_with_it, activations[&1].n_sessions), (199, 1));
        assert_eq!(seeds(&activations).iter().map(|seed| seed.0).collect::<Vec<_>>(), [7]);
    }

    #[test]
    fn a_gap_of_four_hours_ends_a_session() {
        let at = |note, at| Change { at, note };
        let bursts = bursts(&[at(1, 0), at(2, GAP_SECONDS), at(3, 2 * GAP_SECONDS + 1)]);
        assert_eq!(bursts, [BTreeSet::from([3]), BTreeSet::from([1, 2])]);
    }

    proptest! {
        #[test]
        fn the_order_of_changes_does_not_matter(
            changes in prop::collection::vec((0i64..9, 0i64..200_000), 0..40),
            turn in 0usize..40,
        ) {
            let changes: Vec<Change> =
                changes.into_iter().map(|(note, at)| Change { at, note }).collect();
            let mut turned = changes.clone();
            turned.rotate_left(turn.min(changes.len()));
            prop_assert_eq!(activations(&turned), activations(&changes));
        }
    }
}
