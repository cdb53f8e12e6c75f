//! What an index knows of files when it is about to be written: how they looked, and when they were written.

use rusqlite::{Connection, OptionalExtension, params};

use crate::core::note::listing::Stamp;
use crate::core::time::Timestamp;
use crate::store::index::SCHEMA_VERSION;
use crate::store::index::rows;
use crate::store::index::store::Store;

/// The notes of the index in use; of none if it cannot be read, or another version made it.
pub struct KnownFiles(Option<Connection>);

pub struct KnownFile {
    /// `None` if the file may have changed after it was read.
    pub stamp: Option<Stamp>,
    pub hash: Vec<u8>,
    pub time: Timestamp,
}

impl KnownFiles {
    pub fn open(store: &Store) -> KnownFiles {
        let is_ours = |index: &Connection| {
            let version = index.pragma_query_value(None, "user_version", |row| row.get(0));
            version == Ok(SCHEMA_VERSION)
        };
        KnownFiles(store.open_old().filter(is_ours))
    }

    /// The note at a place, unless its time is unknown.
    pub fn find(&self, vault: usize, folder: &str, name: &str) -> Option<KnownFile> {
        let sql = "SELECT i.settled, i.mtime_ns, i.ctime_ns, i.size, i.hash, n.mtime_ns FROM folders f \
                   JOIN files i ON i.folder = f.id JOIN notes n ON n.id = i.note \
                   WHERE f.vault = ?1 AND f.path = ?2 AND i.name = ?3";
        let mut statement = self.0.as_ref()?.prepare_cached(sql).ok()?;
        let known = statement.query_row(params![vault as i64, folder, name], |row| {
            let is_settled: bool = row.get(0)?;
            let stamp = rows::stamp(row, 1)?;
            let stamp = is_settled.then_some(stamp);
            Ok(KnownFile { stamp, hash: row.get(4)?, time: Timestamp(row.get(5)?) })
        });
        known.optional().ok().flatten().filter(|known| known.time != Timestamp::UNKNOWN)
    }
}
