//! Writes an explanation as one page for a browser. It needs nothing but itself: no script, no network, no font; and
//! what notes say is text on it, never markup.

mod bar;
mod drawing;
mod graph;
mod html;
mod label;
mod layout;
mod ring;
mod route;
mod tables;

use crate::core::context::explanation::Explanation;
use crate::core::context::page::graph::{Graph, Standing};
use crate::core::context::receipt::Receipt;
use crate::core::text::for_html::escape;
use crate::core::text::number::{counted, thousands};

const STYLE: &str = include_str!("page/style.css");
/// Even a hole in the escaping could load and run nothing.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";
/// So much of a hash tells contexts apart.
const HASH_CHARS: usize = 12;

/// The page. The same explanation always gives the same bytes.
pub fn page(explanation: &Explanation) -> String {
    let receipt = &explanation.receipt;
    let graph = Graph::of(receipt);
    let mut sections = vec![
        section("room", "", "Where the tokens went", &bar::bar(receipt)),
        section("net", "", "The graph", &network(&graph)),
        section("lines", "", "What the session gets", &tables::lines(explanation)),
        section("out", "", "What was left out", &tables::near_misses(&explanation.near_misses)),
        section("stages", "", "How long it took", &tables::stages(&receipt.stages)),
    ];
    if let Some(supplement) = &explanation.supplement {
        let added = tables::lines(supplement);
        sections.insert(3, section("supplement", "", "What the first prompt added", &added));
    }
    // What failed changes how all else is to be read, so that it comes first.
    let (place, class) =
        if receipt.faults.is_empty() { (sections.len() - 1, "") } else { (0, "faults") };
    let faults = section("faults", class, "Faults", &tables::faults(&receipt.faults));
    sections.insert(place, faults);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>Context for {}, session {}</title>\n<style>\n{STYLE}{}</style>\n</head>\n<body>\n\
         {}<main>\n{}</main>\n\
         <footer><p>Written by kgctx {}. This page contains text of your notes; it loads nothing and sends nothing.</p></footer>\n</body>\n</html>\n",
        escape(project(receipt)),
        escape(&receipt.session),
        drawing::highlighting(&graph),
        header(explanation),
        sections.concat(),
        env!("CARGO_PKG_VERSION")
    )
}

fn project(receipt: &Receipt) -> &str {
    receipt.project.as_deref().unwrap_or("no project")
}

fn section(id: &str, of: &str, title: &str, content: &str) -> String {
    let class = html::class(of);
    format!(
        "<section{class} aria-labelledby=\"{id}\">\n<h2 id=\"{id}\">{title}</h2>\n{content}</section>\n"
    )
}

fn header(explanation: &Explanation) -> String {
    let Explanation { receipt, lines, near_misses, .. } = explanation;
    let chars = thousands(receipt.used.chars);
    let chars = match receipt.budget.chars {
        Some(cap) => format!("{chars} of {}", thousands(cap)),
        None => chars,
    };
    let moment = escape(&receipt.at.to_string());
    let readable = moment.replacen('T', " ", 1).replacen('Z', " UTC", 1);
    let sha256 = escape(&receipt.sha256);
    let beginning = escape(&receipt.sha256.chars().take(HASH_CHARS).collect::<String>());
    let facts = [
        ("Session", escape(&receipt.session)),
        ("Made", format!("<time datetime=\"{moment}\">{readable}</time>")),
        ("Host", escape(&receipt.host.to_string())),
        ("Characters", chars),
        ("Ranking", receipt.ranking.description().to_owned()),
        ("SHA-256", format!("<code title=\"{sha256}\">{beginning}…</code>")),
    ]
    .map(|(name, value)| format!("<div><dt>{name}</dt><dd>{value}</dd></div>\n"))
    .concat();
    format!(
        "<header>\n<p class=\"kicker\">kgctx explain <span class=\"badge\">{}</span></p>\n\
         <h1>Context for <bdi>{}</bdi></h1>\n\
         <p class=\"amount\"><strong>{}</strong> of {} tokens ({}) <span class=\"soft\">in {}; {} left out</span></p>\n\
         <dl class=\"facts\">\n{facts}</dl>\n</header>\n",
        explanation.status(),
        escape(project(receipt)),
        thousands(receipt.used.tokens),
        thousands(receipt.budget.tokens),
        receipt.encoding,
        counted(lines.len(), "line"),
        if near_misses.is_empty() { "nothing".to_owned() } else { thousands(near_misses.len()) }
    )
}

fn network(graph: &Graph) -> String {
    if graph.nodes.is_empty() {
        return "<p>There is nothing to draw: no line of the context is about a concept.</p>\n"
            .to_owned();
    }
    let figure = format!(
        "<figure>\n<div class=\"scroll\" role=\"region\" aria-label=\"The drawing\" tabindex=\"0\">\n{}</div>\n\
         <figcaption>{}</figcaption>\n</figure>\n",
        drawing::drawing(graph),
        keys(graph)
    );
    if graph.edges.is_empty() {
        return format!("<p>No line of the context shows a connection.</p>\n{figure}");
    }
    format!(
        "{figure}<details>\n<summary>The {} as a table</summary>\n{}</details>\n",
        counted(graph.edges.len(), "connection"),
        tables::connections(graph)
    )
}

/// What the signs mean that are in the drawing.
fn keys(graph: &Graph) -> String {
    let has = |standing| graph.nodes.iter().any(|node| node.standing == standing);
    [
        (has(Standing::Expanded), "expanded", "expanded: its neighbours are listed"),
        (has(Standing::Chosen), "chosen", "chosen: has its own line"),
        (has(Standing::Neighbour), "neighbour", "neighbour"),
        (!graph.edges.is_empty(), "line", "thicker lines: more notes mention both"),
    ]
    .iter()
    .filter(|(is_there, ..)| *is_there)
    .map(|(_, class, words)| format!("<span><span class=\"key {class}\"></span>{words}</span>"))
    .collect()
}

#[cfg(test)]
mod tests;
