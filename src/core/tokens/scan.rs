//! The text as the patterns see it: classes of characters, and what single parts of a pattern match.
//!
//! A place is a byte offset on a character's boundary. Every function takes a place and returns the one after what it
//! matched: the same place if that may be nothing, and `None` if it may not.

use super::layout::class::{
    CASELESS, LOWER, MARK, NEWLINE, NUMBER, ROW, ROWS, SPACE, SYMBOL, UPPER,
};

/// `\p{L}`.
pub(super) const LETTERS: u8 = UPPER | LOWER | CASELESS;
/// `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`: what a word may begin with.
pub(super) const HEAD: u8 = UPPER | CASELESS | MARK;
/// `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`: what a word may go on with.
pub(super) const TAIL: u8 = LOWER | CASELESS | MARK;
/// `[^\r\n\p{L}\p{N}]`: the one character before a word that may belong to it.
pub(super) const LEAD: u8 = SYMBOL | MARK | SPACE;
/// `[^\s\p{L}\p{N}]`.
pub(super) const SYMBOLS: u8 = SYMBOL | MARK;
/// `\s`.
pub(super) const WHITE: u8 = SPACE | NEWLINE;

static CLASSES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/classes"));

/// Returns the class of a character.
pub(super) fn class_of(c: char) -> u8 {
    let (row, column) = (c as usize / ROW, c as usize % ROW);
    CLASSES[ROWS + usize::from(CLASSES[row]) * ROW + column]
}

/// A text that is being split.
#[derive(Clone, Copy)]
pub(super) struct Scan<'a>(pub(super) &'a str);

impl Scan<'_> {
    /// The class and the width in bytes of the character at a place; both are 0 at the end.
    pub(super) fn at(self, place: usize) -> (u8, usize) {
        match self.0.as_bytes().get(place) {
            Some(&byte) if byte.is_ascii() => (class_of(byte.into()), 1),
            _ => match self.0[place..].chars().next() {
                Some(c) => (class_of(c), c.len_utf8()),
                None => (0, 0),
            },
        }
    }

    /// As many characters of a set as there are: `[…]*`.
    pub(super) fn run(self, mut place: usize, set: u8) -> usize {
        loop {
            let (class, width) = self.at(place);
            if class & set == 0 {
                return place;
            }
            place += width;
        }
    }

    /// As many of these ASCII characters as there are.
    pub(super) fn run_of(self, place: usize, these: &[u8]) -> usize {
        let rest = &self.0.as_bytes()[place..];
        place + rest.iter().take_while(|byte| these.contains(byte)).count()
    }

    /// At least one character of a set: `[…]+`.
    pub(super) fn some(self, place: usize, set: u8) -> Option<usize> {
        Some(self.run(place, set)).filter(|end| *end > place)
    }

    /// `\p{N}{1,3}`.
    pub(super) fn numbers(self, place: usize) -> Option<usize> {
        let mut end = place;
        for _ in 0..3 {
            let (class, width) = self.at(end);
            if class != NUMBER {
                break;
            }
            end += width;
        }
        (end > place).then_some(end)
    }

    /// `'s|'t|'re|'ve|'m|'ll|'d` in either case.
    pub(super) fn contraction(self, place: usize) -> Option<usize> {
        let width = match &self.0.as_bytes()[place..] {
            [b'\'', b's' | b'S' | b't' | b'T' | b'm' | b'M' | b'd' | b'D', ..] => 2,
            [b'\'', b'r' | b'R' | b'v' | b'V', b'e' | b'E', ..] => 3,
            [b'\'', b'l' | b'L', b'l' | b'L', ..] => 3,
            // The long s, ſ, is an s in another case. No other letter here has a third form.
            [b'\'', 0xc5, 0xbf, ..] => 3,
            _ => return None,
        };
        Some(place + width)
    }

    /// ` ?[^\s\p{L}\p{N}]+`, and as many as there are of `trailing`.
    pub(super) fn symbols(self, place: usize, trailing: &[u8]) -> Option<usize> {
        let start = place + usize::from(self.0.as_bytes().get(place) == Some(&b' '));
        self.some(start, SYMBOLS).map(|end| self.run_of(end, trailing))
    }

    /// What both patterns end with: `\s*[\r\n]+|\s+(?!\S)|\s+`.
    pub(super) fn blank(self, place: usize) -> usize {
        // Where the white space ends, its last character begins, and its last newline ends.
        let (mut end, mut last, mut after_newline) = (place, place, None);
        loop {
            let (class, width) = self.at(end);
            if class & WHITE == 0 {
                break;
            }
            last = end;
            end += width;
            if class == NEWLINE {
                after_newline = Some(end);
            }
        }
        // The last space before a word is left to the word, unless there is no other.
        let is_before_word = end < self.0.len() && last > place;
        after_newline.unwrap_or(if is_before_word { last } else { end })
    }
}
