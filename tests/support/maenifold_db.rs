//! Makes maenifold's database: its tables, and how it writes moments.

use std::path::Path;

use kgctx::core::time::Timestamp;
use rusqlite::Connection;

const TABLES: &str = include_str!("../stand-in/memory.sql");

/// Makes an empty database with all tables, in the mode that maenifold uses.
pub(crate) fn create(path: &Path) -> Connection {
    let connection = Connection::open(path).unwrap();
    connection.pragma_update(None, "journal_mode", "WAL").unwrap();
    connection.execute_batch(TABLES).unwrap();
    connection
}

/// A moment as maenifold writes it: in UTC, with seven digits of a second.
pub(crate) fn moment(seconds: u64, ticks: u32) -> String {
    let whole = Timestamp::from_seconds(seconds as i64).to_string();
    format!("{}.{ticks:07}Z", whole.trim_end_matches('Z'))
}
