//! maenifold's `memory.db`, read as it lies there. Never written, never migrated, never mapped into memory.
//!
//! Nothing in it is trusted: it may be years old, half written, or made by somebody else. A row that makes no sense is
//! passed over; a table that is not there is an error with its name.

mod edges;
mod files;
mod open;
mod remembered;
mod stamp;
mod words;

use std::cell::OnceCell;
use std::collections::HashMap;
use std::path::PathBuf;

use rusqlite::{Connection, Params, Row};
use thiserror::Error;

pub use edges::Edge;
pub use files::FileRow;
pub use stamp::Stamp;
pub use words::rarity;

use crate::core::note::concept::Concept;
use open::Watch;
use remembered::Remembered;

/// Why the database cannot be asked.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum DatabaseError {
    #[error("there is no database at {}", .0.display())]
    Missing(PathBuf),
    /// The file has no bytes: maenifold made it, and never filled it.
    #[error("maenifold's database is empty; run its Sync")]
    Empty,
    #[error("{} is no SQLite database", .0.display())]
    NotADatabase(PathBuf),
    #[error("maenifold's database has no {0}")]
    NoTables(String),
    #[error("maenifold's database is busy: another process is writing it")]
    Busy,
    #[error("maenifold's database cannot be read: {0}")]
    Failed(String),
}

impl From<rusqlite::Error> for DatabaseError {
    fn from(error: rusqlite::Error) -> DatabaseError {
        use rusqlite::ErrorCode::{DatabaseBusy, DatabaseLocked};
        match error.sqlite_error_code() {
            Some(DatabaseBusy | DatabaseLocked) => DatabaseError::Busy,
            _ => DatabaseError::Failed(error.to_string()),
        }
    }
}

/// maenifold's database, open for reading.
///
/// All questions are put to one state of it. Not to be kept: while it is open, its writers cannot shorten their log.
pub struct Database {
    connection: Connection,
    columns: Columns,
    /// What the file looked like, where nothing but we ourselves can tell that it was written meanwhile.
    watch: Option<Watch>,
    is_behind_its_log: bool,
    /// Where its rows are remembered.
    remembered: Option<Remembered>,
    /// Concepts by the number of their notes, once somebody needs that.
    frequencies: OnceCell<Vec<(u32, Concept)>>,
}

/// The tables that questions are put to, with their columns.
type Columns = HashMap<&'static str, Vec<String>>;

/// What has to be there. Other columns came with later versions, and are done without.
const REQUIRED: [(&str, &[&str]); 4] = [
    ("file_content", &["file_path", "content", "last_indexed"]),
    ("concepts", &["concept_name"]),
    ("concept_mentions", &["concept_name", "source_file", "mention_count"]),
    ("concept_graph", &["concept_a", "concept_b", "co_occurrence_count", "source_files"]),
];

impl Database {
    /// Whether its latest rows could not be seen: they are in a log that only somebody who may write beside it can read.
    pub fn is_behind_its_log(&self) -> bool {
        self.is_behind_its_log
    }

    /// Whether all answers until now are those of one state. If not, it was written meanwhile, and has to be opened and
    /// asked again.
    pub fn is_unchanged(&self) -> bool {
        self.watch.as_ref().is_none_or(Watch::is_unchanged)
    }

    /// All rows of a query that make sense to `read`.
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

    fn has_column(&self, table: &str, column: &str) -> bool {
        self.columns.get(table).is_some_and(|columns| columns.iter().any(|name| name == column))
    }
}

/// Finds the columns of all tables that are needed.
fn columns(connection: &Connection) -> Result<Columns, DatabaseError> {
    let mut columns = Columns::new();
    for (table, required) in REQUIRED {
        // A view of that name could be anything.
        let sql = "SELECT t.name FROM sqlite_schema s JOIN pragma_table_info(s.name) t \
                   WHERE s.type = 'table' AND s.name = ?1";
        let mut statement = connection.prepare_cached(sql)?;
        let names = statement.query_map([table], |row| row.get(0))?;
        let names = names.collect::<Result<Vec<String>, _>>()?;
        if names.is_empty() {
            return Err(DatabaseError::NoTables(format!("table {table}")));
        }
        if let Some(missing) = required.iter().find(|&&column| !names.iter().any(|n| n == column)) {
            return Err(DatabaseError::NoTables(format!("column {table}.{missing}")));
        }
        columns.insert(table, names);
    }
    Ok(columns)
}
