//! Finds values behind a name that says that they are secret: `NAME=value`, `"name": "value"`,
//! `--name value`, `| name | value |`. The name stays.

use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::runs::{Alphabet, Runs, contains, leading, trailing};
use super::{FoundSecret, header, name, value};

/// An Amazon secret key has no mark of its own, but exactly this length.
const AWS_SECRET: usize = 40;
/// Nothing longer is a value, but a file.
const LONGEST: usize = 8_192;
/// Prepared once: most texts are short.
static IS: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b" is "));
static OPTION: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b" --"));

/// Finds all of them.
pub(super) fn find(runs: &mut Runs, all: &mut Vec<FoundSecret>) {
    let text = runs.text;
    let mut done = 0;
    for sign in memchr::memchr2_iter(b'=', b':', text) {
        if sign >= done
            && let Some(found) = at_sign(runs, sign)
        {
            done = found.range.end;
            all.push(found);
        }
    }
    for cell in memchr::memchr2_iter(b'|', b'>', text) {
        all.extend(at_cell(runs, cell));
    }
    for word in IS.find_iter(text) {
        all.extend(named(runs, word, word + 4, |_| true));
    }
    for dashes in OPTION.find_iter(text) {
        let end = runs.end(Alphabet::Url, dashes + 3);
        if text[end..].starts_with(b" ") {
            all.extend(named(runs, end, end + 1, |_| true));
        }
    }
}

/// `NAME=value` and its relatives, around the sign at `sign`.
fn at_sign(runs: &mut Runs, sign: usize) -> Option<FoundSecret> {
    let text = runs.text;
    // `https://` and `path::of::code` are the most frequent colons, and cheap to know.
    if text[sign..].starts_with(b"://") || text[sign..].starts_with(b"::") {
        return None;
    }
    // `:=`, `=>`, `==`.
    let signs = leading(&text[sign..], 3, |byte| matches!(byte, b'=' | b':' | b'>'));
    let gap = leading(&text[sign + signs..], 4, |byte| matches!(byte, b' ' | b'\t' | b'*'));
    let start = sign + signs + gap;
    if value::begins_with_word(&text[start..]) && !header::begins_with_scheme(&text[start..]) {
        return None;
    }
    let blanks = trailing(&text[..sign], 4, is_blank);
    let name = name::before(text, sign - blanks)?;
    let front = name.front(text);
    // `curl -u user:password`.
    if front.ends_with(b"-u ") || front.ends_with(b"--user ") {
        let range = written(runs, sign + 1)?;
        let fits = value::is_password(&text[range.clone()]);
        return fits.then_some(FoundSecret { range, kind: "basic-auth" });
    }
    // In an address it is `url` that knows where the password ends.
    if !name.is_secret() || front.ends_with(b"://") {
        return None;
    }
    let quoted = matches!(text.get(start), Some(b'"' | b'\'' | b'`' | b'\\'));
    // In a file of settings that lost its line breaks, `NAME= OTHER=value`, the name has no value.
    if text[sign] == b'=' && signs == 1 && blanks == 0 && gap > 0 && !quoted {
        return None;
    }
    if name.ends_in("authorization") {
        return header::authorization(runs, start);
    }
    judged(runs, start, &name)
}

/// `| name | value |` and `<name>value</name>`, around the sign at `sign`.
fn at_cell(runs: &mut Runs, sign: usize) -> Option<FoundSecret> {
    let text = runs.text;
    let start = sign + 1 + leading(&text[sign + 1..], 32, is_blank);
    let end = sign - trailing(&text[..sign], 32, is_blank);
    let is_opened = |front: &[u8]| match text[sign] {
        b'|' => front.trim_ascii_end().ends_with(b"|"),
        _ => front.ends_with(b"<"),
    };
    named(runs, end, start, is_opened)
}

/// The value at `start`, if the name that ends at `end` says that it is secret, and the text in front of that fits.
fn named(
    runs: &mut Runs,
    end: usize,
    start: usize,
    front_fits: impl Fn(&[u8]) -> bool,
) -> Option<FoundSecret> {
    if value::begins_with_word(&runs.text[start..]) {
        return None;
    }
    let name = name::before(runs.text, end)?;
    let is_secret = front_fits(name.front(runs.text)) && name.is_secret();
    if is_secret { judged(runs, start, &name) } else { None }
}

/// The value at `start`, if it is what its name says.
fn judged(runs: &mut Runs, start: usize, name: &name::Name) -> Option<FoundSecret> {
    let range = written(runs, start)?;
    let secret = &runs.text[range.clone()];
    let fits =
        if name.is_password() { value::is_password(secret) } else { value::is_secret(secret) };
    let aws = name.is_aws_secret()
        && secret.len() == AWS_SECRET
        && secret.iter().all(|&byte| contains(Alphabet::Base64, byte));
    let kind = if aws { "aws-secret-key" } else { "env-assignment" };
    fits.then_some(FoundSecret { range, kind })
}

/// The value at `start`, without the punctuation around it.
pub(super) fn written(runs: &mut Runs, start: usize) -> Option<Range<usize>> {
    let (start, end) = extent(runs, start);
    let value = (end - start <= LONGEST).then(|| value::trimmed(&runs.text[start..end]))?;
    Some(start..start + value.len())
}

/// Where the value at `start` begins and ends: at its quotes, or at the next blank.
fn extent(runs: &mut Runs, start: usize) -> (usize, usize) {
    let text = runs.text;
    // `\"`: JSON within a string.
    let start = start + usize::from(text.get(start) == Some(&b'\\'));
    if let Some(&quote @ (b'"' | b'\'' | b'`')) = text.get(start) {
        let start = start + 1;
        let line_or_quote =
            memchr::memchr2(quote, b'\n', &text[start..]).map(|length| start + length);
        let closed = line_or_quote.filter(|&end| text[end] == quote);
        return (start, closed.unwrap_or_else(|| runs.end(Alphabet::Value, start)));
    }
    let end = runs.end(Alphabet::Value, start.min(text.len()));
    // In a query string the next parameter follows.
    let next =
        memchr::memchr_iter(b'&', &text[start..end.min(start + 256)]).map(|length| start + length);
    let mut next = next.filter(|at| {
        let name = leading(&text[at + 1..end], 64, |byte| contains(Alphabet::Url, byte));
        name > 0 && text.get(at + 1 + name) == Some(&b'=')
    });
    (start, next.next().unwrap_or(end))
}

fn is_blank(byte: u8) -> bool {
    byte == b' '
}
