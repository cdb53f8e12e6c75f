//! Knows the words of all languages, and of code: the vocabulary of a model. Tells them from letters drawn by lot, where how a
//! word sounds does not.

use crate::core::tokens::{self, encoding::Encoding};

/// In a name of so few letters, every other one may stand alone.
const FEW_LETTERS: usize = 8;

/// Whether the letters of a value are words that texts have: the vocabulary of a model is a dictionary of all languages, and of
/// code. Of drawn letters, two in a row make a part of it, seldom three.
pub(super) fn has_words(value: &[u8]) -> bool {
    let Some(text) = std::str::from_utf8(value).ok().filter(|text| text.is_ascii()) else {
        return true;
    };
    let runs = || text.split(|c: char| !c.is_ascii_alphabetic()).filter(|run| !run.is_empty());
    let n_letters: usize = runs().map(str::len).sum();
    let parts = |text: &str| tokens::count(Encoding::O200kBase, text);
    let halves = |run: &str| {
        let small = run.to_ascii_lowercase();
        let n_parts = parts(run).min(parts(&small)).min(parts(&format!(" {small}")));
        // A whole word says more than the same letters within a longer one.
        n_parts * 2 - usize::from(n_parts == 1 && run.len() >= 3)
    };
    let n_halves: usize = runs().map(halves).sum();
    let names = text.split(|c: char| !c.is_ascii_alphanumeric());
    let is_mixed = |name: &&str| {
        let n_digits = name.bytes().filter(u8::is_ascii_digit).count();
        n_digits > 0 && n_digits < name.len()
    };
    let (is_joined, more) = (n_letters < text.len(), n_letters.saturating_sub(5));
    let most = match is_joined {
        true => (more * 4 / 5).max(if n_letters <= FEW_LETTERS { 7 } else { 6 }),
        false => more.max(4),
    };
    n_halves <= most && names.filter(is_mixed).count() < 3
}

/// Whether letters are one word of that dictionary.
pub(super) fn is_one_token(letters: &[u8]) -> bool {
    std::str::from_utf8(letters).is_ok_and(|letters| {
        let small = letters.to_lowercase();
        [letters, &small, &format!(" {small}")]
            .iter()
            .any(|word| tokens::count(Encoding::O200kBase, word) == 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_told_from_drawn_letters() {
        for words in [
            "letmein",
            "administrator",
            "my-app-secret-2",
            "db-credentials-v2",
            "us-east-1",
            "gpt-4o-mini-2024",
            "prod/db/password-v2",
            "staging-postgres-credentials",
            "Einstellungen",
            "Größe",
            "v2",
        ] {
            assert!(has_words(words.as_bytes()), "{words}");
        }
        for drawn in ["qvhzkrtwpbxn", "pgiw-f4ok-5lz8-sq64", "hdwqzk-vbnrtp-xkcjlw", "qzvkwxjr"] {
            assert!(!has_words(drawn.as_bytes()), "{drawn}");
        }
    }
}
