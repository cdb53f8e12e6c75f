//! Which source answers about the notes of maenifold's memory. The index answers about all other notes.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::core::named::named;

/// The source that the user prefers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SourcePreference {
    /// The index. maenifold's database before there is one; with `rank = "frequency"` also while it is up to date with
    /// its notes. Never maenifold's program.
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

/// The source that answered, and the reason for the choice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceChoice {
    pub source: Cow<'static, str>,
    pub because: String,
}

impl SourceChoice {
    /// The reason where maenifold is not in use.
    pub const NO_MAENIFOLD: &str = "there is no maenifold here";

    /// Whether there was more than one source to choose from.
    pub fn is_choice(&self) -> bool {
        self.because != SourceChoice::NO_MAENIFOLD
    }
}
