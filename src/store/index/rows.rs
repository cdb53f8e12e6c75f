//! The rows of a note, the same for a full build and for an update.

use std::collections::HashSet;

use rusqlite::{Connection, Error, Statement, ToSql, params};
use serde::Serialize;

use crate::core::note::concept::Concept;
use crate::core::note::listing::{ListedFile, Rejection, Stamp};
use crate::core::note::reading::ReadNote;
use crate::core::note::reference::{Key, ReferenceKind};
use crate::core::quote::thinking::{Standing, Thinking};
use crate::core::time::Timestamp;
use crate::store::index::NoteId;
use crate::store::index::history::Remembered;

pub(super) const INSERT_NOTE: &str = "INSERT INTO notes (id, folder, name, mtime_ns, title, subject, aliases, tags, sections, \
    status, created, modified, fresh_until, excerpt, remarks, links) \
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)";
/// The table of files with its columns, in the order of [`bind_file`].
pub(super) const FILES: &str =
    "files (folder, name, mtime_ns, ctime_ns, size, settled, hash, note, rejected)";
pub(super) const INSERT_TEXT: &str =
    "INSERT INTO fulltext (rowid, title, labels, body) VALUES (?1, ?2, ?3, ?4)";
pub(super) const INSERT_MENTION: &str =
    "INSERT INTO mentions (note, concept, links) VALUES (?1, ?2, ?3)";
pub(super) const INSERT_NAME: &str = "INSERT INTO names (name, kind, note) VALUES (?1, ?2, ?3)";
pub(super) const INSERT_EDGE: &str =
    "INSERT INTO edges (a, b, notes, fading) VALUES (?1, ?2, ?3, ?4)";

/// The kind of a note's name. The numbers are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NameKind {
    Title = 1,
    Alias = 2,
    File = 3,
}

pub(super) struct FileRow<'a> {
    pub(super) folder: i64,
    pub(super) file: &'a ListedFile,
    pub(super) settled: bool,
    pub(super) held: Held,
}

/// What a file contains.
#[derive(Debug, Clone, Copy)]
pub(super) enum Held {
    Note(NoteId, [u8; 16]),
    Nothing(Rejection),
}

/// Writes the row of a file; replaces an existing one.
pub(super) fn put_file(connection: &Connection, row: &FileRow<'_>) -> Result<(), Error> {
    let sql = format!("INSERT OR REPLACE INTO {FILES} VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
    let mut statement = connection.prepare_cached(&sql)?;
    bind_file(&mut statement, 1, row)?;
    statement.raw_execute()?;
    Ok(())
}

/// Binds the values of a file's row, starting at the parameter `at`.
pub(super) fn bind_file(
    statement: &mut Statement<'_>,
    at: usize,
    row: &FileRow<'_>,
) -> Result<(), Error> {
    let Stamp { mtime, ctime_ns, size } = row.file.stamp;
    let (hash, note, rejected) = match row.held {
        Held::Note(note, hash) => (Some(hash), Some(note), None),
        Held::Nothing(reason) => (None, None, Some(code(reason))),
    };
    statement.raw_bind_parameter(at, row.folder)?;
    statement.raw_bind_parameter(at + 1, &row.file.name)?;
    statement.raw_bind_parameter(at + 2, mtime.0)?;
    statement.raw_bind_parameter(at + 3, ctime_ns)?;
    statement.raw_bind_parameter(at + 4, size as i64)?;
    statement.raw_bind_parameter(at + 5, row.settled)?;
    statement.raw_bind_parameter(at + 6, hash)?;
    statement.raw_bind_parameter(at + 7, note)?;
    statement.raw_bind_parameter(at + 8, rejected)
}

/// The stored number of a reason.
pub(super) fn code(reason: Rejection) -> i64 {
    match reason {
        Rejection::Binary => 1,
        Rejection::Unreadable => 2,
        Rejection::Generated => 3,
        Rejection::Template => 4,
        Rejection::SideFile => 5,
    }
}

/// Writes the row of a note and its words.
pub(super) fn insert_note(
    connection: &Connection,
    id: NoteId,
    folder: i64,
    file: &ListedFile,
    read: &ReadNote,
) -> Result<(), Error> {
    let note = &read.note;
    let seconds = |time: Option<Timestamp>| time.map(Timestamp::seconds);
    connection.prepare_cached(INSERT_NOTE)?.execute(params![
        id,
        folder,
        file.name,
        file.time().0,
        note.title,
        read.thinking.as_ref().map(|thinking| &thinking.title),
        json(&note.aliases),
        json(&note.tags),
        json(&note.sections),
        note.status,
        seconds(note.created),
        seconds(note.modified),
        read.fresh_until,
        note.excerpt,
        note.remarks.bits(),
        link_count(read),
    ])?;
    let text = &read.text;
    connection.prepare_cached(INSERT_TEXT)?.execute(params![
        id,
        text.title,
        text.labels,
        text.body
    ])?;
    Ok(())
}

/// Writes what a context quotes of a note, and its own names with those in its text, as the walk from it reads them.
pub(super) fn insert_quotes(
    connection: &Connection,
    id: NoteId,
    read: &ReadNote,
    remembered: &Remembered,
    (keys, references): (&[u32], &[(u32, u8)]),
) -> Result<(), Error> {
    let Remembered { passage, lines, prior, .. } = remembered;
    let keys: Vec<[u8; 4]> = keys.iter().map(|key| key.to_le_bytes()).collect();
    let mut refs = Vec::with_capacity(5 * references.len());
    for (key, kind) in references {
        refs.extend(key.to_le_bytes());
        refs.push(*kind);
    }
    let sql = "INSERT INTO quotes (note, card, prior, keys, refs, passage, lines) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let row = params![id, read.quotes.card, prior, keys.as_flattened(), refs, passage, lines];
    connection.prepare_cached(sql)?.execute(row)?;
    Ok(())
}

/// Writes which files of code a note names, if any.
pub(super) fn insert_named_files(
    connection: &Connection,
    id: NoteId,
    read: &ReadNote,
) -> Result<(), Error> {
    if read.named_files.is_empty() {
        return Ok(());
    }
    let files: Vec<[u8; 4]> = read.named_files.iter().map(|Key(key)| key.to_le_bytes()).collect();
    let sql = "INSERT INTO named_files (note, files) VALUES (?1, ?2)";
    connection.prepare_cached(sql)?.execute(params![id, files.as_flattened()])?;
    Ok(())
}

/// Writes how far a session or workflow of maenifold's is, if it goes on.
pub(super) fn insert_thread(
    connection: &Connection,
    id: NoteId,
    read: &ReadNote,
) -> Result<(), Error> {
    if let Some(Thinking { standing: Standing::Open { at, is_bare }, .. }) = &read.thinking {
        let sql = "INSERT INTO threads (note, at, bare) VALUES (?1, ?2, ?3)";
        connection.prepare_cached(sql)?.execute(params![id, at, is_bare])?;
    }
    Ok(())
}

/// The keys of a note, in order. Notes of different vaults do not refer to each other.
pub(super) fn keys(vault: usize, read: &ReadNote) -> Vec<u32> {
    read.keys.iter().map(|key| in_vault(vault, *key)).collect()
}

/// The keys that a note refers to, with their kinds, in order. Concepts have rows of their own.
pub(super) fn references(vault: usize, read: &ReadNote) -> Vec<(u32, u8)> {
    let has_links = read.references.values().any(|kind| *kind == ReferenceKind::Link);
    let mut concepts: Vec<Key> = match has_links {
        true => read.note.mentions.keys().filter_map(|name| Key::of(name.as_str())).collect(),
        false => Vec::new(),
    };
    concepts.sort_unstable();
    let mut references: Vec<(u32, u8)> = read
        .references
        .iter()
        .filter(|(key, _)| concepts.binary_search(key).is_err())
        .map(|(key, kind)| (in_vault(vault, *key), *kind as u8))
        .collect();
    references.sort_unstable();
    references
}

pub(super) fn in_vault(vault: usize, Key(key): Key) -> u32 {
    key ^ (vault as u32).wrapping_mul(0x9e37_79b9)
}

/// The number of a note's links that count.
pub(super) fn link_count(read: &ReadNote) -> i64 {
    read.note.mentions.values().map(|&n| i64::from(n)).sum()
}

/// The names by which links lead to a note.
pub(super) fn names_of(read: &ReadNote) -> Vec<(Concept, NameKind)> {
    match read.is_pointer() {
        true => Vec::new(),
        false => names(&read.note.title, &read.note.aliases, &read.stem),
    }
}

/// All names of a note in normal form, each once with its best kind.
pub(super) fn names(title: &str, aliases: &[String], stem: &str) -> Vec<(Concept, NameKind)> {
    let title = [(title, NameKind::Title)];
    let aliases = aliases.iter().map(|alias| (alias.as_str(), NameKind::Alias));
    let mut names: Vec<(Concept, NameKind)> = Vec::new();
    let mut known: HashSet<Concept> = HashSet::new();
    for (name, kind) in title.into_iter().chain(aliases).chain([(stem, NameKind::File)]) {
        if let Some(name) = Concept::parse(name)
            && known.insert(name.clone())
        {
            names.push((name, kind));
        }
    }
    names
}

/// Sets a property of the index itself.
pub(super) fn set_meta(connection: &Connection, key: &str, value: impl ToSql) -> Result<(), Error> {
    connection
        .prepare_cached("INSERT OR REPLACE INTO meta (key, value) VALUES (?1, ?2)")?
        .execute(params![key, value])?;
    Ok(())
}

/// Reads a stamp from three columns, starting at `first`.
pub(super) fn stamp(row: &rusqlite::Row<'_>, first: usize) -> Result<Stamp, Error> {
    Ok(Stamp {
        mtime: Timestamp(row.get(first)?),
        ctime_ns: row.get(first + 1)?,
        size: row.get::<_, i64>(first + 2)? as u64,
    })
}

fn json(list: &impl Serialize) -> String {
    serde_json::to_string(list).unwrap_or_else(|_| "[]".to_owned())
}
