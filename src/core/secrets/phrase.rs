//! Finds values that a sentence or a statement gives: `Password — VALUE`, `the password was VALUE`, `IDENTIFIED BY 'VALUE'`,
//! `#define PASSWORD "VALUE"`.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::runs::{Runs, trailing};
use super::{FoundSecret, assignment, name, value};

/// Prepared once: most texts are short.
static IS: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(" is "));
static WAS: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(" was "));
/// Dashes and an arrow; all begin with the same byte.
const DASHES: [&[u8]; 3] = [b"\xe2\x80\x93 ", b"\xe2\x80\x94 ", b"\xe2\x86\x92 "];

/// Finds all of them.
pub(super) fn find(runs: &mut Runs, all: &mut Vec<FoundSecret>) {
    let text = runs.text;
    for verb in [&*IS, &*WAS] {
        for at in verb.find_iter(text) {
            let start = at + verb.needle().len();
            if !value::begins_with_prose(&text[start..]) {
                all.extend(assignment::named(runs, at, start, |_| true));
            }
        }
    }
    for quote in memchr::memchr2_iter(b'\'', b'"', text) {
        if text[..quote].ends_with(b" ") {
            all.extend(quoted(runs, quote));
        }
    }
    for dash in memchr::memchr_iter(0xe2, text) {
        if let Some(sign) = DASHES.iter().find(|sign| text[dash..].starts_with(sign)) {
            all.extend(told(runs, dash, dash + sign.len()));
        }
    }
}

/// The value at `start`, where a sentence about a name that ends at `end` gives it: it must look drawn.
pub(super) fn told(runs: &mut Runs, end: usize, start: usize) -> Option<FoundSecret> {
    let text = runs.text;
    if value::begins_with_prose(&text[start..]) {
        return None;
    }
    let name = name::before(text, end - trailing(&text[..end], 4, |byte| byte == b' '))?;
    let found = assignment::judged(runs, start, &name).filter(|_| name.is_secret())?;
    value::is_made(&text[found.range.clone()]).then_some(found)
}

/// `PASSWORD 'value'`, `IDENTIFIED BY 'value'`. A name that is quoted itself is an argument beside another.
fn quoted(runs: &mut Runs, quote: usize) -> Option<FoundSecret> {
    let text = runs.text;
    let front = &text[..quote - 1];
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
        let range = assignment::written(runs, quote)?;
        let fits = value::is_password(&text[range.clone()]);
        return fits.then_some(FoundSecret { range, kind: "env-assignment" });
    }
    assignment::named(runs, quote - 1, quote, |_| true)
}

fn ends_in(text: &[u8], words: &[u8]) -> bool {
    text.len() >= words.len() && text[text.len() - words.len()..].eq_ignore_ascii_case(words)
}
