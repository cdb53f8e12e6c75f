//! Draws a graph as SVG. Highlighting what is pointed at is done by style alone.

use crate::core::context::page::graph::{Edge, Graph, Node, Standing};
use crate::core::context::page::html::decimal;
use crate::core::context::page::layout::{Layout, Spot, WIDTH};
use crate::core::context::page::route::bend;
use crate::core::text::for_html::escape;
use crate::core::text::number::{counted, thousands};

/// The line of a single note.
const THINNEST: f64 = 1.4;
/// How much thicker a line gets at most: little where no connection has many notes.
const THICKER: f64 = 5.0;

pub(super) fn drawing(graph: &Graph) -> String {
    let layout = Layout::of(graph);
    let mut svg = format!(
        "<svg class=\"net\" role=\"img\" aria-labelledby=\"net-title net-desc\" viewBox=\"0 0 {} {}\">\n\
         <title id=\"net-title\">The concepts of this context and their connections</title>\n\
         <desc id=\"net-desc\">{}</desc>\n",
        decimal(WIDTH),
        decimal(layout.height),
        escape(&in_words(graph))
    );
    let mut edges: Vec<&Edge> = graph.edges.iter().collect();
    // The strongest are drawn last, over the others.
    edges.sort_by_key(|edge| (edge.notes, edge.from, edge.to));
    let most = edges.last().map_or(1, |edge| edge.notes);
    for edge in edges {
        svg.push_str(&line(graph, edge, most, &layout));
    }
    if let Some(y) = layout.rows_from {
        let [rule, right, text] = [y - 14.0, WIDTH - 10.0, y + 6.0].map(decimal);
        svg.push_str(&format!(
            "<path class=\"rule\" d=\"M 10 {rule} H {right}\"></path>\n<text class=\"aside\" x=\"10\" y=\"{text}\">\
             Named without a connection in this context</text>\n"
        ));
    }
    for (n, (node, spot)) in graph.nodes.iter().zip(&layout.spots).enumerate() {
        svg.push_str(&dot(graph, n, node, spot));
    }
    svg.push_str("</svg>\n");
    svg
}

/// Style that lets everything fade that does not touch the concept pointed at.
pub(super) fn highlighting(graph: &Graph) -> String {
    let connected = (0..graph.nodes.len()).filter(|&n| graph.around(n).next().is_some());
    connected
        .map(|n| format!(".net:has(.n{n}:hover) :is(.dot,.edge):not(.t{n}){{opacity:.1}}\n"))
        .collect()
}

fn in_words(graph: &Graph) -> String {
    let count = |standing| graph.nodes.iter().filter(|node| node.standing == standing).count();
    let mut words = format!(
        "{}: {} expanded, {} with their own line, {} only as neighbours. {}.",
        counted(graph.nodes.len(), "concept"),
        thousands(count(Standing::Expanded)),
        thousands(count(Standing::Chosen)),
        thousands(count(Standing::Neighbour)),
        counted(graph.edges.len(), "connection")
    );
    if !graph.edges.is_empty() {
        words.push_str(" The table below the drawing lists them.");
    }
    words
}

fn line(graph: &Graph, edge: &Edge, most: u32, layout: &Layout) -> String {
    let beyond_one = |notes: u32| f64::from(notes.saturating_sub(1));
    let strength = (beyond_one(edge.notes) / beyond_one(most).max(1.0)).powf(0.6);
    let width = THINNEST + THICKER.min(1.2 * beyond_one(most)) * strength;
    let (from, to) = (&layout.spots[edge.from], &layout.spots[edge.to]);
    let (x, y) = bend(layout, edge.from, edge.to);
    let [x, y, x_from, y_from, x_to, y_to] = [x, y, from.x, from.y, to.x, to.y].map(decimal);
    let [width, opacity] = [width, 0.4 + 0.5 * strength].map(decimal);
    let (a, b) = (&graph.nodes[edge.from].name, &graph.nodes[edge.to].name);
    let notes = counted(edge.notes as usize, "shared note");
    format!(
        "<path class=\"edge t{} t{}\" d=\"M {x_from} {y_from} Q {x} {y} {x_to} {y_to}\" \
         stroke-width=\"{width}\" stroke-opacity=\"{opacity}\"><title>{}</title></path>\n",
        edge.from,
        edge.to,
        escape(&format!("{a} and {b}: {notes}"))
    )
}

fn dot(graph: &Graph, n: usize, node: &Node, spot: &Spot) -> String {
    let (class, words) = match node.standing {
        Standing::Expanded => ("expanded", "expanded"),
        Standing::Chosen => ("chosen", "with its own line"),
        Standing::Neighbour => ("neighbour", "a neighbour"),
    };
    let touching: String = graph.around(n).map(|(other, _)| format!(" t{other}")).collect();
    let n_connections = counted(graph.around(n).count(), "connection");
    let ((x, middle), anchor, _) = spot.anchor();
    let foot = middle + spot.side.font() * 0.35;
    let [cx, cy, r, x, y] = [spot.x, spot.y, spot.radius, x, foot].map(decimal);
    format!(
        "<g class=\"dot {class} n{n} t{n}{touching}\"><title>{}</title>\
         <circle cx=\"{cx}\" cy=\"{cy}\" r=\"{r}\"></circle>\
         <text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{}</text></g>\n",
        escape(&format!("{}: {words}, {n_connections}", node.name)),
        escape(&spot.label)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph() -> Graph {
        let node = |name: &str, standing| Node { name: name.to_owned(), standing };
        Graph {
            nodes: vec![
                node("<script>&\"'", Standing::Expanded),
                node("a-name-that-is-far-too-long-to-be-drawn-in-full", Standing::Neighbour),
                node("alone", Standing::Chosen),
            ],
            edges: vec![Edge { from: 0, to: 1, notes: 3 }],
        }
    }

    #[test]
    fn every_concept_and_connection_is_drawn_once() {
        let svg = drawing(&graph());
        assert_eq!(svg.matches("<circle").count(), 3);
        assert_eq!(svg.matches("class=\"edge").count(), 1);
        assert!(svg.contains("to-be-drawn-in-full: 3 shared notes</title>"), "{svg}");
        assert!(svg.contains("…</text>"), "{svg}");
        assert!(svg.contains("Named without a connection"), "{svg}");
    }

    #[test]
    fn names_are_text() {
        let svg = drawing(&graph());
        assert!(!svg.contains("<script"), "{svg}");
        assert_eq!(svg.matches("&lt;script&gt;&amp;&quot;&#39;").count(), 3);
    }

    #[test]
    fn only_what_is_connected_is_highlighted() {
        assert_eq!(highlighting(&graph()).lines().count(), 2);
    }
}
