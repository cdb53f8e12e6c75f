//! Where a graph's concepts are drawn: expanded ones on an inner ring, those around them on an outer one, and those
//! without a connection in rows below.
//!
//! The outer ring is two arcs with their nodes at even heights, and names run outwards from it: so no two names meet,
//! however many there are. The order of nodes on it keeps the lines short.

use std::f64::consts::TAU;

use crate::core::context::page::graph::{Graph, Node, Standing};
use crate::core::context::page::label;
use crate::core::context::page::ring::{settle, slots};

/// How wide the drawing is. Its height follows what is in it.
pub(super) const WIDTH: f64 = 900.0;
/// More expanded concepts than this would crowd the middle; further ones join the outer ring.
const MOST_INSIDE: usize = 8;
/// Between the drawing's rim and anything in it.
const MARGIN: f64 = 10.0;
/// Half the outer ring's width, at least and at most: what is left of the drawing's is for names.
const RING_X: (f64, f64) = (230.0, 320.0);
/// The inner ring's size as a share of the outer one's.
const INNER: f64 = 0.55;
/// From one name on the outer ring, or in a row, to the next.
const STEP: f64 = 25.0;
/// Between a circle and its name.
const GAP: f64 = 6.0;
const COLUMNS: usize = 4;
/// How long names inside the rings may be, and how long they may stay when they get in each other's way.
const LONGEST_INSIDE: f64 = 190.0;
const SHORTEST_INSIDE: f64 = 90.0;
const FONT: f64 = 13.0;
/// Bold letters of the size 14 are as wide as this.
const BOLD_FONT: f64 = 15.0;
/// A name is that much higher and deeper than its middle line.
const HALF_HEIGHT: f64 = 0.62;

pub(super) struct Layout {
    pub(super) height: f64,
    /// In the order of the graph's nodes.
    pub(super) spots: Vec<Spot>,
    /// Where it is said that what follows has no connection.
    pub(super) rows_from: Option<f64>,
}

/// Where a concept and its name are drawn.
#[derive(Debug, Clone, Default)]
pub(super) struct Spot {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) radius: f64,
    /// The name, as long as there is room.
    pub(super) label: String,
    pub(super) side: Side,
}

/// The side of its circle on which a name is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Side {
    #[default]
    Right,
    Left,
    /// Of expanded concepts, whose names are bold.
    Below,
}

impl Side {
    pub(super) fn font(self) -> f64 {
        if self == Side::Below { BOLD_FONT } else { FONT }
    }
}

pub(super) type Point = (f64, f64);

/// A rectangle: left, top, right, bottom.
pub(super) type Frame = [f64; 4];

impl Spot {
    fn new(node: &Node, (x, y): Point, side: Side, room: f64) -> Spot {
        let label = label::shorten(&node.name, side.font(), room);
        Spot { x, y, radius: radius(node.standing), label, side }
    }

    /// Where the name's middle line is anchored, how SVG calls that, and how much of the name lies left of it.
    pub(super) fn anchor(&self) -> (Point, &'static str, f64) {
        let Spot { x, y, radius, .. } = self;
        match self.side {
            Side::Right => ((x + radius + GAP, *y), "start", 0.0),
            Side::Left => ((x - radius - GAP, *y), "end", 1.0),
            Side::Below => ((*x, y + radius + 4.0 + self.side.font() * HALF_HEIGHT), "middle", 0.5),
        }
    }

    /// What the name and the circle cover.
    pub(super) fn frames(&self) -> [Frame; 2] {
        let Spot { x, y, radius, .. } = self;
        let width = label::width(&self.label, self.side.font());
        let ((anchor, middle), _, share) = self.anchor();
        let left = anchor - width * share;
        let half = self.side.font() * HALF_HEIGHT;
        [
            [left, middle - half, left + width, middle + half],
            [x - radius, y - radius, x + radius, y + radius],
        ]
    }
}

impl Layout {
    /// Gives every concept its place.
    pub(super) fn of(graph: &Graph) -> Layout {
        let all = 0..graph.nodes.len();
        let (connected, alone): (Vec<usize>, Vec<usize>) =
            all.partition(|&node| graph.around(node).next().is_some());
        let (mut inside, mut outside): (Vec<usize>, Vec<usize>) = connected
            .into_iter()
            .partition(|&node| graph.nodes[node].standing == Standing::Expanded);
        outside.extend(inside.split_off(inside.len().min(MOST_INSIDE)));
        let mut spots = vec![Spot::default(); graph.nodes.len()];
        let mut height = MARGIN;
        if !inside.is_empty() {
            let (ring_x, ring_y) =
                (ring_width(graph, &outside), ring_height(inside.len(), outside.len()));
            let middle = (WIDTH / 2.0, MARGIN + ring_y);
            let inner = inner_ring(graph, &inside, ring_x * INNER, ring_y * INNER);
            for (&node, spot) in inside.iter().zip(inner) {
                spots[node] = Spot { x: spot.x + middle.0, y: spot.y + middle.1, ..spot };
            }
            let slots: Vec<Point> = slots(outside.len(), ring_x, ring_y)
                .into_iter()
                .map(|(x, y)| (x + middle.0, y + middle.1))
                .collect();
            let inner: Vec<(usize, Point)> =
                inside.iter().map(|&node| (node, (spots[node].x, spots[node].y))).collect();
            for (node, slot) in settle(graph, &inner, &outside, &slots, middle) {
                spots[node] = outer_spot(&graph.nodes[node], slots[slot], middle.0);
            }
            // Few nodes leave the ring's top and bottom empty.
            let drawn = || inside.iter().chain(&outside).copied();
            let tops = drawn().flat_map(|node| spots[node].frames()).map(|frame| frame[1]);
            let top = tops.fold(f64::INFINITY, f64::min);
            drawn().for_each(|node| spots[node].y -= top - MARGIN);
            let bottoms = drawn().flat_map(|node| spots[node].frames()).map(|frame| frame[3]);
            height = bottoms.fold(0.0, f64::max) + MARGIN;
        }
        let mut rows_from = None;
        if !alone.is_empty() {
            if !inside.is_empty() {
                rows_from = Some(height + 24.0);
                height += 42.0;
            }
            let column = (WIDTH - 2.0 * MARGIN) / COLUMNS as f64;
            for (n, &node) in alone.iter().enumerate() {
                let x = MARGIN + (n % COLUMNS) as f64 * column + 10.0;
                let y = height + ((n / COLUMNS) as f64 + 0.5) * (STEP + 2.0);
                spots[node] = Spot::new(&graph.nodes[node], (x, y), Side::Right, column - 34.0);
            }
            height += alone.len().div_ceil(COLUMNS) as f64 * (STEP + 2.0) + MARGIN;
        }
        Layout { height, spots, rows_from }
    }
}

fn radius(standing: Standing) -> f64 {
    match standing {
        Standing::Neighbour => 5.0,
        Standing::Chosen => 6.5,
        Standing::Expanded => 10.0,
    }
}

/// Half the outer ring's width: as wide as its names let it be.
fn ring_width(graph: &Graph, outside: &[usize]) -> f64 {
    let names = outside.iter().map(|&node| label::width(&graph.nodes[node].name, FONT));
    let widest = names.fold(0.0, f64::max);
    (WIDTH / 2.0 - MARGIN - radius(Standing::Chosen) - GAP - widest).clamp(RING_X.0, RING_X.1)
}

/// Half the outer ring's height.
fn ring_height(n_inside: usize, n_outside: usize) -> f64 {
    let for_names = n_outside.div_ceil(2) as f64 * STEP / 2.0 + 4.0;
    for_names.max(n_inside as f64 * 36.0).max(130.0)
}

/// Expanded concepts around the middle, turned so that their names keep clear of each other. Where no turn helps, the
/// names get shorter.
fn inner_ring(graph: &Graph, inside: &[usize], ring_x: f64, ring_y: f64) -> Vec<Spot> {
    let n = inside.len();
    let turned = |turn: usize, room: f64| -> Vec<Spot> {
        let place = |(k, &node): (usize, &usize)| {
            let angle = TAU * (k as f64 / n as f64 + turn as f64 / 360.0);
            let from_middle = if n == 1 { 0.0 } else { 1.0 };
            let (x, y) = (ring_x * angle.sin(), ring_y * -angle.cos());
            let point = (from_middle * x, from_middle * y);
            Spot::new(&graph.nodes[node], point, Side::Below, room)
        };
        inside.iter().enumerate().map(place).collect()
    };
    let mut best = turned(0, LONGEST_INSIDE);
    let mut room = LONGEST_INSIDE;
    while room > SHORTEST_INSIDE {
        for turn in (0..360 / n.max(1)).step_by(3) {
            let next = turned(turn, room);
            if clearance(&next) > clearance(&best) + 0.01 {
                best = next;
            }
        }
        if clearance(&best) > GAP {
            break;
        }
        room -= 15.0;
    }
    best
}

/// The smallest distance between what two spots cover.
fn clearance(spots: &[Spot]) -> f64 {
    let mut smallest = f64::INFINITY;
    for (n, one) in spots.iter().enumerate() {
        for other in &spots[..n] {
            for a in one.frames() {
                for b in other.frames() {
                    smallest = smallest.min(apart(a, b));
                }
            }
        }
    }
    smallest
}

/// How far two rectangles are apart; negative where they overlap.
fn apart(a: Frame, b: Frame) -> f64 {
    let across = (a[0] - b[2]).max(b[0] - a[2]);
    let down = (a[1] - b[3]).max(b[1] - a[3]);
    across.max(down)
}

fn outer_spot(node: &Node, (x, y): Point, middle: f64) -> Spot {
    let (side, to_the_rim) = if x >= middle { (Side::Right, WIDTH - x) } else { (Side::Left, x) };
    let room = (to_the_rim - radius(node.standing) - GAP - MARGIN).min(260.0);
    Spot::new(node, (x, y), side, room)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::context::page::graph::Edge;
    use proptest::prelude::*;

    /// So many expanded concepts, each with so many neighbours, of which some are shared, and some concepts alone.
    fn graph(n_expanded: usize, n_neighbours: usize, n_alone: usize, name_chars: usize) -> Graph {
        let mut graph = Graph::default();
        let mut node = |standing| {
            let n = graph.nodes.len();
            let name = format!("{n}-{}", "wide-name-".repeat(name_chars / 10 + 1));
            graph.nodes.push(Node { name: name[..name_chars.max(4)].to_owned(), standing });
            n
        };
        let expanded: Vec<usize> = (0..n_expanded).map(|_| node(Standing::Expanded)).collect();
        let neighbours: Vec<usize> =
            (0..n_expanded * n_neighbours * 4 / 5).map(|_| node(Standing::Neighbour)).collect();
        (0..n_alone).for_each(|_| {
            node(Standing::Chosen);
        });
        for (n, &from) in expanded.iter().enumerate() {
            for k in 0..n_neighbours {
                let to = neighbours.get((n * n_neighbours * 4 / 5 + k) % neighbours.len().max(1));
                let notes = 1 + k as u32;
                graph.edges.extend(to.map(|&to| Edge { from, to, notes }));
            }
            for &to in &expanded[..n] {
                graph.edges.push(Edge { from, to, notes: 2 });
            }
        }
        graph
    }

    #[track_caller]
    fn check(graph: &Graph) {
        let Layout { spots, height, .. } = Layout::of(graph);
        assert_eq!(spots.len(), graph.nodes.len());
        for (n, spot) in spots.iter().enumerate() {
            for [left, top, right, bottom] in spot.frames() {
                assert!(
                    left >= 0.0 && top >= 0.0 && right <= WIDTH && bottom <= height,
                    "{spot:?}"
                );
            }
            for other in &spots[..n] {
                for (a, b) in [(0, 0), (0, 1), (1, 1)] {
                    let distance = apart(spot.frames()[a], other.frames()[b]);
                    assert!(distance > 0.0, "{spot:?} {other:?}");
                }
            }
        }
    }

    #[test]
    fn a_typical_graph_is_legible() {
        let graph = graph(5, 10, 12, 22);
        assert_eq!(graph.nodes.len(), 57);
        check(&graph);
    }

    #[test]
    fn nothing_is_drawn_of_nothing() {
        assert_eq!(Layout::of(&Graph::default()).spots.len(), 0);
    }

    #[test]
    fn a_neighbour_stands_near_what_it_connects_to() {
        let graph = graph(2, 6, 0, 8);
        let Layout { spots, .. } = Layout::of(&graph);
        let distance =
            |a: usize, b: usize| (spots[a].x - spots[b].x).hypot(spots[a].y - spots[b].y);
        let only_of = |expanded: usize| {
            let mut others = 2..graph.nodes.len();
            let is_only = |&node: &usize| graph.around(node).all(|(other, _)| other == expanded);
            others.find(is_only).unwrap()
        };
        assert!(distance(only_of(0), 0) < distance(only_of(0), 1));
        assert!(distance(only_of(1), 1) < distance(only_of(1), 0));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn names_never_meet_and_never_leave(
            n_expanded in 1usize..=12,
            n_neighbours in 0usize..=12,
            n_alone in 0usize..=40,
            name_chars in 4usize..=100,
        ) {
            check(&graph(n_expanded, n_neighbours, n_alone, name_chars));
        }
    }
}
