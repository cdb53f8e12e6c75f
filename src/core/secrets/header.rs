//! Finds what an `Authorization` header carries. The scheme stays.

use base64::Engine;
use base64::engine::{GeneralPurpose, general_purpose::NO_PAD};

use super::runs::{Alphabet, Runs, contains};
use super::{FoundSecret, code, extent, placeholder, value};

/// Words that a secret follows.
const SCHEMES: &[&str] = &["basic ", "bearer ", "token ", "apikey ", "key ", "digest "];

/// Reads what was cut, too.
const BASE64: GeneralPurpose =
    GeneralPurpose::new(&base64::alphabet::STANDARD, NO_PAD.with_decode_allow_trailing_bits(true));

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
    let range = extent::written(runs, from)?.range;
    let secret = &text[range.clone()];
    if code::is_code(secret) {
        return None;
    }
    let fits = if kind == "basic-auth" { is_basic(secret) } else { value::is_secret(secret) };
    fits.then_some(FoundSecret { range, kind })
}

/// `Cookie: session=…`: the value of the first cookie, which is that of the session in what people write down.
pub(super) fn cookie(runs: &mut Runs, start: usize) -> Option<FoundSecret> {
    let sign = runs.end(Alphabet::Url, start);
    runs.text.get(sign).filter(|byte| **byte == b'=')?;
    let range = extent::written(runs, sign + 1)?.range;
    let fits = value::is_made(&runs.text[range.clone()]);
    fits.then_some(FoundSecret { range, kind: "session-cookie" })
}

/// Whether base64 holds `user:password`, and that is more than an example.
fn is_basic(secret: &[u8]) -> bool {
    let mut digits: Vec<u8> =
        secret.iter().copied().take(256).filter(|byte| *byte != b'=').collect();
    let is_base64 = digits.iter().all(|byte| contains(Alphabet::Base64, *byte));
    // A digit alone is less than a byte.
    digits.truncate(digits.len() - usize::from(digits.len() % 4 == 1));
    let decoded = BASE64.decode(digits).unwrap_or_default();
    let Some(colon) = memchr::memchr(b':', &decoded).filter(|_| is_base64) else { return false };
    let password = &decoded[colon + 1..];
    let stands_in = [&b"password"[..], b"pass", b"passwd"].contains(&password);
    secret.len() >= 8
        && !password.is_empty()
        && !stands_in
        && !placeholder::is_placeholder(password)
        && decoded.iter().all(|byte| *byte >= b' ' && *byte != 0x7f)
}
