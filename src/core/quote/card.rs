//! A card: the shortest quote that says what a note is about.

use crate::core::quote::length::{Beginning, has_no_blanks, length};
use crate::core::quote::lines::{BodyLine, LineKind, stands_apart};
use crate::core::quote::plain::{rest_of_run, words_of};
use crate::core::quote::{CUT, Recognition, SENTENCE_ENDS, joint};

/// Fewer words say too little.
const LEAST_WORDS: usize = 14;
const MOST_WORDS: usize = 60;
const MOST_CHARS: usize = 240;
/// Where a card in a script without blanks looks for its beginning.
const BEGINNING_LINES: usize = 25;
/// Such a card that is not recognised by then says no more in more characters.
const MOST_CHARS_WITHOUT_BLANKS: usize = 60;
const LEAST_CHARS_WITHOUT_BLANKS: usize = 36;

/// Quotes a note from its first sentence on. A note of few words has its description before them; the card of a note
/// without words is empty.
pub fn card(description: &str, lines: &[BodyLine<'_>]) -> String {
    let quote = first_sentence(lines);
    let Quote { text, n_words, is_whole, .. } =
        if has_no_blanks(&quote.text) { without_blanks(quote, lines) } else { quote };
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
    let Beginning { end, .. } =
        Beginning::of(description, &words_of(description, &[]), LEAST_WORDS);
    let mark = if end < description.len() { CUT } else { "" };
    let text: String = description[..end].chars().take(MOST_CHARS).collect();
    text + mark
}

fn first_sentence(lines: &[BodyLine<'_>]) -> Quote {
    let is_prose = |line: &BodyLine<'_>| line.kind() == LineKind::Prose;
    let first = lines.iter().position(is_prose).unwrap_or_default();
    let quote = quote(&lines[first..], MOST_WORDS);
    if !quote.is_enough && first > 0 {
        let other = self::quote(lines, MOST_WORDS);
        if other.is_enough {
            return other;
        }
    }
    quote
}

/// A card in a script without blanks. There a quote that is recognised takes many characters in most places, so that it
/// begins where it takes the fewest.
fn without_blanks(first: Quote, lines: &[BodyLine<'_>]) -> Quote {
    let n_chars = |quote: &Quote| quote.text.chars().count();
    if n_chars(&first) <= MOST_CHARS_WITHOUT_BLANKS && (first.is_enough || first.is_whole) {
        return first;
    }
    let starts = 0..lines.len().min(BEGINNING_LINES);
    let quotes = starts.filter(|&at| !lines[at].is_code).map(|at| quote(&lines[at..], usize::MAX));
    let shortest = quotes.filter(|quote| quote.is_enough).min_by_key(n_chars);
    shortest.unwrap_or_else(|| {
        let cut = first.text.char_indices().nth(MOST_CHARS_WITHOUT_BLANKS);
        let text = &first.text[..cut.map_or(first.text.len(), |(cut, _)| cut)];
        let ends = |c: char| matches!(c, '。' | '、' | '，' | '；' | '！' | '？' | '.' | ',' | ' ');
        let clause = text.trim_end_matches(|c: char| !ends(c)).trim_end();
        let is_short = clause.chars().count() < LEAST_CHARS_WITHOUT_BLANKS;
        let text = if cut.is_none() || is_short { text } else { clause };
        Quote { text: text.to_owned(), is_whole: first.is_whole && cut.is_none(), ..first }
    })
}

/// The shortest quote from the first line on.
fn quote(lines: &[BodyLine<'_>], most_words: usize) -> Quote {
    let Quote { mut text, mut n_words, .. } = Quote::default();
    let mut recognition = Recognition::default();
    for (at, line) in lines.iter().enumerate() {
        let plain = line.plain();
        if line.is_after_gap || plain.words.is_empty() {
            recognition.gap();
        }
        if plain.words.is_empty() {
            continue;
        }
        if !text.is_empty() {
            text.push_str(joint(&text, stands_apart(lines, at)));
        }
        let room = MOST_CHARS.saturating_sub(text.chars().count());
        for (n, word) in plain.words.iter().enumerate() {
            n_words += length(&plain.text[word.start..word.end]);
            // No text has more characters than bytes.
            let is_long = word.end > room && plain.text[..word.end].chars().count() > room;
            if is_long && n == 0 && text.is_empty() {
                let text = plain.text.chars().take(MOST_CHARS).collect();
                return Quote { text, ..Quote::default() };
            }
            if is_long {
                text.push_str(plain.first(n));
                text.truncate(text.trim_end().len());
                text.push_str(CUT);
                let is_enough = recognition.is_enough();
                return Quote { text, n_words, is_enough, is_whole: false };
            }
            recognition.add(plain, n);
            if n_words >= most_words || n_words >= LEAST_WORDS && recognition.is_enough() {
                let first = plain.first(n + 1);
                text.push_str(first);
                text.push_str(rest_of_run(&plain.text, first.len()));
                if !text.ends_with(SENTENCE_ENDS) {
                    text.push_str(CUT);
                }
                let is_enough = recognition.is_enough();
                return Quote { text, n_words, is_enough, is_whole: false };
            }
        }
        text.push_str(&plain.text);
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
            "The quick brown fox jumps over the lazy dog and runs far away into…",
        );
        check("# Title\n\nShort note.", "Title: Short note.");
        check("", "");
        check("# Only a title", "Only a title:");
    }

    #[test]
    fn no_path_is_cut_and_no_sentence_without_a_mark() {
        let words = "one two three four five six seven eight nine ten eleven twelve thirteen";
        check(&format!("{words} docs/a.md goes on"), &format!("{words} docs/a.md…"));
        check(&format!("{words} end. It goes on"), &format!("{words} end."));
    }

    #[test]
    fn items_of_a_list_are_set_apart() {
        check(
            "- Mend the sail\n- Tar the hull.\n- Oil (all) ropes",
            "Mend the sail; Tar the hull. Oil (all) ropes",
        );
        check("Next:\n1. Sail\n  2) Mast\n> - Hull\n  goes on", "Next: Sail; Mast; Hull goes on");
        check("The end.\n# Next (soon)\nSail\n## Later\n", "The end. Next (soon): Sail; Later:");
        check("```\n- a: 1\n- b: 2\n```", "- a: 1 - b: 2");
    }

    #[test]
    fn rows_and_values_are_set_apart() {
        check(
            "Fields:\n\n| Name | Type |\n|---|---|\n| id | int |\n| kind | **text** (short) |\nThat is all.",
            "Fields: Name | Type; id | int; kind | text (short); That is all.",
        );
        check(
            "**Created:** 2026-01-05\n**Status**: open\nPriority: high ✅\nWe mend it.",
            "Created: 2026-01-05; Status: open; Priority: high ✅; We mend it.",
        );
        check("The words of it go on\nas follows: so.", "The words of it go on as follows: so.");
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
        assert!(card.ends_with("and on until it is…"), "{card}");
    }

    #[test]
    fn scripts_without_blanks_are_cut_by_characters() {
        let body = "一つ目の文です。".repeat(60);
        let card = card("", &body_lines(&body));
        assert!(card.chars().count() <= MOST_CHARS, "{}", card.chars().count());
        assert!(!card.is_empty());
    }

    #[test]
    fn a_card_without_blanks_begins_where_it_is_soon_recognised() {
        let prose = "これは長い文であり区切りがなくどこまでも続いていくので認識されるまでに多くの文字を必要とします。".repeat(3);
        let list = "- 帆、舵、錨、櫂、縄、樽、灯、旗、板、釘、油、布、鍋、皿、針";
        let card = |body: &str| card("", &body_lines(body));
        let short = card(&format!("# 船\n\n{prose}\n{list}\n"));
        assert!(short.starts_with("帆、舵") && short.chars().count() <= 30, "{short}");
        let cut = card(&format!("# 船\n\n{prose}\n"));
        assert!(
            cut.ends_with("します。") && cut.chars().count() <= MOST_CHARS_WITHOUT_BLANKS,
            "{cut}"
        );
        assert_eq!(card("短い文です。"), "短い文です。");
    }

    #[test]
    fn a_single_endless_word_is_still_a_card() {
        let word = "ä".repeat(500);
        assert_eq!(card("", &body_lines(&word)).chars().count(), MOST_CHARS);
        let word = "字".repeat(500);
        assert_eq!(card("", &body_lines(&word)).chars().count(), MOST_CHARS_WITHOUT_BLANKS);
    }
}
