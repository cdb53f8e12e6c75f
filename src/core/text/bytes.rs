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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_is_found_wherever_it_is(bytes in "[a-f.]{0,70}") {
            let expect = bytes.find('.');
            prop_assert_eq!(position(bytes.as_bytes(), |byte| byte == b'.'), expect);
        }
    }
}
