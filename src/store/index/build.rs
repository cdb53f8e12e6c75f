//! The builder: writes a whole index to a new file, in one pass over the notes, and swaps it in at
//! the end. Where no file can be written, the index is in memory, for one process.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread;

use rusqlite::{Connection, OpenFlags, params};

use crate::core::note::concept::Concept;
use crate::core::note::listing::{FolderListing, ListedFile};
use crate::core::note::reading::{Content, ReadNote, Reading};
use crate::core::relevance::activation::Change;
use crate::core::relevance::naming::Namings;
use crate::store::index::bulk::insert_all;
use crate::store::index::edges::{Edge, EdgeCollector};
use crate::store::index::history::{self, OldIndex};
use crate::store::index::place;
use crate::store::index::ranking::write_ranking;
use crate::store::index::read::Index;
use crate::store::index::rows::{self, FileRow, Held, NameKind};
use crate::store::index::store::{Store, WriterLock, plan_once};
use crate::store::index::{
    APPLICATION_ID, IndexError, LOOKUPS, NoteId, SCHEMA_VERSION, TABLES, Totals,
};

/// The number of edge batches that may wait to be written.
const EDGE_BATCHES_AHEAD: usize = 32;

/// A file that was added, until its row is written.
struct BuiltFile {
    folder: usize,
    file: ListedFile,
    settled: bool,
    held: Held,
}

pub struct Builder<'a> {
    connection: Connection,
    /// `None` in memory.
    file: Option<NewFile<'a>>,
    totals: Totals,
    /// Folders with a file that may have changed while it was read.
    restless: Vec<bool>,
    last_id: NoteId,
    concept_ids: HashMap<Concept, u32>,
    /// The numbers of notes and links of each concept, by its id.
    concept_counts: Vec<(u32, u64)>,
    names: Vec<(Concept, NameKind, NoteId)>,
    /// Note, concept, links; in storage order.
    mentions: Vec<(NoteId, u32, u32)>,
    files: Vec<BuiltFile>,
    edges: EdgeCollector,
    listings: &'a [FolderListing],
    namings: Namings,
    /// The index that this one replaces, if it can be read.
    old: Option<OldIndex>,
    changes: Vec<(Change, f64)>,
    keys: Vec<(u32, NoteId)>,
    references: Vec<(u32, NoteId, u8)>,
}

/// The file of an index that is not finished. Dropped, it is removed, unless it was published.
struct NewFile<'a> {
    lock: &'a WriterLock,
    path: PathBuf,
    is_published: bool,
}

impl<'a> Builder<'a> {
    /// Starts a new index beside the one in use.
    pub fn begin(
        lock: &'a WriterLock,
        listings: &'a [FolderListing],
    ) -> Result<Builder<'a>, IndexError> {
        let file = NewFile { lock, path: lock.new_file()?, is_published: false };
        let access = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&file.path, access)?;
        Builder::new(connection, Some(file), lock.store(), listings)
    }

    /// Starts an index in memory, with the history of the one in `store`.
    pub fn in_memory(
        store: &Store,
        listings: &'a [FolderListing],
    ) -> Result<Builder<'a>, IndexError> {
        Builder::new(Connection::open_in_memory()?, None, store, listings)
    }

    fn new(
        connection: Connection,
        file: Option<NewFile<'a>>,
        store: &Store,
        listings: &'a [FolderListing],
    ) -> Result<Builder<'a>, IndexError> {
        // A history that cannot be read is lost; the notes are not.
        let old = store.open_old().and_then(|old| OldIndex::new(old, listings).ok());
        connection.execute_batch(
            // No other process sees this file before it is finished, so it needs no protection
            // against loss.
            "PRAGMA page_size = 8192; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;
             PRAGMA cache_size = -32768; PRAGMA temp_store = MEMORY;",
        )?;
        connection.set_prepared_statement_cache_capacity(32);
        plan_once(&connection)?;
        connection.execute_batch(TABLES)?;
        // FTS5 collects words in memory and writes them in large runs; with the default of one
        // megabyte, it writes and then merges dozens of small runs.
        connection.execute_batch(
            "INSERT INTO fulltext (fulltext, rank) VALUES ('hashsize', 33554432); BEGIN",
        )?;
        Ok(Builder {
            connection,
            file,
            totals: Totals::default(),
            restless: vec![false; listings.len()],
            last_id: 0,
            concept_ids: HashMap::new(),
            concept_counts: Vec::new(),
            names: Vec::new(),
            mentions: Vec::new(),
            files: Vec::new(),
            edges: EdgeCollector::default(),
            listings,
            namings: Namings::of(listings),
            old,
            changes: Vec::new(),
            keys: Vec::new(),
            references: Vec::new(),
        })
    }

    /// Adds a file. Files must come in the order of their ids: by time, then by path.
    pub fn add(&mut self, reading: &Reading) -> Result<(), IndexError> {
        self.restless[reading.folder] |= !reading.settled || reading.content == Content::Gone;
        if !matches!(reading.content, Content::Note(_)) {
            self.leave(reading);
        }
        let held = match &reading.content {
            Content::Note(read) => {
                self.last_id += place::GAP;
                self.add_note(self.last_id, reading, read)?;
                Held::Note(self.last_id, read.hash)
            }
            Content::Rejected(reason) => Held::Nothing(*reason),
            Content::Gone => return Ok(()),
        };
        let (file, settled) = (reading.file.clone(), reading.settled);
        self.files.push(BuiltFile { folder: reading.folder, file, settled, held });
        Ok(())
    }

    /// Keeps what was known of a file that is no note any more.
    fn leave(&mut self, reading: &Reading) {
        let FolderListing { vault, folder, .. } = &self.listings[reading.folder];
        if let Some(old) = &mut self.old
            && old.leave(*vault as i64, folder, &reading.file.name).is_err()
        {
            // A history that cannot be read is lost; the notes are not.
            self.old = None;
        }
    }

    fn add_note(
        &mut self,
        id: NoteId,
        reading: &Reading,
        read: &ReadNote,
    ) -> Result<(), IndexError> {
        rows::insert_note(&self.connection, id, folder_row(reading.folder), &reading.file, read)?;
        let names = rows::names_of(read).into_iter();
        self.names.extend(names.map(|(name, kind)| (name, kind, id)));
        self.add_quotes(id, reading, read)?;

        let mut mentioned: Vec<(u32, u32)> = Vec::with_capacity(read.note.mentions.len());
        for (concept, &links) in &read.note.mentions {
            let concept_id = match self.concept_ids.get(concept) {
                Some(&known) => known,
                None => {
                    let new = u32::try_from(self.concept_counts.len()).unwrap_or(u32::MAX);
                    self.concept_ids.insert(concept.clone(), new);
                    self.concept_counts.push((0, 0));
                    new
                }
            };
            let counts = &mut self.concept_counts[concept_id as usize];
            counts.0 += 1;
            counts.1 += u64::from(links);
            mentioned.push((concept_id, links));
        }
        mentioned.sort_unstable();
        self.mentions.extend(mentioned.iter().map(|&(concept, links)| (id, concept, links)));
        if read.has_edges {
            self.edges.add(mentioned.iter().map(|&(concept, _)| concept), read.fresh_until);
        }
        self.totals.notes += 1;
        self.totals.links += rows::link_count(read);
        self.totals.remarked += i64::from(!read.note.remarks.is_empty());
        Ok(())
    }

    /// Adds what a context quotes of a note, its history, and what it refers to.
    fn add_quotes(
        &mut self,
        id: NoteId,
        reading: &Reading,
        read: &ReadNote,
    ) -> Result<(), IndexError> {
        let FolderListing { vault, folder, .. } = &self.listings[reading.folder];
        let known = match &mut self.old {
            Some(old) => old.past_of(*vault as i64, folder, &reading.file.name, &read.hash),
            None => Ok(None),
        };
        // A history that cannot be read is lost; the notes are not.
        if known.is_err() {
            self.old = None;
        }
        let past = known.ok().flatten();
        let remembered =
            history::remembered((*vault, folder), &self.namings, &reading.file, read, past);
        let changes = remembered.changes.iter().map(|&at| Change { at, note: id });
        self.changes.extend(changes.map(|change| (change, remembered.prior)));
        let keys = rows::keys(*vault, read);
        let references = rows::references(*vault, read);
        rows::insert_quotes(&self.connection, id, read, &remembered, (&keys, &references))?;
        rows::insert_named_files(&self.connection, id, read)?;
        rows::insert_thread(&self.connection, id, read)?;
        self.keys.extend(keys.into_iter().map(|key| (key, id)));
        self.references.extend(references.into_iter().map(|(key, kind)| (key, id, kind)));
        Ok(())
    }

    /// Replaces the old index with the new one.
    pub fn finish(mut self, fingerprint: &str, most_words: usize) -> Result<Totals, IndexError> {
        self.write_rest(fingerprint, most_words)?;
        self.connection.execute_batch("PRAGMA locking_mode = NORMAL; PRAGMA journal_mode = WAL")?;
        // The last step's log belongs to this connection; it must be gone before readers open the
        // file.
        let Builder { connection, file, totals, .. } = self;
        connection.close().map_err(|(_, error)| error)?;
        if let Some(mut file) = file {
            file.lock.publish(&file.path)?;
            file.is_published = true;
        }
        Ok(totals)
    }

    /// Returns an index that is in memory.
    pub fn finish_in_memory(
        mut self,
        fingerprint: &str,
        most_words: usize,
    ) -> Result<(Index, Totals), IndexError> {
        self.write_rest(fingerprint, most_words)?;
        Ok((Index::new(self.connection), self.totals))
    }

    /// Writes the tables that need all notes.
    fn write_rest(&mut self, fingerprint: &str, most_words: usize) -> Result<(), IndexError> {
        let n_concepts = self.concept_counts.len();
        let edges = std::mem::take(&mut self.edges);
        // Another thread counts edges while this one writes the rest.
        thread::scope(|scope| {
            let (sender, counted) = mpsc::sync_channel(EDGE_BATCHES_AHEAD);
            scope.spawn(move || edges.count(n_concepts, |batch| sender.send(batch).is_ok()));
            self.write_folders()?;
            self.write_files()?;
            self.write_names()?;
            self.write_concepts()?;
            self.write_mentions()?;
            self.write_references()?;
            self.write_changes()?;
            self.write_gone()?;
            self.write_edges(counted)
        })?;
        self.totals.concepts = n_concepts as i64;
        rows::set_meta(&self.connection, "fingerprint", fingerprint)?;
        rows::set_meta(&self.connection, "most_words", most_words as i64)?;
        rows::set_meta(&self.connection, "namings", self.namings.to_string())?;
        write_totals(&self.connection, &self.totals)?;
        self.connection.execute_batch(LOOKUPS)?;
        write_ranking(&self.connection)?;
        self.connection.execute_batch(
            "INSERT INTO fulltext (fulltext, rank) VALUES ('hashsize', 1048576); COMMIT",
        )?;
        self.connection.pragma_update(None, "application_id", APPLICATION_ID)?;
        self.connection.pragma_update(None, "user_version", SCHEMA_VERSION)?;
        Ok(())
    }

    fn write_folders(&self) -> Result<(), IndexError> {
        let mut row = self
            .connection
            .prepare("INSERT INTO folders (id, vault, path, digest) VALUES (?1, ?2, ?3, ?4)")?;
        for (n, listing) in self.listings.iter().enumerate() {
            let digest = (!self.restless[n]).then_some(listing.digest);
            row.execute(params![folder_row(n), listing.vault as i64, listing.folder, digest])?;
        }
        Ok(())
    }

    fn write_files(&mut self) -> Result<(), IndexError> {
        let mut files = std::mem::take(&mut self.files);
        files.sort_unstable_by(|a, b| (a.folder, &a.file.name).cmp(&(b.folder, &b.file.name)));
        Ok(insert_all::<_, 9>(&self.connection, rows::FILES, &files, |statement, at, built| {
            let BuiltFile { folder, file, settled, held } = built;
            let row = FileRow { folder: folder_row(*folder), file, settled: *settled, held: *held };
            rows::bind_file(statement, at, &row)
        })?)
    }

    fn write_names(&mut self) -> Result<(), IndexError> {
        let mut names = std::mem::take(&mut self.names);
        names.sort_unstable_by(|a, b| (&a.0, a.2).cmp(&(&b.0, b.2)));
        let table = "names (name, kind, note)";
        Ok(insert_all::<_, 3>(
            &self.connection,
            table,
            &names,
            |statement, at, (name, kind, note)| {
                statement.raw_bind_parameter(at, name.as_str())?;
                statement.raw_bind_parameter(at + 1, *kind as i64)?;
                statement.raw_bind_parameter(at + 2, note)
            },
        )?)
    }

    fn write_concepts(&self) -> Result<(), IndexError> {
        let mut concepts: Vec<(u32, &Concept)> =
            self.concept_ids.iter().map(|(concept, &id)| (id, concept)).collect();
        concepts.sort_unstable();
        let table = "concepts (id, name, notes, links)";
        Ok(insert_all::<_, 4>(
            &self.connection,
            table,
            &concepts,
            |statement, at, (id, concept)| {
                let (notes, links) = self.concept_counts[*id as usize];
                statement.raw_bind_parameter(at, id)?;
                statement.raw_bind_parameter(at + 1, concept.as_str())?;
                statement.raw_bind_parameter(at + 2, notes)?;
                statement.raw_bind_parameter(at + 3, links as i64)
            },
        )?)
    }

    fn write_mentions(&mut self) -> Result<(), IndexError> {
        let mentions = std::mem::take(&mut self.mentions);
        let table = "mentions (note, concept, links)";
        Ok(insert_all::<_, 3>(&self.connection, table, &mentions, |statement, at, mention| {
            statement.raw_bind_parameter(at, mention.0)?;
            statement.raw_bind_parameter(at + 1, mention.1)?;
            statement.raw_bind_parameter(at + 2, mention.2)
        })?)
    }

    fn write_references(&mut self) -> Result<(), IndexError> {
        let mut keys = std::mem::take(&mut self.keys);
        keys.sort_unstable();
        insert_all::<_, 2>(&self.connection, "keys (key, note)", &keys, |statement, at, key| {
            statement.raw_bind_parameter(at, key.0)?;
            statement.raw_bind_parameter(at + 1, key.1)
        })?;
        let mut references = std::mem::take(&mut self.references);
        references.sort_unstable();
        let table = "refs (key, note, kind)";
        Ok(insert_all::<_, 3>(&self.connection, table, &references, |statement, at, reference| {
            statement.raw_bind_parameter(at, reference.0)?;
            statement.raw_bind_parameter(at + 1, reference.1)?;
            statement.raw_bind_parameter(at + 2, reference.2)
        })?)
    }

    /// Writes the newest changes.
    fn write_changes(&mut self) -> Result<(), IndexError> {
        let mut changes = std::mem::take(&mut self.changes);
        changes.sort_unstable_by_key(|(change, _)| Reverse(*change));
        changes.truncate(history::MOST_CHANGES);
        changes.sort_unstable_by_key(|(change, _)| (change.note, change.at));
        let table = "changes (note, at, prior)";
        Ok(insert_all::<_, 3>(
            &self.connection,
            table,
            &changes,
            |statement, at, (change, prior)| {
                statement.raw_bind_parameter(at, change.note)?;
                statement.raw_bind_parameter(at + 1, change.at)?;
                statement.raw_bind_parameter(at + 2, prior)
            },
        )?)
    }

    fn write_gone(&mut self) -> Result<(), IndexError> {
        self.old.take().map_or(Ok(()), |old| old.write_gone(&self.connection))
    }

    fn write_edges(&mut self, counted: mpsc::Receiver<Vec<Edge>>) -> Result<(), IndexError> {
        let table = "edges (a, b, notes, fading)";
        for edges in counted {
            insert_all::<_, 4>(&self.connection, table, &edges, |statement, at, edge| {
                statement.raw_bind_parameter(at, edge.a)?;
                statement.raw_bind_parameter(at + 1, edge.b)?;
                statement.raw_bind_parameter(at + 2, edge.notes)?;
                statement.raw_bind_parameter(at + 3, &edge.fading)
            })?;
            self.totals.edges += edges.len() as i64;
        }
        Ok(())
    }
}

impl Drop for NewFile<'_> {
    fn drop(&mut self) {
        if !self.is_published {
            // The next builder removes it if this fails.
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn folder_row(n: usize) -> i64 {
    n as i64 + 1
}

/// Writes the totals, which are stored so that they need not be counted.
pub(super) fn write_totals(connection: &Connection, totals: &Totals) -> Result<(), IndexError> {
    rows::set_meta(connection, "notes", totals.notes)?;
    rows::set_meta(connection, "concepts", totals.concepts)?;
    rows::set_meta(connection, "links", totals.links)?;
    rows::set_meta(connection, "edges", totals.edges)?;
    rows::set_meta(connection, "remarked", totals.remarked)?;
    Ok(())
}
