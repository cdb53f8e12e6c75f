//! Bytes of a text that are looked for among many others.

use std::ops::Range;

/// So many bytes are looked at together.
const AT_ONCE: usize = 16;

/// The place of the first byte with a property. Groups without any are passed over with few instructions, as long as the
/// property is a comparison or two.
pub(crate) fn position(bytes: &[u8], is_wanted: impl Fn(u8) -> bool) -> Option<usize> {
    let (groups, _) = bytes.as_chunks::<AT_ONCE>();
    let has_wanted =
        |group: &[u8; AT_ONCE]| group.iter().fold(false, |any, &byte| any | is_wanted(byte));
    let from = AT_ONCE * groups.iter().position(has_wanted).unwrap_or(groups.len());
    bytes[from..].iter().position(|&byte| is_wanted(byte)).map(|at| from + at)
}

/// The lines of a text, as [`str::lines`] has them. It decodes characters, and takes several times as long for a short
/// line.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let Some(end) = memchr::memchr(b'\n', rest.as_bytes()) else {
            return Some(std::mem::take(&mut rest)).filter(|last| !last.is_empty());
        };
        let line = &rest[..end];
        rest = &rest[end + 1..];
        Some(line.strip_suffix('\r').unwrap_or(line))
    })
}

/// Whether each byte is a letter or a digit of ASCII: one look instead of three comparisons.
static ALPHANUMERIC: [bool; 256] = {
    let mut alphanumeric = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        alphanumeric[byte] = (byte as u8).is_ascii_alphanumeric();
        byte += 1;
    }
    alphanumeric
};

/// The next run of letters and digits from a place on. Most letters are looked at as bytes.
pub(crate) fn next_word(text: &str, from: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let is_end = |byte: &u8| !ALPHANUMERIC[usize::from(*byte)];
    let mut start = from;
    while bytes.get(start).is_some_and(|byte| byte.is_ascii() && is_end(byte)) {
        start += 1;
    }
    let len = bytes[start..].iter().position(is_end).unwrap_or(bytes.len() - start);
    if bytes.get(start + len).is_none_or(u8::is_ascii) {
        return (len > 0).then_some(start..start + len);
    }
    let start = start + text[start..].find(char::is_alphanumeric)?;
    let len = text[start..].find(|c: char| !c.is_alphanumeric());
    Some(start..len.map_or(text.len(), |len| start + len))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn lines_are_those_of_the_standard_library(text in "[aé\r\n]{0,20}") {
            prop_assert!(lines(&text).eq(text.lines()), "{text:?}");
        }

        #[test]
        fn the_first_is_found_wherever_it_is(bytes in "[a-f.]{0,70}") {
            let expect = bytes.find('.');
            prop_assert_eq!(position(bytes.as_bytes(), |byte| byte == b'.'), expect);
        }
    }
}
