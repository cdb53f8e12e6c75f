//! Finds passwords in addresses: `postgres://user:password@host`. The password alone, so that the host stays readable.

use memchr::memmem;

use super::{FoundSecret, value};

/// Placeholders for passwords.
const STAND_INS: &[&str] = &[
    "password",
    "passwd",
    "pass",
    "pwd",
    "pw",
    "secret",
    "token",
    "mypassword",
    "pat",
    "p",
    "x",
    "key",
];

/// Finds the passwords of all addresses.
pub(super) fn find(text: &str, all: &mut Vec<FoundSecret>) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(offset) = memmem::find(&bytes[at..], b"://") {
        let start = at + offset + 3;
        let end = bytes[start..]
            .iter()
            .position(|&byte| ends_authority(byte))
            .map_or(bytes.len(), |length| start + length);
        at = end.max(start);
        if !bytes[..start - 3].last().is_some_and(u8::is_ascii_alphanumeric) {
            continue;
        }
        // The last `@`: people forget to code the one in their password.
        let Some(host) = memchr::memrchr(b'@', &bytes[start..end]).map(|length| start + length)
        else {
            continue;
        };
        let Some(colon) = memchr::memchr(b':', &bytes[start..host]).map(|length| start + length)
        else {
            continue;
        };
        let (user, password) = (&bytes[start..colon], &bytes[colon + 1..host]);
        let port = password.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if port > 0 && matches!(password.get(port), Some(b'?' | b'#' | b'&')) {
            continue;
        }
        let default = user.eq_ignore_ascii_case(password)
            || STAND_INS.iter().any(|word| password.eq_ignore_ascii_case(word.as_bytes()));
        if !password.is_empty() && !default && !value::is_placeholder(password) {
            all.push(FoundSecret { range: colon + 1..host, kind: "connection-string" });
        }
    }
}

fn ends_authority(byte: u8) -> bool {
    byte <= b' ' || matches!(byte, b'/' | b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\')
}
