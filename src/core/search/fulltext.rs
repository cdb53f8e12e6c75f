//! Prepares texts and queries for the full-text index, so that both break into the same words.

use std::borrow::Cow;

use crate::core::note::reading::FullText;
use crate::core::note::{Note, NotePath};
use crate::core::search::forms;
use crate::core::text::bytes::position;

/// More words than this of one query are not looked up: a pasted page is no better query than its start.
const MAX_TERMS: usize = 24;
/// The first byte of U+3005, the first character of a script without spaces.
const FIRST_UNSPACED_BYTE: u8 = 0xe3;

/// Gathers what a note can be found by.
pub fn of_note(note: &Note, path: &NotePath, body: &str) -> FullText {
    // Folders often carry the project's name, which the notes in them do not repeat.
    let folders = path.as_str().rsplit_once('/').map_or("", |(folders, _)| folders);
    let labels: Vec<&str> =
        note.aliases.iter().chain(&note.tags).map(String::as_str).chain([folders]).collect();
    let mut body = searchable(body).into_owned();
    if !note.description.is_empty() {
        body.extend(["\n", &searchable(&note.description)]);
    }
    FullText {
        title: searchable(&note.title).into_owned(),
        labels: searchable(&labels.join("\n")).into_owned(),
        body,
    }
}

/// Returns `text` with every Chinese or Japanese character as a word of its own.
///
/// The index's tokenizer splits at spaces and punctuation, which are rare in these scripts: a whole sentence would be one
/// word that no query finds.
pub fn searchable(text: &str) -> Cow<'_, str> {
    let mut spaced = String::new();
    let (mut copied, mut from) = (0, 0);
    // Most texts have none, and bytes are quickly looked through.
    while let Some(c) = next_unspaced(text, &mut from) {
        if spaced.is_empty() {
            spaced.reserve(text.len() + text.len() / 4);
        }
        spaced.push_str(&text[copied..from - c.len_utf8()]);
        spaced.extend([' ', c, ' ']);
        copied = from;
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    spaced.push_str(&text[copied..]);
    Cow::Owned(spaced)
}

/// The next character of a script without spaces. Moves `from` behind it.
fn next_unspaced(text: &str, from: &mut usize) -> Option<char> {
    loop {
        *from += position(&text.as_bytes()[*from..], |byte| byte >= FIRST_UNSPACED_BYTE)?;
        let c = text[*from..].chars().next()?;
        *from += c.len_utf8();
        if is_unspaced(c) {
            return Some(c);
        }
    }
}

/// Breaks a query into its words, each once, in order. Any text is a valid query.
///
/// A run of Chinese or Japanese characters stays together, to be found in that order.
pub fn terms(query: &str) -> Vec<String> {
    let mut terms: Vec<String> = Vec::new();
    let lower = query.to_lowercase();
    for word in lower.split(|c: char| !c.is_alphanumeric() && !is_combining(c)) {
        let mut rest = word;
        while let Some(first) = rest.chars().next() {
            let unspaced = is_unspaced(first);
            let end = rest.find(|c| is_unspaced(c) != unspaced).unwrap_or(rest.len());
            let term = &rest[..end];
            rest = &rest[end..];
            if !terms.iter().any(|known| known == term) {
                terms.push(term.to_owned());
            }
            if terms.len() == MAX_TERMS {
                return terms;
            }
        }
    }
    terms
}

/// Breaks words that [`terms`] gave further: a run of Chinese or Japanese characters into its overlapping pairs. Few
/// notes have a whole sentence, and many a word of it, which usually has two characters.
pub fn pairs(terms: &[String]) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    // Pairs with Hiragana come last: they have the end of a word, and the beginning of the next one.
    for has_hiragana in [false, true] {
        for term in terms {
            if !is_run(term) {
                words.extend((!has_hiragana && !words.contains(term)).then(|| term.clone()));
                continue;
            }
            let pairs = pairs_of(term).filter(|pair| pair.contains(is_hiragana) == has_hiragana);
            for pair in pairs {
                if words.len() < MAX_TERMS && !words.iter().any(|known| known == pair) {
                    words.push(pair.to_owned());
                }
            }
        }
    }
    words
}

/// Whether a word that [`terms`] gave is of characters between which no blanks are written.
pub fn is_run(term: &str) -> bool {
    term.chars().next().is_some_and(is_unspaced)
}

/// The pairs of a run that tell something; the run itself if it has none.
fn pairs_of(run: &str) -> impl Iterator<Item = &str> {
    let is_whole = run.chars().nth(2).is_none() || run.chars().all(is_hiragana);
    let whole = is_whole.then_some(run);
    let places: Vec<usize> = run.char_indices().map(|(at, _)| at).chain([run.len()]).collect();
    let pairs: Vec<&str> = places.windows(3).map(|place| &run[place[0]..place[2]]).collect();
    let telling = pairs.into_iter().filter(move |pair| !is_whole && !pair.chars().all(is_hiragana));
    whole.into_iter().chain(telling)
}

/// Writes one term as an FTS5 string, in which no character has a meaning of its own.
pub fn quoted(term: &str) -> String {
    format!("\"{}\"", searchable(term).trim().replace('"', "\"\""))
}

/// Writes the forms of a term as an FTS5 string: all words that begin like them. `None` if it has no other forms.
pub fn forms(term: &str) -> Option<String> {
    let beginnings = forms::beginnings(term);
    let words: Vec<String> =
        beginnings.iter().map(|beginning| format!("{}*", quoted(beginning))).collect();
    match &words[..] {
        [] => None,
        _ if term.chars().any(is_unspaced) => None,
        [one] => Some(one.clone()),
        any => Some(format!("({})", any.join(" OR "))),
    }
}

/// Whether a text holds a word that [`terms`] gave, in any case.
pub fn has_word(text: &str, term: &str) -> bool {
    has(text, term, |rest| rest.chars().next().is_none_or(|c| !is_part_of_word(c)))
}

/// Whether a text holds a word that begins like one that [`terms`] gave.
pub fn has_beginning(text: &str, term: &str) -> bool {
    has(text, term, |_| true)
}

fn has(text: &str, term: &str, ends: impl Fn(&str) -> bool) -> bool {
    let Some(first) = term.chars().next() else { return false };
    // Scripts without spaces have their words anywhere.
    let is_anywhere = is_unspaced(first);
    let mut is_inside_of_word = false;
    for (at, c) in text.char_indices() {
        let begins = (is_anywhere || !is_inside_of_word)
            && (c == first || c.to_lowercase().next() == Some(first));
        if begins
            && let Some(rest) = after(&text[at..], term)
            && (is_anywhere || ends(rest))
        {
            return true;
        }
        is_inside_of_word = is_part_of_word(c);
    }
    false
}

/// What follows `term`, which is lower case, in a text that begins with it.
fn after<'a>(text: &'a str, term: &str) -> Option<&'a str> {
    let mut wanted = term.chars();
    let mut rest = text.chars();
    while !wanted.as_str().is_empty() {
        for c in rest.next()?.to_lowercase() {
            if wanted.next() != Some(c) {
                return None;
            }
        }
    }
    Some(rest.as_str())
}

fn is_part_of_word(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric();
    }
    (c.is_alphanumeric() || is_combining(c)) && !is_unspaced(c)
}

/// Whether a character is a mark on the letter before it, as decomposed text has them.
fn is_combining(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}' | '\u{fe20}'..='\u{fe2f}')
}

/// Whether a character is of the script of Japanese endings and particles.
pub fn is_hiragana(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{309f}')
}

/// Whether words of this script are written without spaces between them.
pub fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{3005}'                  // 々, which repeats a character
        | '\u{3040}'..='\u{30ff}'     // Hiragana, Katakana
        | '\u{31f0}'..='\u{31ff}'   // Katakana extensions
        | '\u{3400}'..='\u{4dbf}'   // Han extension A
        | '\u{4e00}'..='\u{9fff}'   // Han
        | '\u{f900}'..='\u{faff}'   // Han compatibility
        | '\u{ff66}'..='\u{ff9f}'   // half-width Katakana
        | '\u{20000}'..='\u{3ffff}' // Han extensions B and up
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn any_text_breaks_into_words() {
        #[track_caller]
        fn check(query: &str, expect: &[&str]) {
            assert_eq!(terms(query), expect, "{query}");
        }
        check("Auth flow", &["auth", "flow"]);
        check("\"a\" OR (b* NEAR -c)", &["a", "or", "b", "near", "c"]);
        check("a a A", &["a"]);
        check("kgctx-inject_v2", &["kgctx", "inject", "v2"]);
        check("🦀 ✅ --", &[]);
        check("", &[]);
        check("Größe", &["größe"]);
        check("re\u{301}sume\u{301}", &["re\u{301}sume\u{301}"]);
        check("İstanbul", &["i\u{307}stanbul"]);
        check("日本語のメモ", &["日本語のメモ"]);
        check("kgctx入門v2", &["kgctx", "入門", "v2"]);
        assert_eq!(terms(&"x y z ".repeat(5_000)).len(), 3);
        let many: String = (0..5_000).map(|n| format!("w{n} ")).collect();
        assert_eq!(terms(&many).len(), MAX_TERMS);
    }

    #[test]
    fn a_word_is_held_as_a_whole_or_as_a_beginning() {
        assert!(has_word("About Go.", "go") && has_word("go", "go") && has_word("(GO)", "go"));
        assert!(!has_word("google", "go") && !has_word("cargo", "go") && !has_word("", "go"));
        assert!(has_beginning("Google", "goo") && !has_beginning("agoo", "goo"));
        assert!(has_word("Zur Größe: x", "größe") && has_word("GRÖSSE GRÖßE", "größe"));
        assert!(has_word("新しい日本語のメモ", "日本語") && has_word("kgctx入門", "kgctx"));
        assert!(!has_word("any", ""));
    }

    #[test]
    fn a_run_without_spaces_breaks_into_pairs() {
        #[track_caller]
        fn check(query: &str, expect: &[&str]) {
            assert_eq!(pairs(&terms(query)), expect, "{query}");
        }
        check("Auth flow", &["auth", "flow"]);
        check("双链笔记", &["双链", "链笔", "笔记"]);
        check("笔记 记", &["笔记", "记"]);
        check("kgctx入門書", &["kgctx", "入門", "門書"]);
        // Hiragana alone says nothing, and last comes what has some.
        check("人々のメモについて", &["人々", "メモ", "々の", "のメ", "モに"]);
        check("はじめに", &["はじめに"]);
        check("ﾒﾓ帳", &["ﾒﾓ", "ﾓ帳"]);
        let long: String = ('\u{4e00}'..'\u{4f00}').collect();
        assert_eq!(pairs(&terms(&long)).len(), MAX_TERMS);
    }

    proptest! {
        #[test]
        fn every_word_of_a_text_is_held_by_it(text in any::<String>()) {
            for term in terms(&text) {
                // Some letters have more than one lower case: in a text of their own they are looked for as they are.
                prop_assert!(has_word(&text.to_lowercase(), &term), "{term:?} in {text:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn every_unspaced_character_stands_alone(text in "[a é日本のｶ😀]{0,40}") {
            let alone = |c| if is_unspaced(c) { format!(" {c} ") } else { c.to_string() };
            let expect: String = text.chars().map(alone).collect();
            prop_assert_eq!(searchable(&text), expect);
        }
    }

    #[test]
    fn unspaced_scripts_become_single_words() {
        assert_eq!(searchable("plain"), "plain");
        assert_eq!(searchable("größe"), "größe");
        assert_eq!(quoted("日本"), "\"日  本\"");
        assert_eq!(quoted("a\"b"), "\"a\"\"b\"");
    }
}
