//! Fits a note's text into a number of tokens: as many whole lines as there is room for.

use crate::core::extract::render::{NoteHead, note_text};
use crate::core::extract::{Extract, NoteText};
use crate::core::tokens;
use crate::core::tokens::encoding::Encoding;

/// The tokens that a whole answer may have, its frame included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    pub tokens: usize,
    pub encoding: Encoding,
}

/// Why nothing can be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unfit {
    /// The note ends before the line that was asked for; its last line.
    AfterEnd(usize),
    /// Not even the frame, or the first of several notes, fits; the tokens that it needs.
    Frame(usize),
}

impl Limit {
    pub(super) fn count(self, text: &str) -> usize {
        tokens::count(self.encoding, text)
    }

    pub(super) fn holds(self, text: &str) -> bool {
        self.count(text) <= self.tokens
    }
}

/// Takes lines from a line on, so that the note's whole answer fits. A line that is too long for the room is cut only
/// if the answer would show less than half of what it may.
pub fn fit(
    head: &NoteHead<'_>,
    text: &NoteText,
    from: usize,
    limit: Limit,
) -> Result<Extract, Unfit> {
    let lines = text.lines_from(from);
    if lines.is_empty() && from > text.last() {
        return Err(Unfit::AfterEnd(text.last()));
    }
    let empty = extract(text, &lines, 0);
    let frame = limit.count(&note_text(head, &empty));
    if frame > limit.tokens {
        return Err(Unfit::Frame(frame));
    }
    let mut room = limit.tokens - frame;
    let fits = |&&(_, line): &&(usize, &str)| {
        let left = room.checked_sub(limit.count(line) + 1);
        room = left.unwrap_or_default();
        left.is_some()
    };
    let mut n_lines = lines.iter().take_while(fits).count();
    // Line by line is only nearly the count of the whole, which may have nothing left to name.
    let holds = |n_lines| limit.holds(&note_text(head, &extract(text, &lines, n_lines)));
    while n_lines < lines.len() && holds(n_lines + 1) {
        n_lines += 1;
    }
    while n_lines > 0 && !holds(n_lines) {
        n_lines -= 1;
    }
    let mut best = extract(text, &lines, n_lines);
    let is_short = limit.count(&best.text) < (limit.tokens - frame) / 2;
    if let Some(&(_, line)) = lines.get(n_lines).filter(|_| is_short) {
        let needs = (frame + limit.count(line)).max(limit.tokens + 1);
        let cut = |end: usize| cut_extract(text, &lines, n_lines, end, needs);
        let fits = |&end: &usize| limit.holds(&note_text(head, &cut(end)));
        if let Some(end) = last_that(&ends(line), fits) {
            best = cut(end);
        }
    }
    Ok(best)
}

/// The first lines.
fn extract(text: &NoteText, lines: &[(usize, &str)], n_lines: usize) -> Extract {
    let from = lines.first().map_or(text.first, |&(n, _)| n);
    let to = (from + n_lines).saturating_sub(1).max(from);
    let shown: Vec<&str> = lines[..n_lines].iter().map(|&(_, line)| line).collect();
    let text_shown = shown.join("\n").trim_end().to_owned();
    let rest = text.rest(from + n_lines);
    Extract { from, to, lines: text.last(), text: text_shown, rest }
}

/// The first lines, and the next one up to a byte.
fn cut_extract(
    text: &NoteText,
    lines: &[(usize, &str)],
    n_lines: usize,
    end: usize,
    needs: usize,
) -> Extract {
    let mut extract = extract(text, lines, n_lines);
    let (at, line) = lines[n_lines];
    let break_before = if extract.text.is_empty() { "" } else { "\n\n" };
    extract.text = format!("{}{break_before}{}…", extract.text, line[..end].trim_end());
    extract.to = at;
    if let Some(rest) = &mut extract.rest {
        rest.words -= line[..end].split_whitespace().count().min(rest.words);
        rest.needs = Some(needs);
    }
    extract
}

/// Where a line can be cut: after its words, or anywhere if it has none that end.
fn ends(line: &str) -> Vec<usize> {
    let blanks: Vec<usize> =
        line.match_indices(' ').map(|(at, _)| at).filter(|&at| at > 0).collect();
    if blanks.is_empty() { line.char_indices().map(|(at, _)| at).skip(1).collect() } else { blanks }
}

/// The last of some places that still fits, given that all before it fit too.
fn last_that(ends: &[usize], fits: impl Fn(&usize) -> bool) -> Option<usize> {
    let n_fitting = ends.partition_point(fits);
    n_fitting.checked_sub(1).map(|n| ends[n])
}
