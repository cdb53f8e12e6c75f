//! How much room a session's context has: tokens as its model counts them, characters as its host does.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

use serde::{Deserialize, Serialize};

/// The program in which an agent runs, as far as it limits what is given to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Host {
    /// No limits of its own.
    #[default]
    Plain,
    /// OpenCode takes any length.
    Opencode,
    /// Claude Code replaces more than 10,000 characters by a preview, without a word.
    ClaudeCode,
    /// Codex cuts after 2,500 tokens.
    Codex,
}

impl Host {
    /// Every host.
    pub const ALL: [Host; 4] = [Host::Plain, Host::Opencode, Host::ClaudeCode, Host::Codex];

    /// Narrows a number of tokens to what the host takes, with some room for what it adds itself.
    pub fn budget(self, tokens: usize) -> Budget {
        match self {
            Host::Plain | Host::Opencode => Budget { tokens, chars: None },
            Host::ClaudeCode => Budget { tokens, chars: Some(9_500) },
            Host::Codex => Budget { tokens: tokens.min(2_400), chars: None },
        }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Host::Plain => "plain",
            Host::Opencode => "opencode",
            Host::ClaudeCode => "claude-code",
            Host::Codex => "codex",
        })
    }
}

/// The room for one context, which the whole of its text never exceeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    /// Tokens at most.
    pub tokens: usize,
    /// Characters at most, where the host counts them.
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
    /// Tokens.
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
