//! Installations: the files that were installed, and the folders that were created for them.

use std::path::Path;

use rusqlite::{OptionalExtension, params};

use crate::core::installation::Installation;
use crate::store::state::{State, StateError};

impl State {
    /// The record of the installation at `file`.
    pub fn installation(&self, file: &Path) -> Result<Option<Installation>, StateError> {
        let sql = "SELECT version, sha256, folders_made FROM installations WHERE file = ?1";
        let installation = |row: &rusqlite::Row<'_>| {
            Ok(Installation {
                version: row.get(0)?,
                sha256: row.get(1)?,
                folders_made: row.get(2)?,
            })
        };
        self.connection
            .query_row(sql, [key(file)], installation)
            .optional()
            .map_err(|cause| self.failed(cause))
    }

    /// Records the installation at `file`; replaces an existing record.
    pub fn remember_installation(
        &self,
        file: &Path,
        installation: &Installation,
    ) -> Result<(), StateError> {
        let Installation { version, sha256, folders_made } = installation;
        let sql = "INSERT OR REPLACE INTO installations (file, version, sha256, folders_made) \
                   VALUES (?1, ?2, ?3, ?4)";
        self.connection
            .execute(sql, params![key(file), version, sha256, folders_made])
            .map(drop)
            .map_err(|cause| self.failed(cause))
    }

    pub fn forget_installation(&self, file: &Path) -> Result<(), StateError> {
        self.connection
            .execute("DELETE FROM installations WHERE file = ?1", [key(file)])
            .map(drop)
            .map_err(|cause| self.failed(cause))
    }
}

fn key(file: &Path) -> &[u8] {
    file.as_os_str().as_encoded_bytes()
}
