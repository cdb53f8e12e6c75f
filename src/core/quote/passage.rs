//! A passage: a quote at length, from the lines that changed last. What changed last is what changes next.

use serde::{Deserialize, Serialize};

use crate::core::quote::length::{Beginning, MOST_CHARS_PER_WORD};
use crate::core::quote::lines::{BodyLine, stands_apart};
use crate::core::quote::plain::{end_of_whole, is_heading, words_of};
use crate::core::quote::{CUT, Recognition, SENTENCE_ENDS, joint};

/// The longest passage of a vault with many notes.
pub const MOST_WORDS: usize = 120;
/// Up to so many notes, a context has room for more of each: for so many words.
const FEW_NOTES: [(usize, usize); 3] = [(16, 3_600), (64, 600), (160, 240)];
/// The beginning of a note tells less than what changed in it.
const BEGINNING_WORDS: usize = 45;
/// How many lines beside a changed one are quoted.
const BESIDE: usize = 2;
/// With so few words of room left, another line says nothing.
const LEAST_ROOM: usize = 3;
/// How a stored piece begins that stands apart from the line before it.
const APART: &str = "- ";

/// Whether the pieces are what matters and no mere beginning, and the pieces, each with the number of its line, most
/// important first.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Passage(bool, Vec<(usize, String)>);

/// The longest passage in a vault of so many notes.
pub fn most_words(n_notes: usize) -> usize {
    FEW_NOTES.iter().find(|(few, _)| n_notes <= *few).map_or(MOST_WORDS, |(_, words)| *words)
}

/// How many words a text takes of a quote's.
pub fn n_words(text: &str) -> usize {
    Beginning::of(text, &words_of(text, &[]), usize::MAX).length
}

impl Passage {
    /// The passage of a note in which the last change touched some lines; its beginning if there are none.
    pub fn of(lines: &[BodyLine<'_>], touched: &[usize], most_words: usize) -> Passage {
        let mut passage = Collector::new(most_words);
        // A note without a change needs no look at how much of it would be recognised.
        let is_changed = !touched.is_empty() && passage.add_touched(lines, touched);
        if is_changed && most_words == MOST_WORDS {
            return Passage(true, passage.pieces);
        }
        let mut beginning = match (is_changed, most_words) {
            (true, _) => passage,
            (false, MOST_WORDS) => Collector::new(BEGINNING_WORDS),
            (false, most_words) => Collector::new(most_words),
        };
        let first = lines.iter().position(|line| !is_heading(line.raw)).unwrap_or_default();
        for at in first..lines.len() {
            if !beginning.add(lines, at) {
                break;
            }
        }
        Passage(is_changed, beginning.pieces)
    }

    /// The passage of lines that are in the order of their weight.
    pub fn in_order(lines: &[BodyLine<'_>], most_words: usize) -> Passage {
        let mut passage = Collector::new(most_words);
        for at in 0..lines.len() {
            passage.add(lines, at);
        }
        Passage(true, passage.pieces)
    }

    /// Whether a stored passage quotes what a change touched.
    pub fn is_changed_in(json: &str) -> bool {
        json.starts_with("[true,")
    }

    /// The most important pieces, with at most so many words, in the order of the note.
    pub fn quote(&self, words: usize) -> String {
        self.first(if self.0 { words } else { words.min(BEGINNING_WORDS) })
    }

    /// The number of words of all pieces.
    pub fn n_words(&self) -> usize {
        self.1.iter().map(|(_, text)| n_words(text)).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.1.is_empty()
    }

    /// The passage without a line that only repeats the title.
    pub fn without_title(mut self, title: &str) -> Passage {
        self.1.retain(|(_, text)| text.strip_suffix(':').unwrap_or(text) != title);
        self
    }

    /// The most important pieces, with so many words of all, in the order of the note.
    pub fn first(&self, words: usize) -> String {
        let mut left = words;
        let mut left_chars = words.saturating_mul(MOST_CHARS_PER_WORD);
        let mut shown: Vec<(usize, &str)> = Vec::new();
        let mut cut = None;
        for (line, text) in &self.1 {
            if left <= LEAST_ROOM {
                break;
            }
            let Beginning { end, length, .. } = Beginning::of(text, &words_of(text, &[]), left);
            let shortened = shortened(text, end, left_chars);
            shown.push((*line, shortened));
            left -= length;
            left_chars = left_chars.saturating_sub(shortened.chars().count());
            if shortened.len() < text.len() {
                cut = Some(*line);
                break;
            }
        }
        shown.sort_unstable();
        let mut quote = String::new();
        let mut next = None;
        for (line, text) in shown {
            let apart = text.strip_prefix(APART);
            match next {
                Some(next) if next == line => quote.push_str(joint(&quote, apart.is_some())),
                Some(_) => quote.push_str(" … "),
                None => {}
            }
            quote.push_str(apart.unwrap_or(text));
            if cut == Some(line) {
                quote.push_str(CUT);
            }
            next = Some(line + 1);
        }
        let goes_on =
            |(line, text): &(usize, String)| next == Some(*line) && !text.starts_with(APART);
        if !quote.ends_with(SENTENCE_ENDS) && self.1.iter().any(goes_on) {
            quote.push_str(CUT);
        }
        quote
    }
}

struct Collector {
    pieces: Vec<(usize, String)>,
    left: usize,
    left_chars: usize,
    /// While it matters.
    recognition: Option<Recognition>,
}

impl Collector {
    fn new(words: usize) -> Collector {
        Collector {
            pieces: Vec::new(),
            left: words,
            left_chars: words * MOST_CHARS_PER_WORD,
            recognition: None,
        }
    }

    /// Adds the touched lines and those beside them; returns whether that is enough to recognise the note.
    fn add_touched(&mut self, lines: &[BodyLine<'_>], touched: &[usize]) -> bool {
        self.recognition = Some(Recognition::default());
        let mut touched = touched.to_vec();
        // A log that grows at its end: the newest words are the last ones.
        if touched.last() == lines.len().checked_sub(1).as_ref() && touched.first() > Some(&1) {
            touched.reverse();
        }
        for &at in &touched {
            self.add(lines, at);
        }
        let quoted: Vec<usize> = touched
            .into_iter()
            .filter(|at| self.pieces.iter().any(|(line, _)| line == at))
            .collect();
        for distance in 1..=BESIDE {
            for &at in &quoted {
                self.add(lines, at + distance);
                if let Some(before) = at.checked_sub(distance) {
                    self.add(lines, before);
                }
            }
        }
        self.recognition.take().is_some_and(|recognition| recognition.is_enough())
    }

    /// Adds a line, shortened to the room; returns whether there is room for more.
    fn add(&mut self, lines: &[BodyLine<'_>], at: usize) -> bool {
        if self.left <= LEAST_ROOM || self.left_chars == 0 {
            return false;
        }
        let Some(line) =
            lines.get(at).filter(|_| self.pieces.iter().all(|(known, _)| *known != at))
        else {
            return true;
        };
        let plain = line.plain();
        let Beginning { end, n_words, length } =
            Beginning::of(&plain.text, &plain.words, self.left);
        let follows = self.pieces.last().is_some_and(|(last, _)| last + 1 == at);
        if let Some(recognition) = &mut self.recognition {
            if n_words == 0 || !follows || line.is_after_gap {
                recognition.gap();
            }
            (0..n_words).for_each(|n| recognition.add(plain, n));
        }
        if length == 0 {
            return true;
        }
        let mut text = shortened(&plain.text, end, self.left_chars).to_owned();
        self.left -= length;
        self.left_chars = self.left_chars.saturating_sub(text.chars().count());
        if text.len() < plain.text.len() {
            text.push_str(CUT);
        }
        if stands_apart(lines, at) {
            text.insert_str(0, APART);
        }
        self.pieces.push((at, text));
        true
    }
}

/// The words of a text up to a place, as far as there is room for characters.
fn shortened(text: &str, end: usize, n_chars: usize) -> &str {
    match end < text.len() {
        true => first_chars(&text[..end_of_whole(text, end)], n_chars),
        false => first_chars(text, n_chars),
    }
}

fn first_chars(text: &str, n_chars: usize) -> &str {
    // No text has more characters than bytes.
    let cut = (text.len() > n_chars).then(|| text.char_indices().nth(n_chars)).flatten();
    cut.map_or(text, |(cut, _)| &text[..cut])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::quote::lines::body_lines;
    use proptest::prelude::*;

    fn body() -> String {
        let line = |n: usize| format!("line {n} says one two three four five six seven\n");
        format!("# Title\n\n{}", (1..=30).map(line).collect::<String>())
    }

    #[test]
    fn a_passage_quotes_the_changed_lines_and_those_beside_them() {
        let body = body();
        let passage = Passage::of(&body_lines(&body), &[10, 12], MOST_WORDS);
        let quote = passage.quote(60);
        assert!(quote.starts_with("line 8 says"), "{quote}");
        assert!(quote.contains("line 10 says") && quote.contains("line 12 says"), "{quote}");
        assert!(!quote.contains("line 20"), "{quote}");
    }

    #[test]
    fn a_log_is_quoted_from_its_end() {
        let body = body();
        let lines = body_lines(&body);
        let touched: Vec<usize> = (5..lines.len()).collect();
        let quote = Passage::of(&lines, &touched, MOST_WORDS).quote(20);
        assert!(quote.ends_with("line 30 says one two three four five six seven"), "{quote}");
    }

    #[test]
    fn an_unchanged_note_is_quoted_from_its_beginning() {
        let body = body();
        let quote = Passage::of(&body_lines(&body), &[], MOST_WORDS).quote(MOST_WORDS);
        assert!(quote.starts_with("line 1 says") && !quote.contains("line 6"), "{quote}");
    }

    #[test]
    fn what_is_left_out_is_marked() {
        let body = body();
        let quote = Passage::of(&body_lines(&body), &[3, 20], MOST_WORDS).quote(30);
        assert!(quote.contains(" … "), "{quote}");
    }

    #[test]
    fn a_line_that_is_cut_says_so() {
        let lines =
            [(1, "Verification fails open"), (0, "Security (shipped 5.1.0 → 5.1.1): all gates")];
        let passage = Passage(true, lines.map(|(at, text)| (at, text.to_owned())).to_vec());
        let quote = passage.first(9);
        assert_eq!(quote, "Security (shipped 5.1.0 →… Verification fails open");
        let stored = Passage::of(&body_lines(&format!("{} 2026-05-24", "a ".repeat(43))), &[], 120);
        assert!(stored.first(120).ends_with("a a…"), "{}", stored.first(120));
    }

    #[test]
    fn a_sentence_that_goes_on_in_the_next_line_says_so() {
        let body = "It spends its time in decoding. Backpressure\nfirst, speed later.\n- An item\n- Another item";
        let passage = Passage::of(&body_lines(body), &[], MOST_WORDS);
        assert_eq!(passage.first(9), "It spends its time in decoding. Backpressure…");
        let whole = "It spends its time in decoding. Backpressure first, speed later.";
        assert_eq!(passage.first(12), whole);
        assert_eq!(passage.first(17), format!("{whole} An item; Another item"));
    }

    #[test]
    fn items_of_a_list_are_set_apart() {
        let body =
            "Intro of some words\n- Mend the sail\n- Tar the hull.\n- Oil the ropes\nThe end";
        let quote =
            |touched: &[usize]| Passage::of(&body_lines(body), touched, MOST_WORDS).quote(60);
        let rows = "| a | b |\n|---|---|\n| one | two |\n| three | |\nThe end";
        let quote_of_rows = Passage::of(&body_lines(rows), &[], MOST_WORDS).quote(60);
        assert_eq!(quote_of_rows, "a | b; one | two; three; The end");
        let all = "Intro of some words; Mend the sail; Tar the hull. Oil the ropes The end";
        assert_eq!(quote(&[]), all);
        assert_eq!(quote(&[1, 2]), all);
        assert_eq!(
            Passage(true, vec![(1, "- a".to_owned()), (4, "- b".to_owned())]).quote(9),
            "a … b"
        );
    }

    #[test]
    fn a_line_without_blanks_is_cut_like_any_other() {
        for (clause, most) in [("字", 240), ("索引を作り直します。", 270), ("ä", 1_680)]
        {
            let body = clause.repeat(200_000 / clause.len());
            let passage = Passage::of(&body_lines(&body), &[0], MOST_WORDS);
            for quote in [passage.quote(MOST_WORDS), passage.first(usize::MAX)] {
                assert!(quote.chars().count() <= most, "{clause}: {}", quote.chars().count());
            }
            assert!(passage.quote(60).chars().count() <= most / 2 + 10, "{clause}");
        }
        let few = Passage::of(&body_lines(&"字".repeat(9_000)), &[], most_words(64));
        assert_eq!(few.quote(MOST_WORDS).chars().count(), 2 * BEGINNING_WORDS + 1);
    }

    #[test]
    fn few_notes_are_quoted_as_far_as_there_is_room() {
        let body = body();
        for touched in [&[][..], &[10, 12]] {
            let passage = Passage::of(&body_lines(&body), touched, most_words(64));
            let whole = passage.first(passage.n_words());
            assert!(whole.contains("line 1 says") && whole.contains("line 30 says"), "{whole}");
            assert!(passage.quote(60).len() < whole.len() / 3);
            let longer = passage.first(150);
            assert!(longer.contains("line 10 says") || touched.is_empty(), "{longer}");
        }
    }

    proptest! {
        #[test]
        fn a_quote_keeps_its_number_of_words(
            texts in prop::collection::vec("[a-zß日. ]{0,40}", 0..12),
            touched in prop::collection::btree_set(0usize..12, 0..6),
            words in 0usize..150,
        ) {
            let body = texts.join("\n");
            let lines = body_lines(&body);
            let touched: Vec<usize> = touched.into_iter().filter(|&line| line < lines.len()).collect();
            let quote = Passage::of(&lines, &touched, MOST_WORDS).quote(words);
            prop_assert!(words_of(&quote, &[]).len() <= words);
        }
    }
}
