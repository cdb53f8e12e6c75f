//! Which source answers about the notes of maenifold's memory. The index answers about all other notes.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::core::named::named;

/// The source that the user prefers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SourcePreference {
    /// maenifold's database while it is up to date with its notes, otherwise maenifold's program, otherwise the
    /// index.
    #[default]
    Auto,
    /// Only the index.
    Index,
    /// maenifold's database, even if it is behind its notes.
    Database,
    /// maenifold's program.
    Cli,
}

named!(SourcePreference { Auto = "auto", Index = "index", Database = "database", Cli = "cli" });

impl SourcePreference {
    /// Whether the user chose a slow source, and therefore waits until it is done.
    pub fn insists_on_slow(self) -> bool {
        self == SourcePreference::Cli
    }
}

/// The source that answered, and the reason for the choice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceChoice {
    pub source: Cow<'static, str>,
    pub because: String,
}
