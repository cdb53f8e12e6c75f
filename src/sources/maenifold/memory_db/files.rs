//! The database's data about notes: rows, texts and concepts.

use std::cmp::Reverse;

use rusqlite::{Row, params};

use super::remembered::Remembered;
use super::{Database, DatabaseError};
use crate::core::note::concept::Concept;
use crate::core::secrets;
use crate::core::time::Timestamp;

/// Longer texts are not read: no person wrote them, and they would have to fit into memory.
const LONGEST_TEXT_BYTES: i64 = 8 * 1024 * 1024;

/// The database's row of a note, without the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRow {
    /// The SQLite rowid.
    pub row: i64,
    pub uri: String,
    pub title: Option<String>,
    /// The modification time of the file when the row was written.
    pub last_indexed: Option<Timestamp>,
    /// When maenifold last read the note for a user or an agent.
    pub last_accessed: Option<Timestamp>,
}

impl Database {
    /// All notes, unordered. Uses the cached rows if nothing was written since.
    pub fn files(&self) -> Result<Vec<FileRow>, DatabaseError> {
        // Checks the stamp again now that the read transaction is open: if it is unchanged, the cache matches this
        // state.
        let remembered = self.remembered.as_ref().filter(|remembered| remembered.is_still_so());
        if let Some(rows) = remembered.and_then(Remembered::rows) {
            return Ok(rows);
        }
        let rows = self.read_files()?;
        if let Some(remembered) = remembered {
            remembered.keep(&rows);
        }
        Ok(rows)
    }

    fn read_files(&self) -> Result<Vec<FileRow>, DatabaseError> {
        let columns = self.columns("file_content")?;
        let optional =
            |column| columns.iter().find(|name| *name == column).map_or("NULL", String::as_str);
        // In row order instead of address order: this is the storage order.
        let sql = format!(
            "SELECT rowid, file_path, {}, last_indexed, {} FROM file_content NOT INDEXED",
            optional("title"),
            optional("last_accessed")
        );
        self.select(&sql, [], |row| {
            let Some(uri) = text(row, 1)? else { return Ok(None) };
            Ok(Some(FileRow {
                row: row.get(0)?,
                uri: uri.to_owned(),
                title: text(row, 2)?.map(str::to_owned),
                last_indexed: text(row, 3)?.and_then(Timestamp::parse),
                last_accessed: text(row, 4)?.and_then(Timestamp::parse),
            }))
        })
    }

    /// The beginning of a note's text, at most `max_chars` characters; `None` if it has no valid text.
    pub fn text_start(&self, row: i64, max_chars: usize) -> Result<Option<String>, DatabaseError> {
        // SQLite knows the length of a text without reading it.
        let sql = "SELECT CASE WHEN octet_length(content) <= ?2 THEN substr(content, 1, ?3) END \
                   FROM file_content WHERE rowid = ?1";
        let parameters = params![row, LONGEST_TEXT_BYTES, max_chars as i64];
        let mut start = self.select(sql, parameters, |row| Ok(text(row, 0)?.map(str::to_owned)))?;
        Ok(start.pop())
    }

    /// The concepts that a note mentions, most mentioned first; ties are sorted by name.
    pub fn concepts_of(&self, uri: &str) -> Result<Vec<Concept>, DatabaseError> {
        let sql = "SELECT concept_name, mention_count FROM concept_mentions WHERE source_file = ?1";
        let mut found = self.select(sql, [uri], |row| {
            let count = row.get_ref(1)?.as_i64().unwrap_or(1);
            Ok(concept(row, 0)?.map(|concept| (Reverse(count), concept)))
        })?;
        found.sort();
        Ok(found.into_iter().map(|(_, concept)| concept).collect())
    }

    /// The addresses of all notes that mention a concept, unordered, with the number of mentions.
    pub fn mentioning(&self, concept: &Concept) -> Result<Vec<(String, u32)>, DatabaseError> {
        let sql = "SELECT source_file, mention_count FROM concept_mentions WHERE concept_name = ?1";
        self.select(sql, [concept.as_str()], |row| {
            let count = count(row, 1)?.unwrap_or(1);
            Ok(text(row, 0)?.map(|uri| (uri.to_owned(), count)))
        })
    }

    /// The number of notes that mention a concept.
    pub fn notes_of(&self, concept: &Concept) -> Result<u32, DatabaseError> {
        let sql = "SELECT count(*) FROM concept_mentions WHERE concept_name = ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        Ok(statement.query_row([concept.as_str()], |row| row.get(0))?)
    }

    pub fn knows(&self, concept: &Concept) -> Result<bool, DatabaseError> {
        let sql = "SELECT 1 FROM concepts WHERE concept_name = ?1";
        Ok(self.connection.prepare_cached(sql)?.exists([concept.as_str()])?)
    }

    /// All concepts, unordered.
    pub fn concepts(&self) -> Result<Vec<Concept>, DatabaseError> {
        self.select("SELECT concept_name FROM concepts", [], |row| concept(row, 0))
    }
}

/// The text of a column; `None` for other types, and for bytes that are not UTF-8.
pub(super) fn text<'a>(
    row: &'a Row<'_>,
    column: usize,
) -> Result<Option<&'a str>, rusqlite::Error> {
    Ok(row.get_ref(column)?.as_str().ok())
}

pub(super) fn count(row: &Row<'_>, column: usize) -> Result<Option<u32>, rusqlite::Error> {
    Ok(row.get_ref(column)?.as_i64().ok().and_then(|count| u32::try_from(count).ok()))
}

/// The concept of a column, if its name may be shown.
fn concept(row: &Row<'_>, column: usize) -> Result<Option<Concept>, rusqlite::Error> {
    Ok(text(row, column)?.and_then(in_normal_form).filter(is_no_secret))
}

/// The concept of a name in normal form: maenifold stores `''`, and other programs may have written to the table.
pub(super) fn in_normal_form(name: &str) -> Option<Concept> {
    Concept::parse(name).filter(|concept| concept.as_str() == name)
}

/// Whether a concept's name contains no secret: maenifold treats any link as a concept.
pub(super) fn is_no_secret(concept: &Concept) -> bool {
    !secrets::are_in_name(concept.as_str())
}
