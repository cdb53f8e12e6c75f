//! Finds the values in the columns of a table whose heads say that they are secret.

use super::runs::{Runs, leading, trailing};
use super::{FoundSecret, assignment, name};

/// A longer head is none of a table with passwords.
const LONGEST_HEAD: usize = 512;
/// A wider table is not looked at.
const MOST_COLUMNS: usize = 16;

/// Finds the secrets of the table whose head ends with a row of dashes that begins at `bar`. Returns where the table ends, or
/// `bar` if there is none.
pub(super) fn find(runs: &mut Runs, bar: usize, all: &mut Vec<FoundSecret>) -> usize {
    let text = runs.text;
    let Some((head, body)) = head(text, bar) else { return bar };
    let mut names = [const { None }; MOST_COLUMNS];
    let mut has_any = false;
    for (name, (_, end)) in names.iter_mut().zip(cells(text, head.0, head.1)) {
        *name = name::before(text, end).filter(name::Name::is_secret);
        has_any |= name.is_some();
    }
    let mut row = body;
    while has_any && row < text.len() {
        let end = line_end(text, row);
        if !text[row..end].contains(&b'|') {
            break;
        }
        for (name, (start, end)) in names.iter().zip(cells(text, row, end)) {
            let Some(name) = name else { continue };
            let found = assignment::judged(runs, start, name);
            all.extend(found.filter(|found| found.range.end <= end));
        }
        row = (end + 1).min(text.len());
    }
    row
}

/// Finds the secrets in lists whose fields are parted by commas, below a line that names them: `user,password`.
pub(super) fn find_lists(runs: &mut Runs, all: &mut Vec<FoundSecret>) {
    let text = runs.text;
    let mut done = 0;
    for comma in memchr::memchr_iter(b',', text) {
        // In sentences a blank follows.
        let is_joined =
            text.get(comma + 1).is_some_and(|next| next.is_ascii_alphabetic() || *next == b'"');
        if comma < done || !is_joined {
            continue;
        }
        let start = comma - trailing(&text[..comma], LONGEST_HEAD, |byte| byte != b'\n');
        let end = line_end(text, comma);
        done = end;
        let head = &text[start..end];
        let is_in_head = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-,\" ".contains(byte);
        if head.len() <= LONGEST_HEAD && head.iter().all(is_in_head) && end < text.len() {
            done = below(runs, (start, end), all);
        }
    }
}

/// Finds the secrets below a head of fields. Returns where the list ends.
fn below(runs: &mut Runs, head: (usize, usize), all: &mut Vec<FoundSecret>) -> usize {
    let text = runs.text;
    let mut names = [const { None }; MOST_COLUMNS];
    let mut has_any = false;
    let n_fields = fields(text, head).count();
    for (name, (_, end)) in names.iter_mut().zip(fields(text, head)) {
        *name = name::before(text, end).filter(name::Name::is_secret);
        has_any |= name.is_some();
    }
    let mut end = head.1;
    while has_any && end < text.len() {
        let row = (end + 1, line_end(text, end + 1));
        if fields(text, row).count() != n_fields {
            break;
        }
        end = row.1;
        for (name, (start, field_end)) in names.iter().zip(fields(text, row)) {
            let Some(name) = name else { continue };
            let found = assignment::judged(runs, start, name).map(|mut found| {
                found.range.end = found.range.end.min(field_end);
                found
            });
            all.extend(found.filter(|found| !found.range.is_empty()));
        }
    }
    end
}

/// Where the fields of a row begin and end, between commas.
fn fields(text: &[u8], row: (usize, usize)) -> impl Iterator<Item = (usize, usize)> {
    let mut next = Some(row.0);
    std::iter::from_fn(move || {
        let from = next?;
        let comma = memchr::memchr(b',', &text[from..row.1]).map(|length| from + length);
        next = comma.map(|comma| comma + 1);
        Some((from, comma.unwrap_or(row.1)))
    })
}

/// The line above a row of dashes, and where the line below begins.
fn head(text: &[u8], bar: usize) -> Option<((usize, usize), usize)> {
    let dashes = leading(&text[bar..], LONGEST_HEAD, |byte| b"|-: \t".contains(&byte));
    let end = bar + dashes;
    let indent = trailing(&text[..bar], 8, |byte| byte == b' ');
    let above = text[..bar - indent].strip_suffix(b"\n")?;
    let begins = above.len() - trailing(above, LONGEST_HEAD, |byte| byte != b'\n');
    let is_row = text.get(end).is_none_or(|next| *next == b'\n') && text[bar..end].contains(&b'-');
    is_row.then_some(((begins, above.len()), (end + 1).min(text.len())))
}

/// Where the cells of a row begin and end, without the blanks around them.
fn cells(text: &[u8], start: usize, end: usize) -> impl Iterator<Item = (usize, usize)> {
    let first = start + leading(&text[start..end], end - start, |byte| b" \t|".contains(&byte));
    let mut next = Some(first);
    std::iter::from_fn(move || {
        let from = next.filter(|from| *from < end)?;
        let bar = memchr::memchr(b'|', &text[from..end]).map(|length| from + length);
        next = bar.map(|bar| bar + 1);
        let to = bar.unwrap_or(end);
        let is_blank = |byte| b" \t".contains(&byte);
        let begins = from + leading(&text[from..to], to - from, is_blank);
        Some((begins, to - trailing(&text[begins..to], to - begins, is_blank)))
    })
}

fn line_end(text: &[u8], start: usize) -> usize {
    memchr::memchr(b'\n', &text[start..]).map_or(text.len(), |length| start + length)
}
