//! The stem of a word: its beginning, which its other forms share.

/// Endings of English word forms, longest first. Words of other languages mostly keep their letters.
const ENDINGS: [&str; 7] = ["ing", "ies", "ed", "es", "s", "e", "y"];
/// A shorter stem begins too many other words.
const LEAST_BYTES: usize = 4;

/// The beginning of a word in lower case that its other forms share; the whole word where it has none.
pub fn stem(word: &str) -> &str {
    if !word.bytes().all(|byte| byte.is_ascii_lowercase()) || word.ends_with("ss") {
        return word;
    }
    let stems = ENDINGS.iter().filter_map(|ending| word.strip_suffix(ending));
    stems.into_iter().find(|stem| stem.len() >= LEAST_BYTES).unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_share_their_stem() {
        for (word, expect) in [
            ("migrate", "migrat"),
            ("migrating", "migrat"),
            ("notes", "note"),
            ("parser", "parser"),
            ("parsers", "parser"),
            ("queries", "quer"),
            ("query", "quer"),
            ("class", "class"),
            ("cats", "cats"),
            ("größe", "größe"),
            ("v2", "v2"),
        ] {
            assert_eq!(stem(word), expect, "{word}");
        }
    }
}
