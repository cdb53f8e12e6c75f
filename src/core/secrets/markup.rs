//! Knows what markup stands between a name and its value: remarks, links, tags, emphasis.

use super::runs::{blanks, leading, trailing};

/// A longer remark or link is not looked through.
const LONGEST: usize = 64;
/// No tag around a value is longer.
const LONGEST_TAG: usize = 32;
/// So many tags and marks can stand before a value.
const MOST_MARKS: usize = 4;

/// Where a name ends that a remark, the target of a link or a tag follows: `token (prod):`, `[token](a.md):`, `<b>token</b>:`.
pub(super) fn before_closing(text: &[u8], end: usize) -> usize {
    let near = &text[end.saturating_sub(LONGEST)..end];
    let open = match near.last() {
        Some(b')') => memchr::memrchr(b'(', near)
            .filter(|&open| open > 0 && matches!(near[open - 1], b' ' | b']'))
            .map(|open| open - 1),
        Some(b'>') => memchr::memrchr(b'<', near)
            .filter(|&open| near[open + 1] == b'/' && is_tag(&near[open..])),
        _ => None,
    };
    open.map_or(end, |open| end - near.len() + open)
}

/// Where the value begins whose blanks, tags and emphasis begin at `start`.
pub(super) fn behind_opening(text: &[u8], start: usize) -> usize {
    let mut at = start + blanks(&text[start..], LONGEST);
    for _ in 0..MOST_MARKS {
        let rest = &text[at..];
        let mark = match rest.first() {
            Some(b'<') => tag(rest),
            Some(b'*') => stars(rest),
            // Which type YAML should read, and how it calls the value elsewhere.
            Some(b'!') if rest.starts_with(b"!!") => word_before_blank(rest, 2),
            Some(b'&') if !rest.starts_with(b"&mut ") => word_before_blank(rest, 1),
            Some(b'~') if rest.starts_with(b"~~") => 2,
            Some(b'=') if rest.starts_with(b"== ") => 3,
            _ => 0,
        };
        if mark == 0 {
            break;
        }
        at += mark;
        at += blanks(&text[at..], LONGEST);
    }
    at
}

/// How long the emphasis is with which a text begins. It ends before a blank, or on the same line.
fn stars(text: &[u8]) -> usize {
    let length = leading(text, 4, |byte| byte == b'*');
    let line = &text[length..text.len().min(length + 4 * LONGEST)];
    let line = &line[..memchr::memchr(b'\n', line).unwrap_or(line.len())];
    let is_emphasis = line.first().is_none_or(|next| *next == b' ') || line.contains(&b'*');
    if length <= 3 && is_emphasis { length } else { 0 }
}

/// How long the word is that begins behind some signs, if a blank follows it and one word behind that, and nothing else.
fn word_before_blank(text: &[u8], from: usize) -> usize {
    let is_in =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-".contains(&byte);
    let end = from + leading(&text[from..], LONGEST_TAG, is_in);
    let line = &text[end..text.len().min(end + 4 * LONGEST)];
    let line = &line[..memchr::memchr(b'\n', line).unwrap_or(line.len())];
    let is_one = line.starts_with(b" ") && !line.trim_ascii().contains(&b' ');
    if end > from && is_one { end } else { 0 }
}

/// How long the tag is with which a text begins: `<code>`, `</b>`. `<api-key>` is a placeholder: no tag closes it.
fn tag(text: &[u8]) -> usize {
    let near = &text[..text.len().min(LONGEST_TAG)];
    let Some(close) = memchr::memchr(b'>', near) else { return 0 };
    let tag = &near[..=close];
    let name = &tag[1..=leading(&tag[1..], LONGEST_TAG, |byte| byte.is_ascii_alphanumeric())];
    let is_closed = || {
        let end = memchr::memchr(b'\n', text).unwrap_or(text.len()).min(4 * LONGEST);
        let closing = memchr::memmem::rfind(&text[..end], b"</");
        closing.is_some_and(|at| text[at + 2..].starts_with(name))
    };
    let is_one = is_tag(tag) && (tag.starts_with(b"</") || !name.is_empty() && is_closed());
    if is_one { close + 1 } else { 0 }
}

/// Whether a text is one tag.
fn is_tag(text: &[u8]) -> bool {
    let inner = text.strip_prefix(b"<").and_then(|text| text.strip_suffix(b">"));
    inner.is_some_and(|inner| {
        let name = inner.strip_prefix(b"/").unwrap_or(inner);
        let letters = trailing(name, LONGEST_TAG, |byte| byte.is_ascii_alphanumeric());
        letters > 0 && letters == name.len()
    })
}
