//! What is remembered of notes that are gone: when they changed, and not what they said. It counts for nothing, until
//! their files come back.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension, params};

use crate::store::index::IndexError;
use crate::store::index::history::Past;

/// Notes that have not changed for longer are forgotten.
const MOST_GONE: i64 = 1_000;

/// The place of a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) vault: i64,
    pub(super) folder: String,
    pub(super) name: String,
}

/// Remembers a note that is gone.
pub(super) fn remember(connection: &Connection, past: &Past) -> Result<(), IndexError> {
    let Some(last) = past.changes.last() else { return Ok(()) };
    let Place { vault, folder, name } = &past.place;
    let changes = serde_json::to_string(&past.changes).unwrap_or_else(|_| "[]".to_owned());
    let sql = "INSERT OR REPLACE INTO gone (vault, folder, name, hash, last, changes) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let row = params![vault, folder, name, past.hash, last, changes];
    connection.prepare_cached(sql)?.execute(row)?;
    Ok(())
}

/// All that an index remembers of notes that are gone. An older version remembered none.
pub(super) fn all(connection: &Connection) -> Result<BTreeMap<Place, Past>, IndexError> {
    let mut gone = BTreeMap::new();
    if !connection.table_exists(None, "gone")? {
        return Ok(gone);
    }
    let mut rows = connection.prepare("SELECT vault, folder, name, hash, changes FROM gone")?;
    let mut rows = rows.query([])?;
    while let Some(row) = rows.next()? {
        let place = Place { vault: row.get(0)?, folder: row.get(1)?, name: row.get(2)? };
        let changes = changes(&row.get::<_, String>(4)?)?;
        gone.insert(place.clone(), Past::of_gone(place, row.get(3)?, changes));
    }
    Ok(gone)
}

/// What is remembered of a file that has come back; it is then known by its note again.
pub(super) fn take(connection: &Connection, place: Place) -> Result<Option<Past>, IndexError> {
    let sql =
        "DELETE FROM gone WHERE vault = ?1 AND folder = ?2 AND name = ?3 RETURNING hash, changes";
    let row = connection
        .prepare_cached(sql)?
        .query_row(params![place.vault, place.folder, place.name], |row| {
            Ok((row.get::<_, Vec<u8>>(0)?, row.get::<_, String>(1)?))
        });
    match row.optional()? {
        Some((hash, json)) => Ok(Some(Past::of_gone(place, hash, changes(&json)?))),
        None => Ok(None),
    }
}

/// Forgets the notes whose last change is oldest.
pub(super) fn prune(connection: &Connection) -> Result<(), IndexError> {
    let sql = "DELETE FROM gone WHERE (vault, folder, name) IN \
               (SELECT vault, folder, name FROM gone ORDER BY last DESC, vault, folder, name LIMIT -1 OFFSET ?1)";
    connection.execute(sql, [MOST_GONE])?;
    Ok(())
}

fn changes(json: &str) -> Result<Vec<i64>, IndexError> {
    serde_json::from_str(json).map_err(|error| IndexError::Damaged(error.to_string()))
}
