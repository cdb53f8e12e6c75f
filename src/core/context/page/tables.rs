//! The tables of a page: the lines of the context, what was left out, what went wrong, and how long it took.

use crate::core::context::candidate::Part;
use crate::core::context::explanation::{ExplainedLine, Explanation, NearMiss};
use crate::core::context::page::graph::{Edge, Graph};
use crate::core::context::page::html::{class, decimal, line};
use crate::core::context::receipt::{Fault, Stage};
use crate::core::text::for_html::escape;
use crate::core::text::number::{counted, thousands};

/// Every line of the context.
pub(super) fn lines(explanation: &Explanation) -> String {
    let Explanation { lines, receipt, .. } = explanation;
    if lines.is_empty() {
        return "<p>The context has no lines: kgctx found nothing for this project, or nothing fitted.</p>\n"
            .to_owned();
    }
    let mut bodies = Vec::new();
    for part in Part::ALL {
        let of_part: Vec<&ExplainedLine> = lines.iter().filter(|line| line.part == part).collect();
        if of_part.is_empty() {
            continue;
        }
        let tokens = receipt.parts.iter().filter(|used| used.name == part).map(|used| used.tokens);
        let title = format!(
            "<tr><th scope=\"rowgroup\" colspan=\"3\"><span class=\"swatch {}\"></span>{} \
             <span class=\"soft\">{}, {}</span></th></tr>\n",
            part.name(),
            part.title(),
            counted(of_part.len(), "line"),
            counted(tokens.sum(), "token")
        );
        let rows =
            of_part.into_iter().map(|ExplainedLine { text, tokens, shortened, reason, .. }| {
                let badge = if *shortened { " <span class=\"badge\">shortened</span>" } else { "" };
                format!("<tr>{}</tr>\n", cells(*tokens, text, badge, reason))
            });
        bodies.push(title + &rows.collect::<String>());
    }
    let caption =
        "Every line as it appears in the context. The headings of the parts also take tokens.";
    let columns = [("number", "Tokens"), ("", "Line"), ("", "Why it is there")];
    table("stacked", caption, &columns, &bodies)
}

/// The cells of a line, shown or not.
fn cells(tokens: usize, text: &str, badge: &str, reason: &str) -> String {
    let (tokens, line, reason) = (thousands(tokens), line(text), escape(reason));
    format!(
        "<td class=\"number\">{tokens}</td><td class=\"line\">{line}{badge}</td><td class=\"why\">{reason}</td>"
    )
}

/// What was left out, and at which budget it comes in.
pub(super) fn near_misses(near_misses: &[NearMiss]) -> String {
    if near_misses.is_empty() {
        return "<p>Nothing was left out.</p>\n".to_owned();
    }
    let caption = format!(
        "{} did not fit, the next best first. Each fits, perhaps shortened, at the budget in the last column.",
        counted(near_misses.len(), "line")
    );
    let columns =
        [("number", "Tokens"), ("", "Line"), ("", "Why it would be there"), ("", "Fits at")];
    let rows = near_misses.iter().map(|NearMiss { text, tokens, reason, enters_at, .. }| {
        let price = match enters_at {
            Some(budget) => format!("<strong>{}</strong> tokens", thousands(*budget)),
            None => "never: the host’s own limit is too small".to_owned(),
        };
        let cells = cells(*tokens, text, "", reason);
        format!("<tr>{cells}<td class=\"price\">{price}</td></tr>\n")
    });
    table("stacked", &caption, &columns, &[rows.collect()])
}

/// What went wrong on the way.
pub(super) fn faults(faults: &[Fault]) -> String {
    if faults.is_empty() {
        return "<p>Nothing failed.</p>\n".to_owned();
    }
    let caption = "The context was built without what failed.";
    let rows = faults.iter().map(|Fault { source, reason }| {
        let reason = escape(reason);
        format!("<tr><th scope=\"row\">{source}</th><td>{reason}</td></tr>\n")
    });
    table("", caption, &[("", "Source"), ("", "What happened")], &[rows.collect()])
}

/// How long each stage took.
pub(super) fn stages(stages: &[Stage]) -> String {
    if stages.is_empty() {
        return "<p>No times were recorded.</p>\n".to_owned();
    }
    let longest = stages.iter().map(|stage| stage.ms).fold(f64::MIN_POSITIVE, f64::max);
    let caption = "Stages may run in parallel, so they may not add up.";
    let rows = stages.iter().map(|Stage { name, ms }| {
        format!(
            "<tr><th scope=\"row\">{}</th><td class=\"number\">{ms:.2}</td>\
             <td class=\"time\"><span class=\"meter\" style=\"width:{}%\"></span></td></tr>\n",
            escape(name),
            decimal((ms / longest * 100.0).clamp(0.0, 100.0))
        )
    });
    let columns = [("", "Stage"), ("number", "ms"), ("", "Compared with the longest")];
    table("", caption, &columns, &[rows.collect()])
}

/// The drawing's connections, for those who cannot see it.
pub(super) fn connections(graph: &Graph) -> String {
    let mut edges: Vec<&Edge> = graph.edges.iter().collect();
    edges.sort_by_key(|edge| (std::cmp::Reverse(edge.notes), edge.from, edge.to));
    let caption = "Concepts that share notes, the strongest connection first";
    let columns = [("", "Concept"), ("", "Connected to"), ("number", "Shared notes")];
    let rows = edges.into_iter().map(|Edge { from, to, notes }| {
        format!(
            "<tr><th scope=\"row\">{}</th><td>{}</td><td class=\"number\">{}</td></tr>\n",
            escape(&graph.nodes[*from].name),
            escape(&graph.nodes[*to].name),
            thousands(*notes)
        )
    });
    table("", caption, &columns, &[rows.collect()])
}

/// A table. Each column has a class and a name; each body consists of rows.
fn table(of: &str, caption: &str, columns: &[(&str, &str)], bodies: &[String]) -> String {
    let column = |(of, name): &(&str, &str)| format!("<th scope=\"col\"{}>{name}</th>", class(of));
    let columns: String = columns.iter().map(column).collect();
    let bodies: String = bodies.iter().map(|rows| format!("<tbody>\n{rows}</tbody>\n")).collect();
    let (class, caption) = (class(of), escape(caption));
    format!(
        "<table{class}>\n<caption>{caption}</caption>\n<thead><tr>{columns}</tr></thead>\n{bodies}</table>\n"
    )
}
