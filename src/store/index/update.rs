//! The updater: brings an index up to date in one transaction, to exactly what a new build would hold.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};

use crate::core::note::concept::Concept;
use crate::core::note::freshness::{FadingDays, FreshUntil};
use crate::core::note::listing::{FolderListing, ListedFile};
use crate::core::note::reading::{Content, ReadNote, Reading};
use crate::core::note::{Remark, Remarks};
use crate::store::index::build::write_totals;
use crate::store::index::changes::{Changes, changes};
use crate::store::index::place::{self, PlaceInTime};
use crate::store::index::read::{read_totals, string_list};
use crate::store::index::rows::{self, FileRow, Held};
use crate::store::index::store::{Unusable, WriterLock};
use crate::store::index::{IndexError, NoteId, Totals};

/// A log of a few megabytes is read in a few milliseconds.
const LONG_LOG_PAGES: i64 = 1_000;

/// What an update did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Notes that are new or whose content is.
    pub changed: usize,
    /// Notes that are gone.
    pub removed: usize,
    /// Files that were opened.
    pub read: usize,
}

/// Writes changes into the index in use.
pub struct Updater {
    connection: Connection,
}

impl Updater {
    /// Opens the index for writing.
    pub fn open(lock: &WriterLock, fingerprint: &str) -> Result<Updater, Unusable> {
        Ok(Updater { connection: lock.open(fingerprint)? })
    }

    /// Compares listings with what the index knows now that nobody else can write it.
    pub fn changes(&self, listings: &[FolderListing]) -> Result<Changes, IndexError> {
        changes(&self.connection, listings)
    }

    /// How many notes the index holds.
    pub fn n_notes(&self) -> Result<i64, IndexError> {
        Ok(read_totals(&self.connection)?.notes)
    }

    /// Applies changes, with what was read of the files in them, all or nothing.
    pub fn apply(
        &mut self,
        changes: &Changes,
        listings: &[FolderListing],
        mut readings: Vec<Reading>,
    ) -> Result<Outcome, IndexError> {
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut edit = Edit {
            totals: read_totals(&transaction)?,
            connection: &transaction,
            outcome: Outcome::default(),
            leaving: Vec::new(),
            edges: HashMap::new(),
            touched: HashSet::new(),
        };
        for (folder, name) in &changes.gone_files {
            edit.remove_file(*folder, name)?;
        }
        for &folder in &changes.gone_folders {
            edit.remove_folder(folder)?;
        }
        let mut folder_rows: HashMap<usize, i64> = HashMap::new();
        let mut restless: HashSet<usize> = HashSet::new();
        for &folder_idx in &changes.folders {
            folder_rows.insert(folder_idx, edit.folder_row(&listings[folder_idx])?);
        }
        // In the order of time, as a build has it; also what makes most new ids the largest ones.
        readings.sort_by(|a, b| {
            let key =
                |reading: &Reading| (reading.file.stamp.mtime, listings[reading.folder].vault);
            let place = |reading: &Reading| {
                (listings[reading.folder].folder.clone(), reading.file.name.clone())
            };
            key(a).cmp(&key(b)).then_with(|| place(a).cmp(&place(b)))
        });
        let mut kept = Vec::with_capacity(readings.len());
        for reading in &readings {
            if !reading.settled || reading.content == Content::Gone {
                restless.insert(reading.folder);
            }
            kept.push(edit.clear(reading, folder_rows[&reading.folder])?);
        }
        edit.remove_leaving()?;
        for (reading, kept) in readings.iter().zip(kept) {
            edit.put(reading, kept, &listings[reading.folder], folder_rows[&reading.folder])?;
        }
        edit.write_edges()?;
        edit.forget_concepts()?;
        for (folder_idx, row) in folder_rows {
            let digest = (!restless.contains(&folder_idx)).then_some(listings[folder_idx].digest);
            transaction
                .prepare_cached("UPDATE folders SET digest = ?2 WHERE id = ?1")?
                .execute(params![row, digest])?;
        }
        let (totals, outcome) = (edit.totals, edit.outcome);
        write_totals(&transaction, &totals)?;
        transaction.commit()?;
        self.empty_long_log()?;
        Ok(outcome)
    }
}

impl Updater {
    /// Copies the log back into the database once it is long: whoever opens the index next reads all of it.
    ///
    /// SQLite's own rule would do so after every commit from then on, because what was copied is forgotten
    /// when the last process closes the index.
    fn empty_long_log(&self) -> Result<(), IndexError> {
        let copied = "PRAGMA wal_checkpoint(NOOP)";
        let pages: i64 = self.connection.query_row(copied, [], |row| row.get(1))?;
        if pages > LONG_LOG_PAGES {
            // Readers of the old state may hold it back; then the next update tries again.
            self.connection.busy_timeout(Duration::ZERO)?;
            self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        }
        Ok(())
    }
}

/// One transaction's work.
struct Edit<'a> {
    connection: &'a Connection,
    totals: Totals,
    outcome: Outcome,
    /// Notes that are gone, or whose place others take.
    leaving: Vec<NoteId>,
    /// By how much each edge changes, per day on which its notes stop being fresh.
    edges: HashMap<(i64, i64), BTreeMap<FreshUntil, i64>>,
    /// Concepts that lost a mention.
    touched: HashSet<i64>,
}

impl Edit<'_> {
    fn folder_row(&self, listing: &FolderListing) -> Result<i64, IndexError> {
        let place = params![listing.vault as i64, listing.folder];
        let known: Option<i64> = self
            .connection
            .prepare_cached("SELECT id FROM folders WHERE vault = ?1 AND path = ?2")?
            .query_row(place, |row| row.get(0))
            .optional()?;
        if let Some(row) = known {
            return Ok(row);
        }
        self.connection
            .prepare_cached("INSERT INTO folders (vault, path) VALUES (?1, ?2)")?
            .execute(place)?;
        Ok(self.connection.last_insert_rowid())
    }

    /// Makes way for what was read of a file. Returns the id of its note if that stays as it is.
    fn clear(&mut self, reading: &Reading, folder: i64) -> Result<Option<NoteId>, IndexError> {
        let file = &reading.file;
        let Content::Note(read) = &reading.content else {
            self.remove_file(folder, &file.name)?;
            return Ok(None);
        };
        let known: Option<(NoteId, Vec<u8>, i64)> = self
            .connection
            .prepare_cached(
                "SELECT note, hash, mtime_ns FROM files WHERE folder = ?1 AND name = ?2 AND note IS NOT NULL",
            )?
            .query_row(params![folder, file.name], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            .optional()?;
        let same_content = known.as_ref().is_some_and(|(_, hash, _)| *hash == read.hash);
        self.outcome.changed += usize::from(!same_content);
        let Some((id, _, mtime_ns)) = known else { return Ok(None) };
        if same_content && mtime_ns == file.stamp.mtime.0 {
            return Ok(Some(id));
        }
        self.leaving.push(id);
        Ok(None)
    }

    /// Writes what was read of a file, for which there is room now.
    fn put(
        &mut self,
        reading: &Reading,
        kept: Option<NoteId>,
        listing: &FolderListing,
        folder: i64,
    ) -> Result<(), IndexError> {
        let Reading { file, settled, .. } = reading;
        let held = match &reading.content {
            Content::Note(read) => {
                let id = match kept {
                    Some(id) => id,
                    None => self.insert_note(file, listing, folder, read)?,
                };
                Held::Note(id, read.hash)
            }
            Content::Rejected(reason) => Held::Nothing(*reason),
            Content::Gone => return Ok(()),
        };
        Ok(rows::put_file(self.connection, &FileRow { folder, file, settled: *settled, held })?)
    }

    fn insert_note(
        &mut self,
        file: &ListedFile,
        listing: &FolderListing,
        folder: i64,
        read: &ReadNote,
    ) -> Result<NoteId, IndexError> {
        let wanted = PlaceInTime {
            mtime_ns: file.stamp.mtime.0,
            vault: listing.vault as i64,
            folder: listing.folder.clone(),
            name: file.name.clone(),
        };
        let id = place::free_id(self.connection, &wanted)?;
        rows::insert_note(self.connection, id, folder, file, read)?;
        for (name, kind) in rows::names(&read.note.title, &read.note.aliases, &file.name) {
            self.connection.prepare_cached(rows::INSERT_NAME)?.execute(params![
                name.as_str(),
                kind as i64,
                id
            ])?;
        }
        let mut mentioned = Vec::with_capacity(read.note.mentions.len());
        for (concept, &links) in &read.note.mentions {
            let concept = self.mention(concept, links)?;
            self.connection
                .prepare_cached(rows::INSERT_MENTION)?
                .execute(params![id, concept, links])?;
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
        let known: Option<i64> = self
            .connection
            .prepare_cached("SELECT id FROM concepts WHERE name = ?1")?
            .query_row([concept.as_str()], |row| row.get(0))
            .optional()?;
        if let Some(id) = known {
            self.connection
                .prepare_cached(
                    "UPDATE concepts SET notes = notes + 1, links = links + ?2 WHERE id = ?1",
                )?
                .execute(params![id, links])?;
            return Ok(id);
        }
        self.totals.concepts += 1;
        self.connection
            .prepare_cached("INSERT INTO concepts (name, notes, links) VALUES (?1, 1, ?2)")?
            .execute(params![concept.as_str(), links])?;
        Ok(self.connection.last_insert_rowid())
    }

    fn remove_folder(&mut self, folder: i64) -> Result<(), IndexError> {
        let files: Vec<String> = self
            .connection
            .prepare_cached("SELECT name FROM files WHERE folder = ?1")?
            .query_map([folder], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        for name in files {
            self.remove_file(folder, &name)?;
        }
        self.connection.prepare_cached("DELETE FROM folders WHERE id = ?1")?.execute([folder])?;
        Ok(())
    }

    /// Forgets a file; its note, if it was one, is to leave.
    fn remove_file(&mut self, folder: i64, name: &str) -> Result<(), IndexError> {
        let note: Option<Option<NoteId>> = self
            .connection
            .prepare_cached("DELETE FROM files WHERE folder = ?1 AND name = ?2 RETURNING note")?
            .query_row(params![folder, name], |row| row.get(0))
            .optional()?;
        if let Some(note) = note.flatten() {
            self.outcome.removed += 1;
            self.leaving.push(note);
        }
        Ok(())
    }

    /// Removes the notes that leave, in the order of their ids and before any other comes: the words of one that is out of
    /// turn begin a new part of the full text, and many of those are merged again and again.
    fn remove_leaving(&mut self) -> Result<(), IndexError> {
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
        for (name, _) in rows::names(&old.title, &old.aliases, &old.name) {
            self.connection
                .prepare_cached("DELETE FROM names WHERE name = ?1 AND note = ?2")?
                .execute(params![name.as_str(), id])?;
        }
        let mentions: Vec<(i64, i64)> = self
            .connection
            .prepare_cached("SELECT concept, links FROM mentions WHERE note = ?1")?
            .query_map([id], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<Result<_, _>>()?;
        for &(concept, links) in &mentions {
            self.connection
                .prepare_cached(
                    "UPDATE concepts SET notes = notes - 1, links = links - ?2 WHERE id = ?1",
                )?
                .execute([concept, links])?;
            self.touched.insert(concept);
        }
        let remarks = Remarks::from_bits(old.remarks);
        if !remarks.iter().any(|remark| remark == Remark::TooManyConcepts) {
            self.change_edges(
                mentions.iter().map(|&(concept, _)| concept).collect(),
                old.fresh_until,
                -1,
            );
        }
        self.connection.prepare_cached("DELETE FROM mentions WHERE note = ?1")?.execute([id])?;
        self.connection.prepare_cached("DELETE FROM fulltext WHERE rowid = ?1")?.execute([id])?;
        self.connection.prepare_cached("DELETE FROM notes WHERE id = ?1")?.execute([id])?;
        self.totals.notes -= 1;
        self.totals.links -= old.links;
        self.totals.remarked -= i64::from(!remarks.is_empty());
        Ok(())
    }

    /// Notes that every pair of these concepts gains or loses a note.
    fn change_edges(&mut self, mut concepts: Vec<i64>, fresh_until: FreshUntil, by: i64) {
        concepts.sort_unstable();
        for (n, &a) in concepts.iter().enumerate() {
            for &b in &concepts[n + 1..] {
                *self.edges.entry((a, b)).or_default().entry(fresh_until).or_insert(0) += by;
            }
        }
    }

    /// Writes the edges whose notes changed.
    fn write_edges(&mut self) -> Result<(), IndexError> {
        let mut bytes = Vec::new();
        for ((a, b), days) in self.edges.drain() {
            if days.values().all(|&by| by == 0) {
                continue;
            }
            let known: Option<(i64, Vec<u8>)> = self
                .connection
                .prepare_cached("SELECT notes, fading FROM edges WHERE a = ?1 AND b = ?2")?
                .query_row([a, b], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()?;
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
                self.connection
                    .prepare_cached("DELETE FROM edges WHERE a = ?1 AND b = ?2")?
                    .execute([a, b])?;
                self.totals.edges -= 1;
            } else if is_new {
                self.connection
                    .prepare_cached(rows::INSERT_EDGE)?
                    .execute(params![a, b, notes, bytes])?;
                self.totals.edges += 1;
            } else {
                self.connection
                    .prepare_cached(
                        "UPDATE edges SET notes = ?3, fading = ?4 WHERE a = ?1 AND b = ?2",
                    )?
                    .execute(params![a, b, notes, bytes])?;
            }
        }
        Ok(())
    }

    /// Removes concepts that no note mentions any more.
    fn forget_concepts(&mut self) -> Result<(), IndexError> {
        for concept in self.touched.drain() {
            let removed = self
                .connection
                .prepare_cached("DELETE FROM concepts WHERE id = ?1 AND notes = 0")?
                .execute([concept])?;
            self.totals.concepts -= removed as i64;
        }
        Ok(())
    }
}
