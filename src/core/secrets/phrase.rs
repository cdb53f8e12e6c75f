//! Finds values that a sentence gives: `Password — VALUE`, `the password was VALUE`, `the key for staging: VALUE`.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::runs::{Runs, blanks_before};
use super::{FoundSecret, assignment, name, value};

/// What parts a name from its value. Prepared once: most texts are short.
static SIGNS: LazyLock<[Finder<'static>; 11]> = LazyLock::new(|| {
    [
        " is ",
        " was ",
        " ist ",
        " lautet ",
        " est ",
        " es ",
        " é ",
        " set to ",
        " changed to ",
        " - ",
        " -> ",
    ]
    .map(Finder::new)
});
/// So many of them are verbs, behind which a value may be chosen by a person.
const VERBS: usize = 7;
/// Dashes and an arrow; all begin with the same byte.
const DASHES: [&[u8]; 3] = [b"\xe2\x80\x93 ", b"\xe2\x80\x94 ", b"\xe2\x86\x92 "];
/// Words between a verb and a value, and between a name and a verb.
const ADVERBS: [&[u8]; 4] = [b"now ", b"still ", b"jetzt ", b"currently "];
const AUXILIARIES: [&[u8]; 4] = [b" was", b" is", b" been", b" be"];
/// Words between a name and what it belongs to: `password for staging`.
static PREPOSITIONS: [&[u8]; 26] = [
    b"for",
    b"of",
    b"on",
    b"at",
    b"in",
    b"to",
    b"from",
    b"f\xc3\xbcr",
    b"fuer",
    b"von",
    b"vom",
    b"auf",
    b"zu",
    b"zum",
    b"pour",
    b"de",
    b"du",
    b"para",
    b"del",
    b"do",
    b"da",
    b"di",
    b"voor",
    b"van",
    b"dla",
    b"till",
];
/// More words, or letters, are not looked at.
const MOST_WORDS: usize = 7;
const LONGEST: usize = 80;

/// Finds all of them.
pub(super) fn find(runs: &mut Runs, all: &mut Vec<FoundSecret>) {
    let text = runs.text;
    for (n, sign) in SIGNS.iter().enumerate() {
        for at in sign.find_iter(text) {
            let start = at + sign.needle().len();
            if value::begins_with_prose(&text[start..]) && !is_adverb(&text[start..]) {
                continue;
            }
            let found = if n < VERBS { said(runs, at, start) } else { None };
            all.extend(found.or_else(|| told(runs, at, start)));
        }
    }
    for dash in memchr::memchr_iter(0xe2, text) {
        if let Some(sign) = DASHES.iter().find(|sign| text[dash..].starts_with(sign)) {
            all.extend(told(runs, dash, dash + sign.len()));
        }
    }
}

/// The value at `start`, right behind a name and its verb.
fn said(runs: &mut Runs, end: usize, start: usize) -> Option<FoundSecret> {
    let adverb = ADVERBS.iter().find(|adverb| runs.text[start..].starts_with(adverb));
    assignment::named(runs, end, start + adverb.map_or(0, |adverb| adverb.len()), |_| true)
}

fn is_adverb(text: &[u8]) -> bool {
    ADVERBS.iter().any(|adverb| text.starts_with(adverb))
}

/// The value at `start`, where a sentence about a name that ends at `end` gives it: it must look drawn.
pub(super) fn told(runs: &mut Runs, end: usize, start: usize) -> Option<FoundSecret> {
    let text = runs.text;
    if !value::may_be_made(&text[start..]) {
        return None;
    }
    let end = end - blanks_before(&text[..end], LONGEST);
    let auxiliary = AUXILIARIES.iter().find(|word| text[..end].ends_with(word));
    let end = end - auxiliary.map_or(0, |word| word.len());
    let name = name::before(text, end).filter(name::Name::is_secret);
    let name = match name {
        Some(name) => name,
        None => owned(text, end)?,
    };
    let found = assignment::judged(runs, start, &name)?;
    value::is_made(&text[found.range.clone()]).then_some(found)
}

/// The name of a secret before the words that say whose it is: `API key for OpenAI`.
fn owned(text: &[u8], end: usize) -> Option<name::Name> {
    let near = &text[end.saturating_sub(LONGEST)..end];
    let is_end = |byte: &u8| b".,;!?:=\n(|\"<>".contains(byte);
    let clause = near.iter().rposition(is_end).map_or(near, |at| &near[at + 1..]);
    let mut at = end;
    for word in clause.rsplit(|byte| *byte == b' ').take(MOST_WORDS) {
        at -= word.len();
        let is_link = || PREPOSITIONS.iter().any(|link| word.eq_ignore_ascii_case(link));
        if (2..=4).contains(&word.len()) && at > 0 && is_link() {
            let name = name::before(text, at).filter(name::Name::is_secret);
            if name.is_some() {
                return name;
            }
        }
        at = at.checked_sub(1)?;
    }
    None
}
