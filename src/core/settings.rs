//! The settings in force, each with where it came from. Reads neither files nor environment.

mod declare;
mod list;
mod table;

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use self::declare::WrongVariable;
pub use self::list::ListedSetting;
pub use self::table::{HandoffFile, HandoffSettings, Settings, SettingsFile, VaultEntry};
use crate::core::named::named;

/// How the text inside `[[…]]` becomes a concept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LinkStyle {
    /// As maenifold: `[[a|b]]` and `[[a#b]]` are whole names.
    Maenifold,
    /// As Obsidian: what follows `|` or `#` is not part of the name.
    Obsidian,
}

named!(LinkStyle { Maenifold = "maenifold", Obsidian = "obsidian" });

/// Where a value came from; later ones win.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// Built in.
    Default,
    /// The user's `config.toml`.
    UserFile(PathBuf),
    /// The project's `kgctx.toml`.
    ProjectFile(PathBuf),
    /// An environment variable.
    Environment(&'static str),
    /// A command-line flag.
    Flag(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Default => f.write_str("default"),
            Origin::UserFile(path) | Origin::ProjectFile(path) => write!(f, "{}", path.display()),
            Origin::Environment(name) => f.write_str(name),
            Origin::Flag(name) => f.write_str(name),
        }
    }
}

/// A value and its origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting<T> {
    /// The value in force.
    pub value: T,
    /// Who set it.
    pub origin: Origin,
}

impl<T> Setting<T> {
    /// The built-in value.
    pub fn default(value: T) -> Setting<T> {
        Setting { value, origin: Origin::Default }
    }

    /// Overrides the value, if there is one.
    pub fn set(&mut self, value: Option<T>, origin: Origin) {
        if let Some(value) = value {
            *self = Setting { value, origin };
        }
    }
}

/// A vault as it was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VaultSpec {
    /// The first part of its notes' addresses.
    pub name: String,
    /// The folder.
    pub path: PathBuf,
}

/// A name for every folder at or below `path`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChannelRule {
    /// The folder.
    pub path: PathBuf,
    /// The channel's name.
    pub channel: String,
}
