//! Which source answers about the notes of maenifold's memory. The index answers about all other notes.

use serde::{Deserialize, Serialize};

use crate::core::named::named;

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

named!(Source { Index = "index", Database = "database", Cli = "cli" });

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

named!(SourcePreference { Auto = "auto", Index = "index", Database = "database", Cli = "cli" });

/// The source that answered, and why it was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceChoice {
    pub source: Source,
    pub because: String,
}
