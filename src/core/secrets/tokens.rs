//! Walks the table of tokens over a text. Looks only where a run of token bytes is long enough to hold one.

use super::FoundSecret;
use super::rules::{Check, RULES, Rule};
use super::runs::Alphabet::{self, Token};
use super::runs::{Runs, contains};
use super::{name, value};

/// No token is shorter.
const SHORTEST: usize = 20;
/// A bearer's token, or a value behind a name, is this random before it is taken without `=` or `:`.
const RANDOM: usize = 16;

/// For each byte the rules that can begin with it, one bit each.
static BY_FIRST: [u128; 256] = {
    assert!(RULES.len() <= 128, "one bit for each rule");
    let mut by_first = [0; 256];
    let mut n = 0;
    while n < RULES.len() {
        let text = RULES[n].first.text.as_bytes();
        if text.is_empty() {
            // Only the Telegram token begins with a run: of digits.
            let mut digit = b'0';
            while digit <= b'9' {
                by_first[digit as usize] |= 1 << n;
                digit += 1;
            }
        } else {
            by_first[text[0] as usize] |= 1 << n;
        }
        n += 1;
    }
    by_first
};

/// Finds all tokens of the table, and apart from them long values behind a word that says that they are secret.
pub(super) fn find(
    runs: &mut Runs,
    tokens: &mut Vec<FoundSecret>,
    behind_words: &mut Vec<FoundSecret>,
) {
    let mut at = 0;
    while let Some(window) = runs.text.get(at..at + SHORTEST) {
        // From its end: in prose the next break is a word away, and nothing before it needs a look.
        if let Some(gap) = window.iter().rposition(|&byte| !contains(Token, byte)) {
            at += gap + 1;
            continue;
        }
        let end = runs.end(Token, at);
        find_in_run(runs, at, end, tokens);
        behind_words.extend(behind_a_word(runs.text, at, end));
        at = end;
    }
}

fn find_in_run(runs: &mut Runs, start: usize, end: usize, all: &mut Vec<FoundSecret>) {
    let mut at = start;
    while at < end {
        let mut rules = BY_FIRST[runs.text[at] as usize];
        if rules == 0 || !begins_word(runs.text, at) {
            at += 1;
            continue;
        }
        let mut next = at + 1;
        while rules != 0 {
            let rule = &RULES[rules.trailing_zeros() as usize];
            rules &= rules - 1;
            if let Some(found) = matches(rule, runs, at) {
                next = found.range.end;
                all.push(found);
                break;
            }
        }
        at = next;
    }
}

fn matches(rule: &Rule, runs: &mut Runs, start: usize) -> Option<FoundSecret> {
    let mut at = start;
    for piece in std::iter::once(&rule.first).chain(rule.rest) {
        if !runs.text[at..].starts_with(piece.text.as_bytes()) {
            return None;
        }
        at += piece.text.len();
        let end = runs.end(piece.alphabet, at);
        if !(piece.shortest..=piece.longest).contains(&(end - at)) {
            return None;
        }
        at = end;
    }
    // A run of hexadecimal digits that goes on with other letters is something else.
    if runs.text.get(at).is_some_and(|&byte| contains(Alphabet::Alnum, byte)) {
        return None;
    }
    let text = rule.first.text.len();
    let secret = start + if rule.keeps_text { text } else { 0 }..at;
    let body = &runs.text[start + text..at];
    let fits = match rule.check {
        Check::Shape => true,
        Check::Random => value::random(body) >= RANDOM,
    };
    (fits && !value::is_placeholder(body)).then_some(FoundSecret { range: secret, kind: rule.kind })
}

/// Whether a token can begin here: not within a word.
fn begins_word(text: &[u8], at: usize) -> bool {
    let before = &text[..at];
    match before {
        [.., byte] if !contains(Alphabet::Alnum, *byte) => true,
        // A line break or a blank as JSON or a query string writes it.
        [.., b'\\', b'n' | b'r' | b't'] => true,
        [.., b'%', high, low] => high.is_ascii_hexdigit() && low.is_ascii_hexdigit(),
        _ => before.is_empty(),
    }
}

/// `Bearer 3f9a…`, `password 3f9a…`: a long value that only a blank parts from what it is.
fn behind_a_word(text: &[u8], start: usize, end: usize) -> Option<FoundSecret> {
    let before = text[..start].strip_suffix(b" ")?;
    let name = name::before(before, before.len())?;
    let kind = if name.ends_in("bearer") {
        "bearer-token"
    } else if name.is_secret() {
        "env-assignment"
    } else {
        return None;
    };
    let secret = value::trimmed(&text[start..end]);
    let fits = value::random(secret) >= RANDOM
        && !value::is_placeholder(secret)
        && !value::is_address(secret);
    fits.then(|| FoundSecret { range: start..start + secret.len(), kind })
}
