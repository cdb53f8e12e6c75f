//! Sets of bytes, and how far a run of them reaches. Every byte is looked at once per set, however often it is asked for:
//! that keeps the scanners linear where a hostile text repeats the beginnings of tokens.

/// A set of bytes that a part of a token consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Alphabet {
    Digits,
    /// Digits and `a`–`f` in either case.
    Hex,
    /// Upper-case letters and digits.
    Upper,
    /// Letters and digits.
    Alnum,
    /// Letters, digits and `_`.
    Word,
    /// base64url: letters, digits, `-` and `_`.
    Url,
    /// base64: letters, digits, `+` and `/`.
    Base64,
    /// base64 that may be percent-coded, as in a query string.
    Percent,
    /// What an address may contain as it is: letters, digits, `-`, `.`, `_` and `~`.
    Unreserved,
    /// Whatever a token of the table can be made of.
    Token,
    /// Whatever a value without quotes can be made of.
    Value,
}

const ALPHABETS: usize = Alphabet::Value as usize + 1;

/// For each byte the sets that it is in, one bit each.
static SETS: [u16; 256] = {
    let mut sets = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        sets[byte] = sets_of(byte as u8);
        byte += 1;
    }
    sets
};

const fn sets_of(byte: u8) -> u16 {
    let alnum = byte.is_ascii_alphanumeric();
    let ends_value = matches!(byte, 0..=b' ' | 0x7f | b'"' | b'\'' | b'`' | b';' | b'<' | b'>');
    bit(Alphabet::Digits, byte.is_ascii_digit())
        | bit(Alphabet::Hex, byte.is_ascii_hexdigit())
        | bit(Alphabet::Upper, byte.is_ascii_uppercase() || byte.is_ascii_digit())
        | bit(Alphabet::Alnum, alnum)
        | bit(Alphabet::Word, alnum || byte == b'_')
        | bit(Alphabet::Url, alnum || matches!(byte, b'_' | b'-'))
        | bit(Alphabet::Base64, alnum || matches!(byte, b'+' | b'/'))
        | bit(Alphabet::Percent, alnum || matches!(byte, b'+' | b'/' | b'%' | b'_' | b'-'))
        | bit(Alphabet::Unreserved, alnum || matches!(byte, b'-' | b'.' | b'_' | b'~'))
        | bit(
            Alphabet::Token,
            alnum || matches!(byte, b'%' | b'+' | b'-'..=b'/' | b':' | b'=' | b'_' | b'~'),
        )
        | bit(Alphabet::Value, !ends_value)
}

const fn bit(alphabet: Alphabet, is_in: bool) -> u16 {
    (is_in as u16) << alphabet as u16
}

/// A text, and for each set where the run that was last looked at ends.
pub(super) struct Runs<'t> {
    pub(super) text: &'t [u8],
    known: [(usize, usize); ALPHABETS],
}

impl<'t> Runs<'t> {
    pub(super) fn new(text: &'t [u8]) -> Self {
        Self { text, known: [(0, 0); ALPHABETS] }
    }

    /// Where the run of `alphabet` that covers `at` ends; `at` itself where there is none.
    pub(super) fn end(&mut self, alphabet: Alphabet, at: usize) -> usize {
        let (from, to) = self.known[alphabet as usize];
        if from <= at && at < to {
            return to;
        }
        let end = self.text[at..]
            .iter()
            .position(|&byte| !contains(alphabet, byte))
            .map_or(self.text.len(), |length| at + length);
        self.known[alphabet as usize] = (at, end);
        end
    }
}

/// How many bytes at the beginning of a text pass, at most `most`.
pub(super) fn leading(text: &[u8], most: usize, test: impl Fn(u8) -> bool) -> usize {
    text.iter().take(most).take_while(|byte| test(**byte)).count()
}

/// The same at its end.
pub(super) fn trailing(text: &[u8], most: usize, test: impl Fn(u8) -> bool) -> usize {
    text.iter().rev().take(most).take_while(|byte| test(**byte)).count()
}

/// How many bytes of blanks a text begins with, at most some `most`: those that break no line.
pub(super) fn blanks(text: &[u8], most: usize) -> usize {
    let mut length = 0;
    while length < most {
        length += match &text[length..] {
            [b' ' | b'\t', ..] => 1,
            [0xc2, 0xa0, ..] => 2,
            [0xe2, 0x80, 0xaf, ..] | [0xe3, 0x80, 0x80, ..] => 3,
            _ => break,
        };
    }
    length
}

/// The same at its end.
pub(super) fn blanks_before(text: &[u8], most: usize) -> usize {
    let mut length = 0;
    while length < most {
        length += match &text[..text.len() - length] {
            [.., b' ' | b'\t'] => 1,
            [.., 0xc2, 0xa0] => 2,
            [.., 0xe2, 0x80, 0xaf] | [.., 0xe3, 0x80, 0x80] => 3,
            _ => break,
        };
    }
    length
}

/// Whether a byte is in a set.
pub(super) fn contains(alphabet: Alphabet, byte: u8) -> bool {
    SETS[byte as usize] & (1 << alphabet as u16) != 0
}
