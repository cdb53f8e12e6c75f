//! Marks: which lines of a note its last change touched. Only hashes of the old lines are kept.

use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::core::quote::lines::BodyLine;

/// The hashes of a note's lines, in order; white space around them does not count. They are equal on every machine, and
/// a collision only moves a quote.
pub fn hashes(lines: &[BodyLine<'_>]) -> Vec<u32> {
    lines.iter().map(|line| crc32fast::hash(line.raw.trim().as_bytes())).collect()
}

/// The lines that a change touched: those that it added or replaced, and where it only removed something, the two
/// lines that now meet.
pub fn touched(old: &[u32], new: &[u32]) -> Vec<usize> {
    let mut touched = Vec::new();
    for change in capture_diff_slices(Algorithm::Myers, old, new) {
        match change {
            DiffOp::Equal { .. } => {}
            DiffOp::Delete { new_index, .. } => {
                touched.extend(new_index.checked_sub(1));
                touched.extend(Some(new_index).filter(|&line| line < new.len()));
            }
            DiffOp::Insert { new_index, new_len, .. }
            | DiffOp::Replace { new_index, new_len, .. } => {
                touched.extend(new_index..new_index + new_len);
            }
        }
    }
    touched.sort_unstable();
    touched.dedup();
    touched
}

/// The stored form of hashes.
pub fn to_bytes(hashes: &[u32]) -> Vec<u8> {
    let hashes: Vec<[u8; 4]> = hashes.iter().map(|hash| hash.to_le_bytes()).collect();
    hashes.into_flattened()
}

/// The hashes behind their stored form.
pub fn from_bytes(bytes: &[u8]) -> Vec<u32> {
    bytes
        .chunks_exact(4)
        .map(|four| u32::from_le_bytes([four[0], four[1], four[2], four[3]]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::quote::lines::body_lines;
    use proptest::prelude::*;

    #[track_caller]
    fn check(old: &str, new: &str, expect: &[usize]) {
        let of = |text: &str| hashes(&body_lines(&text.replace(' ', "\n")));
        assert_eq!(touched(&of(old), &of(new)), expect, "{old} -> {new}");
    }

    #[test]
    fn a_change_touches_what_it_added_and_where_it_removed() {
        check("a b c", "a x c", &[1]);
        check("a b c", "a b c d e", &[3, 4]);
        check("a b c", "a c", &[0, 1]);
        check("a b", "a", &[0]);
        check("a b c", "a b c", &[]);
        check("", "a", &[0]);
    }

    #[test]
    fn white_space_around_a_line_does_not_count() {
        let of = |text: &str| hashes(&body_lines(text));
        assert_eq!(of("a b\n\n c"), of(" a b \nc"));
        assert_ne!(of("ab"), of("a b"));
    }

    proptest! {
        #[test]
        fn hashes_survive_storage(hashes in prop::collection::vec(any::<u32>(), 0..20)) {
            prop_assert_eq!(from_bytes(&to_bytes(&hashes)), hashes);
        }
    }
}
