//! Damage of the state: tells it from a database that is merely busy, out of reach or newer, and finds it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, ErrorCode, ffi};

use crate::store::state::schema::{self, STEPS};
use crate::store::state::{Result, State, StateError};

/// A larger number cannot be the version of any release.
const LAST_VERSION: i64 = 1_000;
/// All columns and indexes of a database.
const SCHEMA: &str = "SELECT name FROM sqlite_schema WHERE type = 'index' \
     UNION SELECT tables.name || '.' || columns.name \
     FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS columns WHERE tables.type = 'table'";

/// The database and what SQLite keeps beside it.
pub(super) fn files(path: &Path) -> [PathBuf; 3] {
    ["", "-wal", "-shm"].map(|ending| {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        name.into()
    })
}

/// Refuses what is no plain file: opening a pipe would wait for its writer.
pub(super) fn check_plain(path: &Path) -> Result<()> {
    if !is_odd(path) {
        return Ok(());
    }
    let what = format!("{} is not a regular file", path.display());
    Err(StateError::Damaged { path: path.to_path_buf(), what })
}

impl StateError {
    /// Classifies an error of SQLite.
    pub(super) fn of(path: &Path, cause: rusqlite::Error) -> StateError {
        use ErrorCode::{CannotOpen, DatabaseCorrupt, NotADatabase, SystemIoFailure, Unknown};
        let path = path.to_path_buf();
        let is_short = cause
            .sqlite_error()
            .is_some_and(|error| error.extended_code == ffi::SQLITE_IOERR_SHORT_READ);
        let what = match cause.sqlite_error_code() {
            _ if schema::is_busy(&cause) => return StateError::Locked,
            // Our statements are fixed and tested: one that SQLite does not understand names what is missing.
            _ if matches!(cause, rusqlite::Error::SqlInputError { .. }) => message(&cause),
            Some(NotADatabase | DatabaseCorrupt | Unknown) => message(&cause),
            Some(_) if is_short => message(&cause),
            Some(CannotOpen | SystemIoFailure) => match files(&path).iter().find(|it| is_odd(it)) {
                Some(odd) => format!("{} is not a regular file", odd.display()),
                None => return StateError::Database { path, cause },
            },
            None if is_wrong_value(&cause) => cause.to_string(),
            _ => return StateError::Database { path, cause },
        };
        StateError::Damaged { path, what }
    }

    /// The error about a database that claims to be of a later version.
    pub(super) fn of_version(path: PathBuf, version: i64) -> StateError {
        if (0..LAST_VERSION).contains(&version) {
            return StateError::Newer { path };
        }
        StateError::Damaged { path, what: format!("its version is {version}") }
    }

    /// What is wrong with a damaged database, without the way out.
    pub fn what(&self) -> String {
        match self {
            StateError::Damaged { path, what } => format!("{} was damaged: {what}", path.display()),
            other => other.to_string(),
        }
    }

    /// Whether only another database in its place helps.
    pub fn is_damage(&self) -> bool {
        matches!(self, StateError::Damaged { .. } | StateError::Foreign { .. })
    }
}

impl State {
    /// Looks through the whole database for damage.
    pub fn examine(&self) -> Result<()> {
        let damaged = |what| StateError::Damaged { path: self.path.clone(), what };
        let found = self.read(|connection| {
            connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get::<_, String>(0))
        })?;
        if found != "ok" {
            // The first line names the database.
            let mut lines = found.lines().filter(|line| !line.starts_with("***"));
            return Err(damaged(lines.next().unwrap_or(&found).to_owned()));
        }
        self.read(wrong_schema)?.map_or(Ok(()), |wrong| Err(damaged(wrong)))
    }
}

/// A column or index that the database should have, or that only a later version has.
fn wrong_schema(connection: &Connection) -> rusqlite::Result<Option<String>> {
    let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let version = usize::try_from(version).unwrap_or_default();
    let has = names(connection)?;
    let model = Connection::open_in_memory()?;
    for (n, step) in STEPS.iter().enumerate() {
        let before = names(&model)?;
        model.execute_batch(step)?;
        for name in names(&model)?.difference(&before) {
            match (n < version, has.contains(name)) {
                (true, false) => return Ok(Some(format!("it has no {name}"))),
                (false, true) => return Ok(Some(format!("its version has no {name}"))),
                _ => {}
            }
        }
    }
    Ok(None)
}

fn names(connection: &Connection) -> rusqlite::Result<BTreeSet<String>> {
    connection.prepare(SCHEMA)?.query_map([], |row| row.get(0))?.collect()
}

/// What SQLite says, without our statement.
fn message(cause: &rusqlite::Error) -> String {
    match cause {
        rusqlite::Error::SqlInputError { msg, .. } => msg.clone(),
        cause => cause.to_string(),
    }
}

/// Whether something that no database can be is in its place, such as a folder, or a link that leads nowhere.
fn is_odd(path: &Path) -> bool {
    match fs::metadata(path) {
        Ok(there) => !there.is_file(),
        Err(_) => path.is_symlink(),
    }
}

/// Whether a row holds what our statements never write.
fn is_wrong_value(cause: &rusqlite::Error) -> bool {
    use rusqlite::Error::{FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType};
    matches!(
        cause,
        FromSqlConversionFailure(..) | IntegralValueOutOfRange(..) | InvalidColumnType(..)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_out_of_reach_is_not_damaged() {
        let folder = tempfile::tempdir().unwrap();
        let [file, place] = ["plain.db", "folder.db"].map(|name| folder.path().join(name));
        fs::write(&file, "").unwrap();
        fs::create_dir(&place).unwrap();
        for (code, of_file, of_folder) in [
            (ffi::SQLITE_NOTADB, true, true),
            (ffi::SQLITE_CORRUPT, true, true),
            (ffi::SQLITE_ERROR, true, true),
            (ffi::SQLITE_IOERR_SHORT_READ, true, true),
            // No permission, a disk that fails, or something else in its place.
            (ffi::SQLITE_CANTOPEN, false, true),
            (ffi::SQLITE_IOERR, false, true),
            (ffi::SQLITE_READONLY, false, false),
            (ffi::SQLITE_PERM, false, false),
            (ffi::SQLITE_FULL, false, false),
            (ffi::SQLITE_BUSY, false, false),
            (ffi::SQLITE_NOMEM, false, false),
        ] {
            let error = |path| {
                let cause = rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
                StateError::of(path, cause).is_damage()
            };
            assert_eq!((error(&file), error(&place)), (of_file, of_folder), "{code}");
        }
        for (version, is_damage) in [(5, false), (999, false), (1_000, true), (-1, true)] {
            assert_eq!(StateError::of_version(file.clone(), version).is_damage(), is_damage);
        }
    }
}
