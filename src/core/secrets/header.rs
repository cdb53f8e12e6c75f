//! Finds what an `Authorization` header carries. The scheme stays.

use super::runs::{Alphabet, Runs};
use super::{FoundSecret, assignment, value};

/// Words that a secret follows.
const SCHEMES: &[&str] = &["basic ", "bearer ", "token ", "apikey ", "key ", "digest "];

/// Whether a header's value begins like one that carries a secret.
pub(super) fn begins_with_scheme(value: &[u8]) -> bool {
    let value = value.strip_prefix(b"\"").unwrap_or(value);
    SCHEMES.iter().any(|scheme| {
        value.get(..scheme.len()).is_some_and(|word| word.eq_ignore_ascii_case(scheme.as_bytes()))
    })
}

/// `Basic …`, `Bearer …` or any other scheme behind `Authorization:`.
pub(super) fn authorization(runs: &mut Runs, start: usize) -> Option<FoundSecret> {
    let text = runs.text;
    let start = start + usize::from(matches!(text.get(start), Some(b'"' | b'\'')));
    let scheme = runs.end(Alphabet::Url, start);
    let (kind, from) = match (&text[start..scheme], text.get(scheme)) {
        (word, Some(b' ')) if word.eq_ignore_ascii_case(b"basic") => ("basic-auth", scheme + 1),
        (_, Some(b' ')) => ("bearer-token", scheme + 1),
        _ => ("bearer-token", start),
    };
    let range = assignment::written(runs, from)?;
    let secret = &text[range.clone()];
    let fits = if kind == "basic-auth" { is_basic(secret) } else { value::is_secret(secret) };
    fits.then_some(FoundSecret { range, kind })
}

/// Whether base64 holds `user:password`, and that is more than an example.
fn is_basic(secret: &[u8]) -> bool {
    let mut bits = 0_u32;
    let mut count = 0;
    let mut decoded = Vec::new();
    for &byte in secret.iter().take(256).filter(|byte| **byte != b'=') {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return false,
        };
        bits = bits << 6 | u32::from(digit);
        count += 6;
        if count >= 8 {
            count -= 8;
            decoded.push((bits >> count) as u8);
        }
    }
    let Some(colon) = memchr::memchr(b':', &decoded) else { return false };
    let password = &decoded[colon + 1..];
    let stands_in = [&b"password"[..], b"pass", b"passwd"].contains(&password);
    secret.len() >= 8
        && !password.is_empty()
        && !stands_in
        && !value::is_placeholder(password)
        && decoded.iter().all(|byte| *byte >= b' ' && *byte != 0x7f)
}
