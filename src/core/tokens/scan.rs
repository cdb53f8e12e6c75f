//! The text as the patterns see it: classes of characters, and what single parts of a pattern match.
//!
//! A place is a byte offset on a character's boundary. Every function takes a place and returns the one after what it
//! matched, which is the same place if it matched nothing.

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

    /// `\p{N}{1,3}`.
    pub(super) fn numbers(self, mut place: usize) -> usize {
        for _ in 0..3 {
            let (class, width) = self.at(place);
            if class != NUMBER {
                break;
            }
            place += width;
        }
        place
    }

    /// `'s|'t|'re|'ve|'m|'ll|'d` in either case.
    pub(super) fn contraction(self, place: usize) -> usize {
        let width = match &self.0.as_bytes()[place..] {
            [b'\'', b's' | b'S' | b't' | b'T' | b'm' | b'M' | b'd' | b'D', ..] => 2,
            [b'\'', b'r' | b'R' | b'v' | b'V', b'e' | b'E', ..] => 3,
            [b'\'', b'l' | b'L', b'l' | b'L', ..] => 3,
            // The long s, ſ, is an s in another case. No other letter here has a third form.
            [b'\'', 0xc5, 0xbf, ..] => 3,
            _ => 0,
        };
        place + width
    }

    /// ` ?[^\s\p{L}\p{N}]+`, and as many as there are of `trailing`.
    pub(super) fn symbols(self, place: usize, trailing: &[u8]) -> usize {
        let start = place + usize::from(self.0.as_bytes().get(place) == Some(&b' '));
        let end = self.run(start, SYMBOLS);
        if end == start { place } else { self.run_of(end, trailing) }
    }

    /// The white space from a place on, up to the next other character.
    pub(super) fn white_space(self, place: usize) -> WhiteSpace {
        let mut run = WhiteSpace { end: place, last: place, after_newline: None };
        loop {
            let (class, width) = self.at(run.end);
            if class & WHITE == 0 {
                return run;
            }
            run.last = run.end;
            run.end += width;
            if class == NEWLINE {
                run.after_newline = Some(run.end);
            }
        }
    }

    /// What both patterns end with: `\s*[\r\n]+|\s+(?!\S)|\s+`.
    pub(super) fn blank(self, place: usize) -> usize {
        let WhiteSpace { end, last, after_newline } = self.white_space(place);
        match after_newline {
            Some(after_newline) => after_newline,
            // The last space before a word is left to the word, unless there is no other.
            None if end < self.0.len() && last > place => last,
            None => end,
        }
    }
}

/// A run of white space.
pub(super) struct WhiteSpace {
    /// Where it ends.
    pub(super) end: usize,
    /// Where its last character begins.
    last: usize,
    /// Where its last newline ends.
    after_newline: Option<usize>,
}
