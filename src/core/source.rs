//! Which source answers about the notes of maenifold's memory. The index answers about all other notes.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::core::named::named;

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

impl SourcePreference {
    /// Whether the user asked for a source that may take long, and so waits for it to the end.
    pub fn insists_on_slow(self) -> bool {
        self == SourcePreference::Cli
    }
}

/// The source that answered, and why it was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceChoice {
    /// Its name.
    pub source: Cow<'static, str>,
    pub because: String,
}
