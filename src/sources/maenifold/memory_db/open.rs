//! Opens the database so that no file beside it changes, and so that the content of its log is visible.

use std::cell::OnceCell;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::remembered::Remembered;
use super::stamp::{Seen, beside};
use super::{Database, DatabaseError};

/// The first bytes of every SQLite file.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// A mode of opening the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Only the file, without log and locks. Creates and changes no file.
    Still,
    /// With the log (`-wal`), through an existing log index (`-shm`) of another process, which stays unchanged.
    Beside,
    /// With log or locks. Creates a missing log index, which then stays.
    Shared,
}

impl Way {
    fn parameters(self) -> &'static str {
        match self {
            Way::Still => "immutable=1",
            Way::Beside => "mode=ro&readonly_shm=1",
            Way::Shared => "mode=ro",
        }
    }
}

/// The state of the files of a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Surroundings {
    /// Whether its writers use a log.
    has_log_mode: bool,
    is_log_filled: bool,
    /// Whether the log has an index.
    has_contents: bool,
}

impl Surroundings {
    /// The modes of opening it, best first.
    fn ways(self) -> &'static [Way] {
        match self {
            // Without a log, a writer changes the file itself: only locks keep us from reading a half-written state.
            Surroundings { has_log_mode: false, .. } => &[Way::Shared],
            Surroundings { is_log_filled: false, .. } => &[Way::Still],
            Surroundings { has_contents: true, .. } => &[Way::Beside, Way::Shared, Way::Still],
            Surroundings { has_contents: false, .. } => &[Way::Shared, Way::Still],
        }
    }
}

/// Detects whether a file was written since it was opened.
pub(super) struct Watch {
    path: PathBuf,
    seen: Option<Seen>,
    is_log_filled: bool,
}

impl Watch {
    pub(super) fn is_unchanged(&self) -> bool {
        Seen::of(&self.path) == self.seen
            && (self.is_log_filled || !has_bytes(&beside(&self.path, "-wal")))
            && !has_bytes(&beside(&self.path, "-journal"))
    }
}

impl Database {
    /// Opens the database. Waits at most `patience` for a writer with an exclusive lock.
    pub fn open(
        path: &Path,
        patience: Duration,
        cache: Option<&Path>,
    ) -> Result<Database, DatabaseError> {
        // The log is beside the file itself, not beside a link to it.
        let path = dunce::canonicalize(path).map_err(|cause| unreadable(path, &cause))?;
        let surroundings = look(&path)?;
        let is_log_filled = surroundings.is_log_filled;
        let watch = Watch { seen: Seen::of(&path), is_log_filled, path: path.clone() };
        // Taken before the read transaction begins: a later write changes the stamp.
        let remembered = cache.and_then(|cache| Remembered::of(&path, cache));
        let (connection, way) = connect_somehow(&path, surroundings.ways(), patience)?;
        let is_still = way == Way::Still;
        let is_behind_its_log = is_still && is_log_filled;
        let database = Database {
            connection,
            watch: is_still.then_some(watch),
            is_behind_its_log,
            // Without its log, the file is not a valid state to cache.
            remembered: remembered.filter(|_| !is_behind_its_log),
            frequencies: OnceCell::new(),
        };
        database.check_tables()?;
        Ok(database)
    }
}

/// Reads the header of the file, and checks the files beside it.
fn look(path: &Path) -> Result<Surroundings, DatabaseError> {
    let metadata = fs::metadata(path).map_err(|cause| unreadable(path, &cause))?;
    if !metadata.is_file() {
        return Err(foreign(path));
    }
    if metadata.len() == 0 {
        // maenifold created it, and never filled it.
        return Err(DatabaseError("maenifold's database is empty; run its Sync".to_owned()));
    }
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(20).read_to_end(&mut head));
    read.map_err(|cause| unreadable(path, &cause))?;
    if !head.starts_with(MAGIC) {
        return Err(foreign(path));
    }
    Ok(Surroundings {
        has_log_mode: head.get(18..20) == Some(&[2, 2]),
        is_log_filled: has_bytes(&beside(path, "-wal")),
        has_contents: has_bytes(&beside(path, "-shm")),
    })
}

/// Connects in the first mode that the system does not refuse.
fn connect_somehow(
    path: &Path,
    ways: &[Way],
    patience: Duration,
) -> Result<(Connection, Way), DatabaseError> {
    use ErrorCode::{CannotOpen, NotADatabase, PermissionDenied, ReadOnly, SystemIoFailure};
    let mut refusal = missing(path);
    for &way in ways {
        let error = match connect(path, way, patience) {
            Ok(connection) => return Ok((connection, way)),
            Err(error) => error,
        };
        match error.sqlite_error_code() {
            Some(CannotOpen | ReadOnly | PermissionDenied | SystemIoFailure) => {
                refusal = error.into();
            }
            Some(NotADatabase) => return Err(foreign(path)),
            _ => return Err(error.into()),
        }
    }
    Err(refusal)
}

fn connect(path: &Path, way: Way, patience: Duration) -> Result<Connection, rusqlite::Error> {
    let access = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(uri(path, way.parameters()), access)?;
    connection.busy_timeout(patience)?;
    connection.set_prepared_statement_cache_capacity(32);
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    // Views and defaults from an untrusted schema must not call functions.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.pragma_update(None, "query_only", true)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    // The first read fixes the state for all further queries.
    connection.execute_batch("BEGIN")?;
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    Ok(connection)
}

/// The path as a SQLite URI with parameters.
fn uri(path: &Path, parameters: &str) -> String {
    let mut uri = String::from("file://");
    for &byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'-' | b'_' | b'.' | b'~' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
                uri.push(char::from(byte));
            }
            other => uri.push_str(&format!("%{other:02x}")),
        }
    }
    format!("{uri}?{parameters}")
}

fn has_bytes(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.len() > 0)
}

fn unreadable(path: &Path, cause: &io::Error) -> DatabaseError {
    match cause.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => missing(path),
        _ => DatabaseError::failed(cause),
    }
}

fn missing(path: &Path) -> DatabaseError {
    DatabaseError(format!("there is no database at {}", path.display()))
}

fn foreign(path: &Path) -> DatabaseError {
    DatabaseError(format!("{} is not a SQLite database", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ways(has_log_mode: bool, is_log_filled: bool, has_contents: bool) -> &'static [Way] {
        Surroundings { has_log_mode, is_log_filled, has_contents }.ways()
    }

    #[test]
    fn a_log_that_holds_something_is_read_where_that_may_be_and_the_file_alone_where_not() {
        assert_eq!(ways(true, true, true), [Way::Beside, Way::Shared, Way::Still]);
        assert_eq!(ways(true, true, false), [Way::Shared, Way::Still]);
    }

    #[test]
    fn a_database_at_rest_is_opened_so_that_no_file_appears_beside_it() {
        assert_eq!(ways(true, false, false), [Way::Still]);
        assert_eq!(ways(true, false, true), [Way::Still]);
    }

    #[test]
    fn a_file_that_is_written_in_place_is_never_read_without_locks() {
        assert_eq!(ways(false, false, false), [Way::Shared]);
        assert_eq!(ways(false, true, false), [Way::Shared]);
    }

    #[test]
    fn no_character_of_a_path_means_anything() {
        let path = Path::new("/a b/50% off?#mode=rwc&x/m.db");
        assert_eq!(
            uri(path, "mode=ro"),
            "file:///a%20b/50%25%20off%3f%23mode%3drwc%26x/m.db?mode=ro"
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn foreign_bytes_are_an_error(mut bytes in prop::collection::vec(any::<u8>(), 0..5_000), is_marked: bool) {
            if is_marked && bytes.len() >= MAGIC.len() {
                bytes[..MAGIC.len()].copy_from_slice(MAGIC);
            }
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("memory.db");
            fs::write(&path, bytes).unwrap();
            prop_assert!(Database::open(&path, Duration::from_millis(50), None).is_err());
        }
    }
}
