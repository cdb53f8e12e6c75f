//! Finds the name in front of a type: `password: string = …`, `var password string = …`.

use super::name;
use super::runs::{blanks_before, trailing};

/// No type that matters is longer.
const LONGEST: usize = 64;
/// Types of texts, where no sign parts them from the name.
const TEXTS: [&str; 5] = ["string", "str", "text", "varchar", "byte"];

/// The name of a secret, where a type stands between it and `end`.
pub(super) fn before(text: &[u8], end: usize) -> Option<name::Name> {
    let end = end - blanks_before(&text[..end], LONGEST);
    let is_in_type = |byte: u8| byte.is_ascii_alphanumeric() || b"_.<>[]&'|,?!* ".contains(&byte);
    let colon = end - trailing(&text[..end], LONGEST, is_in_type);
    let is_secret = |name: &name::Name| name.is_secret();
    if let Some(front) = text[..colon].strip_suffix(b":") {
        return name::before(text, front.len()).filter(is_secret);
    }
    let word = trailing(&text[..end], LONGEST, |byte| byte.is_ascii_alphanumeric());
    let is_text = TEXTS.iter().any(|known| text[end - word..end] == *known.as_bytes());
    let gap = blanks_before(&text[..end - word], LONGEST);
    let found = || name::before(text, end - word - gap).filter(is_secret);
    if is_text && gap > 0 { found() } else { None }
}
