//! Finds passwords in addresses: `postgres://user:password@host`. The password alone, so that the host stays readable.

use std::ops::Range;

use super::runs::{leading, trailing};
use super::{FoundSecret, placeholder, value};
use crate::core::text::words::words;

/// Placeholders for passwords.
static STAND_INS: [&str; 13] =
    words("password passwd pass pwd pw secret token mypassword pat p x key secret_access_key");
/// Words in front of these: `userPassword`, `bot_api_key`.
static OWNERS: [&str; 6] = words("user bot api your my the");

/// A shorter name before a host is a user's.
const SHORTEST_TOKEN: usize = 20;

/// Finds the passwords of all addresses.
pub(super) fn find(text: &[u8], all: &mut Vec<FoundSecret>) {
    let mut at = 0;
    // A colon is found sooner than a text of three bytes.
    for colon in memchr::memchr_iter(b':', text) {
        if colon < at || !text[colon..].starts_with(b"://") {
            continue;
        }
        let start = colon + 3;
        let length = text[start..].iter().position(|&byte| ends_authority(byte));
        at = length.map_or(text.len(), |length| start + length);
        let range = password(text, start, at);
        all.extend(range.map(|range| FoundSecret { range, kind: "connection-string" }));
    }
}

/// The password in the address whose host, with what is before it, is from `start` to `end`.
fn password(text: &[u8], start: usize, end: usize) -> Option<Range<usize>> {
    text[..start - 3].last().filter(|byte| byte.is_ascii_alphanumeric())?;
    // The last `@`: people forget to code the one in their password.
    let host = start + memchr::memrchr(b'@', &text[start..end])?;
    let Some(colon) = memchr::memchr(b':', &text[start..host]).map(|at| start + at) else {
        // `https://TOKEN@github.com`.
        let user = &text[start..host];
        let is_token = user.len() >= SHORTEST_TOKEN && value::is_secret(user);
        return is_token.then_some(start..host);
    };
    let (user, password) = (&text[start..colon], &text[colon + 1..host]);
    let digits = leading(password, usize::MAX, |byte| byte.is_ascii_digit());
    let is_port = digits > 0 && matches!(password.get(digits), Some(b'?' | b'#' | b'&'));
    let is_default = user.eq_ignore_ascii_case(password) || is_stand_in(password);
    let fits =
        !password.is_empty() && !is_port && !is_default && !placeholder::is_placeholder(password);
    fits.then_some(colon + 1..host)
}

/// Whether a password is the name of one: `password`, `(password)`, `userPassword`. In `[user[:password]@]host` all of
/// it is optional.
fn is_stand_in(password: &[u8]) -> bool {
    let is_bracket = |byte| b"[](){}".contains(&byte);
    let name = &password[leading(password, 2, is_bracket)..];
    let mut name = &name[..name.len() - trailing(name, 2, is_bracket)];
    let strip = |name: &mut &[u8], word: &str| {
        let (start, rest) = name.split_at_checked(word.len()).unwrap_or_default();
        let is_there = start.eq_ignore_ascii_case(word.as_bytes());
        if is_there {
            *name = &rest[leading(rest, 1, |byte| b"_-".contains(&byte))..];
        }
        is_there
    };
    let is_word = |name: &[u8]| STAND_INS.iter().any(|w| name.eq_ignore_ascii_case(w.as_bytes()));
    while !is_word(name) {
        if !OWNERS.iter().any(|word| strip(&mut name, word)) {
            return false;
        }
    }
    true
}

fn ends_authority(byte: u8) -> bool {
    byte <= b' ' || matches!(byte, b'/' | b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\')
}
