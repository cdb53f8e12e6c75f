//! The effective settings, each with its origin. Reads neither files nor environment.

mod declare;
mod list;
pub mod percent;
mod table;

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use self::list::ListedSetting;
pub use self::table::{
    HandoffFile, HandoffSettings, MonitorSettings, Settings, SettingsFile, VaultEntry,
};
use crate::core::named::named;

/// How the notes of a vault are written: what a `[[link]]` names, what a note is called, and what is no note.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LinkStyle {
    /// Like maenifold: `[[a|b]]` and `[[a#b]]` are whole names, and every `.md` file is a note.
    Maenifold,
    /// Like Obsidian: `[[note#heading|label]]`.
    Obsidian,
    /// Like Logseq: `[[page]]`, `#tag`, and `property:: value`.
    Logseq,
    /// Like Dendron: `[[label|note#heading]]`.
    Dendron,
    /// Markdown of no known program: a link is read as what it most likely means.
    Plain,
}

named!(LinkStyle {
    Maenifold = "maenifold",
    Obsidian = "obsidian",
    Logseq = "logseq",
    Dendron = "dendron",
    Plain = "plain",
});

impl LinkStyle {
    /// The program for notes whose signs a vault of this style has.
    pub fn program(self) -> Option<&'static str> {
        match self {
            LinkStyle::Obsidian => Some("Obsidian"),
            LinkStyle::Logseq => Some("Logseq"),
            LinkStyle::Dendron => Some("Dendron"),
            LinkStyle::Maenifold | LinkStyle::Plain => None,
        }
    }

    /// Whether a link may name anything, and need not lead to a note.
    pub fn has_free_names(self) -> bool {
        matches!(self, LinkStyle::Maenifold | LinkStyle::Plain)
    }
}

/// The style that the user prefers, for all vaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LinkPreference {
    /// Each vault's own, told by its signs.
    #[default]
    Auto,
    Obsidian,
    Logseq,
    Dendron,
    Maenifold,
}

named!(LinkPreference {
    Auto = "auto",
    Obsidian = "obsidian",
    Logseq = "logseq",
    Dendron = "dendron",
    Maenifold = "maenifold",
});

impl LinkPreference {
    /// The style of all vaults; `None` if each has its own.
    pub fn style(self) -> Option<LinkStyle> {
        match self {
            LinkPreference::Auto => None,
            LinkPreference::Obsidian => Some(LinkStyle::Obsidian),
            LinkPreference::Logseq => Some(LinkStyle::Logseq),
            LinkPreference::Dendron => Some(LinkStyle::Dendron),
            LinkPreference::Maenifold => Some(LinkStyle::Maenifold),
        }
    }
}

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
