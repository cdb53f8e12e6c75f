//! The signs without which most scanners find nothing. Most texts are names of links and lines of notes, and looking once
//! for all signs costs less than one search that finds nothing.

use super::sign::FULL_WIDTH;

/// Longer texts have most signs.
const LONGEST_LOOKED_AT: usize = 256;

const DASH: u8 = 1;
/// `$` and `{`, with which hashes begin.
const HASH: u8 = 1 << 1;
/// `=` and `:`, also of full width.
const ASSIGNMENT: u8 = 1 << 2;
/// `|` and `>`, which end a cell or a tag.
const CELL: u8 = 1 << 3;
const BLANK: u8 = 1 << 4;
const QUOTE: u8 = 1 << 5;

/// For each byte the sign that it is.
static SIGNS: [u8; 256] = {
    let mut signs = [0; 256];
    signs[b'-' as usize] = DASH;
    signs[b'$' as usize] = HASH;
    signs[b'{' as usize] = HASH;
    signs[b'=' as usize] = ASSIGNMENT;
    signs[b':' as usize] = ASSIGNMENT;
    signs[b'|' as usize] = CELL;
    signs[b'>' as usize] = CELL;
    signs[b' ' as usize] = BLANK;
    signs[b'"' as usize] = QUOTE;
    signs[b'\'' as usize] = QUOTE;
    signs[FULL_WIDTH as usize] = ASSIGNMENT;
    signs
};

/// The signs that a text has, or may have.
#[derive(Debug, Clone, Copy)]
pub(super) struct Signs(u8);

impl Signs {
    pub(super) fn of(text: &[u8]) -> Signs {
        match text.len() {
            0..=LONGEST_LOOKED_AT => {
                Signs(text.iter().fold(0, |signs, byte| signs | SIGNS[usize::from(*byte)]))
            }
            _ => Signs(u8::MAX),
        }
    }

    pub(super) fn has_dash(self) -> bool {
        self.0 & DASH != 0
    }

    pub(super) fn has_hash(self) -> bool {
        self.0 & HASH != 0
    }

    pub(super) fn has_assignment(self) -> bool {
        self.0 & ASSIGNMENT != 0
    }

    pub(super) fn has_cell(self) -> bool {
        self.0 & CELL != 0
    }

    pub(super) fn has_quote(self) -> bool {
        self.0 & QUOTE != 0
    }

    pub(super) fn has_blank(self) -> bool {
        self.0 & BLANK != 0
    }
}
