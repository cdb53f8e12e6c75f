//! The reader: answers questions about notes from an index, and never writes. Words and the graph
//! have their own files.

mod graph;
mod prompt;
mod ranking;
mod threads;
mod words;

pub use graph::Neighbour;
pub use ranking::RankedCard;
pub use threads::{Nearness, ThreadCard};

use std::collections::BTreeMap;

use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::core::note::Remarks;
use crate::core::note::concept::Concept;
use crate::core::note::listing::{FolderListing, Rejection, Skipped};
use crate::core::search::answer::Match;
use crate::core::text::nfc;
use crate::core::time::Timestamp;
use crate::store::index::changes;
use crate::store::index::rows::{self, NameKind};
use crate::store::index::{IndexError, NoteId, Totals};

pub struct Index {
    connection: Connection,
}

/// The data of a note that answers show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteCard {
    /// The vault's position in the list of vaults.
    pub vault: usize,
    /// The path below the vault's root.
    pub path: String,
    pub title: String,
    /// What is shown in place of the title of a document of maenifold's.
    pub subject: Option<String>,
    /// The time when the file was last written.
    pub modified: Timestamp,
    pub excerpt: String,
}

impl Index {
    pub(super) fn new(connection: Connection) -> Index {
        connection.set_prepared_statement_cache_capacity(64);
        Index { connection }
    }

    /// Asks several questions about the same state of the index, even if others write in the
    /// meantime.
    pub fn consistently<T>(
        &self,
        question: impl FnOnce(&Index) -> Result<T, IndexError>,
    ) -> Result<T, IndexError> {
        let transaction = self.connection.unchecked_transaction()?;
        let answer = question(self);
        drop(transaction);
        answer
    }

    /// Whether only this connection has it.
    pub fn is_in_memory(&self) -> bool {
        self.connection.path().is_none_or(str::is_empty)
    }

    /// A number that differs after every change by another connection.
    pub fn version(&self) -> Result<i64, IndexError> {
        Ok(self.connection.pragma_query_value(None, "data_version", |row| row.get(0))?)
    }

    /// Whether the index matches the listings.
    pub fn is_current(&self, listings: &[FolderListing]) -> Result<bool, IndexError> {
        changes::is_current(&self.connection, listings)
    }

    pub fn totals(&self) -> Result<Totals, IndexError> {
        read_totals(&self.connection)
    }

    /// The number of notes of each vault that has some, by the vault's position.
    pub fn notes_of_vaults(&self) -> Result<BTreeMap<usize, i64>, IndexError> {
        let sql = "SELECT f.vault, count(*) FROM notes n JOIN folders f ON f.id = n.folder GROUP BY f.vault";
        let mut statement = self.connection.prepare(sql)?;
        let row = |row: &Row<'_>| Ok((row.get::<_, i64>(0)? as usize, row.get(1)?));
        Ok(statement.query_map([], row)?.collect::<Result<_, _>>()?)
    }

    /// The number of notes that count as old because it is not known when they were committed.
    pub fn n_undated(&self) -> Result<usize, IndexError> {
        let sql = "SELECT count(*) FROM notes n JOIN files i ON i.note = n.id \
                   WHERE n.mtime_ns = ?1 AND i.mtime_ns != ?1";
        let row = |row: &Row<'_>| row.get::<_, i64>(0);
        Ok(self.connection.query_row(sql, [Timestamp::UNKNOWN.0], row)? as usize)
    }

    /// The number of files that are not notes, by reason.
    pub fn rejected(&self) -> Result<Skipped, IndexError> {
        let count = |reason: Rejection| -> Result<u64, IndexError> {
            let sql = "SELECT count(*) FROM files WHERE rejected = ?1";
            let row = |row: &Row<'_>| row.get::<_, i64>(0);
            Ok(self.connection.query_row(sql, [rows::code(reason)], row)? as u64)
        };
        Ok(Skipped {
            binary: count(Rejection::Binary)?,
            unreadable: count(Rejection::Unreadable)?,
            generated: count(Rejection::Generated)?,
            templates: count(Rejection::Template)?,
            side_files: count(Rejection::SideFile)?,
            ..Skipped::default()
        })
    }

    /// Every note with remarks: vault, path, remarks.
    pub fn remarks(&self) -> Result<Vec<(usize, String, Remarks)>, IndexError> {
        let sql = "SELECT f.vault, f.path, n.name, n.remarks FROM notes n JOIN folders f ON f.id = n.folder \
                   WHERE n.remarks <> 0 ORDER BY f.vault, f.path, n.name";
        let mut statement = self.connection.prepare(sql)?;
        let rows = statement.query_map([], |row| {
            let path = join(&row.get::<_, String>(1)?, &row.get::<_, String>(2)?);
            Ok((row.get::<_, i64>(0)? as usize, path, Remarks::from_bits(row.get(3)?)))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The note at a path, in any composition of its characters.
    pub fn note_at(&self, vault: usize, path: &str) -> Result<Option<NoteId>, IndexError> {
        let sql = "SELECT i.note FROM folders f JOIN files i ON i.folder = f.id \
                   WHERE f.vault = ?1 AND f.path = ?2 AND i.name = ?3";
        let mut statement = self.connection.prepare_cached(sql)?;
        for path in nfc::forms(path) {
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", &path));
            let note = statement
                .query_row(params![vault as i64, folder, name], |row| row.get(0))
                .optional()?;
            if let Some(note) = note.flatten() {
                return Ok(Some(note));
            }
        }
        Ok(None)
    }

    /// The newest notes with a name, at most `limit`, best kind of name first, with their titles.
    pub fn named(
        &self,
        name: &Concept,
        limit: usize,
    ) -> Result<Vec<(NoteId, Match, String)>, IndexError> {
        let sql = "SELECT a.note, a.kind, n.title FROM names a JOIN notes n ON n.id = a.note \
                   WHERE a.name = ?1 ORDER BY a.kind, a.note DESC LIMIT ?2";
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map(params![name.as_str(), limit as i64], |row| {
            let matched = match row.get::<_, i64>(1)? {
                kind if kind == NameKind::Title as i64 => Match::Title,
                kind if kind == NameKind::Alias as i64 => Match::Alias,
                _ => Match::File,
            };
            Ok((row.get(0)?, matched, row.get(2)?))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The note with a name: the newest one that has it as its title, else as an alias, else as its
    /// file name.
    pub fn own_note(&self, name: &Concept) -> Result<Option<NoteCard>, IndexError> {
        // Reads in the table's own order and selects the best here: sorting in SQLite would build a
        // temporary table each time. Thousands of notes can share a name like `readme`.
        let sql = "SELECT kind, note FROM names WHERE name = ?1 ORDER BY note DESC LIMIT 100";
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map([name.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let mut best: Option<(i64, NoteId)> = None;
        for row in rows {
            let (kind, note) = row?;
            if best.is_none_or(|(best, _)| kind < best) {
                best = Some((kind, note));
            }
        }
        best.map(|(_, note)| self.card(note)).transpose()
    }

    /// The newest notes that mention a concept, at most `limit`, with the number of their links to
    /// it.
    pub fn mentioning(
        &self,
        concept: &Concept,
        limit: usize,
    ) -> Result<Vec<(NoteId, u32)>, IndexError> {
        let sql = "SELECT m.note, m.links FROM concepts c CROSS JOIN mentions m ON m.concept = c.id \
                   WHERE c.name = ?1 ORDER BY m.note DESC LIMIT ?2";
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map(params![concept.as_str(), limit as i64], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    pub fn card(&self, note: NoteId) -> Result<NoteCard, IndexError> {
        let sql = format!("{CARD} WHERE n.id = ?1");
        Ok(self.connection.prepare_cached(&sql)?.query_row([note], |row| Ok(card(row)?.1))?)
    }

    /// Calls `take` with notes, newest first, until it returns `false`.
    pub fn newest_first(
        &self,
        mut take: impl FnMut(NoteId, NoteCard) -> bool,
    ) -> Result<(), IndexError> {
        let mut statement =
            self.connection.prepare_cached(&format!("{CARD} ORDER BY n.id DESC"))?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let (note, card) = card(row)?;
            if !take(note, card) {
                break;
            }
        }
        Ok(())
    }

    /// A note's concepts, most mentioned first, ties by name.
    pub fn concepts_of(&self, note: NoteId) -> Result<Vec<Concept>, IndexError> {
        let sql = "SELECT c.name FROM mentions m JOIN concepts c ON c.id = m.concept \
                   WHERE m.note = ?1 ORDER BY m.links DESC, c.name";
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map([note], |row| row.get(0).map(Concept::from_normal_form))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// All names of notes, in no particular order.
    pub fn names(&self) -> Result<Vec<Concept>, IndexError> {
        let mut statement = self.connection.prepare("SELECT DISTINCT name FROM names")?;
        let rows = statement.query_map([], |row| row.get(0).map(Concept::from_normal_form))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// All concepts, in no particular order.
    pub fn concepts(&self) -> Result<Vec<Concept>, IndexError> {
        let mut statement = self.connection.prepare("SELECT name FROM concepts")?;
        let rows = statement.query_map([], |row| row.get(0).map(Concept::from_normal_form))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

impl NoteCard {
    /// The title that a reader sees.
    pub fn shown_title(self) -> String {
        self.subject.unwrap_or(self.title)
    }
}

const CARD_COLUMNS: &str =
    "n.id, f.vault, f.path, n.name, n.title, n.mtime_ns, n.excerpt, n.subject";
const CARD: &str = "SELECT n.id, f.vault, f.path, n.name, n.title, n.mtime_ns, n.excerpt, n.subject \
    FROM notes n CROSS JOIN folders f ON f.id = n.folder";

fn card(row: &Row<'_>) -> Result<(NoteId, NoteCard), rusqlite::Error> {
    let card = NoteCard {
        vault: row.get::<_, i64>(1)? as usize,
        path: join(&row.get::<_, String>(2)?, &row.get::<_, String>(3)?),
        title: row.get(4)?,
        modified: Timestamp(row.get(5)?),
        excerpt: row.get(6)?,
        subject: row.get(7)?,
    };
    Ok((row.get(0)?, card))
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

pub(super) fn read_totals(connection: &Connection) -> Result<Totals, IndexError> {
    let mut statement = connection.prepare_cached("SELECT value FROM meta WHERE key = ?1")?;
    let mut value = |key: &str| statement.query_row([key], |row| row.get::<_, i64>(0));
    Ok(Totals {
        notes: value("notes")?,
        concepts: value("concepts")?,
        links: value("links")?,
        edges: value("edges")?,
        remarked: value("remarked")?,
    })
}

/// Reads a JSON array of strings from a column.
pub(super) fn string_list(row: &Row<'_>, column: usize) -> Result<Vec<String>, rusqlite::Error> {
    let text: String = row.get(column)?;
    serde_json::from_str(&text).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error))
    })
}
