//! The database's full-text index, which maenifold fills and never asks.
//!
//! It holds rows of notes that are long gone: maenifold replaces a note's row behind its back. To fetch anything of
//! such a row is an error ("malformed"), so that nothing but row numbers is ever taken from it, and a row number may by now
//! be that of another note: whoever asks has to make sure that the note holds the word.

use rusqlite::types::ValueRef;

use super::{Database, DatabaseError};

/// Title, text and summary: as the index of kgctx weighs title and text.
const BM25: &str = "-bm25(file_search, 8.0, 1.0, 1.0)";
/// Where FTS5 keeps how many rows it has.
const TOTALS: &str = "SELECT block FROM file_search_data WHERE id = 1";

impl Database {
    /// The rows that may hold what an FTS5 expression says.
    pub fn rows_with(&self, expression: &str) -> Result<Vec<i64>, DatabaseError> {
        let sql = "SELECT rowid FROM file_search WHERE file_search MATCH ?1";
        self.select(sql, [expression], |row| row.get(0))
    }

    /// The rows that may hold a phrase, each with what bm25 gives it before it asks how rare the phrase is: 0 to 2.2.
    pub fn strengths(&self, phrase: &str) -> Result<Vec<(i64, f64)>, DatabaseError> {
        let totals = |row: &rusqlite::Row<'_>| {
            Ok(match row.get_ref(0)? {
                ValueRef::Blob(bytes) => varint(bytes),
                _ => None,
            })
        };
        let n_rows = self.connection.prepare_cached(TOTALS)?.query_row([], totals)?;
        let n_rows =
            n_rows.ok_or_else(|| DatabaseError::Failed("file_search has no totals".to_owned()))?;
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

/// What bm25 multiplies with for a word in `holding` of `all` rows, as FTS5 has it.
pub fn rarity(all: f64, holding: f64) -> f64 {
    let rarity = ((all - holding + 0.5) / (holding + 0.5)).ln();
    // FTS5's own floor; no number at all comes from more rows than there are.
    if rarity > 0.0 { rarity } else { 1e-6 }
}

/// SQLite's own kind of number: seven bits a byte, the highest first.
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
