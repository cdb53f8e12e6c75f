//! The database's full-text index, which maenifold fills and never queries.
//!
//! It contains rows of removed notes: maenifold replaces the row of a note without updating the index. Reading any
//! column of such a row is an error ("malformed"), so only row numbers are read. A row number can meanwhile belong to
//! another note, so callers must verify that the note contains the word.

use super::{Database, DatabaseError};

/// The weights of title, text and summary; title and text as in the index of kgctx.
const BM25: &str = "-bm25(file_search, 8.0, 1.0, 1.0)";
/// The row in which FTS5 stores its number of rows.
const TOTALS: &str = "SELECT block FROM file_search_data WHERE id = 1";

impl Database {
    /// The rows that may match an FTS5 expression.
    pub fn rows_with(&self, expression: &str) -> Result<Vec<i64>, DatabaseError> {
        let sql = "SELECT rowid FROM file_search WHERE file_search MATCH ?1";
        self.select(sql, [expression], |row| row.get(0))
    }

    /// The rows that may contain a phrase, each with its bm25 score before the factor for the rarity of the phrase: 0
    /// to 2.2.
    pub fn strengths(&self, phrase: &str) -> Result<Vec<(i64, f64)>, DatabaseError> {
        let totals =
            self.select(TOTALS, [], |row| Ok(row.get_ref(0)?.as_blob().ok().and_then(varint)))?;
        let no_totals = || DatabaseError::failed("file_search has no totals");
        let n_rows = *totals.first().ok_or_else(no_totals)?;
        let sql = format!("SELECT rowid, {BM25} FROM file_search WHERE file_search MATCH ?1");
        let mut found: Vec<(i64, f64)> =
            self.select(&sql, [phrase], |row| Ok(Some((row.get(0)?, row.get(1)?))))?;
        let rarity = rarity(n_rows as f64, found.len() as f64);
        for (_, strength) in &mut found {
            *strength = (*strength / rarity).clamp(0.0, 2.2);
        }
        Ok(found)
    }
}

/// The bm25 factor for a word in `holding` of `all` rows, as in FTS5.
pub fn rarity(all: f64, holding: f64) -> f64 {
    let rarity = ((all - holding + 0.5) / (holding + 0.5)).ln();
    // FTS5's own floor. NaN, if `holding` exceeds `all`, gets it as well.
    if rarity > 0.0 { rarity } else { 1e-6 }
}

/// SQLite's variable-length integer: seven bits per byte, highest first.
fn varint(bytes: &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for &byte in bytes.iter().take(8) {
        value = value << 7 | u64::from(byte & 0x7f);
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}
