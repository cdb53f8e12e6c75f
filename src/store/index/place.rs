//! Finds the id of a note among the ids of the others, so that ids stay in the order of time.

use rusqlite::{Connection, OptionalExtension, Row};

use crate::store::index::{IndexError, NoteId};

/// The distance between two ids of a new index: room for later notes with old times.
pub(super) const GAP: NoteId = 1_024;

/// The sort order of notes: by time, equal times by path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PlaceInTime {
    pub(super) mtime_ns: i64,
    pub(super) vault: i64,
    pub(super) folder: String,
    pub(super) name: String,
}

const NOTE: &str = "SELECT n.id, n.mtime_ns, f.vault, f.path, n.name FROM notes n JOIN folders f ON f.id = n.folder";

pub(super) fn free_id(connection: &Connection, wanted: &PlaceInTime) -> Result<NoteId, IndexError> {
    let last = connection
        .prepare_cached(&format!("{NOTE} ORDER BY n.id DESC LIMIT 1"))?
        .query_row([], note)
        .optional()?;
    let Some((last_id, last_place)) = last else { return Ok(GAP) };
    if last_place < *wanted {
        return Ok(last_id + GAP);
    }
    let mut next_from =
        connection.prepare_cached(&format!("{NOTE} WHERE n.id >= ?1 ORDER BY n.id LIMIT 1"))?;
    // The smallest id from which on every note is newer.
    let mut low: NoteId =
        connection.prepare_cached("SELECT min(id) FROM notes")?.query_row([], |row| row.get(0))?;
    let mut high = last_id;
    while low < high {
        let middle = low + (high - low) / 2;
        let (id, place) = next_from.query_row([middle], note)?;
        if place < *wanted {
            low = id + 1;
        } else {
            high = middle;
        }
    }
    let next: NoteId = next_from.query_row([high], note)?.0;
    let previous: Option<NoteId> = connection
        .prepare_cached("SELECT max(id) FROM notes WHERE id < ?1")?
        .query_row([next], |row| row.get(0))?;
    let Some(previous) = previous else { return Ok(next - GAP) };
    let room = next - previous;
    // Close to the previous note: the next insertion most likely comes after this one.
    if room < 2 { Err(IndexError::Crowded) } else { Ok(previous + (room / 16).max(1)) }
}

fn note(row: &Row<'_>) -> Result<(NoteId, PlaceInTime), rusqlite::Error> {
    let place = PlaceInTime {
        mtime_ns: row.get(1)?,
        vault: row.get(2)?,
        folder: row.get(3)?,
        name: row.get(4)?,
    };
    Ok((row.get(0)?, place))
}
