//! How many words of a budget a text takes. Scripts without blanks have a clause between two marks, so that their
//! characters are counted.

use crate::core::quote::plain::Word;

/// Parts of a word that a character counts.
const PARTS_PER_WORD: usize = 4;
/// A longer run is no word, whatever the script.
pub(super) const MOST_CHARS_PER_WORD: usize = 14;

/// The beginning of a text that has room in a budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Beginning {
    pub(super) end: usize,
    /// The words in it as a whole.
    pub(super) n_words: usize,
    /// What they take of the budget, with a part of the next one.
    pub(super) length: usize,
}

/// How many words of a budget a word takes.
pub(super) fn length(word: &str) -> usize {
    match word.is_ascii() {
        true => 1,
        false => word.chars().map(parts).sum::<usize>().div_ceil(PARTS_PER_WORD).max(1),
    }
}

/// Whether most of a text is written without blanks.
pub(super) fn has_no_blanks(text: &str) -> bool {
    !text.is_ascii() && {
        let n_unspaced = text.chars().filter(|&c| parts(c) > 0).count();
        2 * n_unspaced > text.chars().filter(|c| c.is_alphanumeric()).count()
    }
}

impl Beginning {
    pub(super) fn of(text: &str, words: &[Word], room: usize) -> Beginning {
        if text.is_ascii() {
            let n_words = words.len().min(room);
            let end = match n_words.checked_sub(1) {
                _ if n_words == words.len() => text.len(),
                Some(last) => words[last].end,
                None => 0,
            };
            return Beginning { end, n_words, length: n_words };
        }
        let mut taken = Beginning { end: 0, n_words: 0, length: 0 };
        for word in words {
            let in_text = &text[word.start..word.end];
            let length = length(in_text);
            if length > room - taken.length {
                let n_parts = PARTS_PER_WORD * (room - taken.length);
                let of_word = first_parts(in_text, n_parts);
                if of_word > 0 {
                    (taken.end, taken.length) = (word.start + of_word, room);
                }
                return taken;
            }
            taken = Beginning {
                end: word.end,
                n_words: taken.n_words + 1,
                length: taken.length + length,
            };
        }
        Beginning { end: text.len(), ..taken }
    }
}

/// The bytes of a word's first characters that count so many parts.
fn first_parts(word: &str, n_parts: usize) -> usize {
    let mut left = n_parts;
    for (at, c) in word.char_indices() {
        let parts = parts(c).max(1);
        if parts > left {
            return at;
        }
        left -= parts;
    }
    word.len()
}

/// Two characters of Chinese or Japanese are about a word, and four of Thai, Lao, Burmese or Khmer.
fn parts(c: char) -> usize {
    match c {
        ..'\u{e00}' => 0,
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' => 1,
        '\u{3005}'..='\u{3007}'
        | '\u{3040}'..='\u{30ff}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}' => 2,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::quote::plain::words_of;

    #[test]
    fn characters_of_scripts_without_blanks_are_counted() {
        assert_eq!(["word", "größe", "데이터베이스"].map(length), [1; 3]);
        assert_eq!(["字", "索引", "データベース", "ฐานข้อมูล"].map(length), [1, 1, 3, 3]);
        assert!(
            has_no_blanks("Vite は、静的ファイルサーバー")
                && !has_no_blanks("Kanji 漢字 are signs")
        );
        assert!(!has_no_blanks("데이터 베이스") && !has_no_blanks(""));
    }

    #[test]
    fn a_beginning_ends_inside_of_a_clause() {
        let of = |text: &str, room: usize| {
            let Beginning { end, n_words, length } =
                Beginning::of(text, &words_of(text, &[]), room);
            (text[..end].to_owned(), n_words, length)
        };
        assert_eq!(of("one two three.", 2), ("one two".to_owned(), 2, 2));
        assert_eq!(of("one two.", 2), ("one two.".to_owned(), 2, 2));
        assert_eq!(of("größe b c", 2), ("größe b".to_owned(), 2, 2));
        assert_eq!(of("索引を、作り直します。", 4), ("索引を、作り直し".to_owned(), 1, 4));
        assert_eq!(of("索引を、作り直します。", 9), ("索引を、作り直します。".to_owned(), 2, 5));
        assert_eq!(of("one two", 0), (String::new(), 0, 0));
    }
}
