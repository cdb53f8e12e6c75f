//! The budget of a context: tokens as the model counts them, characters as the host counts them.

use std::ops::{Add, AddAssign, Sub};

use serde::{Deserialize, Serialize};

/// The upper limit for the text of one context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    pub tokens: usize,
    /// `None` if the host does not count characters.
    pub chars: Option<usize>,
}

impl Budget {
    pub fn holds(self, size: Size) -> bool {
        size.tokens <= self.tokens && self.chars.is_none_or(|chars| size.chars <= chars)
    }
}

/// The size of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Size {
    pub tokens: usize,
    /// UTF-16 units, which is how hosts count; never fewer than the number of Unicode characters.
    pub chars: usize,
}

impl Add for Size {
    type Output = Size;

    fn add(self, other: Size) -> Size {
        Size { tokens: self.tokens + other.tokens, chars: self.chars + other.chars }
    }
}

impl AddAssign for Size {
    fn add_assign(&mut self, other: Size) {
        *self = *self + other;
    }
}

impl Sub for Size {
    type Output = Size;

    fn sub(self, other: Size) -> Size {
        Size {
            tokens: self.tokens.saturating_sub(other.tokens),
            chars: self.chars.saturating_sub(other.chars),
        }
    }
}
