//! How much room a session's context has: tokens as its model counts them, characters as its host does.

use std::ops::{Add, AddAssign, Sub};

use serde::{Deserialize, Serialize};

/// The room for one context, which the whole of its text never exceeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    pub tokens: usize,
    /// Only where the host counts characters.
    pub chars: Option<usize>,
}

impl Budget {
    /// Whether something of this size has room.
    pub fn holds(self, size: Size) -> bool {
        size.tokens <= self.tokens && self.chars.is_none_or(|chars| size.chars <= chars)
    }
}

/// What a text takes up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Size {
    pub tokens: usize,
    /// Characters as hosts count them: UTF-16 units, never fewer than Unicode's own.
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
