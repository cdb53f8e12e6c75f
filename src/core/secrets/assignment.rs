//! Finds values behind a name that says that they are secret: `NAME=value`, `"name": "value"`,
//! `--name value`, `| name | value |`. The name stays.

use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::{self, Finder};

use super::runs::{Alphabet, Runs, contains, leading, trailing};
use super::signs::Signs;
use super::word::is_wordy;
use super::{FoundSecret, apart, column, command, header, name, phrase, value};

/// An Amazon secret key has no mark of its own, but exactly this length.
const AWS_SECRET: usize = 40;
/// Nothing longer is a value, but a file.
const LONGEST: usize = 8_192;
/// How many quotes and signs of code a value without quotes has at most. A hostile text pays for each of these.
const MOST_SIGNS: usize = 24;
/// How far back a line is looked at.
const LINE: usize = 256;
/// Prepared once: most texts are short.
static OPTION: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"--"));

/// Finds all of them.
pub(super) fn find(runs: &mut Runs, signs: Signs, all: &mut Vec<FoundSecret>) {
    if signs.has_assignment() {
        find_signs(runs, all);
    }
    if signs.has_cell() {
        find_cells(runs, all);
    }
    // What follows has a blank before the value, or before its flag: `mysql -pVALUE`.
    if !signs.has_blank() {
        return;
    }
    phrase::find(runs, all);
    if signs.has_dash() {
        find_options(runs, all);
    }
    command::find(runs, all);
}

/// Finds values behind `=` and `:`.
fn find_signs(runs: &mut Runs, all: &mut Vec<FoundSecret>) {
    let mut done = 0;
    for sign in memchr::memchr2_iter(b'=', b':', runs.text) {
        if sign < done {
            continue;
        }
        if runs.text[sign] == b':'
            && let Some(next_line) = apart::next_line(runs.text, sign)
        {
            apart::below(runs, sign, next_line, all);
        } else if let Some(found) = at_sign(runs, sign) {
            done = found.range.end;
            all.push(found);
        }
    }
}

/// Finds values in tables and behind tags.
fn find_cells(runs: &mut Runs, all: &mut Vec<FoundSecret>) {
    let mut table = 0;
    for cell in memchr::memchr2_iter(b'|', b'>', runs.text) {
        let behind = &runs.text[cell + 1..];
        let blank = leading(behind, 1, is_blank);
        if cell >= table && matches!(behind.get(blank), Some(b'-' | b':')) {
            table = column::find(runs, cell, all);
        }
        all.extend(at_cell(runs, cell));
    }
}

/// Finds values behind `--name`.
fn find_options(runs: &mut Runs, all: &mut Vec<FoundSecret>) {
    let text = runs.text;
    for dashes in OPTION.find_iter(text) {
        let is_flag = dashes == 0
            || matches!(text[dashes - 1], b' ' | b'\n' | b'\t' | b'"' | b'\'' | b'`' | b'(');
        let end = runs.end(Alphabet::Url, dashes + 2);
        if is_flag && text[end..].starts_with(b" ") {
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
    let blanks = trailing(&text[..sign], 4, is_blank);
    // Without a blank around them, those behind the first belong to the value.
    let is_operator =
        blanks > 0 || text[sign..].starts_with(b":=") || text.get(sign + signs) == Some(&b' ');
    let signs = if is_operator { signs } else { 1 };
    // `**Password:** value`.
    let is_emphasised = text[sign] == b':';
    let is_gap = |byte| matches!(byte, b' ' | b'\t') || byte == b'*' && is_emphasised;
    let gap = leading(&text[sign + signs..], 4, is_gap);
    let start = sign + signs + gap;
    if value::begins_with_word(&text[start..]) && !header::begins_with_scheme(&text[start..]) {
        return None;
    }
    let mut name = name::before(text, sign - blanks)?;
    if name.flat() == b"value" {
        name = apart::beside(text, &name)?;
    }
    let front = name.front(text);
    // `curl -u user:password`, `curl -uuser:password`.
    let is_joined = || name.is_user() && memmem::rfind(line_of(front), b"curl ").is_some();
    if front.ends_with(b"-u ") || front.ends_with(b"--user ") || is_joined() {
        let range = written(runs, sign + 1)?;
        let fits = value::is_password(&text[range.clone()]);
        return fits.then_some(FoundSecret { range, kind: "basic-auth" });
    }
    // `The token is: value`.
    if [&b"is"[..], b"was", b"ist"].contains(&name.flat()) {
        return phrase::told(runs, front.len(), start);
    }
    if name.ends_in("cookie") {
        return header::cookie(runs, start);
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
    let near = &text[start..text.len().min(start + LINE)];
    let is_opened = |front: &[u8]| match text[sign] {
        b'|' => front.trim_ascii_end().ends_with(b"|"),
        // In `<user>:<password>@host` nothing is closed.
        _ => front.ends_with(b"<") && memmem::find(near, b"</").is_some(),
    };
    named(runs, end, start, is_opened)
}

/// The value at `start`, if the name that ends at `end` says that it is secret, and the text in front of that fits.
pub(super) fn named(
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
pub(super) fn judged(runs: &mut Runs, start: usize, name: &name::Name) -> Option<FoundSecret> {
    let mut range = written(runs, start)?;
    if name.is_parameter(runs.text) {
        range.end = parameter_end(runs.text, &range);
    }
    let secret = &runs.text[range.clone()];
    // `arn:aws:secretsmanager:…:secret:prod/db-AbCdEf` names one, and is none.
    let is_part = is_in_arn(name.front(runs.text));
    let is_quoted = matches!(runs.text[range.start - 1], b'"' | b'\'' | b'`');
    let fits = match name.is_password() {
        _ if is_part => value::is_drawn(secret),
        _ if name.is_count() && value::is_number(secret) => false,
        _ if !is_quoted && value::is_code(secret) => false,
        true => value::is_password(secret),
        false => value::is_secret(secret),
    };
    let aws = name.is_aws_secret()
        && secret.len() == AWS_SECRET
        && secret.iter().all(|&byte| contains(Alphabet::Base64, byte));
    let kind = if aws { "aws-secret-key" } else { "env-assignment" };
    fits.then_some(FoundSecret { range, kind })
}

/// Whether a text ends within the name of one of Amazon's things: `arn:aws:secretsmanager:eu:1:`.
fn is_in_arn(text: &[u8]) -> bool {
    let length = trailing(text, LINE, |byte| byte.is_ascii_graphic() && !b"\"'`".contains(&byte));
    text.ends_with(b":") && text[text.len() - length..].starts_with(b"arn:")
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
    (start, unquoted_end(runs, start.min(text.len())))
}

/// Where a value in a query string ends: at the next parameter.
fn parameter_end(text: &[u8], value: &Range<usize>) -> usize {
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

fn is_blank(byte: u8) -> bool {
    byte == b' '
}
