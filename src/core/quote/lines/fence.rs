//! The fences of code blocks.

use crate::core::quote::plain::{quoted_text, without_item_mark};

/// Languages of blocks that a program replaces by what it finds or draws: nobody reads their text.
const DRAWN: [&str; 17] = [
    "button",
    "chart",
    "d2",
    "dataview",
    "dataviewjs",
    "dot",
    "graphviz",
    "leaflet",
    "mermaid",
    "plantuml",
    "puml",
    "query",
    "tasks",
    "toc",
    "tracker",
    "vega",
    "vega-lite",
];
const LEAST_MARKS: usize = 3;

/// An open fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fence<'a> {
    mark: u8,
    n_marks: usize,
    is_quoted: bool,
    pub(super) language: &'a str,
}

impl<'a> Fence<'a> {
    /// The fence that a line opens, in a quote and as an item of a list, too.
    pub(super) fn opened_by(line: &'a str) -> Option<Fence<'a>> {
        // Most lines begin with a letter.
        let first = line.trim_ascii_start().bytes().next()?;
        if !matches!(first, b'`' | b'~' | b'>' | b'-' | b'*' | b'+' | b'0'..=b'9') {
            return None;
        }
        let text = quoted_text(line);
        let text = without_item_mark(text).map_or(text, str::trim_start);
        let mark = *text.as_bytes().first().filter(|mark| matches!(mark, b'`' | b'~'))?;
        let n_marks = text.bytes().take_while(|&byte| byte == mark).count();
        let info = &text[n_marks..];
        // Words between backticks on one line are no block.
        if n_marks < LEAST_MARKS || mark == b'`' && info.contains('`') {
            return None;
        }
        let ends = |c: char| c.is_whitespace() || matches!(c, '{' | '}' | ',');
        let language = info.trim().trim_start_matches('{').split(ends).next().unwrap_or_default();
        let is_quoted = line.trim_start().starts_with('>');
        Some(Fence { mark, n_marks, is_quoted, language })
    }

    pub(super) fn is_closed_by(&self, line: &str) -> bool {
        let text = if self.is_quoted { quoted_text(line) } else { line.trim() };
        text.len() >= self.n_marks && text.bytes().all(|byte| byte == self.mark)
    }

    /// Whether the quote in which the block stands ends before a line.
    pub(super) fn is_left_by(&self, line: &str) -> bool {
        self.is_quoted && !line.trim_start().starts_with('>')
    }

    pub(super) fn is_drawn(&self) -> bool {
        DRAWN.iter().any(|language| language.eq_ignore_ascii_case(self.language))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_closed_by_as_many_marks() {
        let fence = Fence::opened_by("````md title").unwrap();
        assert_eq!(fence.language, "md");
        assert!(!fence.is_closed_by("```") && !fence.is_closed_by("````js"));
        assert!(fence.is_closed_by("`````") && !fence.is_closed_by("~~~~"));
    }

    #[test]
    fn fences_stand_in_quotes_and_items_too() {
        for line in ["> ```js", ">> ~~~ js", "- ```js", "  1. ```js", "```{js}"] {
            assert_eq!(Fence::opened_by(line).map(|fence| fence.language), Some("js"), "{line}");
        }
        let quoted = Fence::opened_by("> ```").unwrap();
        assert!(quoted.is_closed_by("> ```") && quoted.is_left_by("after it"));
        for line in ["``` code on one line ```", "`` a ``", "text ```", "", ">"] {
            assert_eq!(Fence::opened_by(line), None, "{line}");
        }
    }

    #[test]
    fn what_a_program_draws_is_told_by_its_language() {
        let is_drawn = |line: &str| Fence::opened_by(line).unwrap().is_drawn();
        assert!(is_drawn("```mermaid") && is_drawn("```Tasks") && is_drawn("```{mermaid}"));
        assert!(!is_drawn("```sql") && !is_drawn("```") && !is_drawn("```query-language"));
    }
}
