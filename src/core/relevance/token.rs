//! The words of a prompt. In scripts without blanks each character is one: where a word ends there, only a vault's titles tell.

use crate::core::search::forms::is_hangul;
use crate::core::search::fulltext::{is_hiragana, is_unspaced};
use crate::core::text::nfc::nfc;

/// How many words of a prompt are looked at, and how many characters of scripts without blanks.
const MOST_WORDS: usize = 64;
const MOST_CHARACTERS: usize = 160;
/// A shorter name is too common in such scripts: of any characters, and of Hiragana alone.
const LEAST_CHARACTERS: usize = 2;
const LEAST_HIRAGANA: usize = 4;
/// A shorter word is no name.
const LEAST_LETTERS: usize = 4;
const LEAST_SYLLABLES: usize = 2;

/// A word, or a character of a script without blanks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) text: String,
    pub(super) is_character: bool,
    /// Whether nothing stands between the token before and this one.
    is_joined: bool,
}

impl Token {
    /// The same token with something before it.
    pub(super) fn apart(&self) -> Token {
        Token { is_joined: false, ..self.clone() }
    }
}

/// The tokens at the beginning of a text, in lower case.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let lower = nfc(text).to_lowercase();
    let (mut n_words, mut n_characters) = (0, 0);
    let mut tokens = Vec::new();
    for word in lower.split(|c: char| !c.is_alphanumeric()) {
        let mut rest = word;
        while let Some(first) = rest.chars().next() {
            let is_character = is_unspaced(first);
            let end = match is_character {
                true => first.len_utf8(),
                false => rest.find(is_unspaced).unwrap_or(rest.len()),
            };
            let is_joined = rest.len() < word.len();
            tokens.push(Token { text: rest[..end].to_owned(), is_character, is_joined });
            rest = &rest[end..];
            n_words += usize::from(!is_character);
            n_characters += usize::from(is_character);
            if n_words == MOST_WORDS || n_characters == MOST_CHARACTERS {
                return tokens;
            }
        }
    }
    tokens
}

/// Writes tokens as they stood in the text, with one blank where anything was between them.
pub(super) fn joined<'a>(tokens: impl IntoIterator<Item = &'a Token>) -> String {
    let mut text = String::new();
    for token in tokens {
        if !token.is_joined && !text.is_empty() {
            text.push(' ');
        }
        text.push_str(&token.text);
    }
    text
}

/// How many words a name of these tokens has, in halves; `None` if it is too short for a name.
pub(super) fn words_of_name(tokens: &[Token]) -> Option<f64> {
    let n_characters = tokens.iter().filter(|token| token.is_character).count();
    let n_words = tokens.len() - n_characters;
    if n_characters == 0 {
        // A Korean syllable is written as one character.
        let least =
            if tokens[0].text.chars().all(is_hangul) { LEAST_SYLLABLES } else { LEAST_LETTERS };
        let is_long = n_words > 1 || tokens[0].text.chars().nth(least - 1).is_some();
        return is_long.then_some(n_words as f64);
    }
    let is_of_hiragana = tokens.iter().all(|token| token.text.chars().all(is_hiragana));
    let least = if is_of_hiragana { LEAST_HIRAGANA } else { LEAST_CHARACTERS };
    // Most words have two characters.
    (tokens.len() >= least).then_some((n_words as f64 + n_characters as f64 / 2.0).max(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stood_together_is_written_together() {
        for (text, n_tokens, expect) in [
            ("Fix the Parser!", 3, "fix the parser"),
            ("Obsidian的双链 笔记", 6, "obsidian的双链 笔记"),
            ("v2入門", 3, "v2入門"),
            ("。…", 0, ""),
        ] {
            let tokens = tokens(text);
            assert_eq!((tokens.len(), joined(&tokens).as_str()), (n_tokens, expect), "{text}");
        }
        assert_eq!(tokens(&"字".repeat(1_000)).len(), MOST_CHARACTERS);
        assert_eq!(tokens(&"word ".repeat(1_000)).len(), MOST_WORDS);
    }

    #[test]
    fn short_names_are_none() {
        for (name, expect) in [
            ("parser", Some(1.0)),
            ("api", None),
            ("my api", Some(2.0)),
            ("链", None),
            ("笔记", Some(1.0)),
            ("双链笔记", Some(2.0)),
            ("api入門", Some(2.0)),
            ("この", None),
            ("はじめに", Some(2.0)),
        ] {
            assert_eq!(words_of_name(&tokens(name)), expect, "{name}");
        }
    }
}
