//! The history of notes: when each was seen to change, and which lines its last change touched. Unlike the rest of an
//! index, it does not follow from the files as they are, so every new index takes it over from the one before.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use rusqlite::{Connection, OptionalExtension, params};

use crate::core::note::listing::{FolderListing, ListedFile};
use crate::core::note::reading::ReadNote;
use crate::core::quote::lines::body_lines;
use crate::core::quote::marks;
use crate::core::quote::passage::Passage;
use crate::core::relevance::activation::Change;
use crate::core::relevance::naming::Namings;
use crate::core::relevance::prior::{prior, prior_of_thinking};
use crate::core::time::Timestamp;
use crate::store::index::gone::{self, Place};
use crate::store::index::{IndexError, NoteId};

/// A passage without pieces, as it is stored.
const NOTHING: &str = "[false,[]]";
/// Older changes are forgotten.
pub(super) const MOST_CHANGES: usize = 4_000;

/// What an index knew of a note.
#[derive(Debug, Clone)]
pub(super) struct Past {
    pub(super) place: Place,
    pub(super) hash: Vec<u8>,
    passage: String,
    /// The hashes of its lines, if they are known.
    lines: Option<Vec<u8>>,
    /// In seconds, oldest first.
    pub(super) changes: Vec<i64>,
}

/// A note's rows in `quotes` and `changes`.
pub(super) struct Remembered {
    pub(super) passage: String,
    pub(super) lines: Vec<u8>,
    pub(super) prior: f64,
    pub(super) changes: Vec<i64>,
}

impl Past {
    /// The past of a note in an index.
    pub(super) fn of_note(
        connection: &Connection,
        note: NoteId,
    ) -> Result<Option<Past>, IndexError> {
        let sql = "SELECT i.hash, q.passage, q.lines, f.vault, f.path, n.name FROM notes n \
                   JOIN quotes q ON q.note = n.id JOIN folders f ON f.id = n.folder \
                   JOIN files i ON i.folder = n.folder AND i.name = n.name WHERE n.id = ?1";
        let past = connection.prepare_cached(sql)?.query_row([note], |row| {
            Ok(Past {
                place: Place { vault: row.get(3)?, folder: row.get(4)?, name: row.get(5)? },
                hash: row.get(0)?,
                passage: row.get(1)?,
                lines: row.get(2)?,
                changes: Vec::new(),
            })
        });
        let Some(mut past) = past.optional()? else { return Ok(None) };
        let sql = "SELECT at FROM changes WHERE note = ?1 ORDER BY at";
        let mut statement = connection.prepare_cached(sql)?;
        past.changes = statement.query_map([note], |row| row.get(0))?.collect::<Result<_, _>>()?;
        Ok(Some(past))
    }

    /// The past of a note that was gone: its text is not known any more.
    pub(super) fn of_gone(place: Place, hash: Vec<u8>, changes: Vec<i64>) -> Past {
        Past { place, hash, passage: NOTHING.to_owned(), lines: None, changes }
    }
}

/// What is remembered of a note as it is now, given its past.
pub(super) fn remembered(
    (vault, folder): (usize, &str),
    namings: &Namings,
    file: &ListedFile,
    read: &ReadNote,
    past: Option<Past>,
) -> Remembered {
    let quotes = &read.quotes;
    let n_chars = if quotes.lines.is_empty() { 0 } else { quotes.body.chars().count() };
    let prior = match &read.thinking {
        Some(thinking) => prior_of_thinking(&thinking.standing, n_chars),
        None => prior(folder, &file.name, n_chars, &namings.of_vault(vault)),
    };
    let at = file.time().seconds();
    // What maenifold's own documents say is in the order of its weight already. Of a pointer nothing is quoted at length.
    let is_told = read.thinking.is_some() || read.is_pointer();
    let json =
        |passage: &Passage| serde_json::to_string(passage).unwrap_or_else(|_| NOTHING.to_owned());
    let lines = marks::to_bytes(&quotes.lines);
    let Some(past) = past else {
        return Remembered { passage: json(&quotes.beginning), lines, prior, changes: vec![at] };
    };
    let mut changes = past.changes;
    // Only what a change touched is history: a beginning is made anew, as long as it is wanted now.
    let kept = match Passage::is_changed_in(&past.passage) && !is_told {
        true => past.passage,
        false => json(&quotes.beginning),
    };
    let n_known = changes.len();
    // The last change of unknown time is this one: its time may be known by now.
    changes.retain(|&at| at != Timestamp::UNKNOWN.seconds());
    let had_unknown = changes.len() < n_known;
    let is_same = past.hash == read.hash;
    // A restored file can have an earlier time.
    if (had_unknown || !is_same)
        && let Err(place) = changes.binary_search(&at)
    {
        changes.insert(place, at);
    }
    // A file that is as it was committed has no later change: what was seen since belongs to another branch.
    let is_committed = at < file.stamp.mtime.seconds() && file.time() != Timestamp::UNKNOWN;
    if is_committed {
        changes.retain(|&change| change <= at);
        if changes.is_empty() {
            changes.push(at);
        }
    }
    if is_same {
        return Remembered { passage: kept, lines, prior, changes };
    }
    let touched = past
        .lines
        .map_or_else(Vec::new, |old| marks::touched(&marks::from_bytes(&old), &quotes.lines));
    let passage = match touched.is_empty() || is_told {
        true => kept,
        false => json(&Passage::of(&body_lines(&quotes.body), &touched, quotes.most_words)),
    };
    Remembered { passage, lines, prior, changes }
}

/// The notes that left an index: a file that appears elsewhere with the same content was moved.
#[derive(Default)]
pub(super) struct Moves(BTreeMap<Vec<u8>, Vec<Past>>);

impl Moves {
    pub(super) fn add(&mut self, past: Past) {
        let same = self.0.entry(past.hash.clone()).or_default();
        same.push(past);
        // Of equal files, the one with the longer history is as good as any.
        same.sort_by_cached_key(|past| {
            (past.changes.len(), past.changes.clone(), Reverse(past.place.clone()))
        });
    }

    pub(super) fn take(&mut self, hash: &[u8]) -> Option<Past> {
        self.0.get_mut(hash)?.pop()
    }

    /// The notes that were not moved.
    pub(super) fn rest(self) -> impl Iterator<Item = Past> {
        self.0.into_values().flatten()
    }
}

/// The history of an index that is about to be replaced.
pub(super) struct OldIndex {
    connection: Connection,
    /// The rows of folders, by vault and path.
    folders: HashMap<(i64, String), i64>,
    changes: HashMap<NoteId, Vec<i64>>,
    moves: Moves,
    gone: BTreeMap<Place, Past>,
}

impl OldIndex {
    /// Reads the changes, and finds the notes that are not listed any more.
    pub(super) fn new(
        connection: Connection,
        listings: &[FolderListing],
    ) -> Result<OldIndex, IndexError> {
        // One transaction: every question by itself would lock and unlock the file.
        connection.execute_batch("BEGIN")?;
        let mut changes: HashMap<NoteId, Vec<i64>> = HashMap::new();
        for Change { note, at } in self::changes(&connection)?.into_iter().map(|(change, _)| change)
        {
            changes.entry(note).or_default().push(at);
        }
        let gone = gone::all(&connection)?;
        let folders = folders(&connection)?;
        let mut old = OldIndex { connection, folders, changes, moves: Moves::default(), gone };
        for (vault, folder, name) in old.not_listed(listings)? {
            old.leave(vault, &folder, &name)?;
        }
        Ok(old)
    }

    /// The places of the notes that are not listed any more.
    fn not_listed(
        &self,
        listings: &[FolderListing],
    ) -> Result<Vec<(i64, String, String)>, IndexError> {
        let listed: HashMap<(i64, &str), &FolderListing> = listings
            .iter()
            .map(|listing| ((listing.vault as i64, listing.folder.as_str()), listing))
            .collect();
        let mut gone = Vec::new();
        let sql = "SELECT name FROM files WHERE folder = ?1 AND note IS NOT NULL";
        let mut statement = self.connection.prepare(sql)?;
        for ((vault, folder), row) in &self.folders {
            let listing = listed.get(&(*vault, folder.as_str()));
            let mut rows = statement.query([row])?;
            while let Some(row) = rows.next()? {
                let name = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
                let is_listed = listing.is_some_and(|listing| {
                    listing.files.binary_search_by(|file| (*file.name).cmp(name)).is_ok()
                });
                if !is_listed {
                    gone.push((*vault, folder.clone(), name.to_owned()));
                }
            }
        }
        Ok(gone)
    }

    /// What the index knew of the file at a place, of one with this content that was moved there, or of one that was
    /// at this place before.
    pub(super) fn past_of(
        &mut self,
        vault: i64,
        folder: &str,
        name: &str,
        hash: &[u8],
    ) -> Result<Option<Past>, IndexError> {
        if let Some(known) = self.past(vault, folder, name)? {
            return Ok(Some(known));
        }
        let place = Place { vault, folder: folder.to_owned(), name: name.to_owned() };
        let gone = self.gone.remove(&place);
        Ok(self.moves.take(hash).or(gone))
    }

    /// Treats the note at a place as one that was removed.
    pub(super) fn leave(&mut self, vault: i64, folder: &str, name: &str) -> Result<(), IndexError> {
        if let Some(past) = self.past(vault, folder, name)? {
            self.moves.add(past);
        }
        Ok(())
    }

    /// Writes what is known of notes that are gone.
    pub(super) fn write_gone(self, connection: &Connection) -> Result<(), IndexError> {
        let gone = self.gone.into_values().chain(self.moves.rest());
        gone.into_iter().try_for_each(|past| gone::remember(connection, &past))?;
        gone::prune(connection)
    }

    fn past(&self, vault: i64, folder: &str, name: &str) -> Result<Option<Past>, IndexError> {
        let place = (vault, folder.to_owned());
        let Some(row) = self.folders.get(&place) else { return Ok(None) };
        let sql = "SELECT i.hash, q.passage, q.lines, i.note FROM files i JOIN quotes q ON q.note = i.note \
                   WHERE i.folder = ?1 AND i.name = ?2";
        let mut statement = self.connection.prepare_cached(sql)?;
        let past = statement.query_row(params![row, name], |row| {
            let changes = self.changes.get(&row.get(3)?).cloned().unwrap_or_default();
            let place = Place { vault, folder: folder.to_owned(), name: name.to_owned() };
            Ok(Past { place, hash: row.get(0)?, passage: row.get(1)?, lines: row.get(2)?, changes })
        });
        Ok(past.optional()?)
    }
}

/// The rows of an index's folders, by vault and path.
fn folders(connection: &Connection) -> Result<HashMap<(i64, String), i64>, IndexError> {
    let mut statement = connection.prepare("SELECT vault, path, id FROM folders")?;
    let rows = statement.query_map([], |row| Ok(((row.get(0)?, row.get(1)?), row.get(2)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// All changes with the priors of their notes, by note and time.
pub(super) fn changes(connection: &Connection) -> Result<Vec<(Change, f64)>, IndexError> {
    let mut statement = connection.prepare_cached("SELECT note, at, prior FROM changes")?;
    let rows = statement
        .query_map([], |row| Ok((Change { note: row.get(0)?, at: row.get(1)? }, row.get(2)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}
