//! Installations: the files that were installed, and the folders that were created for them.

use std::path::{Path, PathBuf};

use rusqlite::{OptionalExtension, Row, params};

use crate::core::installation::Installation;
use crate::store::state::{Result, State};
use crate::system::path_bytes::{bytes, path};

impl State {
    /// The record of the installation at `file`.
    pub fn installation(&self, file: &Path) -> Result<Option<Installation>> {
        let sql = "SELECT version, sha256, folders_made FROM installations WHERE file = ?1";
        let installation = |row: &Row<'_>| {
            let (version, sha256, folders_made) = row.try_into()?;
            Ok(Installation { version, sha256, folders_made })
        };
        self.read(|connection| connection.query_row(sql, [bytes(file)], installation).optional())
    }

    /// The files of all installations.
    pub fn installed_files(&self) -> Result<Vec<PathBuf>> {
        self.read(|connection| {
            let mut files = connection.prepare("SELECT file FROM installations ORDER BY file")?;
            files.query_map([], |row| Ok(path(row.get(0)?)))?.collect()
        })
    }

    /// Records the installation at `file`; replaces an existing record.
    pub fn remember_installation(&self, file: &Path, installation: &Installation) -> Result<()> {
        let Installation { version, sha256, folders_made } = installation;
        let sql = "INSERT OR REPLACE INTO installations (file, version, sha256, folders_made) \
                   VALUES (?1, ?2, ?3, ?4)";
        let values = params![bytes(file), version, sha256, folders_made];
        self.read(|connection| connection.execute(sql, values).map(drop))
    }

    pub fn forget_installation(&self, file: &Path) -> Result<()> {
        let sql = "DELETE FROM installations WHERE file = ?1";
        self.read(|connection| connection.execute(sql, [bytes(file)]).map(drop))
    }
}
