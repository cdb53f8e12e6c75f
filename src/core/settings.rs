//! The settings in force, each with where it came from. Reads neither files nor environment.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::core::named::named;
use crate::core::session::{Announcement, Delivery};
use crate::core::source::SourcePreference;
use crate::core::tokens::encoding::Encoding;

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

/// Everything that can be set, resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The folders of notes, in order; whether they exist is not asked here.
    pub vaults: Vec<Setting<VaultSpec>>,
    /// Whether maenifold's memory and the project's own notes are vaults without being named.
    pub default_vaults: Setting<bool>,
    /// How links become concepts.
    pub links: Setting<LinkStyle>,
    /// Files above this size are left out.
    pub max_file_bytes: Setting<u64>,
    /// Names for folders, used by handoffs.
    pub channels: Vec<Setting<ChannelRule>>,
    /// A channel that overrides all rules.
    pub channel: Setting<Option<String>>,
    /// How many tokens a session's context may have.
    pub token_limit: Setting<u32>,
    /// Who is asked about the notes of maenifold's memory.
    pub source: Setting<SourcePreference>,
    /// How long one call of the maenifold CLI may take, in milliseconds.
    pub cli_timeout_ms: Setting<u64>,
    /// How tokens are counted.
    pub encoding: Setting<Encoding>,
    /// How long making a session's context may take, in milliseconds.
    pub deadline_ms: Setting<u64>,
    /// Whether sessions get context at all.
    pub enabled: Setting<bool>,
    /// Which way a bridge gives it to them.
    pub delivery: Setting<Delivery>,
    /// How people hear of it.
    pub notice: Setting<Announcement>,
    /// How many tokens a session is given again after a compaction.
    pub compaction_token_limit: Setting<u32>,
    /// The OpenCode servers that the service follows.
    pub servers: Setting<Vec<String>>,
    /// What becomes of handoffs.
    pub handoff: HandoffSettings,
}

/// What becomes of handoffs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandoffSettings {
    /// Whether they are written and given by themselves.
    pub enabled: Setting<bool>,
    /// Whether a session is given one at its start.
    pub inject_on_start: Setting<bool>,
    /// Whether a session that was cleared by its user is given context again.
    pub inject_on_clear: Setting<bool>,
    /// How many days one is good for that stays for further sessions.
    pub max_age_days: Setting<u32>,
    /// A session with fewer prompts leaves none at its end.
    pub min_turns: Setting<u32>,
    /// The program that sums a session up, with its arguments; none where it is empty.
    pub summariser: Setting<Vec<String>>,
    /// Folders outside of a project from which listed files may be read.
    pub allow: Setting<Vec<PathBuf>>,
}
