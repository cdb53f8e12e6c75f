//! Tells where a value begins and ends: at its quotes, at the next blank, or where what is around it goes on. Does not judge it.

use std::ops::Range;

use super::runs::{Alphabet, Runs, blanks, blanks_before, contains, leading};
use super::word::is_wordy;
use super::{markup, value};

/// Nothing longer is a value, but a file.
const LONGEST: usize = 8_192;
/// How many quotes and signs of code a value without quotes has at most. A hostile text pays for each of these.
const MOST_SIGNS: usize = 24;
/// How far back a line is looked at.
pub(super) const LINE: usize = 256;
/// No name of what makes a value of a text is longer: `SecretString::from(`.
const LONGEST_WRAPPER: usize = 48;
/// What makes a value of a text, and changes nothing: the last part of its name.
const WRAPPERS: [&str; 16] = [
    "from",
    "new",
    "some",
    "string",
    "str",
    "secret",
    "secretstr",
    "secretstring",
    "securestring",
    "bytes",
    "quote",
    "encode",
    "fromstring",
    "of",
    "text",
    "just",
];

/// A value as it is written.
pub(super) struct Written {
    pub(super) range: Range<usize>,
    pub(super) is_quoted: bool,
}

/// The value at `start`, without the punctuation around it.
pub(super) fn written(runs: &mut Runs, start: usize) -> Option<Written> {
    let start = markup::behind_opening(runs.text, start.min(runs.text.len()));
    let (start, end, is_quoted) = extent(runs, start);
    let value = (end - start <= LONGEST).then(|| value::trimmed(&runs.text[start..end]))?;
    Some(Written { range: start..start + value.len(), is_quoted })
}

/// Where the value at `start` begins and ends, and whether in quotes.
fn extent(runs: &mut Runs, start: usize) -> (usize, usize, bool) {
    let text = runs.text;
    // `\"`: JSON within a string.
    let start = start + usize::from(text.get(start) == Some(&b'\\'));
    let opening = quote_at(&text[start..]).map_or(start, |length| start + length);
    if let Some(&quote @ (b'"' | b'\'' | b'`')) = text.get(opening) {
        let n_quotes = if text[opening..].starts_with(&[quote; 3]) { 3 } else { 1 };
        let start = opening + n_quotes;
        let line_or_quote =
            memchr::memchr2(quote, b'\n', &text[start..]).map(|length| start + length);
        let closed = line_or_quote.filter(|&end| text[end] == quote);
        return (start, closed.unwrap_or_else(|| runs.end(Alphabet::Value, start)), true);
    }
    if let Some(range) = within_marks(text, start) {
        return (range.start, range.end, true);
    }
    (start, unquoted_end(runs, start), false)
}

/// How far away the quote is behind what may stand before it: `r"…"`, `String::from("…")`.
pub(super) fn quote_at(text: &[u8]) -> Option<usize> {
    let is_quote = |at: usize| matches!(text.get(at), Some(b'"' | b'\'' | b'`'));
    let prefix = leading(text, 2, |byte| b"rbufRBUFL@$".contains(&byte));
    // A drawn value may begin so, too: a quote that is none has no other behind it.
    let line = &text
        [..memchr::memchr(b'\n', &text[..text.len().min(LINE)]).unwrap_or(text.len().min(LINE))];
    let is_closed =
        |at: usize| line.get(at + 1..).is_some_and(|rest| memchr::memchr(line[at], rest).is_some());
    if prefix > 0 && matches!(text.get(prefix), Some(b'"' | b'\'')) && is_closed(prefix) {
        return Some(prefix);
    }
    let is_in_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_:.!".contains(&byte);
    let name = leading(text, LONGEST_WRAPPER, is_in_name);
    let opens = text.get(name) == Some(&b'(') && is_quote(name + 1);
    let mut parts = text[..name].rsplit(|byte| b":.!".contains(byte));
    let last = parts.find(|part| !part.is_empty()).filter(|_| opens)?;
    let is_wrapper = WRAPPERS.iter().any(|known| last.eq_ignore_ascii_case(known.as_bytes()));
    is_wrapper.then_some(name + 1)
}

/// The value within the quotation marks that books have: `“…”`, `«…»`.
fn within_marks(text: &[u8], start: usize) -> Option<Range<usize>> {
    let from = start + mark(&text[start..])?;
    let near = &text[from..text.len().min(from + LINE)];
    let near = &near[..memchr::memchr(b'\n', near).unwrap_or(near.len())];
    let inner = &near[..(0..near.len()).find(|&at| mark(&near[at..]).is_some())?];
    let before = blanks(inner, inner.len());
    let inner = &inner[before..];
    Some(from + before..from + before + inner.len() - blanks_before(inner, inner.len()))
}

/// How long the quotation mark is with which a text begins.
fn mark(text: &[u8]) -> Option<usize> {
    match text {
        [0xc2, 0xab | 0xbb, ..] => Some(2),
        [0xe2, 0x80, 0x98..=0x9f | 0xb9 | 0xba, ..] | [0xe3, 0x80, 0x8c..=0x8f, ..] => Some(3),
        _ => None,
    }
}

/// Where a value in a query string ends: at the next parameter.
pub(super) fn parameter_end(text: &[u8], value: &Range<usize>) -> usize {
    let mut next =
        memchr::memchr_iter(b'&', &text[value.clone()]).map(|length| value.start + length);
    let is_next = |at: &usize| {
        let name = leading(&text[at + 1..value.end], 64, |byte| contains(Alphabet::Url, byte));
        name > 0 && text.get(at + 1 + name) == Some(&b'=')
    };
    next.find(is_next).unwrap_or(value.end)
}

/// Where a value without quotes ends: at the next blank, or where what is around it goes on.
fn unquoted_end(runs: &mut Runs, start: usize) -> usize {
    let mut end = runs.end(Alphabet::Value, start);
    for _ in 0..MOST_SIGNS {
        if ends_value(runs.text, start, end) {
            break;
        }
        end = runs.end(Alphabet::Value, end + 1);
    }
    end
}

/// Whether the value at `start` ends at `end`, where a blank, a quote or a sign of code is.
fn ends_value(text: &[u8], start: usize, end: usize) -> bool {
    let [sign, behind @ ..] = &text[end..] else { return true };
    match sign {
        ..=b' ' | 0x7f => true,
        b';' => {
            // `Password=value;Database=app`.
            let name = leading(behind, 64, |byte| byte.is_ascii_alphabetic());
            let is_long = name > 3 || [&b"Uid"[..], b"Pwd"].contains(&&behind[..name]);
            let is_next = is_long && behind.get(name) == Some(&b'=') && is_wordy(&behind[..name]);
            is_next
                || behind.first().is_none_or(|next| match next {
                    b'"' | b'\'' | b'`' => is_open(text, start, *next),
                    next => next.is_ascii_whitespace(),
                })
        }
        b'<' => behind.starts_with(b"!--") || is_tag(behind),
        b'>' => behind.first().is_none_or(u8::is_ascii_whitespace) && is_open(text, start, b'<'),
        quote => is_open(text, start, *quote),
    }
}

/// Whether text behind `<` is the rest of a tag that ends what is before it.
fn is_tag(behind: &[u8]) -> bool {
    let is_break = || [&b"br>"[..], b"br/", b"br "].iter().any(|tag| behind.starts_with(tag));
    let Some(closing) = behind.strip_prefix(b"/") else { return is_break() };
    let name = leading(closing, 64, |byte| contains(Alphabet::Url, byte));
    name > 0 && closing.get(name) == Some(&b'>')
}

/// Whether a quote was opened on the line before `start`, and is still open there.
fn is_open(text: &[u8], start: usize, quote: u8) -> bool {
    memchr::memchr_iter(quote, line_of(&text[..start])).count() % 2 == 1
}

/// The end of a text that is on its last line.
pub(super) fn line_of(text: &[u8]) -> &[u8] {
    let near = &text[text.len().saturating_sub(LINE)..];
    &near[memchr::memrchr(b'\n', near).map_or(0, |at| at + 1)..]
}
