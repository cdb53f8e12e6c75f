//! maenifold's `memory.db`, read in place. Never written, never migrated, never mapped into memory.
//!
//! Its content is untrusted: it may be years old, half written, or from another author. Invalid rows are skipped; a
//! missing table is an error that names it.

mod edges;
mod files;
mod open;
mod remembered;
mod stamp;
mod words;

use std::cell::OnceCell;
use std::fmt::Display;

use rusqlite::{Connection, Params, Row};
use thiserror::Error;

pub use edges::Edge;
pub use files::FileRow;
pub use stamp::Stamp;
pub use words::rarity;

use crate::core::note::concept::Concept;
use open::Watch;
use remembered::Remembered;

/// Why the database cannot be used.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct DatabaseError(String);

impl DatabaseError {
    fn failed(cause: impl Display) -> DatabaseError {
        DatabaseError(format!("maenifold's database cannot be read: {cause}"))
    }
}

impl From<rusqlite::Error> for DatabaseError {
    fn from(error: rusqlite::Error) -> DatabaseError {
        use rusqlite::ErrorCode::{DatabaseBusy, DatabaseLocked};
        match error.sqlite_error_code() {
            Some(DatabaseBusy | DatabaseLocked) => DatabaseError(
                "maenifold's database is busy: another process is writing it".to_owned(),
            ),
            _ => DatabaseError::failed(error),
        }
    }
}

/// maenifold's database, open for reading.
///
/// All queries read one state. Do not keep it open: meanwhile, its writers cannot truncate their log.
pub struct Database {
    connection: Connection,
    /// Detects a write during an immutable read, which SQLite does not detect; `None` for other reads.
    watch: Option<Watch>,
    /// Whether the latest rows are missing: they are in a log that only a process with write access to the folder can
    /// read.
    pub is_behind_its_log: bool,
    /// The cache of its rows.
    remembered: Option<Remembered>,
    /// Concepts with the number of their notes, computed on first use.
    frequencies: OnceCell<Vec<(u32, Concept)>>,
}

/// The tables that are queried, with their required columns. Later versions added others, which are optional.
const REQUIRED: [(&str, &[&str]); 4] = [
    ("file_content", &["file_path", "content", "last_indexed"]),
    ("concepts", &["concept_name"]),
    ("concept_mentions", &["concept_name", "source_file", "mention_count"]),
    ("concept_graph", &["concept_a", "concept_b", "co_occurrence_count", "source_files"]),
];

impl Database {
    /// Whether all answers so far are from one state. If not, the database was written meanwhile: open it and ask
    /// again.
    pub fn is_unchanged(&self) -> bool {
        self.watch.as_ref().is_none_or(Watch::is_unchanged)
    }

    /// All rows of a query for which `read` returns a value.
    fn select<T>(
        &self,
        sql: &str,
        parameters: impl Params,
        mut read: impl FnMut(&Row<'_>) -> rusqlite::Result<Option<T>>,
    ) -> Result<Vec<T>, DatabaseError> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query(parameters)?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            found.extend(read(row)?);
        }
        Ok(found)
    }

    /// The columns of a table; none if there is no such table.
    fn columns(&self, table: &str) -> Result<Vec<String>, DatabaseError> {
        // A view of that name could be anything.
        let sql = "SELECT t.name FROM sqlite_schema s JOIN pragma_table_info(s.name) t \
                   WHERE s.type = 'table' AND s.name = ?1";
        self.select(sql, [table], |row| row.get(0))
    }

    fn check_tables(&self) -> Result<(), DatabaseError> {
        let has_no =
            |what: String| Err(DatabaseError(format!("maenifold's database has no {what}")));
        for (table, required) in REQUIRED {
            let names = self.columns(table)?;
            if names.is_empty() {
                return has_no(format!("table {table}"));
            }
            let is_missing = |column: &&&str| !names.contains(&column.to_string());
            if let Some(missing) = required.iter().find(is_missing) {
                return has_no(format!("column {table}.{missing}"));
            }
        }
        Ok(())
    }
}
