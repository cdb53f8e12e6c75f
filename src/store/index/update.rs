//! The updater: updates an index in one transaction, to exactly the content of a new build.

mod edit;

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior, params};

use crate::core::note::listing::FolderListing;
use crate::core::note::reading::{Content, Reading};
use crate::core::relevance::naming::Namings;
use crate::store::index::IndexError;
use crate::store::index::build::write_totals;
use crate::store::index::changes::{Changes, changes};
use crate::store::index::history::Moves;
use crate::store::index::ranking::write_ranking;
use crate::store::index::read::read_totals;
use crate::store::index::store::{Unusable, WriterLock};
use crate::store::index::update::edit::Edit;

/// Reading a log of a few megabytes takes a few milliseconds.
const LONG_LOG_PAGES: i64 = 1_000;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Notes that are new or have new content.
    pub changed: usize,
    pub removed: usize,
    pub read: usize,
}

pub struct Updater {
    connection: Connection,
    /// Of the listings, once they were asked for.
    namings: OnceCell<Namings>,
}

impl Updater {
    pub fn open(lock: &WriterLock, fingerprint: &str) -> Result<Updater, Unusable> {
        Ok(Updater { connection: lock.open(fingerprint)?, namings: OnceCell::new() })
    }

    /// Compares listings with the index. The lock prevents other writers.
    pub fn changes(&self, listings: &[FolderListing]) -> Result<Changes, IndexError> {
        changes(&self.connection, listings)
    }

    pub fn n_notes(&self) -> Result<i64, IndexError> {
        Ok(read_totals(&self.connection)?.notes)
    }

    /// The longest passage in the index, in words.
    pub fn most_words(&self) -> Result<usize, IndexError> {
        let sql = "SELECT value FROM meta WHERE key = 'most_words'";
        Ok(self.connection.query_row(sql, [], |row| row.get::<_, u32>(0))? as usize)
    }

    /// Whether the index was built of notes that are named like these.
    pub fn is_named_like(&self, listings: &[FolderListing]) -> Result<bool, IndexError> {
        let sql = "SELECT value FROM meta WHERE key = 'namings'";
        let known: String = self.connection.query_row(sql, [], |row| row.get(0))?;
        Ok(known == self.namings(listings).to_string())
    }

    fn namings(&self, listings: &[FolderListing]) -> &Namings {
        self.namings.get_or_init(|| Namings::of(listings))
    }

    /// Applies changes, with the contents of their files, in one transaction.
    pub fn apply(
        &mut self,
        changes: &Changes,
        listings: &[FolderListing],
        mut readings: Vec<Reading>,
    ) -> Result<Outcome, IndexError> {
        let namings = self.namings(listings).clone();
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut edit = Edit {
            totals: read_totals(&transaction)?,
            connection: &transaction,
            namings: &namings,
            outcome: Outcome::default(),
            leaving: Vec::new(),
            edges: HashMap::new(),
            touched: HashSet::new(),
            moves: Moves::default(),
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
        // In the order of time, as in a build; most new ids are then the largest ones.
        readings.sort_by(|a, b| {
            let key = |reading: &Reading| (reading.file.time(), listings[reading.folder].vault);
            let place = |reading: &Reading| {
                (listings[reading.folder].folder.clone(), reading.file.name.clone())
            };
            key(a).cmp(&key(b)).then_with(|| place(a).cmp(&place(b)))
        });
        let mut before = Vec::with_capacity(readings.len());
        for reading in &readings {
            if !reading.settled || reading.content == Content::Gone {
                restless.insert(reading.folder);
            }
            before.push(edit.clear(reading, folder_rows[&reading.folder])?);
        }
        edit.remove_leaving()?;
        for (reading, before) in readings.iter().zip(before) {
            edit.put(reading, before, &listings[reading.folder], folder_rows[&reading.folder])?;
        }
        edit.write_edges()?;
        edit.forget_concepts()?;
        edit.remember_gone()?;
        edit.prune_changes()?;
        write_ranking(&transaction)?;
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

    /// Copies a long log back into the database, because the next process that opens the index
    /// reads all of it.
    ///
    /// SQLite's own rule would do so after every commit from then on, because it forgets what it
    /// has copied when the last process closes the index.
    fn empty_long_log(&self) -> Result<(), IndexError> {
        let copied = "PRAGMA wal_checkpoint(NOOP)";
        let pages: i64 = self.connection.query_row(copied, [], |row| row.get(1))?;
        if pages > LONG_LOG_PAGES {
            // Readers of an old state can block this; the next update then tries again.
            self.connection.busy_timeout(Duration::ZERO)?;
            self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        }
        Ok(())
    }
}
