//! The walk: personalised PageRank over a bounded neighbourhood of notes, by local push.

use std::collections::{BTreeMap, VecDeque};

use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;

/// The share of a walk that returns to its start at every step.
pub const START_RESTART: f64 = 0.3;
/// Smaller amounts are not passed on.
const LEAST: f64 = 1e-5;

/// Notes with weighted links between them.
#[derive(Debug, Default)]
pub struct Neighbourhood {
    graph: DiGraph<i64, f64>,
    nodes: BTreeMap<i64, NodeIndex>,
}

impl Neighbourhood {
    /// Adds a link; links between the same notes add up.
    pub fn link(&mut self, from: i64, to: i64, weight: f64) {
        let (from, to) = (self.node(from), self.node(to));
        match self.graph.find_edge(from, to) {
            Some(edge) => self.graph[edge] += weight,
            None => _ = self.graph.add_edge(from, to, weight),
        }
    }

    fn node(&mut self, note: i64) -> NodeIndex {
        *self.nodes.entry(note).or_insert_with(|| self.graph.add_node(note))
    }

    /// How much of the walks that start at the seeds, by weight, is at each note.
    pub fn walk(&self, seeds: &[(i64, f64)], restart: f64) -> BTreeMap<i64, f64> {
        let total: f64 = seeds.iter().map(|(_, weight)| weight).sum();
        let mut reached: BTreeMap<i64, f64> = BTreeMap::new();
        if total <= 0.0 {
            return reached;
        }
        let mut rest = vec![0.0; self.graph.node_count()];
        let mut is_queued = vec![false; rest.len()];
        let mut queue = VecDeque::new();
        for (note, weight) in seeds {
            match self.nodes.get(note) {
                Some(&node) => {
                    rest[node.index()] += weight / total;
                    if !std::mem::replace(&mut is_queued[node.index()], true) {
                        queue.push_back(node);
                    }
                }
                // A note without links keeps all of its own.
                None => *reached.entry(*note).or_default() += weight / total,
            }
        }
        while let Some(node) = queue.pop_front() {
            is_queued[node.index()] = false;
            let here = rest[node.index()];
            let links: Vec<(NodeIndex, f64)> =
                self.graph.edges(node).map(|edge| (edge.target(), *edge.weight())).collect();
            if here < LEAST * links.len().max(1) as f64 {
                continue;
            }
            rest[node.index()] = 0.0;
            let all: f64 = links.iter().map(|(_, weight)| weight).sum();
            let stays = if links.is_empty() { here } else { restart * here };
            *reached.entry(self.graph[node]).or_default() += stays;
            for (to, weight) in links {
                rest[to.index()] += (1.0 - restart) * here * weight / all;
                if !std::mem::replace(&mut is_queued[to.index()], true) {
                    queue.push_back(to);
                }
            }
        }
        reached
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn near_notes_get_more_than_far_ones() {
        let mut notes = Neighbourhood::default();
        for (from, to) in [(1, 2), (2, 3), (3, 4), (1, 5), (5, 2)] {
            notes.link(from, to, 1.0);
            notes.link(to, from, 0.5);
        }
        let walk = notes.walk(&[(1, 1.0)], START_RESTART);
        assert!(walk[&1] > walk[&2] && walk[&2] > walk[&3] && walk[&3] > walk[&4], "{walk:?}");
    }

    #[test]
    fn a_seed_without_links_keeps_its_share() {
        let notes = Neighbourhood::default();
        assert_eq!(notes.walk(&[(7, 2.0)], START_RESTART), BTreeMap::from([(7, 1.0)]));
        assert_eq!(notes.walk(&[], START_RESTART), BTreeMap::new());
    }

    proptest! {
        #[test]
        fn a_walk_hands_out_no_more_than_it_has(
            links in prop::collection::vec((0i64..20, 0i64..20, 0.1f64..2.0), 0..60),
            seeds in prop::collection::vec((0i64..20, 0.1f64..2.0), 1..5),
        ) {
            let mut notes = Neighbourhood::default();
            for (from, to, weight) in links {
                notes.link(from, to, weight);
            }
            let walk = notes.walk(&seeds, START_RESTART);
            let sum: f64 = walk.values().sum();
            prop_assert!(sum <= 1.0 + 1e-9 && sum > 0.2, "{sum}");
        }
    }
}
