//! The way of a connection's line: around other concepts and all names, where a slight bend is enough for that.

use crate::core::context::page::layout::{Frame, Layout, Point, Side, WIDTH};

/// How far the point that a line bends towards may be moved, in the order of trial.
const OFFSETS: [f64; 7] = [0.0, 40.0, -40.0, 80.0, -80.0, 140.0, -140.0];
/// At so many places a line is compared with what it could cross.
const SAMPLES: usize = 32;

/// The point towards which the line between two spots bends.
pub(super) fn bend(layout: &Layout, from: usize, to: usize) -> Point {
    let bends = OFFSETS.map(|offset| bent(layout, (from, to), offset));
    // Of equals, the first.
    bends
        .into_iter()
        .min_by_key(|&point| n_crossed(layout, (from, to), point))
        .unwrap_or_else(|| bent(layout, (from, to), 0.0))
}

/// Lines to one name on the outer ring come in side by side, as from one direction. An offset moves the bend to a side.
fn bent(layout: &Layout, ends: (usize, usize), offset: f64) -> Point {
    let (from, to) = (&layout.spots[ends.0], &layout.spots[ends.1]);
    let outer_share = match (from.side, to.side) {
        (Side::Below, Side::Below) => 0.5,
        (Side::Below, _) => 0.8,
        _ => 0.2,
    };
    let (x, y) = ((from.x + to.x) / 2.0, from.y + (to.y - from.y) * outer_share);
    let (across, down) = (to.x - from.x, to.y - from.y);
    let length = across.hypot(down).max(1.0);
    // A line stays among the points that it is made of, so that this keeps it in the drawing.
    let x = (x - down / length * offset).clamp(0.0, WIDTH);
    (x, (y + across / length * offset).clamp(0.0, layout.height))
}

/// How often a line is within a name, or within the circle of a concept that it does not connect.
pub(super) fn n_crossed(layout: &Layout, ends: (usize, usize), bend: Point) -> usize {
    let (from, to) = (&layout.spots[ends.0], &layout.spots[ends.1]);
    let along = (1..SAMPLES).map(|n| {
        let t = n as f64 / SAMPLES as f64;
        let weigh = |a: f64, b: f64, c: f64| {
            a * (1.0 - t).powi(2) + b * 2.0 * t * (1.0 - t) + c * t.powi(2)
        };
        (weigh(from.x, bend.0, to.x), weigh(from.y, bend.1, to.y))
    });
    let is_in = |(x, y): Point, [left, top, right, bottom]: Frame| {
        left < x && x < right && top < y && y < bottom
    };
    let crossed = |point: Point| {
        let spots = layout.spots.iter().enumerate();
        let frames = spots.flat_map(|(n, spot)| {
            let [name, circle] = spot.frames();
            [Some(name), (n != ends.0 && n != ends.1).then_some(circle)]
        });
        frames.flatten().any(|frame| is_in(point, frame))
    };
    along.filter(|&point| crossed(point)).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::context::page::graph::{Edge, Graph, Node, Standing};

    /// Two expanded concepts with the same neighbours, one of which stands in line with both.
    fn graph() -> Graph {
        let node = |name: &str, standing| Node { name: name.to_owned(), standing };
        let edge = |from, to| Edge { from, to, notes: 2 };
        Graph {
            nodes: vec![
                node("edge-gateway", Standing::Expanded),
                node("renderer", Standing::Expanded),
                node("object-storage", Standing::Neighbour),
                node("rate-limiting", Standing::Neighbour),
                node("backpressure", Standing::Neighbour),
            ],
            edges: vec![
                edge(0, 1),
                edge(0, 2),
                edge(0, 3),
                edge(0, 4),
                edge(1, 2),
                edge(1, 3),
                edge(1, 4),
            ],
        }
    }

    #[test]
    fn no_line_runs_behind_a_concept_or_through_a_name() {
        let graph = graph();
        let layout = Layout::of(&graph);
        let straight = |edge: &Edge| {
            let ends = (edge.from, edge.to);
            n_crossed(&layout, ends, bent(&layout, ends, 0.0))
        };
        assert!(graph.edges.iter().any(|edge| straight(edge) > 0));
        for Edge { from, to, .. } in graph.edges {
            let bend = bend(&layout, from, to);
            assert_eq!(n_crossed(&layout, (from, to), bend), 0, "{from} {to}");
        }
    }

    #[test]
    fn a_line_with_a_free_way_is_not_bent_further() {
        let graph = graph();
        let layout = Layout::of(&graph);
        assert_eq!(bend(&layout, 0, 1), bent(&layout, (0, 1), 0.0));
    }
}
