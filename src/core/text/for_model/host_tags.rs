//! Neutralises tags that an agent's host or a model's template interprets: `<system>` → `‹system›`.
//!
//! Angle quotes keep the tag readable, no host or template interprets them, and they cost about as many tokens as
//! `<`. Entities (`&lt;`) would be decoded when the text is rendered. Other tags stay: notes are full of HTML and
//! generics. An ambiguous one (`List<User>`) counts as the tag.

use std::borrow::Cow;
use std::iter;
use std::ops::Range;

use crate::core::text::words::words;

/// Tag names in lower case, with `-` for `_`.
static NAMES: [&str; 56] = words(
    "assistant available-skills bash-input bash-stderr bash-stdout bos command-args \
     command-contents command-message command-name critical developer end-of-turn env environment \
     environment-context environment-details eos extremely-important function function-call \
     function-calls function-result function-results functions human important instruction \
     instructions invoke new-diagnostics output-style parameter permissions persisted-output \
     session-start-hook start-of-turn sys system task-notification teammate-message think thinking \
     tool tool-call tool-calls tool-output tool-result tool-results tool-response tool-use \
     turn-aborted user user-instructions user-prompt-submit-hook user-query",
);
/// Prefixes of tag names, in the same form.
const FAMILIES: &[&str] = &["antml:", "system-", "local-command-"];
/// Longer than any name in the table.
const LONGEST_NAME: usize = 64;
/// If the `>` is further away, it stays: without its `<` the tag is harmless.
const LONGEST_TAG: usize = 512;
/// Speakers in a transcript. `User:` begins too many ordinary lines, and no model was trained to end its turn on it.
const SPEAKERS: &[&str] = &["Human", "Assistant", "System"];

/// Returns `text` with tags and turn markers neutralised.
pub(super) fn neutralised(text: &str) -> Cow<'_, str> {
    let text = match text.split_inclusive('\n').any(speaks) {
        true => Cow::Owned(without_turns(text)),
        false => Cow::Borrowed(text),
    };
    if tags(&text).next().is_none() { text } else { Cow::Owned(without_tags(&text)) }
}

/// Whether a line begins with a speaker.
fn speaks(line: &str) -> bool {
    let words = line.trim_start();
    SPEAKERS
        .iter()
        .any(|name| words.strip_prefix(name).is_some_and(|rest| rest.trim_start().starts_with(':')))
}

/// `Human:` at the beginning of a line ends a turn in older transcripts; elsewhere it is ordinary text.
fn without_turns(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for line in text.split_inclusive('\n') {
        match line.split_once(':').filter(|_| speaks(line)) {
            Some((before, after)) => {
                // A letter that looks like a colon, so that the line stays readable.
                out.extend([before, "\u{a789}", after]);
            }
            None => out.push_str(line),
        }
    }
    out
}

fn without_tags(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut copied = 0;
    for Tag { open, close } in tags(text) {
        out.push_str(&text[copied..open.start]);
        out.push('‹');
        copied = open.end;
        if let Some(close) = close {
            out.push_str(&text[open.end..close.start]);
            out.push('›');
            copied = close.end;
        }
    }
    out.push_str(&text[copied..]);
    out
}

/// The ranges of host tags, up to and including the `>`, or only the `<` if the `>` is too far away.
pub fn host_tag_places(text: &str) -> Vec<Range<usize>> {
    let place = |tag: Tag| tag.open.start..tag.close.map_or(tag.open.end, |close| close.end);
    tags(text).map(place).collect()
}

/// A host tag: the ranges of its `<` and its `>`.
struct Tag {
    open: Range<usize>,
    close: Option<Range<usize>>,
}

fn tags(text: &str) -> impl Iterator<Item = Tag> {
    let mut at = 0;
    iter::from_fn(move || {
        loop {
            let (offset, open) = next_open(&text[at..])?;
            let open = at + offset..at + offset + open.len_utf8();
            let inner = &text[open.end..];
            at = open.end;
            if !begins_host_tag(inner) {
                continue;
            }
            let end = inner.char_indices().take(LONGEST_TAG);
            let end = end.into_iter().find(|(_, c)| is_close(*c) || is_open(*c));
            let close = end.filter(|(_, c)| is_close(*c));
            let close = close.map(|(end, c)| open.end + end..open.end + end + c.len_utf8());
            at = close.as_ref().map_or(at, |close| close.end);
            return Some(Tag { open, close });
        }
    })
}

/// The first character that can open a tag. The full-width forms begin with the byte 0xef.
fn next_open(text: &str) -> Option<(usize, char)> {
    memchr::memchr2_iter(b'<', 0xef, text.as_bytes())
        .find_map(|at| text[at..].chars().next().filter(|c| is_open(*c)).map(|open| (at, open)))
}

/// Whether the text after a `<` makes it a host tag, opening or closing.
fn begins_host_tag(inner: &str) -> bool {
    if let Some(special) = inner.strip_prefix(is_bar) {
        let name = special.chars().take(LONGEST_NAME).take_while(|c| is_name(*c) || *c == '▁');
        let mut behind = special.chars().skip(name.count());
        return behind.next().is_some_and(is_bar) && behind.next().is_some_and(is_close);
    }
    let tight = inner.strip_prefix(is_slash).unwrap_or(inner);
    let spaced = tight.trim_start();
    let spaced = spaced.strip_prefix(is_slash).unwrap_or(spaced).trim_start();
    let name: String =
        spaced.chars().take(LONGEST_NAME).take_while(|c| is_name(*c)).map(folded).collect();
    let local = name.rsplit(':').next().unwrap_or(&name);
    if !NAMES.contains(&local) && !FAMILIES.iter().any(|family| name.starts_with(family)) {
        return false;
    }
    let behind: &str = &spaced[spaced.find(|c| !is_name(c)).unwrap_or(spaced.len())..];
    if spaced.len() == tight.len() {
        let next = behind.chars().next();
        next.is_none_or(|c| c.is_whitespace() || is_open(c) || is_close(c) || is_slash(c))
    } else {
        // `a < user` is a comparison; `< user >` is a tag.
        behind.trim_start().starts_with(|c| is_close(c) || is_slash(c))
    }
}

fn is_open(c: char) -> bool {
    matches!(c, '<' | '＜' | '﹤')
}

fn is_close(c: char) -> bool {
    matches!(c, '>' | '＞' | '﹥')
}

fn is_slash(c: char) -> bool {
    matches!(c, '/' | '／')
}

fn is_bar(c: char) -> bool {
    matches!(c, '|' | '｜')
}

fn is_name(c: char) -> bool {
    matches!(folded(c), 'a'..='z' | '0'..='9' | '-' | ':' | '.')
}

/// Normalises a character as in the tables: half-width, lower case, `-` for `_`.
fn folded(c: char) -> char {
    let narrow = match c {
        '！'..='～' => char::from_u32(c as u32 - 0xfee0).unwrap_or(c),
        _ => c,
    };
    if narrow == '_' { '-' } else { narrow.to_ascii_lowercase() }
}
