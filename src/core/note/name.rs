//! Proper names in a text, such as "Henrik Ibsen": notes that share one are about the same thing, even where no note is
//! called so.

use crate::core::text::bytes::{next_word, position};

/// Words between the parts of a name.
const JOINING: [&str; 9] = ["of", "the", "de", "la", "von", "van", "du", "del", "for"];
/// Words that begin a sentence more often than a name.
const LEADING: [&str; 24] = [
    "a", "an", "and", "as", "at", "but", "by", "for", "from", "he", "her", "his", "if", "in", "is",
    "it", "on", "she", "the", "this", "these", "they", "we", "when",
];
/// The length of the longest word in these lists.
const LONGEST_LISTED: usize = 5;
/// The number of joining words between two parts.
const MOST_JOINING: usize = 2;
/// A shorter word is no name by itself.
const LEAST_LETTERS: usize = 4;

/// Calls `take` with each proper name of a line: a run of capitalised words, and the end of a long one. A single word
/// counts where it does not just begin a sentence.
pub fn proper_names<'a>(line: &'a str, mut take: impl FnMut(&'a str)) {
    let mut from = 0;
    while let Some(start) = next_capital(line, from) {
        let begins = begins_sentence(&line[..start]);
        let mut run = Run::default();
        let mut last = start;
        for (at, word) in words(line, start) {
            let between = &line[last..at];
            if between.contains(|c: char| !matches!(c, ' ' | '.' | '\'' | '’' | '-')) {
                break;
            }
            let is_name = word.starts_with(char::is_uppercase)
                || run.n_words > 0 && word.starts_with(|c: char| c.is_ascii_digit());
            let is_first = last == start && at == start;
            if is_first && begins && is_one_of(word, &LEADING) {
                last = at + word.len();
                break;
            }
            if is_name && (is_first || !begins_sentence(&line[..at]) || word.len() == 1) {
                run.add(at, word.len());
            } else if is_one_of(word, &JOINING) && run.n_joining < MOST_JOINING {
                run.n_joining += 1;
            } else {
                break;
            }
            last = at + word.len();
        }
        run.close(line, begins, &mut take);
        from = last.max(run.end).max(start + 1);
        while !line.is_char_boundary(from) {
            from += 1;
        }
    }
}

/// The next word with a capital letter. Most text is small letters, which are skipped as bytes.
fn next_capital(line: &str, mut from: usize) -> Option<usize> {
    let bytes = line.as_bytes();
    loop {
        let is_candidate = |byte: u8| byte.is_ascii_uppercase() || byte >= 0x80;
        let at = from + position(&bytes[from..], is_candidate)?;
        let c = line[at..].chars().next()?;
        let is_inside_of_word = line[..at].ends_with(char::is_alphanumeric);
        if c.is_uppercase() && !is_inside_of_word {
            return Some(at);
        }
        from = at + c.len_utf8();
    }
}

/// Whether a word behind this text begins a sentence, an item or a cell.
fn begins_sentence(before: &str) -> bool {
    // Most words stand behind another one.
    if let [.., last, b' '] = before.as_bytes()
        && last.is_ascii_lowercase()
    {
        return false;
    }
    let before = before.trim_end_matches([' ', '\t', '*', '_', '`', '"', '“', '(']);
    // An initial ends no sentence: "J. R. Tolkien".
    let is_initial = before.strip_suffix('.').is_some_and(|before| {
        let mut end = before.chars().rev();
        end.next().is_some_and(char::is_uppercase)
            && end.next().is_none_or(|c| !c.is_alphanumeric())
    });
    !is_initial
        && (before.is_empty()
            || before.ends_with(['.', '!', '?', ':', '|', ']', '>', '#', '-', '+', ';', '—', '–']))
}

/// A run of capitalised words so far.
#[derive(Default)]
struct Run {
    start: usize,
    /// The end of the last capitalised word.
    end: usize,
    n_words: usize,
    n_joining: usize,
    /// Where the part after the last joining words begins, and its number of words.
    part: (usize, usize),
}

impl Run {
    fn add(&mut self, at: usize, len: usize) {
        if self.n_words == 0 {
            (self.start, self.part) = (at, (at, 0));
        }
        if std::mem::take(&mut self.n_joining) > 0 {
            self.part = (at, 0);
        }
        self.n_words += 1;
        self.part.1 += 1;
        self.end = at + len;
    }

    fn close<'a>(&self, line: &'a str, begins_sentence: bool, take: &mut impl FnMut(&'a str)) {
        let Run { start, end, n_words, part, .. } = *self;
        let whole = &line[start..end];
        if n_words > 1 || n_words == 1 && !begins_sentence && whole.len() >= LEAST_LETTERS {
            take(whole);
            if part.0 > start && part.1 > 1 {
                take(&line[part.0..end]);
            }
        }
    }
}

/// The words of a line from a place on, with their places.
fn words(line: &str, from: usize) -> impl Iterator<Item = (usize, &str)> {
    let mut rest = from;
    std::iter::from_fn(move || {
        let word = next_word(line, rest)?;
        rest = word.end;
        Some((word.start, &line[word]))
    })
}

fn is_one_of(word: &str, list: &[&str]) -> bool {
    word.len() <= LONGEST_LISTED && list.iter().any(|other| word.eq_ignore_ascii_case(other))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(line: &str, expect: &[&str]) {
        let mut found = Vec::new();
        proper_names(line, |name| found.push(name));
        assert_eq!(found, expect, "{line}");
    }

    #[test]
    fn every_listed_word_is_short() {
        assert!(JOINING.iter().chain(&LEADING).all(|word| word.len() <= LONGEST_LISTED));
    }

    #[test]
    fn runs_of_capitalised_words_are_names() {
        check("He met Henrik Ibsen in Oslo.", &["Henrik Ibsen", "Oslo"]);
        check("It was Hiroshima, then Tokyo", &["Hiroshima", "Tokyo"]);
        check(
            "The Journal of Modern Physics said",
            &["Journal of Modern Physics", "Modern Physics"],
        );
        check("Plain words only. And more", &[]);
        check("Windows begins here, Linux does not", &["Linux"]);
        check("see OAuth 2 and PKCE", &["OAuth 2", "PKCE"]);
        check("J. R. R. Tolkien wrote", &["J. R. R. Tolkien"]);
        check("the Duke of Wellington", &["Duke of Wellington"]);
        check("Ärger mit Österreich", &["Österreich"]);
        check("", &[]);
    }

    proptest! {
        #[test]
        fn any_line_is_read(line in any::<String>()) {
            proper_names(&line, |name| assert!(!name.is_empty()));
        }
    }
}
