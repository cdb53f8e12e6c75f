//! The small graph of a context: the concepts that its lines name, and the connections that they tell of. Knows no
//! coordinates.

use crate::core::context::candidate::{Line, Part};
use crate::core::context::receipt::Receipt;
use crate::core::text::for_model;

#[derive(Debug, Default)]
pub(super) struct Graph {
    pub(super) nodes: Vec<Node>,
    pub(super) edges: Vec<Edge>,
}

#[derive(Debug)]
pub(super) struct Node {
    pub(super) name: String,
    pub(super) standing: Standing,
}

/// How a concept came into the context, the strongest reason last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Standing {
    /// Only as a neighbour of another.
    Neighbour,
    /// With a line of its own.
    Chosen,
    /// With a line that tells its neighbours.
    Expanded,
}

/// Two concepts that share notes.
#[derive(Debug)]
pub(super) struct Edge {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) notes: u32,
}

impl Graph {
    /// What the shown lines of a receipt tell. What was left out is not drawn: it is not in the context.
    pub(super) fn of(receipt: &Receipt) -> Graph {
        let mut graph = Graph::default();
        for entry in &receipt.entries {
            let Some(shown) = &entry.shown else { continue };
            match &entry.candidate.line {
                Line::Described { name, .. } if entry.candidate.part == Part::Concepts => {
                    let bare = name.strip_prefix("[[").and_then(|name| name.strip_suffix("]]"));
                    graph.node(bare.unwrap_or(name), Standing::Chosen);
                }
                Line::Described { .. } | Line::Quoted { .. } => {}
                Line::Connected { concept, to } => {
                    let name = for_model::one_line(concept.as_str());
                    let from = graph.node(&name, Standing::Expanded);
                    for link in to.iter().take(shown.extent.map_or(to.len(), |extent| extent + 1)) {
                        let name = for_model::one_line(link.concept.as_str());
                        let to = graph.node(&name, Standing::Neighbour);
                        graph.connect(from, to, link.notes);
                    }
                }
            }
        }
        graph
    }

    /// The number of a concept, which the strongest reason decides upon.
    fn node(&mut self, name: &str, standing: Standing) -> usize {
        let known = self.nodes.iter().position(|node| node.name == name);
        match known {
            Some(node) => self.nodes[node].standing = self.nodes[node].standing.max(standing),
            None => self.nodes.push(Node { name: name.to_owned(), standing }),
        }
        known.unwrap_or(self.nodes.len() - 1)
    }

    /// A connection that both of its ends tell of is one.
    fn connect(&mut self, from: usize, to: usize, notes: u32) {
        let is_same = |edge: &&mut Edge| {
            (edge.from, edge.to) == (from, to) || (edge.to, edge.from) == (from, to)
        };
        match self.edges.iter_mut().find(is_same) {
            Some(edge) => edge.notes = edge.notes.max(notes),
            None if from != to => self.edges.push(Edge { from, to, notes }),
            None => {}
        }
    }

    /// The concepts on the other end of a node's connections, each with the notes that they share.
    pub(super) fn around(&self, node: usize) -> impl Iterator<Item = (usize, u32)> {
        self.edges.iter().filter_map(move |edge| match (edge.from, edge.to) {
            (from, to) if from == node => Some((to, edge.notes)),
            (from, to) if to == node => Some((from, edge.notes)),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::context::page::tests::{concept_entry, connected_entry, receipt, shorten};

    #[test]
    fn shown_lines_become_nodes_and_edges() {
        let mut receipt = receipt();
        receipt.entries = vec![
            concept_entry("a"),
            connected_entry("a", &[("b", 3), ("c", 1)]),
            connected_entry("b", &[("a", 3), ("d", 2)]),
            concept_entry("c"),
            concept_entry("left-out"),
        ];
        receipt.entries[4].shown = None;
        let graph = Graph::of(&receipt);
        let nodes: Vec<(&str, Standing)> =
            graph.nodes.iter().map(|node| (node.name.as_str(), node.standing)).collect();
        assert_eq!(
            nodes,
            [
                ("a", Standing::Expanded),
                ("b", Standing::Expanded),
                ("c", Standing::Chosen),
                ("d", Standing::Neighbour),
            ]
        );
        let edges: Vec<_> =
            graph.edges.iter().map(|edge| (edge.from, edge.to, edge.notes)).collect();
        assert_eq!(edges, [(0, 1, 3), (0, 2, 1), (1, 3, 2)]);
        assert_eq!(graph.around(1).collect::<Vec<_>>(), [(0, 3), (3, 2)]);
    }

    #[test]
    fn connections_without_room_are_not_drawn() {
        let mut receipt = receipt();
        receipt.entries = vec![connected_entry("a", &[("b", 3), ("c", 2), ("d", 1)])];
        shorten(&mut receipt.entries[0], 1);
        let graph = Graph::of(&receipt);
        let names: Vec<&str> = graph.nodes.iter().map(|node| node.name.as_str()).collect();
        assert_eq!(names, ["a", "b", "c"]);
    }
}
