//! A line of markdown as plain words: marks, link targets and tags are stripped.

mod emphasis;
mod entity;
mod inline_code;
pub(super) mod shortcode;
mod stripper;
pub(super) mod tag;

use std::ops::Range;

use crate::core::quote::length::length;
use crate::core::quote::plain::stripper::{LONGEST_RUN_BYTES, Stripper};
use crate::core::text::bytes::next_word;
use crate::core::text::for_model;

/// A longer rest of a run is left out.
const LONGEST_REST_BYTES: usize = 40;
/// A heading with another end gets a colon.
const ENDS_OF_HEADINGS: [char; 9] = ['.', ':', '!', '?', '…', '。', '：', '！', '？'];
const LONGEST_BLOCK_ID_BYTES: usize = 64;
const SHORTEST_BLOCK_ID_BYTES: usize = 3;
/// With the blank after it, about.
const LETTERS_PER_WORD: usize = 5;

/// The plain text of a line.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Plain {
    pub(super) text: String,
    pub(super) words: Vec<Word>,
    /// Whether words behind the last one were stripped.
    pub(super) ends_in_gap: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Word {
    /// Where the word is in the text.
    pub(super) start: usize,
    pub(super) end: usize,
    /// Whether words of the line before it were stripped.
    pub(super) is_after_gap: bool,
}

impl Plain {
    pub(super) fn of(raw: &str) -> Plain {
        let is_heading = is_heading(raw);
        let mut stripper = Stripper::with_room_for(raw.len());
        let (task, text) = split_task_mark(without_marks(raw));
        let (text, block_id) = split_block_id(text);
        stripper.text.push_str(task);
        stripper.is_row = is_row(text);
        match is_heading {
            true => stripper.strip_heading(text),
            false => stripper.strip(text),
        }
        stripper.gap(block_id);
        let Stripper { mut text, mut gaps, has_links, .. } = stripper;
        // In a quote nothing else sets a heading apart from what follows it.
        if is_heading && !text.is_empty() && !text.ends_with(ENDS_OF_HEADINGS) {
            text.push(':');
        }
        // What stood apart, and meets now that a link is stripped, can be a tag or a secret.
        let clean = has_links.then(|| for_model::one_line(&text)).filter(|clean| *clean != text);
        if let Some(clean) = clean {
            text = clean;
            // Cleaning moves the words; what is left of them is a quote all the same.
            gaps.clear();
        }
        let words = words_of(&text, &gaps);
        let last = words.last().map_or(0, |word| word.end);
        let ends_in_gap = gaps.last().is_some_and(|&gap| gap >= last);
        Plain { text, words, ends_in_gap }
    }

    /// A line of code, in which every mark means something.
    pub(super) fn of_code(raw: &str) -> Plain {
        let words = raw.split_whitespace().filter(|word| word.len() <= LONGEST_RUN_BYTES);
        let text = words.collect::<Vec<_>>().join(" ");
        Plain { words: words_of(&text, &[]), text, ends_in_gap: false }
    }

    /// Whether it has at least so many words, in a script without blanks, too.
    pub(super) fn has_length(&self, n_words: usize) -> bool {
        self.words.len() >= n_words
            || !self.text.is_ascii()
                && self
                    .words
                    .iter()
                    .map(|word| length(&self.text[word.start..word.end]))
                    .sum::<usize>()
                    >= n_words
    }

    /// The hash of a word in lower case. Few words are ever compared, so it is not stored.
    pub(super) fn hash(&self, word: Word) -> u64 {
        let text = &self.text[word.start..word.end];
        match text.is_ascii() {
            true => text.bytes().fold(NO_LETTERS, |hash, byte| {
                with_letter(hash, u64::from(byte.to_ascii_lowercase()))
            }),
            false => text
                .chars()
                .flat_map(char::to_lowercase)
                .fold(NO_LETTERS, |hash, c| with_letter(hash, u64::from(u32::from(c)))),
        }
    }

    /// The text up to and with a number of words.
    pub(super) fn first(&self, n_words: usize) -> &str {
        match n_words.checked_sub(1).and_then(|last| self.words.get(last)) {
            Some(_) if n_words == self.words.len() => &self.text,
            Some(word) => &self.text[..word.end],
            None if n_words == 0 => "",
            None => &self.text,
        }
    }
}

/// Whether a line is a heading, also in a quote or an item.
pub(super) fn is_heading(raw: &str) -> bool {
    let text = raw.trim_start();
    match text.as_bytes().first() {
        Some(b'#') => without_heading_mark(text).is_some(),
        Some(b'>' | b'-' | b'*' | b'+') => {
            let text = quoted_text(text);
            let text = without_item_mark(text).map_or(text, str::trim_start);
            without_heading_mark(text).is_some()
        }
        _ => false,
    }
}

/// A text without the mark of a heading that it begins with, if there is one.
fn without_heading_mark(text: &str) -> Option<&str> {
    let marks = text.bytes().take_while(|&byte| byte == b'#').count();
    Some(&text[marks..]).filter(|rest| (1..=6).contains(&marks) && rest.starts_with([' ', '\t']))
}

/// Whether a line begins an item of a list.
pub(super) fn is_item(raw: &str) -> bool {
    without_item_mark(quoted_text(raw)).is_some()
}

/// The text of a line that may be quoted.
pub(super) fn quoted_text(line: &str) -> &str {
    line.trim_start_matches(|c: char| c == '>' || c.is_whitespace()).trim_end()
}

/// A text without the mark of an item that it begins with, if there is one.
pub(super) fn without_item_mark(text: &str) -> Option<&str> {
    text.strip_prefix(['-', '*', '+'])
        .or_else(|| text.trim_start_matches(|c: char| c.is_ascii_digit()).strip_prefix(['.', ')']))
        .filter(|rest| rest.starts_with([' ', '\t']))
}

/// A text without the mark of a quote that it begins with, if there is one.
fn unquoted(text: &str) -> Option<&str> {
    text.strip_prefix('>').filter(|rest| !rest.starts_with('='))
}

/// The line without what marks it as a heading, a quote, an item, or the title of a box.
fn without_marks(raw: &str) -> &str {
    let mut text = raw.trim();
    if let Some(heading) = without_heading_mark(text) {
        text = heading.trim_end_matches('#').trim();
    }
    while let Some(rest) = unquoted(text)
        .or_else(|| without_item_mark(text))
        .or_else(|| without_heading_mark(text).filter(|_| text.len() < raw.trim().len()))
    {
        text = rest.trim_start();
    }
    match text.as_bytes().first() {
        Some(b'[') => callout_title(text).unwrap_or(text),
        Some(b'!' | b'?' | b'=') => box_title(text).unwrap_or(text),
        _ => text,
    }
}

/// Splits off the mark of a task, which says whether it is done: `[x] `.
fn split_task_mark(text: &str) -> (&str, &str) {
    match text.as_bytes() {
        [b'[', state, b']', b' ', ..] if state.is_ascii() => text.split_at(4),
        _ => ("", text),
    }
}

/// Splits off the id of a block, to which links lead: `text ^a1b2c3`.
fn split_block_id(text: &str) -> (&str, &str) {
    let first = text.len().saturating_sub(LONGEST_BLOCK_ID_BYTES);
    let Some(at) = memchr::memrchr(b'^', &text.as_bytes()[first..]) else { return (text, "") };
    let (before, id) = text.split_at(first + at);
    let is_apart = before.is_empty() || before.ends_with([' ', '\t']);
    // `10 ^6` and `e ^kt` are formulas.
    let is_id = id.len() > SHORTEST_BLOCK_ID_BYTES
        && id.contains(|c: char| c.is_ascii_alphabetic())
        && id[1..].bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if is_apart && is_id { (before.trim_end(), id) } else { (text, "") }
}

/// Whether a text is a row of a table.
pub(super) fn is_row(text: &str) -> bool {
    text.starts_with('|') && text.len() > 1 && text[1..].contains('|')
}

/// The title of `[!note]- Title`.
pub(super) fn callout_title(text: &str) -> Option<&str> {
    let (kind, title) = text.strip_prefix("[!")?.split_once(']')?;
    let is_kind = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '|' | ' ');
    let is_callout = !kind.is_empty() && kind.chars().all(is_kind) && !title.starts_with('(');
    is_callout.then(|| title.trim_start_matches(['+', '-']).trim_start())
}

/// The title of `!!! note "Title"`, which begins a box, or of `=== "Title"`, which begins a tab.
fn box_title(text: &str) -> Option<&str> {
    let (mark, rest) = text.split_once(' ')?;
    let (kind, title) = rest.split_once('"')?;
    let is_box = matches!(mark, "!!!" | "???" | "???+")
        && kind.bytes().all(|byte| byte.is_ascii_lowercase() || matches!(byte, b' ' | b'-'));
    let is_tab = matches!(mark, "===" | "===!" | "===+") && kind.is_empty();
    title.trim_end().strip_suffix('"').filter(|_| is_box || is_tab)
}

/// What goes on behind the end of a word without a blank: a full stop, or the rest of a path, a date or a number.
pub(super) fn rest_of_run(text: &str, end: usize) -> &str {
    let rest = &text[end..];
    let run = &rest[..rest.find(char::is_whitespace).unwrap_or(rest.len())];
    let is_short =
        run.len() <= LONGEST_REST_BYTES && run.starts_with(|c: char| c.is_ascii_punctuation());
    if is_short { run } else { "" }
}

/// The end of the words of a text up to a place at the end of a word, with the marks behind them, and without a path, a date
/// or a number that goes on.
pub(super) fn end_of_whole(text: &str, end: usize) -> usize {
    let rest = rest_of_run(text, end);
    if !rest.contains(char::is_alphanumeric) {
        return end + rest.len();
    }
    let before = text[..end].trim_end_matches(|c: char| !c.is_whitespace()).trim_end();
    if before.is_empty() { end } else { before.len() }
}

/// The words of a text. Words were stripped at the gaps.
pub(super) fn words_of(text: &str, mut gaps: &[usize]) -> Vec<Word> {
    let mut words = Vec::with_capacity(text.len() / LETTERS_PER_WORD);
    let mut rest = 0;
    while let Some(Range { start, end }) = next_word(text, rest) {
        let n_passed = gaps.iter().take_while(|&&gap| gap <= start).count();
        gaps = &gaps[n_passed..];
        words.push(Word { start, end, is_after_gap: n_passed > 0 });
        rest = end;
    }
    words
}

/// FNV-1a: the hash of a word without letters, and the same with one more.
const NO_LETTERS: u64 = 0xcbf2_9ce4_8422_2325;

fn with_letter(hash: u64, letter: u64) -> u64 {
    (hash ^ letter).wrapping_mul(0x0100_0000_01b3)
}

#[cfg(test)]
mod tests;
