//! An edit: the rows that one update removes and adds, so that the index equals a new build.

use std::collections::{BTreeMap, HashMap, HashSet};

use rusqlite::{Connection, OptionalExtension, Params, Row, params};

use crate::core::note::concept::Concept;
use crate::core::note::freshness::{FadingDays, FreshUntil};
use crate::core::note::listing::{FolderListing, ListedFile};
use crate::core::note::reading::{Content, ReadNote, Reading};
use crate::core::note::{Remark, Remarks, without_extension};
use crate::core::relevance::naming::Namings;
use crate::core::text::nfc;
use crate::store::index::gone::{self, Place};
use crate::store::index::history::{self, Moves, Past};
use crate::store::index::links::refers;
use crate::store::index::place::{self, PlaceInTime};
use crate::store::index::read::string_list;
use crate::store::index::rows::{self, FileRow, Held};
use crate::store::index::update::Outcome;
use crate::store::index::{IndexError, NoteId, Totals};

pub(super) struct Edit<'a> {
    pub(super) connection: &'a Connection,
    pub(super) namings: &'a Namings,
    pub(super) totals: Totals,
    pub(super) outcome: Outcome,
    /// Notes to remove, because their files were removed or changed.
    pub(super) leaving: Vec<NoteId>,
    /// The change of each edge, per day on which its notes stop being fresh.
    pub(super) edges: HashMap<(i64, i64), BTreeMap<FreshUntil, i64>>,
    /// Concepts that lost a mention.
    pub(super) touched: HashSet<i64>,
    /// Notes whose files are gone; they may have been moved.
    pub(super) moves: Moves,
}

/// What the index knew of a file.
pub(super) enum Before {
    /// The note is unchanged.
    Same(NoteId),
    /// The note has changed.
    Changed(Option<Past>),
    /// There was no note.
    Nothing,
}

impl Edit<'_> {
    fn execute(&self, sql: &str, parameters: impl Params) -> Result<usize, IndexError> {
        Ok(self.connection.prepare_cached(sql)?.execute(parameters)?)
    }

    fn find<T>(
        &self,
        sql: &str,
        parameters: impl Params,
        read: impl FnOnce(&Row<'_>) -> Result<T, rusqlite::Error>,
    ) -> Result<Option<T>, IndexError> {
        Ok(self.connection.prepare_cached(sql)?.query_row(parameters, read).optional()?)
    }

    pub(super) fn folder_row(&self, listing: &FolderListing) -> Result<i64, IndexError> {
        let place = params![listing.vault as i64, listing.folder];
        let known: Option<i64> =
            self.find("SELECT id FROM folders WHERE vault = ?1 AND path = ?2", place, |row| {
                row.get(0)
            })?;
        if let Some(row) = known {
            return Ok(row);
        }
        self.execute("INSERT INTO folders (vault, path) VALUES (?1, ?2)", place)?;
        Ok(self.connection.last_insert_rowid())
    }

    /// Removes the old note of a file, unless it stays unchanged. Returns what was known of it.
    pub(super) fn clear(&mut self, reading: &Reading, folder: i64) -> Result<Before, IndexError> {
        let file = &reading.file;
        let Content::Note(read) = &reading.content else {
            self.remove_file(folder, &file.name)?;
            return Ok(Before::Nothing);
        };
        let known: Option<(NoteId, Vec<u8>, i64)> = self.find("SELECT i.note, i.hash, n.mtime_ns FROM files i JOIN notes n ON n.id = i.note WHERE i.folder = ?1 AND i.name = ?2", params![folder, file.name], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        let same_content = known.as_ref().is_some_and(|(_, hash, _)| *hash == read.hash);
        self.outcome.changed += usize::from(!same_content);
        let Some((id, _, mtime_ns)) = known else { return Ok(Before::Nothing) };
        if same_content && mtime_ns == file.time().0 {
            return Ok(Before::Same(id));
        }
        let past = Past::of_note(self.connection, id)?;
        self.leaving.push(id);
        Ok(Before::Changed(past))
    }

    /// Writes a file's new content, after old notes were removed.
    pub(super) fn put(
        &mut self,
        reading: &Reading,
        before: Before,
        listing: &FolderListing,
        folder: i64,
    ) -> Result<(), IndexError> {
        let Reading { file, settled, .. } = reading;
        let held = match &reading.content {
            Content::Note(read) => {
                let id = match before {
                    Before::Same(id) => id,
                    Before::Changed(past) => self.insert(file, listing, folder, read, past)?,
                    Before::Nothing => {
                        let place = Place {
                            vault: listing.vault as i64,
                            folder: listing.folder.clone(),
                            name: file.name.to_string(),
                        };
                        let gone = gone::take(self.connection, place)?;
                        let past = self.moves.take(&read.hash).or(gone);
                        self.insert(file, listing, folder, read, past)?
                    }
                };
                Held::Note(id, read.hash)
            }
            Content::Rejected(reason) => Held::Nothing(*reason),
            Content::Gone => return Ok(()),
        };
        Ok(rows::put_file(self.connection, &FileRow { folder, file, settled: *settled, held })?)
    }

    fn insert(
        &mut self,
        file: &ListedFile,
        listing: &FolderListing,
        folder: i64,
        read: &ReadNote,
        past: Option<Past>,
    ) -> Result<NoteId, IndexError> {
        let id = self.insert_note(file, listing, folder, read)?;
        self.insert_quotes(id, file, listing, read, past)?;
        Ok(id)
    }

    /// Writes what a context quotes of a note, its history, and what it refers to.
    fn insert_quotes(
        &self,
        id: NoteId,
        file: &ListedFile,
        listing: &FolderListing,
        read: &ReadNote,
        past: Option<Past>,
    ) -> Result<(), IndexError> {
        let remembered =
            history::remembered((listing.vault, &listing.folder), self.namings, file, read, past);
        for at in &remembered.changes {
            let row = params![id, at, remembered.prior];
            self.execute("INSERT INTO changes (note, at, prior) VALUES (?1, ?2, ?3)", row)?;
        }
        let keys = rows::keys(listing.vault, read);
        let references = rows::references(listing.vault, read);
        rows::insert_quotes(self.connection, id, read, &remembered, (&keys, &references))?;
        rows::insert_named_files(self.connection, id, read)?;
        rows::insert_thread(self.connection, id, read)?;
        for key in keys {
            self.execute("INSERT INTO keys (key, note) VALUES (?1, ?2)", params![key, id])?;
        }
        for (key, kind) in references {
            let sql = "INSERT INTO refs (key, note, kind) VALUES (?1, ?2, ?3)";
            self.execute(sql, params![key, id, kind])?;
        }
        Ok(())
    }

    /// Remembers the notes that are gone.
    pub(super) fn remember_gone(&mut self) -> Result<(), IndexError> {
        for past in std::mem::take(&mut self.moves).rest() {
            gone::remember(self.connection, &past)?;
        }
        gone::prune(self.connection)
    }

    /// Forgets the oldest changes.
    pub(super) fn prune_changes(&self) -> Result<(), IndexError> {
        let most = history::MOST_CHANGES as i64;
        let n: i64 =
            self.connection.query_row("SELECT count(*) FROM changes", [], |row| row.get(0))?;
        if n > most {
            let sql = "DELETE FROM changes WHERE (note, at) IN \
                       (SELECT note, at FROM changes ORDER BY at DESC, note DESC LIMIT -1 OFFSET ?1)";
            self.execute(sql, [most])?;
        }
        Ok(())
    }

    fn insert_note(
        &mut self,
        file: &ListedFile,
        listing: &FolderListing,
        folder: i64,
        read: &ReadNote,
    ) -> Result<NoteId, IndexError> {
        let wanted = PlaceInTime {
            mtime_ns: file.time().0,
            vault: listing.vault as i64,
            folder: listing.folder.clone(),
            name: file.name.to_string(),
        };
        let id = place::free_id(self.connection, &wanted)?;
        rows::insert_note(self.connection, id, folder, file, read)?;
        for (name, kind) in rows::names_of(read) {
            self.execute(rows::INSERT_NAME, params![name.as_str(), kind as i64, id])?;
        }
        let mut mentioned = Vec::with_capacity(read.note.mentions.len());
        for (concept, &links) in &read.note.mentions {
            let concept = self.mention(concept, links)?;
            self.execute(rows::INSERT_MENTION, params![id, concept, links])?;
            mentioned.push(concept);
        }
        if read.has_edges {
            self.change_edges(mentioned, read.fresh_until, 1);
        }
        self.totals.notes += 1;
        self.totals.links += rows::link_count(read);
        self.totals.remarked += i64::from(!read.note.remarks.is_empty());
        Ok(id)
    }

    /// Counts a mention of a concept, and returns the concept's row.
    fn mention(&mut self, concept: &Concept, links: u32) -> Result<i64, IndexError> {
        let known: Option<i64> =
            self.find("SELECT id FROM concepts WHERE name = ?1", [concept.as_str()], |row| {
                row.get(0)
            })?;
        if let Some(id) = known {
            self.execute(
                "UPDATE concepts SET notes = notes + 1, links = links + ?2 WHERE id = ?1",
                params![id, links],
            )?;
            return Ok(id);
        }
        self.totals.concepts += 1;
        self.execute(
            "INSERT INTO concepts (name, notes, links) VALUES (?1, 1, ?2)",
            params![concept.as_str(), links],
        )?;
        Ok(self.connection.last_insert_rowid())
    }

    pub(super) fn remove_folder(&mut self, folder: i64) -> Result<(), IndexError> {
        let files: Vec<String> = self
            .connection
            .prepare_cached("SELECT name FROM files WHERE folder = ?1")?
            .query_map([folder], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        for name in files {
            self.remove_file(folder, &name)?;
        }
        self.execute("DELETE FROM folders WHERE id = ?1", [folder])?;
        Ok(())
    }

    /// Forgets a file, and marks its note for removal.
    pub(super) fn remove_file(&mut self, folder: i64, name: &str) -> Result<(), IndexError> {
        let place = params![folder, name];
        let sql = "SELECT note FROM files WHERE folder = ?1 AND name = ?2";
        let note: Option<Option<NoteId>> = self.find(sql, place, |row| row.get(0))?;
        if let Some(note) = note.flatten() {
            if let Some(past) = Past::of_note(self.connection, note)? {
                self.moves.add(past);
            }
            self.outcome.removed += 1;
            self.leaving.push(note);
        }
        self.execute("DELETE FROM files WHERE folder = ?1 AND name = ?2", place)?;
        Ok(())
    }

    /// Removes the marked notes, sorted by id and before any insertion: words that are removed out
    /// of order start a new segment of the full-text index, and many segments are merged again and
    /// again.
    pub(super) fn remove_leaving(&mut self) -> Result<(), IndexError> {
        let mut leaving = std::mem::take(&mut self.leaving);
        leaving.sort_unstable();
        leaving.into_iter().try_for_each(|id| self.remove_note(id))
    }

    fn remove_note(&mut self, id: NoteId) -> Result<(), IndexError> {
        struct Old {
            title: String,
            aliases: Vec<String>,
            name: String,
            fresh_until: FreshUntil,
            remarks: u32,
            links: i64,
        }
        let old = self
            .connection
            .prepare_cached(
                "SELECT title, aliases, name, fresh_until, remarks, links FROM notes WHERE id = ?1",
            )?
            .query_row([id], |row| {
                Ok(Old {
                    title: row.get(0)?,
                    aliases: string_list(row, 1)?,
                    name: row.get(2)?,
                    fresh_until: row.get(3)?,
                    remarks: row.get(4)?,
                    links: row.get(5)?,
                })
            })?;
        // In a memory the name is kept as it is on disk, elsewhere composed.
        for stem in nfc::forms(without_extension(&old.name)) {
            for (name, _) in rows::names(&old.title, &old.aliases, &stem) {
                let sql = "DELETE FROM names WHERE name = ?1 AND note = ?2";
                self.execute(sql, params![name.as_str(), id])?;
            }
        }
        let mentions: Vec<(i64, i64)> = self
            .connection
            .prepare_cached("SELECT concept, links FROM mentions WHERE note = ?1")?
            .query_map([id], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<Result<_, _>>()?;
        for &(concept, links) in &mentions {
            self.execute(
                "UPDATE concepts SET notes = notes - 1, links = links - ?2 WHERE id = ?1",
                [concept, links],
            )?;
            self.touched.insert(concept);
        }
        let remarks = Remarks::from_bits(old.remarks);
        if !remarks.has(Remark::TooManyConcepts) {
            self.change_edges(
                mentions.iter().map(|&(concept, _)| concept).collect(),
                old.fresh_until,
                -1,
            );
        }
        if let Some((keys, references)) = refers(self.connection, id)? {
            for key in keys {
                self.execute("DELETE FROM keys WHERE key = ?1 AND note = ?2", params![key, id])?;
            }
            for (key, _) in references {
                self.execute("DELETE FROM refs WHERE key = ?1 AND note = ?2", params![key, id])?;
            }
        }
        for table in ["mentions", "quotes", "changes", "named_files", "threads"] {
            self.execute(&format!("DELETE FROM {table} WHERE note = ?1"), [id])?;
        }
        self.execute("DELETE FROM fulltext WHERE rowid = ?1", [id])?;
        self.execute("DELETE FROM notes WHERE id = ?1", [id])?;
        self.totals.notes -= 1;
        self.totals.links -= old.links;
        self.totals.remarked -= i64::from(!remarks.is_empty());
        Ok(())
    }

    /// Records that every pair of these concepts gains or loses a note.
    fn change_edges(&mut self, mut concepts: Vec<i64>, fresh_until: FreshUntil, by: i64) {
        concepts.sort_unstable();
        for (n, &a) in concepts.iter().enumerate() {
            for &b in &concepts[n + 1..] {
                *self.edges.entry((a, b)).or_default().entry(fresh_until).or_insert(0) += by;
            }
        }
    }

    /// Writes the changed edges.
    pub(super) fn write_edges(&mut self) -> Result<(), IndexError> {
        let mut bytes = Vec::new();
        for ((a, b), days) in std::mem::take(&mut self.edges) {
            if days.values().all(|&by| by == 0) {
                continue;
            }
            let known: Option<(i64, Vec<u8>)> = self.find(
                "SELECT notes, fading FROM edges WHERE a = ?1 AND b = ?2",
                [a, b],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )?;
            let is_new = known.is_none();
            let (before, stored) = known.unwrap_or_default();
            let mut fading = FadingDays::from_bytes(&stored)
                .ok_or_else(|| IndexError::Damaged("an edge's days cannot be read".to_owned()))?;
            for (&day, &by) in &days {
                for _ in 0..by.abs() {
                    if by > 0 { fading.add(day) } else { fading.remove(day) }
                }
            }
            let notes = before + days.values().sum::<i64>();
            fading.write_to(&mut bytes);
            if notes == 0 {
                self.execute("DELETE FROM edges WHERE a = ?1 AND b = ?2", [a, b])?;
                self.totals.edges -= 1;
            } else if is_new {
                self.execute(rows::INSERT_EDGE, params![a, b, notes, bytes])?;
                self.totals.edges += 1;
            } else {
                self.execute(
                    "UPDATE edges SET notes = ?3, fading = ?4 WHERE a = ?1 AND b = ?2",
                    params![a, b, notes, bytes],
                )?;
            }
        }
        Ok(())
    }

    /// Removes concepts that no note mentions any more.
    pub(super) fn forget_concepts(&mut self) -> Result<(), IndexError> {
        for concept in std::mem::take(&mut self.touched) {
            let removed =
                self.execute("DELETE FROM concepts WHERE id = ?1 AND notes = 0", [concept])?;
            self.totals.concepts -= removed as i64;
        }
        Ok(())
    }
}
