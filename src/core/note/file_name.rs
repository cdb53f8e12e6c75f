//! Names of files in a text: words that have what most names of files have and most other words have not.

use std::ops::Range;

use crate::core::text::bytes::position;

/// The words of a text that look like the name of a file, with folders or without, in order.
pub fn file_names(text: &str) -> impl Iterator<Item = &str> {
    let bytes = text.as_bytes();
    let mut from = 0;
    let words = std::iter::from_fn(move || {
        loop {
            // Most words have no mark of a file's name, and are skipped as bytes.
            let mark = from + position(&bytes[from..], is_mark)?;
            let next = bytes.get(mark + 1);
            // The end of a sentence, or an item: the word before it has no mark, or it would have been seen.
            if !bytes[mark].is_ascii_digit()
                && next.is_none_or(|next| next.is_ascii() && !is_part_of_name(*next))
            {
                from = mark + 1;
                continue;
            }
            let word = word_around(text, mark);
            from = word.end.max(mark + 1);
            return Some(text[word].trim_matches(['.', '/', '-', '_']));
        }
    });
    words.filter(|word| is_file_name(word))
}

/// Whether most names of files have a byte, and most other words have not: `-_/.` and digits.
fn is_mark(byte: u8) -> bool {
    matches!(byte, b'-'..=b'9' | b'_')
}

fn is_part_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || is_mark(byte)
}

/// The word with a mark at a place.
fn word_around(text: &str, mark: usize) -> Range<usize> {
    let bytes = text.as_bytes();
    let is_part = |byte: &u8| is_part_of_name(*byte);
    let start = bytes[..mark].iter().rposition(|byte| !is_part(byte)).map_or(0, |at| at + 1);
    let end = bytes[mark..].iter().position(|byte| !is_part(byte));
    let end = end.map_or(text.len(), |end| mark + end);
    let is_ascii = |at: Option<&u8>| at.is_none_or(u8::is_ascii);
    if is_ascii(start.checked_sub(1).map(|before| &bytes[before])) && is_ascii(bytes.get(end)) {
        return start..end;
    }
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '/' | '-');
    let start = text[..mark]
        .rfind(|c| !is_part(c))
        .map_or(0, |at| at + text[at..].chars().next().map_or(1, char::len_utf8));
    start..text[mark..].find(|c| !is_part(c)).map_or(text.len(), |end| mark + end)
}

/// Whether a word looks like the name of a file and not like a word of a sentence.
pub(super) fn is_file_name(word: &str) -> bool {
    word.len() >= 2
        && word.len() <= 100
        && word.contains(char::is_alphabetic)
        && word.contains(|c: char| c.is_ascii_digit() || matches!(c, '-' | '_' | '/' | '.'))
}
