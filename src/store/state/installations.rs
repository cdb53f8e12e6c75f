//! Installations: which bridges were put where, and which folders were made for them.

use std::path::Path;

use rusqlite::{OptionalExtension, params};

use crate::core::installation::Installation;
use crate::store::state::{State, StateError};

impl State {
    /// What is known about the bridge at `file`.
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

    /// Remembers the bridge at `file`, instead of what was known about it.
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

    /// Forgets the bridge at `file`.
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
