//! A card: the shortest quote that says what a note is about.

use crate::core::quote::lines::{BodyLine, LineKind};
use crate::core::quote::plain::words_of;
use crate::core::quote::{Recognition, joint};

/// Fewer words say too little.
const LEAST_WORDS: usize = 14;
const MOST_WORDS: usize = 60;
/// Scripts without blanks have few words.
const MOST_CHARS: usize = 240;

/// Quotes a note from its first sentence on. A note of few words has its description before them; the card of a note
/// without words is empty.
pub fn card(description: &str, lines: &[BodyLine<'_>]) -> String {
    let Quote { text, n_words, is_whole, .. } = first_sentence(lines);
    if description.is_empty() || !is_whole || n_words >= LEAST_WORDS {
        return text;
    }
    let mut description = beginning(description);
    if !text.is_empty() {
        // Most descriptions have no full stop.
        let end = if description.ends_with(char::is_alphanumeric) { ". " } else { " " };
        description.extend([end, &text]);
    }
    description
}

/// A quote from a line on.
#[derive(Default)]
struct Quote {
    text: String,
    n_words: usize,
    /// Whether it is recognised as the note's.
    is_enough: bool,
    /// Whether it goes on to the end of the note.
    is_whole: bool,
}

/// The first words of a description: it shares the room of a card.
fn beginning(description: &str) -> String {
    let words = words_of(description, &[]);
    let end = words.get(LEAST_WORDS).map_or(description.len(), |_| words[LEAST_WORDS - 1].end);
    let mark = if end < description.len() { "…" } else { "" };
    let text: String = description[..end].chars().take(MOST_CHARS).collect();
    text + mark
}

fn first_sentence(lines: &[BodyLine<'_>]) -> Quote {
    let is_prose = |line: &BodyLine<'_>| line.kind() == LineKind::Prose;
    let first = lines.iter().position(is_prose).unwrap_or_default();
    let quote = quote(&lines[first..]);
    if !quote.is_enough && first > 0 {
        let other = self::quote(lines);
        if other.is_enough {
            return other;
        }
    }
    quote
}

/// The shortest quote from the first line on.
fn quote(lines: &[BodyLine<'_>]) -> Quote {
    let Quote { mut text, mut n_words, .. } = Quote::default();
    let mut recognition = Recognition::default();
    for line in lines {
        let plain = line.plain();
        if line.is_after_gap || plain.words.is_empty() {
            recognition.gap();
        }
        if plain.words.is_empty() {
            continue;
        }
        if !text.is_empty() {
            text.push_str(joint(&text, line.is_item()));
        }
        let room = MOST_CHARS.saturating_sub(text.chars().count());
        for (n, word) in plain.words.iter().enumerate() {
            // No text has more characters than bytes.
            let is_long = word.end > room && plain.text[..word.end].chars().count() > room;
            let n_words = n_words + n;
            if is_long && n_words == 0 {
                let text = plain.text.chars().take(MOST_CHARS).collect();
                return Quote { text, ..Quote::default() };
            }
            if is_long {
                text.push_str(plain.first(n));
                text.truncate(text.trim_end().len());
                let is_enough = recognition.is_enough();
                return Quote { text, n_words, is_enough, is_whole: false };
            }
            recognition.add(plain, n);
            let n_words = n_words + 1;
            if n_words == MOST_WORDS || n_words >= LEAST_WORDS && recognition.is_enough() {
                text.push_str(plain.first(n + 1));
                let is_enough = recognition.is_enough();
                return Quote { text, n_words, is_enough, is_whole: false };
            }
        }
        text.push_str(&plain.text);
        n_words += plain.words.len();
    }
    Quote { text, n_words, is_enough: recognition.is_enough(), is_whole: true }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::quote::lines::body_lines;

    #[track_caller]
    fn check(body: &str, expect: &str) {
        assert_eq!(card("", &body_lines(body)), expect);
    }

    #[test]
    fn a_note_of_few_words_has_its_description() {
        let described = |body: &str| card("How keys are rotated.", &body_lines(body));
        assert_eq!(described(""), "How keys are rotated.");
        assert_eq!(described("See [[kms]]."), "How keys are rotated. See kms.");
        assert_eq!(card("Key rotation", &body_lines("See kms.")), "Key rotation. See kms.");
        let long = "The quick brown fox jumps over the lazy dog and runs far away into the wood.";
        assert!(!described(long).contains("keys"), "{}", described(long));
        // Thirteen blanks apart, and more words than that.
        let joined = "It's l'accueil, l'ascenseur: c'est à gauche, l'escalier d'en face, puis l'entrée d'honneur, n'est-ce pas?";
        assert!(!described(joined).contains("keys"), "{}", described(joined));
        let without_blanks = "一つ目の文です。".repeat(60);
        assert!(!described(&without_blanks).contains("keys"), "{}", described(&without_blanks));
        let many = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen.";
        assert!(card(many, &[]).ends_with("fourteen…"), "{}", card(many, &[]));
        assert_eq!(card(&"ä".repeat(500), &[]).chars().count(), MOST_CHARS);
    }

    #[test]
    fn a_card_starts_at_the_first_sentence_and_is_short() {
        check(
            "# Title\n\nStatus: done\n\nThe quick brown fox jumps over the lazy dog and runs far away into the deep wood.",
            "The quick brown fox jumps over the lazy dog and runs far away into",
        );
        check("# Title\n\nShort note.", "Title: Short note.");
        check("", "");
        check("# Only a title", "Only a title:");
    }

    #[test]
    fn items_of_a_list_are_set_apart() {
        check(
            "- Mend the sail\n- Tar the hull.\n- Oil (all) ropes",
            "Mend the sail; Tar the hull. Oil (all) ropes",
        );
        check("Next:\n1. Sail\n  2) Mast\n> - Hull\n  goes on", "Next: Sail; Mast; Hull goes on");
        check("```\n- a: 1\n- b: 2\n```", "a: 1 b: 2");
    }

    #[test]
    fn a_card_is_longer_where_links_break_it() {
        let card = card(
            "",
            &body_lines(
                "Some [words](a.md) here [break](b.md) often [and](c.md) then a long run of plain words \
             goes on and on until it is enough for anybody.",
            ),
        );
        assert!(card.ends_with("and on until it is"), "{card}");
    }

    #[test]
    fn scripts_without_blanks_are_cut_by_characters() {
        let body = "一つ目の文です。".repeat(60);
        let card = card("", &body_lines(&body));
        assert!(card.chars().count() <= MOST_CHARS, "{}", card.chars().count());
        assert!(!card.is_empty());
    }

    #[test]
    fn a_single_endless_word_is_still_a_card() {
        let word = "ä".repeat(500);
        assert_eq!(card("", &body_lines(&word)).chars().count(), MOST_CHARS);
    }
}
