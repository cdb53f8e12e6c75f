//! Finds values that stand apart from their names: on the lines below `password:`, or in a field `value` beside a field `name`.

use super::runs::{Runs, leading, trailing};
use super::sign::Sign;
use super::{FoundSecret, assignment, name, value};

/// So many items of a list are looked at.
const MOST_ITEMS: usize = 64;
/// The longest indent of a value below its name.
const MOST_BLANKS: usize = 64;
/// A longer heading names no secret.
const LONGEST_HEADING: usize = 128;
/// The fields that say what the field `value` holds.
const NAMING: [&[u8]; 4] = [b"name", b"key", b"field", b"variable"];

/// The name in the field in front of a field `value`: `"name": "DB_PASSWORD", "value": …`, `key="Password" value=…`.
pub(super) fn beside(text: &[u8], value: &name::Name) -> Option<name::Name> {
    let front = value.front(text);
    let gap = trailing(front, MOST_BLANKS, |byte| byte.is_ascii_whitespace() || byte == b',');
    let name = name::before(text, front.len() - gap).filter(name::Name::is_secret)?;
    let front = name.front(text);
    let front = &front[..front.len() - trailing(front, 4, |byte| byte == b' ')];
    let front = front.strip_suffix(b":").or_else(|| front.strip_suffix(b"="))?;
    let field = name::before(text, front.len())?;
    NAMING.contains(&field.flat()).then_some(name)
}

/// Where the next line begins, if nothing but the mark of a block follows a colon on its own.
pub(super) fn next_line(text: &[u8], sign: &Sign) -> Option<usize> {
    let behind = &text[sign.end..];
    let gap = leading(behind, MOST_BLANKS, |byte| matches!(byte, b' ' | b'\t' | b'*'));
    let mark = leading(&behind[gap..], 2, |byte| matches!(byte, b'|' | b'>' | b'-' | b'+'));
    let is_last = sign.is_colon && behind.get(gap + mark) == Some(&b'\n');
    is_last.then_some(sign.end + gap + mark + 1)
}

/// Finds the values that are alone below the headings which name them, and look made by a machine.
pub(super) fn find_below_headings(runs: &mut Runs, all: &mut Vec<FoundSecret>) {
    let text = runs.text;
    for hash in memchr::memchr_iter(b'#', text) {
        if hash > 0 && text[hash - 1] != b'\n' {
            continue;
        }
        let near = &text[hash..text.len().min(hash + LONGEST_HEADING)];
        let Some(length) = memchr::memchr(b'\n', near) else { continue };
        let n_found = all.len();
        below(runs, hash + length, hash + length + 1, all);
        let is_made = |found: &FoundSecret| value::is_made(&text[found.range.clone()]);
        if !all[n_found..].iter().all(is_made) {
            all.truncate(n_found);
        }
    }
}

/// Finds the values below a name that ends at `sign`, if they are alone on their lines: one, or the items of a list.
pub(super) fn below(runs: &mut Runs, sign: usize, next_line: usize, all: &mut Vec<FoundSecret>) {
    let text = runs.text;
    let Some(name) = name::before(text, sign).filter(name::Name::is_secret) else { return };
    let mut start = next_line + fence(&text[next_line..]);
    for _ in 0..MOST_ITEMS {
        let indent = leading(&text[start..], MOST_BLANKS, |byte| b" \t>".contains(&byte));
        let item = start + indent;
        let is_listed = text[item..].starts_with(b"- ") || text[item..].starts_with(b"* ");
        let value = item + if is_listed { 2 } else { 0 };
        let Some(found) = assignment::judged(runs, value, &name) else { return };
        let rest = &text[found.range.end..];
        let rest = &rest[leading(rest, 4, |byte| b"\"'`,*".contains(&byte))..];
        if rest.first().is_some_and(|next| *next != b'\n') {
            return;
        }
        all.push(found);
        if !is_listed || rest.is_empty() {
            return;
        }
        start = text.len() - rest.len() + 1;
    }
}

/// How long an empty line and the beginning of a block of code are.
fn fence(text: &[u8]) -> usize {
    let empty = leading(text, 1, |byte| byte == b'\n');
    let Some(behind) = text[empty..].strip_prefix(b"```") else { return empty };
    let language = leading(behind, 16, |byte| byte.is_ascii_alphanumeric());
    if behind.get(language) == Some(&b'\n') { empty + language + 4 } else { empty }
}
