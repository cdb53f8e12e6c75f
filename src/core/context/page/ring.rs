//! The outer ring of a drawing: where its places are, and which node gets which. Knows no names.

use std::f64::consts::TAU;

use crate::core::context::page::graph::Graph;
use crate::core::context::page::layout::Point;

/// Places on the outer ring, clockwise from the top: down its right arc and up its left one.
pub(super) fn slots(n: usize, ring_x: f64, ring_y: f64) -> Vec<Point> {
    let arc = |n: usize, way: f64| {
        (0..n).map(move |k| {
            let y = ((k as f64 + 0.5) / n as f64 * 2.0 - 1.0) * ring_y;
            (way * ring_x * (1.0 - (y / ring_y).powi(2)).sqrt(), y)
        })
    };
    let n_right = n.div_ceil(2);
    let mut left: Vec<_> = arc(n - n_right, -1.0).collect();
    left.reverse();
    arc(n_right, 1.0).chain(left).collect()
}

/// Gives the outer nodes their slots: near the mean angle of what they connect to, then swapped while that makes the
/// lines shorter.
pub(super) fn settle(
    graph: &Graph,
    inside: &[(usize, Point)],
    outside: &[usize],
    slots: &[Point],
    middle: Point,
) -> Vec<(usize, usize)> {
    let weight = |notes: u32| 1.0 + f64::from(notes).max(1.0).ln();
    // What draws a node: where to, and how much.
    let pulls = |node: usize| -> Vec<(Point, f64)> {
        let place = |other| inside.iter().find(|(node, _)| *node == other);
        let pull = |(other, notes)| place(other).map(|&(_, to)| (to, weight(notes)));
        graph.around(node).filter_map(pull).collect()
    };
    let angle = |node: usize| {
        let (x, y) = pulls(node).into_iter().fold((0.0, 0.0), |(x, y), (to, weight)| {
            (x + (to.0 - middle.0) * weight, y + (to.1 - middle.1) * weight)
        });
        f64::atan2(x, -y).rem_euclid(TAU)
    };
    let mut nodes = outside.to_vec();
    nodes.sort_by(|&a, &b| angle(a).total_cmp(&angle(b)).then(a.cmp(&b)));
    let costs: Vec<Vec<f64>> = nodes
        .iter()
        .map(|&node| {
            let pulls = pulls(node);
            let length = |&(x, y): &Point| -> f64 {
                pulls.iter().map(|(to, weight)| (to.0 - x).hypot(to.1 - y) * weight).sum()
            };
            slots.iter().map(length).collect()
        })
        .collect();
    let n = nodes.len();
    let turned = |turn: usize| -> f64 { (0..n).map(|k| costs[k][(k + turn) % n]).sum() };
    let best = (0..n).min_by(|&a, &b| turned(a).total_cmp(&turned(b))).unwrap_or_default();
    let mut slot_of: Vec<usize> = (0..n).map(|k| (k + best) % n).collect();
    // Every swap makes the lines shorter, so that this ends; the bound is for numbers that differ by nothing.
    for _ in 0..n {
        let mut is_settled = true;
        for a in 0..n {
            for b in 0..a {
                let (here, there) = (slot_of[a], slot_of[b]);
                if costs[a][there] + costs[b][here] + 0.01 < costs[a][here] + costs[b][there] {
                    slot_of.swap(a, b);
                    is_settled = false;
                }
            }
        }
        if is_settled {
            break;
        }
    }
    nodes.into_iter().zip(slot_of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::context::page::graph::{Edge, Node, Standing};

    #[test]
    fn a_node_stands_on_the_side_of_what_it_connects_to() {
        let node = |standing| Node { name: String::new(), standing };
        let graph = Graph {
            nodes: [[Standing::Expanded; 2], [Standing::Neighbour; 2], [Standing::Neighbour; 2]]
                .concat()
                .into_iter()
                .map(node)
                .collect(),
            edges: [(0, 2), (0, 4), (1, 3), (1, 5)]
                .map(|(from, to)| Edge { from, to, notes: 1 })
                .into(),
        };
        let slots = slots(4, 200.0, 100.0);
        let settled = settle(
            &graph,
            &[(0, (-50.0, 0.0)), (1, (50.0, 0.0))],
            &[2, 3, 4, 5],
            &slots,
            (0.0, 0.0),
        );
        for (node, slot) in settled {
            assert_eq!(slots[slot].0 < 0.0, node % 2 == 0, "node {node} in slot {slot}");
        }
    }

    #[test]
    fn places_go_around_and_keep_their_distance() {
        for n in 0..30 {
            let slots = slots(n, 200.0, 100.0);
            assert_eq!(slots.len(), n);
            let right = slots.iter().take_while(|(x, _)| *x > 0.0).count();
            assert_eq!(right, n.div_ceil(2));
            assert!(slots[..right].is_sorted_by(|a, b| a.1 < b.1));
            assert!(slots[right..].is_sorted_by(|a, b| a.1 > b.1));
        }
    }
}
