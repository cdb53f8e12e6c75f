//! Tells what stands in for a value from a value: `your-token`, `${TOKEN}`, `<api-key>`, `xxxx`.

use super::runs::{leading, trailing};
use super::value::{LOOKED_AT, is_known, is_letter};
use super::word::is_wordy;
use crate::core::text::words::words;

/// Whoever writes one of these means that the reader should put a value in its place.
static STAND_INS: [&str; 19] = words(
    "example placeholder redacted masked changeme change-me change_me changethis your \
     dummy replace insert goes-here goes_here 12345678 abcdefgh 00000000 deadbeef mf_9.b5f-4.1jqm",
);
/// The same in help texts, maybe with a number.
static METAVARIABLES: [&str; 6] = words("PASSWORD PASSWD PASS TOKEN SECRET KEY");
/// Where a value that is computed or filled in later begins.
const TEMPLATES: &[&str] = &["${", "{{", "$(", "<%=", "%{", "#{"];

/// Whether a value is a placeholder: `your-token`, `${TOKEN}`, `xxxx`.
pub(super) fn is_placeholder(value: &[u8]) -> bool {
    let value = &value[..value.len().min(LOOKED_AT)];
    // `$oidc.clientSecret`.
    let is_named = |byte: &u8| is_letter(*byte) || matches!(byte, b'_' | b'.' | b'}' | b'%');
    let is_variable = |name: &[u8]| {
        name.iter().all(is_named)
            && name.split(|byte| !is_letter(*byte)).all(|part| part.is_empty() || is_wordy(part))
    };
    let variable = matches!(value, [b'$' | b'{' | b'%', name @ ..] if is_variable(name));
    // `%%-name-%%`.
    let filled = value.len() > 4 && value.starts_with(b"%%") && value.ends_with(b"%%");
    let is_in_name = |byte: &u8| is_letter(*byte) || b"-_.%".contains(byte);
    let variable = variable || is_bracketed(value) || filled && value.iter().all(is_in_name);
    let template = TEMPLATES.iter().any(|open| {
        let at = memchr::memmem::find(value, open.as_bytes());
        // `${{ secrets.TOKEN }}`.
        let is_first = |at: usize| matches!(value[..at], [] | [b'$']);
        at.is_some_and(|at| fills_in(&value[at + open.len()..], *open == "{{", is_first(at)))
    });
    // Nobody draws the same sign eight times; but Amazon puts `//////////` into its session tokens.
    let is_repeated = |same: &[u8]| match (same[0], same.len()) {
        (b'x' | b'X', length) => length >= 6 || length >= 4 && length * 4 >= value.len(),
        (b'*', length) => length >= 3 && length * 2 >= value.len(),
        (sign, length) => length >= 8 && sign != b'/',
    };
    let repeated = value.chunk_by(PartialEq::eq).any(is_repeated);
    let says_so = || STAND_INS.iter().any(|word| contains_ignoring_case(value, word.as_bytes()));
    variable || template || repeated || is_metavariable(value) || says_so()
}

/// `PASSWORD`, `TOKEN2`: how a help text calls a value.
fn is_metavariable(value: &[u8]) -> bool {
    let name = &value[..value.len() - trailing(value, 2, |byte| byte.is_ascii_digit())];
    METAVARIABLES.iter().any(|known| known.as_bytes() == name)
}

/// Whether a value is a name in angle brackets, alone or the first of a list: `<api-key>`, `[<secret>, …]`.
fn is_bracketed(value: &[u8]) -> bool {
    let list = leading(value, 3, |byte| b"[(\"'".contains(&byte));
    let Some(name) = value[list..].strip_prefix(b"<") else { return false };
    let is_in = |byte| is_letter(byte) || byte.is_ascii_digit() || b"_-.:|/ ".contains(&byte);
    let length = leading(name, 64, is_in);
    let has_digits = name[..length].iter().any(u8::is_ascii_digit);
    let mut parts = name[..length].split(|byte| b"_-.:|/ ".contains(byte));
    if has_digits && !parts.all(|part| part.is_empty() || is_wordy(part) || is_known(part)) {
        return false;
    }
    let mut words = name[..length].split(|byte| !is_letter(*byte));
    let behind = &name[length..];
    // What ends a value without quotes may have cut off the last bracket.
    (behind.is_empty() || behind[0] == b'>')
        && !behind.iter().any(u8::is_ascii_alphanumeric)
        && words.any(|word| word.len() >= 3 && is_wordy(word))
}

/// Whether what follows the opening of a template names what is filled in: `SECRET}`, ` token }}`. At the beginning of a
/// value it may be cut off.
fn fills_in(inner: &[u8], is_double: bool, is_first: bool) -> bool {
    let name = inner.trim_ascii_start();
    // `./tool.py`.
    let is_joint = |byte: &u8| b"_.-/".contains(byte);
    let length = leading(name, 64, |byte| byte.is_ascii_alphanumeric() || is_joint(&byte));
    let mut parts = name[..length].split(is_joint).filter(|part| !part.is_empty());
    let is_named = parts.clone().next().is_some() && parts.all(is_wordy);
    match name.get(length) {
        None => is_first && (is_named || name.is_empty()),
        Some(b'}') => is_named && (is_first || !is_double || name[length..].starts_with(b"}}")),
        Some(sign) => is_named && is_first && (b"[:?(".contains(sign) || *sign == b' '),
    }
}

/// `word` is lower case.
fn contains_ignoring_case(text: &[u8], word: &[u8]) -> bool {
    memchr::memchr2_iter(word[0], word[0].to_ascii_uppercase(), text)
        .any(|at| text.get(at..at + word.len()).is_some_and(|part| part.eq_ignore_ascii_case(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stand_in_is_no_secret() {
        for text in [
            "your-token",
            "XXXXXXXX",
            "${TOKEN}",
            "{{ token }}",
            "$TOKEN",
            "%TOKEN%",
            "{token}",
            "aaaaaaaaa",
            "a***b",
            "<api-key>",
            "<pd-api-token>",
            "[<secret>,",
            "$oidc.azure.clientSecret",
            "$(./manage.py",
        ] {
            assert!(is_placeholder(text.as_bytes()), "{text}");
        }
        for text in ["q7Rz2mXk", "$q7Rz2mXk", "{q7Rz", "aaaa", "<q7Rz2mXk>", "<Rz", "<api>q7Rz2mXk"]
        {
            assert!(!is_placeholder(text.as_bytes()), "{text}");
        }
    }
}
