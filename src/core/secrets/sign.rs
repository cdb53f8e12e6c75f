//! The sign between a name and its value: `=`, `:`, `:=`, `=>`, `::`, `：`.

use super::runs::{blanks_before, leading};

/// The first byte of the signs of full width.
pub(super) const FULL_WIDTH: u8 = 0xef;
/// More blanks are no gap.
const MOST_BLANKS: usize = 64;

/// A sign, and where it is.
pub(super) struct Sign {
    pub(super) start: usize,
    /// Where what belongs to it ends.
    pub(super) end: usize,
    pub(super) is_colon: bool,
}

impl Sign {
    /// The sign at `start`, if there is one.
    pub(super) fn of(text: &[u8], start: usize) -> Option<Self> {
        let rest = &text[start..];
        match rest[0] {
            FULL_WIDTH => match rest {
                [_, 0xbc, width @ (0x9a | 0x9d), ..] => {
                    Some(Self { start, end: start + 3, is_colon: *width == 0x9a })
                }
                _ => None,
            },
            // `https://` and `path::of::code` are the most frequent colons, and cheap to know.
            b':' if rest.starts_with(b"://") || is_path(text, start) => None,
            first => {
                // `:=`, `=>`, `==`.
                let n_signs = leading(rest, 3, |byte| matches!(byte, b'=' | b':' | b'>'));
                let has_blank = blanks_before(&text[..start], 1) > 0;
                // Without a blank around them, those behind the first belong to the value.
                let is_operator = has_blank
                    || rest.starts_with(b":=")
                    || rest.starts_with(b"::")
                    || rest.get(n_signs) == Some(&b' ');
                let end = start + if is_operator { n_signs } else { 1 };
                // `NAME ?= value`; and `Name` above the line that a colon begins.
                let is_mark = |mark: &u8| b"?+\n".contains(mark);
                let at_mark = start > 0 && is_mark(&text[start - 1]);
                Some(Self { start: start - usize::from(at_mark), end, is_colon: first == b':' })
            }
        }
    }

    /// Whether a variable in capitals stands before it, without a blank: `NAME=`. Its value may be a word.
    pub(super) fn is_of_variable(&self, text: &[u8]) -> bool {
        let before = text[..self.start].last();
        self.is_joined(text)
            && before.is_some_and(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
    }

    /// Whether it is a `=` with no blank around it.
    pub(super) fn is_joined(&self, text: &[u8]) -> bool {
        !self.is_colon
            && self.end == self.start + 1
            && blanks_before(&text[..self.start], MOST_BLANKS) == 0
            && !matches!(text.get(self.end), Some(b' ' | b'\t'))
    }

    /// Whether it is a `=` with a blank only behind it.
    pub(super) fn is_ended_by_blank(&self, text: &[u8]) -> bool {
        !self.is_colon
            && self.end == self.start + 1
            && blanks_before(&text[..self.start], MOST_BLANKS) == 0
            && matches!(text.get(self.end), Some(b' ' | b'\t'))
    }
}

/// Whether a colon is one of two that join names: `std::string`. Before a value, a blank follows them.
fn is_path(text: &[u8], start: usize) -> bool {
    let is_second = text[..start].ends_with(b":");
    let is_first = text[start..].starts_with(b"::");
    is_second || is_first && !matches!(text.get(start + 2), Some(b' ' | b'\t'))
}
