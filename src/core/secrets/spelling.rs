//! A name in small letters, without the signs between its parts. Knows where the parts begin: at such a sign, at a capital, at
//! a number.

/// The bit of a letter among those of a name.
pub(super) const fn letter(byte: u8) -> u32 {
    1 << (byte & 31)
}

/// The parts of a name, of which `N` bytes at most are kept.
pub(super) struct Spelling<const N: usize> {
    flat: [u8; N],
    length: usize,
    letters: u32,
    /// Where its parts begin, one bit each.
    parts: u64,
    is_ascii: bool,
}

impl<const N: usize> Default for Spelling<N> {
    fn default() -> Self {
        Self { flat: [0; N], length: 0, letters: 0, parts: 0, is_ascii: true }
    }
}

impl<const N: usize> Spelling<N> {
    /// Adds a word, which begins a part.
    pub(super) fn push(&mut self, word: &[u8]) {
        let mut before = b'_';
        for (at, &byte) in word.iter().enumerate() {
            let next = word.get(at + 1).copied().unwrap_or_default();
            if self.length < N && begins_part(before, byte, next) {
                self.parts |= 1 << self.length;
            }
            if (byte.is_ascii_alphanumeric() || !byte.is_ascii()) && self.length < N {
                self.flat[self.length] = byte.to_ascii_lowercase();
                self.length += 1;
                self.letters |= letter(byte);
                self.is_ascii &= byte.is_ascii();
            }
            before = byte;
        }
        if !self.is_ascii {
            self.lower_greek_and_cyrillic();
        }
    }

    /// Letters of two bytes have capitals, too: `Ł`, `П`.
    fn lower_greek_and_cyrillic(&mut self) {
        let lower = String::from_utf8_lossy(&self.flat[..self.length]).to_lowercase();
        if lower.len() == self.length {
            self.flat[..self.length].copy_from_slice(lower.as_bytes());
            self.letters = lower.bytes().fold(0, |letters, byte| letters | letter(byte));
        }
    }

    pub(super) fn flat(&self) -> &[u8] {
        &self.flat[..self.length]
    }

    pub(super) fn letters(&self) -> u32 {
        self.letters
    }

    pub(super) fn n_parts(&self) -> u32 {
        self.parts.count_ones()
    }

    /// Its last part that is neither a number nor one of `skipped`.
    pub(super) fn last(&self, skipped: &[&str]) -> &[u8] {
        self.backwards(skipped).0
    }

    /// The part before that.
    pub(super) fn before_last(&self, skipped: &[&str]) -> &[u8] {
        self.part_before(self.backwards(skipped).1)
    }

    fn backwards(&self, skipped: &[&str]) -> (&[u8], usize) {
        let mut end = self.length;
        loop {
            let part = self.part_before(end);
            let start = end - part.len();
            let is_skipped = part.iter().all(u8::is_ascii_digit)
                || skipped.iter().any(|skipped| skipped.as_bytes() == part);
            if !is_skipped || start == 0 {
                return (part, start);
            }
            end = start;
        }
    }

    /// The part that ends at `end`.
    fn part_before(&self, end: usize) -> &[u8] {
        let parts = (0..end).rev().find(|at| self.parts & 1 << at != 0);
        let start = parts.unwrap_or_default();
        &self.flat[start..end]
    }
}

fn begins_part(before: u8, byte: u8, next: u8) -> bool {
    if byte.is_ascii_digit() {
        return !before.is_ascii_digit();
    }
    if !byte.is_ascii_alphabetic() && byte.is_ascii() {
        return false;
    }
    // `DBPass`: the last capital begins the next word.
    let is_capital = byte.is_ascii_uppercase()
        && (before.is_ascii_lowercase()
            || before.is_ascii_uppercase() && next.is_ascii_lowercase());
    let is_behind_sign = before.is_ascii() && !before.is_ascii_alphabetic();
    is_capital || is_behind_sign
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_cut_at_signs_capitals_and_numbers() {
        #[track_caller]
        fn check(word: &str, last: &str, before: &str) {
            let mut spelling = Spelling::<64>::default();
            spelling.push(word.as_bytes());
            assert_eq!(spelling.last(&["prod"]), last.as_bytes(), "{word}");
            assert_eq!(spelling.before_last(&["prod"]), before.as_bytes(), "{word}");
        }
        check("dbPass", "pass", "db");
        check("DBPass", "pass", "db");
        check("DB_PASS_PROD", "pass", "db");
        check("DB_PW1", "pw", "db");
        check("DB\\_PW", "pw", "db");
        check("token", "token", "");
        check("my-Passwort2", "passwort", "my");
        check("2026", "2026", "");
        check("Größe", "größe", "");
        check("ПАРОЛЬ", "пароль", "");
        check(&"x".repeat(80), &"x".repeat(64), "");
        check(&"xY".repeat(80), "y", "yx");
    }
}
