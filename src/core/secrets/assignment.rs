//! Finds values behind a name that says that they are secret: `NAME=value`, `"name": "value"`,
//! `--name value`, `| name | value |`. The name stays.

use memchr::memmem;

use super::extent::{self, LINE, Written, line_of, written};
use super::runs::{Alphabet, Runs, contains, leading, trailing};
use super::sign::{FULL_WIDTH, Sign};
use super::signs::Signs;
use super::{
    FoundSecret, apart, argument, code, column, command, header, markup, name, phrase, typed, value,
};

/// An Amazon secret key has no mark of its own, but exactly this length.
const AWS_SECRET: usize = 40;
/// No tag before a value is longer.
const LONGEST_TAG: usize = 64;

/// Finds all of them.
pub(super) fn find(runs: &mut Runs, signs: Signs, all: &mut Vec<FoundSecret>) {
    if signs.has_assignment() {
        find_signs(runs, all);
    }
    if signs.has_cell() {
        find_cells(runs, all);
    }
    if signs.has_quote() {
        argument::find(runs, all);
    }
    apart::find_below_headings(runs, all);
    column::find_lists(runs, all);
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

/// Finds values behind `=` and `:`, also those of full width.
fn find_signs(runs: &mut Runs, all: &mut Vec<FoundSecret>) {
    let text = runs.text;
    let mut done = 0;
    for at in memchr::memchr3_iter(b'=', b':', FULL_WIDTH, text) {
        if at < done {
            continue;
        }
        let Some(sign) = Sign::of(text, at) else { continue };
        if let Some(next_line) = apart::next_line(text, &sign) {
            apart::below(runs, at, next_line, all);
        } else if let Some(found) = at_sign(runs, &sign) {
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

/// Finds values behind `--name` and `-name`.
fn find_options(runs: &mut Runs, all: &mut Vec<FoundSecret>) {
    let text = runs.text;
    for dash in memchr::memchr_iter(b'-', text) {
        let is_flag = dash == 0
            || matches!(text[dash - 1], b' ' | b'\n' | b'\t' | b'"' | b'\'' | b'`' | b'(');
        let is_option = |next: &u8| *next == b'-' || next.is_ascii_alphabetic();
        if !is_flag || !text.get(dash + 1).is_some_and(is_option) {
            continue;
        }
        let end = runs.end(Alphabet::Url, dash + 1);
        if matches!(text.get(end), Some(b' ' | b'\t')) {
            all.extend(named(runs, end, end + 1, |_| true));
        }
    }
}

/// `NAME=value` and its relatives, around a sign.
fn at_sign(runs: &mut Runs, sign: &Sign) -> Option<FoundSecret> {
    let text = runs.text;
    let start = markup::behind_opening(text, sign.end);
    if !sign.is_of_variable(text)
        && value::begins_with_word(&text[start..])
        && !header::begins_with_scheme(&text[start..])
    {
        return None;
    }
    let mut name = name::before(text, sign.start)?;
    if name.flat() == b"value" {
        name = apart::beside(text, &name)?;
    }
    let front = name.front(text);
    // `curl -u user:password`, `curl -uuser:password`.
    let is_joined = || name.is_user() && memmem::rfind(line_of(front), b"curl ").is_some();
    if front.ends_with(b"-u ") || front.ends_with(b"--user ") || is_joined() {
        let range = written(runs, sign.start + 1)?.range;
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
    if front.ends_with(b"://") {
        return None;
    }
    if !name.is_secret() {
        if sign.is_colon {
            return phrase::told(runs, sign.start, start);
        }
        name = typed::before(text, sign.start).filter(|_| is_quoted(text, start))?;
    }
    // `${TOKEN:-value}`.
    let start = start + usize::from(text[start..].starts_with(b"-") && front.ends_with(b"${"));
    // In a file of settings that lost its line breaks, `NAME= OTHER=value`, the name has no value.
    if sign.is_ended_by_blank(text) && !is_quoted(text, start) {
        return None;
    }
    if name.ends_in("authorization") {
        return header::authorization(runs, start);
    }
    if sign.is_joined(text) && name.is_sure() {
        return judged_by(runs, start, &name, |value, _| value::is_sure(value));
    }
    judged(runs, start, &name)
}

/// Whether the value at `start` is in quotes.
fn is_quoted(text: &[u8], start: usize) -> bool {
    let rest = &text[start..];
    matches!(rest.first(), Some(b'"' | b'\'' | b'`' | b'\\')) || extent::quote_at(rest).is_some()
}

/// `| name | value |`, `<name>value</name>` and `<td>name</td><td>value</td>`, around the sign at `sign`.
fn at_cell(runs: &mut Runs, sign: usize) -> Option<FoundSecret> {
    let text = runs.text;
    let start = sign + 1 + leading(&text[sign + 1..], 32, is_blank);
    if text[sign] == b'|' {
        let end = sign - trailing(&text[..sign], 32, is_blank);
        let is_opened = |front: &[u8]| front.trim_ascii_end().ends_with(b"|");
        return named(runs, end, start, is_opened);
    }
    let near = &text[start..text.len().min(start + LINE)];
    let open = sign - trailing(&text[..sign], LONGEST_TAG, |byte| !b"<>\n".contains(&byte));
    let front = text[..open].strip_suffix(b"<").filter(|_| !text[open..].starts_with(b"/"))?;
    // In `<user>:<password>@host` nothing is closed.
    if value::begins_with_word(near) || !has_closing(near) {
        return None;
    }
    let front = front.trim_ascii_end();
    let closed = markup::before_closing(text, front.len());
    if closed < front.len() && front.ends_with(b">") {
        return named(runs, closed, start, |_| true);
    }
    named(runs, sign, start, |front| front.ends_with(b"<"))
}

/// Whether a text has a closing tag.
fn has_closing(text: &[u8]) -> bool {
    memchr::memchr_iter(b'<', text).any(|at| text.get(at + 1) == Some(&b'/'))
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
    let is_secret = if name.is_password() { value::is_password } else { value::is_secret };
    judged_by(runs, start, name, |value, is_named| !is_named && is_secret(value))
}

/// The value at `start`, if it passes, which may depend on whether it looks like a name in code.
fn judged_by(
    runs: &mut Runs,
    start: usize,
    name: &name::Name,
    passes: impl Fn(&[u8], bool) -> bool,
) -> Option<FoundSecret> {
    let Written { mut range, is_quoted } = written(runs, start)?;
    if name.is_parameter(runs.text) {
        range.end = extent::parameter_end(runs.text, &range);
    }
    let secret = &runs.text[range.clone()];
    // `arn:aws:secretsmanager:…:secret:prod/db-AbCdEf` names one, and is none.
    let is_part = is_in_arn(name.front(runs.text));
    let is_named = !is_quoted && code::is_named(secret, &runs.text[range.end..]);
    let fits = match is_part {
        true => value::is_drawn(secret),
        _ if name.is_count() && value::is_number(secret) => false,
        _ if !is_quoted && code::is_code(secret) => false,
        _ => passes(secret, is_named),
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

fn is_blank(byte: u8) -> bool {
    byte == b' '
}
