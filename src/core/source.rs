//! Which source answers about the notes of maenifold's memory. The index answers about all other notes.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The source that answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// The index that kgctx keeps of the notes themselves.
    Index,
    /// maenifold's own `memory.db`.
    Database,
    /// The `maenifold` program.
    Cli,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Source::Index => "index",
            Source::Database => "database",
            Source::Cli => "cli",
        })
    }
}

/// The source that the user prefers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SourcePreference {
    /// The database while it is up to date with its notes, else the program, else the index.
    #[default]
    Auto,
    /// The index alone.
    Index,
    /// The database, even one that is behind its notes.
    Database,
    /// The program.
    Cli,
}

impl SourcePreference {
    pub const NAMES: &str = "auto, index, database or cli";

    /// Parses a preference as settings write it.
    pub fn parse(text: &str) -> Option<SourcePreference> {
        match text {
            "auto" => Some(SourcePreference::Auto),
            "index" => Some(SourcePreference::Index),
            "database" => Some(SourcePreference::Database),
            "cli" => Some(SourcePreference::Cli),
            _ => None,
        }
    }
}

/// The source that answered, and why it was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceChoice {
    pub source: Source,
    pub because: String,
}
