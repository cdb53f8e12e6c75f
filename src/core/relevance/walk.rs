//! The walk: personalised PageRank by local push. It loads the graph around its seeds as it goes, best first, so that
//! it never looks at more of a vault than it needs.

use std::collections::{BTreeMap, BTreeSet};

use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;

/// The share of a walk that returns to its start at every step, at a session's start and with a prompt.
pub const START_RESTART: f64 = 0.3;
pub const PROMPT_RESTART: f64 = 0.4;
/// Smaller amounts are not passed on.
const LEAST: f64 = 1e-5;

/// Notes, and other nodes that join them, with the weighted links that were loaded.
#[derive(Debug, Default)]
struct Neighbourhood {
    graph: DiGraph<i64, f64>,
    nodes: BTreeMap<i64, NodeIndex>,
}

impl Neighbourhood {
    fn node(&mut self, id: i64) -> NodeIndex {
        *self.nodes.entry(id).or_insert_with(|| self.graph.add_node(id))
    }
}

/// How much of the walks that start at the seeds, by weight, is at each node. `links` returns the links of a node; it is
/// asked for at most `most_loaded` nodes.
pub fn walk<E>(
    seeds: &[(i64, f64)],
    restart: f64,
    most_loaded: usize,
    mut links: impl FnMut(i64) -> Result<Vec<(i64, f64)>, E>,
) -> Result<BTreeMap<i64, f64>, E> {
    let total: f64 = seeds.iter().map(|(_, weight)| weight).sum();
    let mut notes = Neighbourhood::default();
    let mut arriving = Arriving::default();
    for (seed, weight) in seeds.iter().filter(|_| total > 0.0) {
        arriving.add(notes.node(*seed), weight / total);
    }
    let mut loaded = BTreeSet::new();
    let mut reached: BTreeMap<i64, f64> = BTreeMap::new();
    while let Some((node, amount)) = arriving.take_most().filter(|(_, amount)| *amount >= LEAST) {
        let id = notes.graph[node];
        if loaded.len() < most_loaded && loaded.insert(node) {
            for (other, weight) in links(id)? {
                let other = notes.node(other);
                notes.graph.add_edge(node, other, weight);
            }
        }
        let n_links = notes.graph.edges(node).count();
        // A node without links keeps all of its own.
        let stays = if n_links == 0 && loaded.contains(&node) { 1.0 } else { restart };
        *reached.entry(id).or_default() += stays * amount;
        if amount < LEAST * n_links as f64 {
            continue;
        }
        let all: f64 = notes.graph.edges(node).map(|edge| edge.weight()).sum();
        for edge in notes.graph.edges(node) {
            arriving.add(edge.target(), (1.0 - restart) * amount * edge.weight() / all);
        }
    }
    Ok(reached)
}

/// What has arrived at nodes and was not passed on yet.
#[derive(Debug, Default)]
struct Arriving {
    amounts: Vec<f64>,
    /// By amount (positive numbers are ordered as their bits are), then by node.
    queue: BTreeSet<(u64, NodeIndex)>,
}

impl Arriving {
    fn add(&mut self, node: NodeIndex, amount: f64) {
        if self.amounts.len() <= node.index() {
            self.amounts.resize(node.index() + 1, 0.0);
        }
        let before = self.amounts[node.index()];
        self.queue.remove(&(before.to_bits(), node));
        self.amounts[node.index()] = before + amount;
        self.queue.insert(((before + amount).to_bits(), node));
    }

    /// Takes the node with the most.
    fn take_most(&mut self) -> Option<(NodeIndex, f64)> {
        let (bits, node) = self.queue.pop_last()?;
        self.amounts[node.index()] = 0.0;
        Some((node, f64::from_bits(bits)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::convert::Infallible;

    type Links = BTreeMap<i64, Vec<(i64, f64)>>;

    fn walked(links: &Links, seeds: &[(i64, f64)], most_loaded: usize) -> BTreeMap<i64, f64> {
        let links = |node| Ok::<_, Infallible>(links.get(&node).cloned().unwrap_or_default());
        walk(seeds, START_RESTART, most_loaded, links).unwrap()
    }

    fn linked(pairs: &[(i64, i64)]) -> Links {
        let mut links = Links::new();
        for &(from, to) in pairs {
            links.entry(from).or_default().push((to, 1.0));
            links.entry(to).or_default().push((from, 0.5));
        }
        links
    }

    #[test]
    fn near_notes_get_more_than_far_ones() {
        let links = linked(&[(1, 2), (2, 3), (3, 4), (1, 5), (5, 2)]);
        let walk = walked(&links, &[(1, 1.0)], 100);
        assert!(walk[&1] > walk[&2] && walk[&2] > walk[&3] && walk[&3] > walk[&4], "{walk:?}");
    }

    #[test]
    fn a_seed_without_links_keeps_its_share() {
        assert_eq!(walked(&Links::new(), &[(7, 2.0)], 100), BTreeMap::from([(7, 1.0)]));
        assert_eq!(walked(&Links::new(), &[], 100), BTreeMap::new());
    }

    #[test]
    fn no_more_nodes_are_loaded_than_allowed() {
        let links = linked(&(0..50).map(|n| (n, n + 1)).collect::<Vec<_>>());
        let mut n_loaded = 0;
        let count = |node| {
            n_loaded += 1;
            Ok::<_, Infallible>(links[&node].clone())
        };
        walk(&[(0, 1.0)], START_RESTART, 5, count).unwrap();
        assert_eq!(n_loaded, 5);
    }

    proptest! {
        #[test]
        fn a_walk_hands_out_no_more_than_it_has(
            pairs in prop::collection::vec((0i64..20, 0i64..20), 0..60),
            seeds in prop::collection::vec((0i64..20, 0.1f64..2.0), 1..5),
            most_loaded in 0usize..30,
        ) {
            let sum: f64 = walked(&linked(&pairs), &seeds, most_loaded).values().sum();
            prop_assert!(sum <= 1.0 + 1e-9 && sum > 0.2, "{sum}");
        }
    }
}
