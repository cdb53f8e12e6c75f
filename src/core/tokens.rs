//! Counts the tokens of a text, exactly as the models of an encoding would. Turns no text into token ids, and none back.
//!
//! A text is cut into pieces by its encoding's pattern (`o200k`, `cl100k`), and each piece merged into tokens on its
//! own (`merge`). The tables come out of the build script and lie in the binary as they are used, so that the first
//! count of a process costs no more than reading the pages that it touches.

mod cl100k;
pub mod encoding;
mod layout;
mod merge;
mod o200k;
mod scan;
mod vocabulary;

use std::iter;

use crate::core::tokens::encoding::Encoding;
use scan::Scan;
use vocabulary::Vocabulary;

/// Returns how many tokens `text` is. Never more than it has bytes.
///
/// Special tokens are ordinary text: `<|endoftext|>` in a note ends nothing.
pub fn count(encoding: Encoding, text: &str) -> usize {
    match encoding {
        Encoding::O200kBase => count_pieces(text, o200k::end_of_piece, &vocabulary::O200K_BASE),
        Encoding::Cl100kBase => count_pieces(text, cl100k::end_of_piece, &vocabulary::CL100K_BASE),
    }
}

fn count_pieces(
    text: &str,
    end_of_piece: impl Fn(Scan<'_>, usize) -> usize,
    vocabulary: &Vocabulary,
) -> usize {
    pieces(text, end_of_piece).map(|piece| merge::count(vocabulary, piece.as_bytes())).sum()
}

fn pieces(
    text: &str,
    end_of_piece: impl Fn(Scan<'_>, usize) -> usize,
) -> impl Iterator<Item = &str> {
    let mut place = 0;
    iter::from_fn(move || {
        let start = place;
        if start == text.len() {
            return None;
        }
        place = end_of_piece(Scan(text), start);
        debug_assert!(place > start, "no piece at {start} of {text:?}");
        Some(&text[start..place])
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::named::Named;

    #[test]
    fn special_tokens_are_text() {
        for &encoding in Encoding::ALL {
            assert_eq!(count(encoding, ""), 0);
            assert_eq!(count(encoding, "hello world"), 2);
            assert_eq!(count(encoding, "<|endoftext|>"), 7);
        }
    }

    #[test]
    fn white_space_and_a_slash_can_join_the_line_before() {
        #[track_caller]
        fn check(encoding: Encoding, line: &str, next: &str, apart: usize, together: usize) {
            assert_eq!(count(encoding, line) + count(encoding, next), apart);
            assert_eq!(count(encoding, &format!("{line}{next}")), together);
        }
        check(Encoding::O200kBase, "}\n", "/", 2, 1);
        check(Encoding::O200kBase, "=\n", "/*", 2, 3);
        check(Encoding::O200kBase, "a\n", "\nb", 4, 3);
        check(Encoding::Cl100kBase, "a\n", "\nb", 4, 3);
    }
}
