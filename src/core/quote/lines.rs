//! The lines of a note that can be quoted: those with words, outside of comments.

mod fence;
mod hidden;

use std::cell::OnceCell;
use std::ops::Range;

use memchr::memchr;

use crate::core::quote::length::length;
use crate::core::quote::lines::fence::Fence;
use crate::core::quote::lines::hidden::Hidden;
use crate::core::quote::plain::shortcode::Shortcode;
use crate::core::quote::plain::{
    Plain, callout_title, is_heading, is_item, is_row, quoted_text, without_item_mark,
};

/// Of most notes, about: a list that grows is copied several times.
const BYTES_PER_LINE: usize = 80;
/// Fewer words are no sentence.
const LEAST_WORDS: usize = 4;
/// A longer value in a script without blanks is a sentence.
const LONGEST_VALUE_WORDS: usize = 8;
const LONGEST_KEY_BYTES: usize = 40;
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
        self.plain.get_or_init(|| match self.is_code {
            true => Plain::of_code(self.beginning()),
            false => Plain::of(self.beginning()),
        })
    }

    /// The line, or the beginning of an endless one.
    pub fn beginning(&self) -> &'a str {
        beginning_of(self.raw)
    }

    /// Whether it says one thing and does not go on: a row of a table, or a value with its key. A sentence that goes on can
    /// have a colon, too.
    fn is_entry(&self) -> bool {
        if self.is_code {
            return false;
        }
        let text = quoted_text(self.raw);
        let plain = &self.plain().text;
        is_row(text)
            || has_bold_key(text)
            || is_property(plain)
            || !plain.starts_with(char::is_lowercase) && is_key_value(plain)
    }

    pub(super) fn kind(&self) -> LineKind {
        if is_heading(self.raw) {
            return LineKind::Heading;
        }
        if self.is_code {
            return LineKind::Code;
        }
        let plain = self.plain();
        if !plain.has_length(LEAST_WORDS)
            || self.raw.trim_start().starts_with('|')
            || is_key_value(&plain.text)
            || is_property(&plain.text)
        {
            LineKind::Detail
        } else {
            LineKind::Prose
        }
    }
}

/// Whether a line does not go on with what the line before it says.
pub(super) fn stands_apart(lines: &[BodyLine<'_>], at: usize) -> bool {
    let line = &lines[at];
    let is_after_entry = || at.checked_sub(1).is_some_and(|before| lines[before].is_entry());
    !line.is_code
        && (is_item(line.raw) || is_heading(line.raw) || line.is_entry() || is_after_entry())
}

/// A line, or the beginning of an endless one.
pub fn beginning_of(line: &str) -> &str {
    &line[..line.floor_char_boundary(LONGEST_LINE_BYTES)]
}

/// The lines of a body that can be quoted, in order.
pub fn body_lines(body: &str) -> Vec<BodyLine<'_>> {
    let mut reader = Reader {
        body,
        at: 0,
        lines: Vec::with_capacity(body.len() / BYTES_PER_LINE),
        hidden: Hidden::new(body),
        fence: None,
        is_top: true,
        is_after_gap: false,
    };
    while reader.at < body.len() {
        reader.read_line();
    }
    reader.lines
}

struct Reader<'a> {
    body: &'a str,
    /// Where the next line begins.
    at: usize,
    lines: Vec<BodyLine<'a>>,
    hidden: Hidden<'a>,
    fence: Option<Fence<'a>>,
    /// Whether nothing but headings stands above.
    is_top: bool,
    is_after_gap: bool,
}

impl<'a> Reader<'a> {
    fn line(&self, at: usize) -> Range<usize> {
        at..memchr(b'\n', &self.body.as_bytes()[at..]).map_or(self.body.len(), |end| at + end)
    }

    fn read_line(&mut self) {
        let line = self.line(self.at);
        self.at = line.end + 1;
        let text = &self.body[line.clone()];
        if let Some(fence) = self.fence.take_if(|fence| !fence.is_left_by(text)) {
            if !fence.is_closed_by(text) {
                self.fence = Some(fence);
                self.push(text);
            }
            return;
        }
        self.fence = None;
        match self.hidden.from(&line, self.is_top) {
            Some(hidden) => {
                self.at = hidden.end;
                self.take(&self.body[line.start..hidden.start]);
                self.is_after_gap = true;
            }
            None => self.take(text),
        }
    }

    /// Takes a line that is outside of code.
    fn take(&mut self, text: &'a str) {
        if let Some(fence) = Fence::opened_by(text) {
            match fence.is_drawn().then(|| self.end_of(&fence)).flatten() {
                Some(end) => (self.at, self.is_after_gap) = (end, true),
                None => {
                    self.fence = Some(fence);
                    self.is_after_gap |= has_word(text);
                }
            }
        } else if has_word(text) && is_markup(quoted_text(text)) {
            self.is_after_gap = true;
        } else {
            self.push(text);
        }
    }

    /// Where a block ends whose fence was opened by the last line.
    fn end_of(&self, fence: &Fence<'_>) -> Option<usize> {
        let mut at = self.at;
        while at < self.body.len() {
            let line = self.line(at);
            let text = &self.body[line.clone()];
            if fence.is_left_by(text) {
                return Some(at);
            }
            at = line.end + 1;
            if fence.is_closed_by(text) {
                return Some(at);
            }
        }
        None
    }

    fn push(&mut self, text: &'a str) {
        if !has_word(text) {
            return;
        }
        self.is_top &= is_heading(text);
        let raw = text.strip_suffix('\r').unwrap_or(text);
        let is_after_gap = std::mem::take(&mut self.is_after_gap);
        self.lines.push(BodyLine::new(raw, self.fence.is_some(), is_after_gap));
    }
}

fn has_word(text: &str) -> bool {
    text.contains(char::is_alphanumeric)
}

/// Whether a line or an item of a list is markup alone.
fn is_markup(text: &str) -> bool {
    is_rule(text)
        || without_item_mark(text).is_some_and(|item| {
            let item = item.trim_start();
            item.starts_with(['#', ':', 'C', 'D', 'S']) && is_rule(item)
        })
}

/// Whether a line is markup alone: a comment, an HTML tag, a directive, the target of links.
fn is_rule(line: &str) -> bool {
    let Some(first) = line.bytes().next() else { return false };
    match first {
        b'<' => {
            line.starts_with("<!--") && line.find("-->").is_none_or(|at| at + 3 == line.len())
                || line.find('>') == Some(line.len() - 1)
        }
        b'{' => is_replaced(line),
        b'[' => {
            is_link_target(line)
                || line.starts_with("[^") && line.contains("]: ")
                || callout_title(line) == Some("")
                || is_one_of(line, &["[toc]", "[[toc]]", "[[_toc_]]"])
        }
        b'$' => is_one_of(line, &["${toc}"]),
        b'%' => line.starts_with("%%"),
        b':' => line.starts_with(":::") || is_one_of(line, &[":LOGBOOK:", ":PROPERTIES:", ":END:"]),
        b'C' => line.starts_with("CLOCK: ["),
        b'D' => line.starts_with("DEADLINE: <"),
        b'S' => line.starts_with("SCHEDULED: <"),
        b'-' | b';' => line.trim_start_matches(['-', ';']).starts_with("8<-"),
        b'#' => {
            line.get(..8).is_some_and(|mark| is_one_of(mark, &["#+begin_"]))
                || line.get(..6).is_some_and(|mark| is_one_of(mark, &["#+end_"]))
        }
        b'!' | b'?' => is_box_without_title(line),
        _ => false,
    }
}

fn is_one_of(line: &str, marks: &[&str]) -> bool {
    marks.iter().any(|mark| mark.eq_ignore_ascii_case(line))
}

/// Whether a line has nothing but what a generator of sites replaces, and attributes.
fn is_replaced(mut line: &str) -> bool {
    while let Some(Shortcode { len, .. }) = Shortcode::at_start_of(line) {
        line = line[len..].trim_start();
    }
    line.is_empty() || line.starts_with('{') && line.ends_with('}') && !line.contains("} ")
}

/// Whether a line is `!!! note`, which begins a box.
fn is_box_without_title(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let is_mark = words.next().is_some_and(|mark| matches!(mark, "!!!" | "???" | "???+"));
    let is_kind = |word: &str| word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    is_mark
        && words.next().is_some_and(is_kind)
        && words.all(|word| matches!(word, "inline" | "end"))
}

/// Whether a line is `[name]: https://…`, and no sentence such as `[Decision]: We stay.`
fn is_link_target(line: &str) -> bool {
    let Some((_, target)) = line.strip_prefix('[').and_then(|rest| rest.split_once("]: ")) else {
        return false;
    };
    let (target, title) = target.trim().split_once(' ').unwrap_or((target.trim(), ""));
    let is_title = title.is_empty()
        || title.starts_with(['"', '\'', '(']) && title.ends_with(['"', '\'', ')']);
    is_title && (target.contains("://") || target.starts_with(['.', '/', '#', '<']))
}

fn is_key_value(text: &str) -> bool {
    let Some((key, value)) = text.split_once(':') else { return false };
    let is_key = |c: char| c.is_alphanumeric() || matches!(c, '_' | ' ' | '/' | '-');
    let n_key = key.trim().chars().count();
    (1..=24).contains(&n_key)
        && key.chars().all(is_key)
        && value.split_whitespace().count() <= 3
        && length(value) <= LONGEST_VALUE_WORDS
        && value.chars().count() <= 80
}

/// Whether a line begins with `**key:**` or `**key**:`.
fn has_bold_key(line: &str) -> bool {
    line.strip_prefix("**").and_then(|rest| rest.split_once("**")).is_some_and(|(key, value)| {
        key.len() <= LONGEST_KEY_BYTES && (key.ends_with(':') || value.starts_with(':'))
    })
}

/// Whether a text is `key:: value`.
fn is_property(text: &str) -> bool {
    let rest = text.trim_start_matches(|c: char| c.is_alphanumeric() || matches!(c, '-' | '_'));
    rest.len() < text.len() && rest.starts_with(":: ")
}

#[cfg(test)]
mod tests;
