//! Bytes of a text that are looked for among many others.

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
