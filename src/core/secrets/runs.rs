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
    let members = [
        (Alphabet::Digits, byte.is_ascii_digit()),
        (Alphabet::Hex, byte.is_ascii_hexdigit()),
        (Alphabet::Upper, byte.is_ascii_uppercase() || byte.is_ascii_digit()),
        (Alphabet::Alnum, alnum),
        (Alphabet::Word, alnum || byte == b'_'),
        (Alphabet::Url, alnum || matches!(byte, b'_' | b'-')),
        (Alphabet::Base64, alnum || matches!(byte, b'+' | b'/')),
        (Alphabet::Percent, alnum || matches!(byte, b'+' | b'/' | b'%' | b'_' | b'-')),
        (
            Alphabet::Token,
            alnum || matches!(byte, b'_' | b'-' | b'.' | b'/' | b'+' | b'=' | b':' | b'~' | b'%'),
        ),
        (
            Alphabet::Value,
            byte > b' '
                && byte != 0x7f
                && !matches!(byte, b'"' | b'\'' | b'`' | b';' | b'<' | b'>'),
        ),
    ];
    let mut sets = 0;
    let mut n = 0;
    while n < members.len() {
        if members[n].1 {
            sets |= 1 << members[n].0 as u16;
        }
        n += 1;
    }
    sets
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

/// Whether a byte is in a set.
pub(super) fn contains(alphabet: Alphabet, byte: u8) -> bool {
    SETS[byte as usize] & (1 << alphabet as u16) != 0
}
