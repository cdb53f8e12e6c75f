//! Changes: the differences between listed vaults and an index. Reads no file and writes nothing.

use std::collections::HashMap;

use rusqlite::Connection;

use crate::core::note::listing::{Digest, FolderListing};
use crate::store::index::IndexError;
use crate::store::index::rows;

#[derive(Debug, Default)]
pub struct Changes {
    /// Folders to check, as positions in the list of folders.
    pub(super) folders: Vec<usize>,
    /// Files to read: the position of the folder, and that of the file in it.
    pub to_read: Vec<(usize, usize)>,
    /// Removed files in these folders: the folder's row and the file's name.
    pub(super) gone_files: Vec<(i64, String)>,
    /// Rows of folders that no longer contain notes.
    pub(super) gone_folders: Vec<i64>,
}

impl Changes {
    pub fn is_empty(&self) -> bool {
        self.folders.is_empty() && self.gone_folders.is_empty()
    }
}

/// Whether the index is up to date: a faster form of [`changes`].
pub(super) fn is_current(
    connection: &Connection,
    listings: &[FolderListing],
) -> Result<bool, IndexError> {
    let digests: HashMap<(i64, &str), Digest> = listings
        .iter()
        .map(|listing| ((listing.vault as i64, listing.folder.as_str()), listing.digest))
        .collect();
    let mut statement = connection.prepare_cached("SELECT vault, path, digest FROM folders")?;
    let mut rows = statement.query([])?;
    let mut n_same = 0;
    while let Some(row) = rows.next()? {
        let path = row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?;
        let known: Option<Digest> = row.get(2)?;
        if known.is_none() || known != digests.get(&(row.get(0)?, path)).copied() {
            return Ok(false);
        }
        n_same += 1;
    }
    Ok(n_same == listings.len())
}

/// Compares listings with the index.
pub(super) fn changes(
    connection: &Connection,
    listings: &[FolderListing],
) -> Result<Changes, IndexError> {
    let mut known: HashMap<(i64, String), (i64, Option<Digest>)> = HashMap::new();
    let mut folder_rows =
        connection.prepare_cached("SELECT id, vault, path, digest FROM folders")?;
    let mut rows = folder_rows.query([])?;
    while let Some(row) = rows.next()? {
        known.insert((row.get(1)?, row.get(2)?), (row.get(0)?, row.get(3)?));
    }
    let mut changes = Changes::default();
    for (folder_idx, listing) in listings.iter().enumerate() {
        match known.remove(&(listing.vault as i64, listing.folder.clone())) {
            Some((_, Some(digest))) if digest == listing.digest => {}
            Some((row, _)) => changes.look_into(connection, folder_idx, listing, row)?,
            None => {
                changes.folders.push(folder_idx);
                changes
                    .to_read
                    .extend((0..listing.files.len()).map(|file_idx| (folder_idx, file_idx)));
            }
        }
    }
    changes.gone_folders = known.into_values().map(|(row, _)| row).collect();
    changes.gone_folders.sort_unstable();
    Ok(changes)
}

impl Changes {
    fn look_into(
        &mut self,
        connection: &Connection,
        folder_idx: usize,
        listing: &FolderListing,
        row: i64,
    ) -> Result<(), IndexError> {
        self.folders.push(folder_idx);
        let mut files = listing.files.iter().enumerate().peekable();
        let sql = "SELECT name, settled, mtime_ns, ctime_ns, size FROM files WHERE folder = ?1 ORDER BY name";
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query([row])?;
        // Both sides are sorted by name, so one pass finds all differences.
        while let Some(row_of_file) = rows.next()? {
            let name = row_of_file.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
            while let Some((new, _)) = files.next_if(|(_, file)| *file.name < *name) {
                self.to_read.push((folder_idx, new));
            }
            match files.next_if(|(_, file)| *file.name == *name) {
                Some((known, file)) => {
                    let settled: bool = row_of_file.get(1)?;
                    if !settled || rows::stamp(row_of_file, 2)? != file.stamp {
                        self.to_read.push((folder_idx, known));
                    }
                }
                None => self.gone_files.push((row, name.to_owned())),
            }
        }
        self.to_read.extend(files.map(|(new, _)| (folder_idx, new)));
        Ok(())
    }
}
