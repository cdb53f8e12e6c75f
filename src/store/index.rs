//! The graph index: one SQLite file per set of vaults, derived from the notes and never the only
//! copy of anything.

mod build;
mod bulk;
mod changes;
mod edges;
mod gone;
mod history;
mod in_use;
mod known;
mod links;
mod place;
mod ranking;
mod read;
mod rows;
mod store;
mod update;
mod worktree;

use serde::Serialize;
use thiserror::Error;

pub use build::Builder;
pub use changes::Changes;
pub use known::{KnownFile, KnownFiles};
pub use read::{Index, Nearness, Neighbour, NoteCard, RankedCard, ThreadCard};
pub use store::{Store, Unusable, WriterLock};
pub use update::{Outcome, Updater};

use crate::core::note::vault::Vault;
use crate::core::settings::Settings;

/// Identifies our files among all SQLite files: "kgcx" in ASCII.
const APPLICATION_ID: i32 = 0x6b67_6378;
/// Increases with every change of the schema, or of the meaning of stored data.
const SCHEMA_VERSION: i32 = 11;
const TABLES: &str = include_str!("../../schema/index/0001_index.sql");
const LOOKUPS: &str = include_str!("../../schema/index/0002_lookups.sql");

/// The place in errors that come from SQLite, which do not name it.
const CACHE: &str = "the cache folder (see `kgctx config`)";

/// The id of a note in the index; ids are in the order of time.
pub type NoteId = i64;

#[derive(Debug, Error)]
pub enum IndexError {
    /// The file is damaged and must be rebuilt.
    #[error("the index is damaged: {0}")]
    Damaged(String),
    #[error("the index is busy: another process is writing it")]
    Busy,
    #[error(
        "no space left for the index in {0}; free some space or set KGCTX_HOME to another disk"
    )]
    Full(String),
    #[error(
        "cannot use the index in {place}: {cause}; check the disk, or set KGCTX_HOME to another one"
    )]
    Io { place: String, cause: std::io::Error },
    /// There is no free id between two notes; the index must be rebuilt.
    #[error("the index has no room between two notes")]
    Crowded,
}

impl From<rusqlite::Error> for IndexError {
    fn from(error: rusqlite::Error) -> IndexError {
        use rusqlite::ErrorCode::{
            CannotOpen, DatabaseBusy, DatabaseLocked, DiskFull, ReadOnly, SystemIoFailure,
        };
        match error.sqlite_error_code() {
            Some(DatabaseBusy | DatabaseLocked) => IndexError::Busy,
            Some(DiskFull) => IndexError::Full(CACHE.to_owned()),
            Some(ReadOnly | CannotOpen | SystemIoFailure) => IndexError::Io {
                place: CACHE.to_owned(),
                cause: std::io::Error::other(error.to_string()),
            },
            // Our statements are fixed and tested: any other error comes from the file.
            _ => IndexError::Damaged(error.to_string()),
        }
    }
}

/// The numbers of items in the index.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    pub notes: i64,
    pub concepts: i64,
    /// Links that count.
    pub links: i64,
    /// Pairs of concepts that share a note.
    pub edges: i64,
    /// Notes with remarks.
    #[serde(skip)]
    pub remarked: i64,
}

/// Identifies the inputs of an index; an index with another fingerprint is rebuilt.
///
/// Includes the program's version: a release may parse notes differently, and a rebuild takes a
/// second.
pub fn fingerprint(vaults: &[Vault], settings: &Settings) -> String {
    let max_file_bytes = settings.max_file_bytes.value;
    let files = if settings.uncommitted_files.value.are_looked_for() { " files" } else { "" };
    let vaults: Vec<String> = vaults
        .iter()
        .map(|Vault { name, root, style, .. }| format!("{name}={} ({style})", root.display()))
        .collect();
    format!(
        "kgctx {} schema {SCHEMA_VERSION} max {max_file_bytes}{files} vaults {}",
        env!("CARGO_PKG_VERSION"),
        vaults.join("|")
    )
}
