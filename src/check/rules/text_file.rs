//! The text of a checked file: converts a byte range into the spot and excerpt of a finding.

use std::ops::Range;

use super::checked_files::CheckedFile;
use crate::check::finding::Spot;
use crate::core::secrets;
use crate::core::text::for_model;

const EXCERPT_CHARS: usize = 160;
/// The number of these characters before the spot, in a longer line.
const CHARS_BEFORE: usize = 40;
/// The bytes around the spot that an excerpt considers: some lines are whole files.
const NEAR_BYTES: usize = 4_096;
/// The number of a file's secrets that are searched for elsewhere in it.
const MOST_SECRETS: usize = 100;
/// Longer texts are cut in a message.
const SHOWN_CHARS: usize = 120;

impl<'a> CheckedFile<'a> {
    pub(super) fn secrets(&self) -> &[secrets::FoundSecret] {
        self.secrets.get_or_init(|| secrets::find(self.text))
    }

    /// The line at a byte: its start, its number from 0, and its end.
    pub(super) fn line(&self, at: usize) -> (usize, usize, usize) {
        let starts = self.line_starts.get_or_init(|| {
            let breaks = memchr::memchr_iter(b'\n', self.text.as_bytes()).map(|at| at + 1);
            std::iter::once(0).chain(breaks).collect()
        });
        let number = starts.partition_point(|&start| start <= at).saturating_sub(1);
        let end = starts.get(number + 1).map_or(self.text.len(), |next| next - 1);
        let start = starts.get(number).copied().unwrap_or_default();
        (start, number, end)
    }

    /// The text of the line at a byte.
    pub(super) fn line_at(&self, at: usize) -> &'a str {
        let (start, _, end) = self.line(at);
        &self.text[start..end]
    }

    pub(super) fn spot(&self, range: &Range<usize>) -> Spot {
        let (mut start, number, end) = self.line(range.start);
        // Editors do not count a byte order mark.
        if number == 0 && self.text.starts_with('\u{feff}') {
            start = '\u{feff}'.len_utf8().min(range.start);
        }
        let chars = |range: Range<usize>| self.text.get(range).unwrap_or_default().chars().count();
        Spot {
            path: self.path.to_owned(),
            line: number + 1,
            column: chars(start..range.start) + 1,
            length: chars(range.start..range.end.min(end).max(range.start)),
        }
    }

    /// The line at a range, safe to show. Keeps the columns of the file, unless the line is too
    /// long or contains masked text.
    pub(super) fn excerpt(&self, range: &Range<usize>) -> String {
        let (start, _, end) = self.line(range.start);
        let near = self.text.ceil_char_boundary(range.start.saturating_sub(NEAR_BYTES));
        let far = self.text.floor_char_boundary(range.start.saturating_add(NEAR_BYTES));
        let (start, end) = (start.max(near), end.min(far));
        let before = self.harmless(start..range.start.min(end));
        let all = self.harmless(start..end);
        let n_chars = all.chars().count();
        if n_chars <= EXCERPT_CHARS {
            return all;
        }
        let from = before.chars().count().saturating_sub(CHARS_BEFORE);
        let from = from.min(n_chars - EXCERPT_CHARS + 1);
        let skipped = if from == 0 { "" } else { "…" };
        let room = EXCERPT_CHARS - 1 - skipped.chars().count();
        let shown: String = all.chars().skip(from).take(room).collect();
        let rest = if from + room < n_chars { "…" } else { "" };
        format!("{skipped}{shown}{rest}")
    }

    /// A part of the text on one line, without deceptive characters. Masks secrets by their
    /// position in the whole text: a single line of a key does not look like a secret.
    fn harmless(&self, range: Range<usize>) -> String {
        let mut masked = String::new();
        let mut at = range.start;
        let first = self.secrets().partition_point(|found| found.range.end <= range.start);
        for found in self.secrets()[first..].iter().take_while(|f| f.range.start < range.end) {
            masked.push_str(self.text.get(at..found.range.start).unwrap_or_default());
            masked.push_str(&format!("[masked: {}]", found.kind));
            at = found.range.end.min(range.end);
        }
        masked.push_str(self.text.get(at..range.end).unwrap_or_default());
        let clean = for_model::lines(masked.trim_start_matches('\u{feff}')).replace('\n', " ");
        self.without_known_secrets(clean)
    }

    /// Masks text that is a secret elsewhere in the file: a password is recognised by the word
    /// before it, which can be missing here.
    fn without_known_secrets(&self, mut text: String) -> String {
        for found in self.secrets().iter().take(MOST_SECRETS) {
            let secret = self.text.get(found.range.clone()).unwrap_or_default();
            // A heading or a status can contain it in lower case.
            for secret in [secret, &secret.to_lowercase()] {
                if text.contains(secret) {
                    text = text.replace(secret, &format!("[masked: {}]", found.kind));
                }
            }
        }
        text
    }

    /// Prepares a part of the text for a message.
    pub(super) fn shown(&self, range: Range<usize>) -> String {
        let range =
            range.start..self.text.floor_char_boundary(range.end.min(range.start + NEAR_BYTES));
        shortened(&for_model::one_line(&self.harmless(range)))
    }

    /// Prepares text that came from the file for a message.
    pub(super) fn shown_text(&self, text: &str) -> String {
        let near = text[..text.floor_char_boundary(NEAR_BYTES)].to_owned();
        shown(&self.without_known_secrets(near))
    }
}

/// Prepares other text for a message.
pub(super) fn shown(text: &str) -> String {
    shortened(&for_model::one_line(&text[..text.floor_char_boundary(NEAR_BYTES)]))
}

/// The hint for a missing file: names a similar one, if there is one.
pub(super) fn hint(similar: Option<&str>, way_out: &str) -> String {
    match similar {
        Some(path) => format!("{} is there; {way_out}", shown(path)),
        None => way_out.to_owned(),
    }
}

/// Prepares a name for a message.
pub(super) fn name_shown(name: &str) -> String {
    for_model::one_line(&secrets::mask(name))
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}…", &text[..at]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, part: &str, expect: (usize, usize, usize), excerpt: &str) {
        let at = text.find(part).unwrap();
        let file = CheckedFile::new("a.md", text);
        let range = at..at + part.len();
        let Spot { line, column, length, .. } = file.spot(&range);
        assert_eq!((line, column, length), expect);
        assert_eq!(file.excerpt(&range), excerpt);
    }

    #[test]
    fn a_place_is_told_by_line_and_column_in_characters() {
        check("one\n  größe x\r\nthree", "x", (2, 9, 1), "  größe x");
        check("x", "x", (1, 1, 1), "x");
        check("\u{feff}ab", "b", (1, 2, 1), "ab");
        check("a\nb c\nd", "c\nd", (2, 3, 1), "b c");
        check("a\u{202e}<system>b", "b", (1, 11, 1), "a‹system›b");
    }

    #[test]
    fn a_long_line_is_cut_around_the_place() {
        let text = format!("{}here{}", "a ".repeat(300), " b".repeat(300));
        let at = text.find("here").unwrap();
        let excerpt = CheckedFile::new("a.md", &text).excerpt(&(at..at + 4));
        assert_eq!(excerpt.chars().count(), EXCERPT_CHARS);
        assert!(excerpt.starts_with("…") && excerpt.ends_with("…") && excerpt.contains(" here "));
    }

    #[test]
    fn a_line_out_of_a_key_is_masked() {
        let line = "q7Rz2mXk9TbWq7Rz2mXk9TbWq7Rz2mXk9TbWq7Rz2mXk9TbWq7Rz2mXk9TbWa1b2";
        let dashes = "-----";
        let text = format!(
            "{dashes}BEGIN PRIVATE KEY{dashes}\n{line}\n{line}\n{dashes}END PRIVATE KEY{dashes}\n"
        );
        let at = text.find("Xk9").unwrap();
        let file = CheckedFile::new("a.md", &text);
        assert_eq!(file.excerpt(&(at..at + 3)), "[masked: private-key]");
        assert_eq!(file.shown(at..at + 3), "[masked: private-key]");
    }

    proptest! {
        #[test]
        fn any_place_in_any_text_can_be_told(text in "\\PC{0,40}(\n\\PC{0,300}){0,3}", from in 0usize..400, to in 0usize..400) {
            let (from, to) = (text.floor_char_boundary(from), text.floor_char_boundary(to));
            let range = from.min(to)..from.max(to);
            let file = CheckedFile::new("a.md", &text);
            let spot = file.spot(&range);
            let line = text.split('\n').nth(spot.line - 1).unwrap();
            prop_assert!(spot.column + spot.length <= line.chars().count() + 1);
            let excerpt = file.excerpt(&range);
            prop_assert!(excerpt.chars().count() <= EXCERPT_CHARS && !excerpt.contains('\n'));
            prop_assert!(file.shown(range).chars().count() <= SHOWN_CHARS + 1);
        }
    }
}
