//! Finds values that code hands over: `setPassword("…")`, `define('DB_PASSWORD', '…')`, `env.TOKEN || "…"`, and those of
//! statements: `IDENTIFIED BY '…'`, `#define PASSWORD "…"`.

use super::runs::{Runs, blanks_before, trailing};
use super::{FoundSecret, assignment, extent, name, value};

/// What a function does that is given something else than a secret.
const OTHER_VERBS: [&str; 22] = [
    "get", "fetch", "load", "read", "find", "lookup", "check", "validate", "verify", "is", "has",
    "parse", "hash", "delete", "remove", "revoke", "create", "generate", "decode", "count",
    "expect", "require",
];
/// Blanks before a value.
const MOST_BLANKS: usize = 16;

/// Finds all of them.
pub(super) fn find(runs: &mut Runs, all: &mut Vec<FoundSecret>) {
    let text = runs.text;
    for quote in memchr::memchr2_iter(b'\'', b'"', text) {
        let gap = blanks_before(&text[..quote], MOST_BLANKS);
        let end = quote - gap;
        let found = match text[..end].last() {
            Some(b'(') => called(runs, end - 1, quote),
            Some(b',') => second(runs, end - 1, quote),
            Some(b'|' | b'?' | b'r') if gap > 0 && has_operator(&text[..end]) => {
                secret(runs, end - 2, quote)
            }
            _ if gap > 0 => stated(runs, end, quote),
            _ => None,
        };
        all.extend(found);
    }
}

fn has_operator(text: &[u8]) -> bool {
    [&b"||"[..], b"??", b" or"].iter().any(|operator| text.ends_with(operator))
}

/// `setPassword("value")`, with the name before `end`.
fn called(runs: &mut Runs, end: usize, quote: usize) -> Option<FoundSecret> {
    let text = runs.text;
    text[..end].last().filter(|byte| byte.is_ascii_alphanumeric())?;
    let name = name::before(text, end).filter(name::Name::is_secret)?;
    // `token("x")` and `t.pass("x")` are said by parsers and tests.
    if ["token", "tokens", "pass", "auth", "pat"].iter().any(|word| name.ends_in(word))
        && !name.is_setter()
    {
        return None;
    }
    let word = &text[end
        - trailing(&text[..end], 64, |byte| byte.is_ascii_alphanumeric() || byte == b'_')
        ..end];
    let is_other = OTHER_VERBS.iter().any(|verb| {
        let rest = word.get(verb.len()..).unwrap_or(b"a");
        word[..word.len() - rest.len()].eq_ignore_ascii_case(verb.as_bytes())
            && !rest.first().is_some_and(u8::is_ascii_lowercase)
    });
    if is_other { None } else { made(runs, quote, &name) }
}

/// `define('NAME', 'value')`, with the name before the comma at `comma`.
fn second(runs: &mut Runs, comma: usize, quote: usize) -> Option<FoundSecret> {
    let text = runs.text;
    let last = text[..comma].last().filter(|byte| matches!(byte, b'\'' | b'"'))?;
    let name = name::before(text, comma).filter(name::Name::is_secret)?;
    let front = name.front(text);
    let is_first =
        text[front.len()..].starts_with(&[*last]) && front.trim_ascii_end().ends_with(b"(");
    if is_first { made(runs, quote, &name) } else { None }
}

/// `env.NAME || "value"`.
fn secret(runs: &mut Runs, end: usize, quote: usize) -> Option<FoundSecret> {
    let name = name::before(runs.text, end).filter(name::Name::is_secret)?;
    made(runs, quote, &name)
}

/// The value at `quote`, if it looks made by a machine: code names many things.
fn made(runs: &mut Runs, quote: usize, name: &name::Name) -> Option<FoundSecret> {
    let found = assignment::judged(runs, quote, name)?;
    value::is_made(&runs.text[found.range.clone()]).then_some(found)
}

/// `PASSWORD 'value'`, `IDENTIFIED BY 'value'`. A name that is quoted itself is an argument beside another.
fn stated(runs: &mut Runs, end: usize, quote: usize) -> Option<FoundSecret> {
    let text = runs.text;
    let front = &text[..end];
    // The names that are looked for end so.
    let last = front.last()?.to_ascii_lowercase();
    if !b"dyneptshwkl".contains(&last) {
        return None;
    }
    let closing = quote + 1 + memchr::memchr2(text[quote], b'\n', &text[quote + 1..])?;
    if text[closing] == b'\n' {
        return None;
    }
    if ends_in(front, b"identified by") {
        let range = extent::written(runs, quote)?.range;
        let fits = value::is_password(&text[range.clone()]);
        return fits.then_some(FoundSecret { range, kind: "env-assignment" });
    }
    assignment::named(runs, end, quote, |_| true)
}

fn ends_in(text: &[u8], words: &[u8]) -> bool {
    text.len() >= words.len() && text[text.len() - words.len()..].eq_ignore_ascii_case(words)
}
