//! The lines of a note that can be quoted: those with words, outside of comments.

use std::cell::OnceCell;

use crate::core::quote::plain::{Plain, is_heading, is_item};
use crate::core::text::bytes;

/// Of most notes, about: a list that grows is copied several times.
const BYTES_PER_LINE: usize = 80;
/// No more of a line is ever looked at.
const LONGEST_LINE_BYTES: usize = 16 * 1024;

/// A line of a note's body.
#[derive(Debug)]
pub struct BodyLine<'a> {
    pub raw: &'a str,
    /// Whether it stands inside of a code block.
    pub is_code: bool,
    /// Whether words of the note before it were left out.
    pub is_after_gap: bool,
    plain: OnceCell<Plain>,
}

/// What a line says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineKind {
    Heading,
    Code,
    /// A `key: value` line, a table row, or a few words.
    Detail,
    Prose,
}

impl<'a> BodyLine<'a> {
    fn new(raw: &'a str, is_code: bool, is_after_gap: bool) -> BodyLine<'a> {
        BodyLine { raw, is_code, is_after_gap, plain: OnceCell::new() }
    }

    /// The words of the line; they are found once.
    pub(super) fn plain(&self) -> &Plain {
        self.plain.get_or_init(|| Plain::of(self.beginning()))
    }

    /// The line, or the beginning of an endless one.
    pub fn beginning(&self) -> &'a str {
        beginning_of(self.raw)
    }

    /// Whether it begins an item of a list.
    pub(super) fn is_item(&self) -> bool {
        !self.is_code && is_item(self.raw)
    }

    pub(super) fn kind(&self) -> LineKind {
        if is_heading(self.raw) {
            return LineKind::Heading;
        }
        if self.is_code {
            return LineKind::Code;
        }
        let plain = self.plain();
        if plain.words.len() < 4
            || self.raw.trim_start().starts_with('|')
            || is_key_value(&plain.text)
        {
            LineKind::Detail
        } else {
            LineKind::Prose
        }
    }
}

/// A line, or the beginning of an endless one.
pub fn beginning_of(line: &str) -> &str {
    &line[..line.floor_char_boundary(LONGEST_LINE_BYTES)]
}

/// The lines of a body that can be quoted, in order.
pub fn body_lines(body: &str) -> Vec<BodyLine<'_>> {
    let mut lines = Vec::with_capacity(body.len() / BYTES_PER_LINE);
    let (mut is_code, mut is_comment, mut is_after_gap) = (false, false, false);
    for raw in bytes::lines(body) {
        let trimmed = raw.trim();
        if is_comment {
            is_comment = !trimmed.contains("-->");
            is_after_gap = true;
            continue;
        }
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            is_code = !is_code;
            is_after_gap |= has_word(trimmed);
            continue;
        }
        if !has_word(trimmed) {
            continue;
        }
        if is_rule(trimmed) {
            is_comment = trimmed.starts_with("<!--") && !trimmed.contains("-->");
            is_after_gap = true;
            continue;
        }
        lines.push(BodyLine::new(raw, is_code, is_after_gap));
        is_after_gap = false;
    }
    lines
}

fn has_word(text: &str) -> bool {
    text.contains(char::is_alphanumeric)
}

/// Whether a line is markup alone: a comment, an HTML tag, a directive, the target of links.
fn is_rule(line: &str) -> bool {
    line.starts_with("<!--") && line.find("-->").is_none_or(|at| at + 3 == line.len())
        || line.starts_with('<') && line.find('>') == Some(line.len() - 1)
        || line.starts_with('{') && line.ends_with('}')
        || is_link_target(line)
        || line.starts_with("%%")
        || line.starts_with(":::")
}

/// Whether a line is `[name]: https://…`, and no sentence such as `[Decision]: We stay.`
fn is_link_target(line: &str) -> bool {
    let Some((_, target)) = line.strip_prefix('[').and_then(|rest| rest.split_once("]: ")) else {
        return false;
    };
    let target = target.trim();
    !target.contains(' ') && (target.contains("://") || target.starts_with(['.', '/', '#', '<']))
}

fn is_key_value(text: &str) -> bool {
    let Some((key, value)) = text.split_once(':') else { return false };
    let is_key = |c: char| c.is_alphanumeric() || matches!(c, '_' | ' ' | '/' | '-');
    let n_key = key.trim().chars().count();
    (1..=24).contains(&n_key)
        && key.chars().all(is_key)
        && value.split_whitespace().count() <= 3
        && value.chars().count() <= 80
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_without_words_and_comments_are_left_out() {
        let body = "# Head\n\n---\n[home]: https://a.b\n<!-- one -->\ntext a b c d\n<!-- two\nthree\n-->\n```rust\nfn x() {}\n```\nend";
        let lines: Vec<(&str, bool, bool)> = body_lines(body)
            .iter()
            .map(|line| (line.raw, line.is_code, line.is_after_gap))
            .collect();
        assert_eq!(
            lines,
            [
                ("# Head", false, false),
                ("text a b c d", false, true),
                ("fn x() {}", true, true),
                ("end", false, false),
            ]
        );
    }

    #[test]
    fn targets_of_links_are_told_from_sentences() {
        assert!(is_link_target("[home]: https://a.b/c") && is_link_target("[a b]: ./c.md#d"));
        assert!(!is_link_target("[Decision]: We stay.") && !is_link_target("[x] done: all"));
    }

    #[test]
    fn a_line_says_a_heading_a_detail_or_prose() {
        let kind = |raw: &str| BodyLine::new(raw, false, false).kind();
        assert_eq!(kind("## A heading of five words"), LineKind::Heading);
        assert_eq!(kind("**Status**: in progress"), LineKind::Detail);
        assert_eq!(kind("| a | b | c | d | e |"), LineKind::Detail);
        assert_eq!(kind("- two words"), LineKind::Detail);
        assert_eq!(kind("Note: this is a whole sentence of prose."), LineKind::Prose);
        assert_eq!(kind("The index is rebuilt at will."), LineKind::Prose);
    }
}
