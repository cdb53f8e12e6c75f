//! A source: who is asked about the notes of maenifold's memory. All other notes are asked of the index.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Who answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// The index that kgctx keeps of the notes themselves.
    Index,
    /// maenifold's own `memory.db`, read as it lies there.
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

/// Who is to be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SourceWish {
    /// The database where it knows all notes as they are, else the program, else the index.
    #[default]
    Auto,
    /// The index alone.
    Index,
    /// The database, even one that is behind its notes.
    Database,
    /// The program.
    Cli,
}

impl SourceWish {
    /// What can be wished for.
    pub const NAMES: &str = "auto, index, database or cli";

    /// Reads a wish as it is written in settings.
    pub fn parse(text: &str) -> Option<SourceWish> {
        match text {
            "auto" => Some(SourceWish::Auto),
            "index" => Some(SourceWish::Index),
            "database" => Some(SourceWish::Database),
            "cli" => Some(SourceWish::Cli),
            _ => None,
        }
    }
}

/// Who answered, and why they were asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceChoice {
    /// Who answered.
    pub source: Source,
    /// Why it was them.
    pub because: String,
}
