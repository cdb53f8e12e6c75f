//! The effective settings, each with its origin. Reads neither files nor environment.

mod declare;
mod list;
mod table;

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use self::list::ListedSetting;
pub use self::table::{HandoffFile, HandoffSettings, Settings, SettingsFile, VaultEntry};
use crate::core::named::named;

/// How the text inside `[[…]]` becomes a concept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LinkStyle {
    /// Like maenifold: `[[a|b]]` and `[[a#b]]` are whole names.
    Maenifold,
    /// Like Obsidian: the text after `|` or `#` is not part of the name.
    Obsidian,
}

named!(LinkStyle { Maenifold = "maenifold", Obsidian = "obsidian" });

/// The origin of a value, in ascending precedence.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// Built in.
    Default,
    /// The user's `config.toml`.
    UserFile(PathBuf),
    /// The project's `kgctx.toml`.
    ProjectFile(PathBuf),
    Environment(&'static str),
    Flag(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Default => f.write_str("default"),
            Origin::UserFile(path) | Origin::ProjectFile(path) => write!(f, "{}", path.display()),
            Origin::Environment(name) | Origin::Flag(name) => f.write_str(name),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting<T> {
    pub value: T,
    pub origin: Origin,
}

impl<T> Setting<T> {
    /// The built-in value.
    pub fn default(value: T) -> Setting<T> {
        Setting { value, origin: Origin::Default }
    }

    /// Overrides the value with `Some`; keeps it with `None`.
    pub fn set(&mut self, value: Option<T>, origin: Origin) {
        if let Some(value) = value {
            *self = Setting { value, origin };
        }
    }
}

/// A vault as configured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VaultSpec {
    /// The first part of the addresses of its notes.
    pub name: String,
    pub path: PathBuf,
    /// Whether only the notes directly in its folder belong to it.
    pub is_flat: bool,
}

/// Assigns a channel to every folder at or below `path`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChannelRule {
    pub path: PathBuf,
    pub channel: String,
}
