//! Finds private keys in PEM armour, on several lines, squeezed into one, or cut off before their end, and those of
//! PuTTY.

use std::sync::LazyLock;

use memchr::memmem::{self, Finder};

use super::runs::leading;
use super::{FoundSecret, MASK, placeholder, value};

const BEGIN: &[u8] = b"-----BEGIN ";
/// Prepared once: most texts are short.
static BEGINNINGS: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(BEGIN));
const DASHES: &[u8] = b"-----";
/// The longest label known is `PGP PRIVATE KEY BLOCK`.
const LONGEST_LABEL: usize = 64;
/// What precedes the private part of a key of PuTTY, and how long that is at most.
const PUTTY: &[u8] = b"Private-Lines:";
static PUTTY_LINES: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(PUTTY));
const LONGEST_PUTTY: usize = 8_192;
/// A shorter word is not the first line of a key's body.
const SHORTEST_LINE: usize = 16;

/// Finds all private keys, with their armour.
pub(super) fn find(text: &[u8], all: &mut Vec<FoundSecret>) {
    let mut done = 0;
    for start in BEGINNINGS.find_iter(text) {
        if start >= done
            && let Some(end) = end_of_key(text, start + BEGIN.len())
        {
            all.push(FoundSecret { range: start..end, kind: "private-key" });
            done = end;
        }
    }
}

/// Finds the keys of PuTTY: from the lines of the private part to the checksum behind them.
pub(super) fn find_putty(text: &[u8], all: &mut Vec<FoundSecret>) {
    for start in PUTTY_LINES.find_iter(text) {
        let body = start + PUTTY.len();
        let near = &text[body..text.len().min(body + LONGEST_PUTTY)];
        // The number of lines comes first.
        let lines = words(near).skip_while(|word| word.len() < SHORTEST_LINE && word.start < 8);
        let lines: Vec<_> = lines.take_while(|word| word.len() >= SHORTEST_LINE).collect();
        if let [first, ..] = &lines[..] {
            let end = lines.last().map_or(first.end, |last| last.end);
            let range = body + first.start..body + end;
            all.push(FoundSecret { range, kind: "private-key" });
        }
    }
}

/// Where the private key ends whose label begins at `at`.
fn end_of_key(text: &[u8], at: usize) -> Option<usize> {
    let label = memmem::find(&text[at..text.len().min(at + LONGEST_LABEL)], DASHES)?;
    let label = &text[at..at + label];
    let endings = [&b"PRIVATE KEY"[..], b"PRIVATE KEY BLOCK", b"OpenVPN Static key V1"];
    if !endings.iter().any(|ending| label.ends_with(ending)) {
        return None;
    }
    let body = at + label.len() + DASHES.len();
    // A key's body contains no armour, so this stops at the next one at the latest; and at a mask, whose armour is
    // gone.
    let find = |text: &[u8], what: &[u8]| memmem::find(text, what).unwrap_or(text.len());
    let close = body + find(&text[body..], DASHES);
    let close = body + find(&text[body..close], MASK.as_bytes());
    if text[close..].starts_with(b"-----END ") {
        has_key(&text[body..close]).then(|| end_of_armour(text, close))
    } else {
        end_of_base64(text, body, close)
    }
}

/// Where the END marker that begins at `close` ends. A marker that was cut ends where its letters do.
fn end_of_armour(text: &[u8], close: usize) -> usize {
    let from = close + DASHES.len();
    let is_label = |byte: u8| byte.is_ascii_alphanumeric() || byte == b' ';
    let end = from + leading(&text[from..], LONGEST_LABEL, is_label);
    end + leading(&text[end..], DASHES.len(), |byte| byte == b'-')
}

fn has_key(body: &[u8]) -> bool {
    words(body).any(|word| word.len() >= SHORTEST_LINE && !placeholder::is_placeholder(&body[word]))
}

/// Where the base64 of a key that was cut ends: its lines are of one length, but for the last.
fn end_of_base64(text: &[u8], from: usize, to: usize) -> Option<usize> {
    let body = &text[from..to];
    let mut lines = words(body).skip_while(|word| word.len() < SHORTEST_LINE);
    let first = lines.next()?;
    // Headers (`Proc-Type: 4,ENCRYPTED`) may come before; prose between armour and key means that it is not a key.
    if first.start > 200 || placeholder::is_placeholder(&body[first.clone()]) {
        return None;
    }
    let mut end = first.end;
    for line in lines {
        let like_base64 = value::random(&body[line.clone()]) > 0 || line.len() == first.len();
        if line.len() > first.len() || !like_base64 || line.start > end + 8 {
            break;
        }
        end = line.end;
        if line.len() < first.len() {
            break;
        }
    }
    Some(from + end)
}

/// The words of base64 in `body`. Line breaks may be written `\n`.
fn words(body: &[u8]) -> impl Iterator<Item = std::ops::Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = loop {
            match &body[at..] {
                [b'\\', b'n' | b'r', ..] => at += 2,
                [byte, ..] if !is_base64(*byte) => at += 1,
                _ => break at,
            }
        };
        at += leading(&body[at..], body.len(), is_base64);
        (at > start).then_some(start..at)
    })
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}
