//! Walks the table of tokens over a text. Looks only where a run of token bytes is long enough to hold one.

use super::FoundSecret;
use super::rules::{RULES, Rule};
use super::runs::Alphabet::{self, Token};
use super::runs::{Runs, contains};
use super::{marked, name, placeholder, value};

/// No token is shorter.
const SHORTEST: usize = 20;
/// A bearer's token, or a value behind a name, is this random before it is taken without `=` or `:`.
const RANDOM: usize = 16;

/// So many bytes of a beginning are looked up together, before any beginning is compared.
const LOOKED_UP: usize = 3;

/// For each of the first places, and each byte there, the rules that can begin so, one bit each.
static BY_PLACE: [[u128; 256]; LOOKED_UP] = {
    assert!(RULES.len() <= 128, "one bit for each rule");
    let mut by_place = [[0; 256]; LOOKED_UP];
    let mut n = 0;
    while n < RULES.len() {
        let mut beginnings = RULES[n].beginnings;
        while let [beginning, others @ ..] = beginnings {
            let beginning = beginning.as_bytes();
            let mut place = 0;
            while place < LOOKED_UP {
                // Only the Telegram token begins with a run: of digits.
                let (mut first, last) = match beginning {
                    [] if place == 0 => (b'0', b'9'),
                    _ if place < beginning.len() => (beginning[place], beginning[place]),
                    _ => (0, u8::MAX),
                };
                loop {
                    by_place[place][first as usize] |= 1 << n;
                    if first == last {
                        break;
                    }
                    first += 1;
                }
                place += 1;
            }
            beginnings = others;
        }
        n += 1;
    }
    by_place
};

/// Finds all tokens of the table. Returns apart from them long values behind a word that says that they are secret.
pub(super) fn find(runs: &mut Runs, tokens: &mut Vec<FoundSecret>) -> Vec<FoundSecret> {
    let mut behind_words = Vec::new();
    let mut at = 0;
    while let Some(window) = runs.text.get(at..at + SHORTEST) {
        // From its end: in prose the next break is a word away, and nothing before it needs a look.
        if let Some(gap) = window.iter().rposition(|&byte| !contains(Token, byte)) {
            at += gap + 1;
            continue;
        }
        let end = runs.end(Token, at);
        marked::find(runs.text, at..end, tokens);
        behind_words.extend(behind_a_word(runs.text, at, end));
        while at < end {
            // In a long run most places are within a word.
            let found = begins_word(runs.text, at).then(|| token_at(runs, at)).flatten();
            at = found.as_ref().map_or(at + 1, |found| found.range.end);
            tokens.extend(found);
        }
    }
    behind_words
}

/// The token at the beginning of a word.
fn token_at(runs: &mut Runs, at: usize) -> Option<FoundSecret> {
    let first = runs.text[at];
    let places = BY_PLACE.iter().zip(&runs.text[at..]);
    let mut rules = places.fold(u128::MAX, |rules, (place, &byte)| rules & place[byte as usize]);
    if first.is_ascii_hexdigit() && runs.text.get(at + 32) == Some(&b'-') {
        let mailgun = marked::mailgun(runs.text, at);
        if mailgun.is_some() {
            return mailgun;
        }
    }
    while rules != 0 {
        let found = matches(&RULES[rules.trailing_zeros() as usize], runs, at);
        if found.is_some() {
            return found;
        }
        rules &= rules - 1;
    }
    None
}

fn matches(rule: &Rule, runs: &mut Runs, start: usize) -> Option<FoundSecret> {
    let begins = |text: &&&str| runs.text[start..].starts_with(text.as_bytes());
    let body = start + rule.beginnings.iter().find(begins)?.len();
    let mut at = body;
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
    let secret = if rule.keeps_beginning { body } else { start }..at;
    let body = &runs.text[body..at];
    let fits = !rule.is_weak || value::random(body) >= RANDOM;
    (fits && !placeholder::is_placeholder(body))
        .then_some(FoundSecret { range: secret, kind: rule.kind })
}

/// Whether a token can begin here: not within a word.
fn begins_word(text: &[u8], at: usize) -> bool {
    match text[..at] {
        [] => true,
        [.., byte] if !contains(Alphabet::Alnum, byte) => true,
        // A line break or a blank as JSON or a query string writes it.
        [.., b'\\', b'n' | b'r' | b't'] => true,
        [.., b'%', high, low] => high.is_ascii_hexdigit() && low.is_ascii_hexdigit(),
        _ => false,
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
        && !placeholder::is_placeholder(secret)
        && !value::is_address(secret);
    fits.then(|| FoundSecret { range: start..start + secret.len(), kind })
}
