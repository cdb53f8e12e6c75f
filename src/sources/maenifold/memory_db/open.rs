//! How the database is opened: so that nothing changes beside it, and so that what is in its log is seen.

use std::cell::OnceCell;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::remembered::Remembered;
use super::stamp::Seen;
use super::{Database, DatabaseError, columns};

/// How every SQLite file begins.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// A way to open it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// As the file is, without a look at log or locks. Makes no file and changes none.
    Still,
    /// With its log, of which somebody else keeps the table of contents: it is only looked at.
    Beside,
    /// With its log or with locks. If the log has no table of contents, one is made, and stays.
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

/// What lies beside a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Surroundings {
    /// Whether its writers keep a log.
    has_log_mode: bool,
    /// Whether there is something in the log.
    is_log_filled: bool,
    /// Whether the log has a table of contents.
    has_contents: bool,
}

impl Surroundings {
    /// The ways to open it, the best first.
    fn ways(self) -> &'static [Way] {
        match self {
            // Without a log, a writer changes the file itself: only locks keep us from reading half of that.
            Surroundings { has_log_mode: false, .. } => &[Way::Shared],
            Surroundings { is_log_filled: false, .. } => &[Way::Still],
            Surroundings { has_contents: true, .. } => &[Way::Beside, Way::Shared, Way::Still],
            Surroundings { has_contents: false, .. } => &[Way::Shared, Way::Still],
        }
    }
}

/// Tells whether a file was written since it was opened.
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
    /// Opens the database, and waits at most so long for a writer that keeps everybody out.
    pub fn open(
        path: &Path,
        patience: Duration,
        cache: Option<&Path>,
    ) -> Result<Database, DatabaseError> {
        // The log lies beside the file itself, not beside a link to it.
        let path = fs::canonicalize(path).map_err(|cause| unreadable(path, &cause))?;
        let surroundings = look(&path)?;
        let watch = Watch {
            seen: Seen::of(&path),
            is_log_filled: surroundings.is_log_filled,
            path: path.clone(),
        };
        // Before the state is fixed that is read: whoever writes later does so under another stamp.
        let remembered = cache.and_then(|cache| Remembered::of(&path, cache));
        let mut refusal = DatabaseError::Missing(path.clone());
        for &way in surroundings.ways() {
            match connect(&path, way, patience) {
                Ok(connection) => {
                    let columns = columns(&connection)?;
                    let is_still = way == Way::Still;
                    return Ok(Database {
                        connection,
                        columns,
                        watch: is_still.then_some(watch),
                        is_behind_its_log: is_still && surroundings.is_log_filled,
                        // What is seen without its log is no state of it.
                        remembered: remembered.filter(|_| !is_still || !surroundings.is_log_filled),
                        frequencies: OnceCell::new(),
                    });
                }
                Err(error) => {
                    let is_refused = matches!(
                        error.sqlite_error_code(),
                        Some(
                            ErrorCode::CannotOpen
                                | ErrorCode::ReadOnly
                                | ErrorCode::PermissionDenied
                                | ErrorCode::SystemIoFailure
                        )
                    );
                    let is_foreign = error.sqlite_error_code() == Some(ErrorCode::NotADatabase);
                    refusal = match error.into() {
                        _ if is_foreign => return Err(DatabaseError::NotADatabase(path)),
                        refusal if is_refused => refusal,
                        error => return Err(error),
                    };
                }
            }
        }
        Err(refusal)
    }
}

/// Looks at the file's head, and at what lies beside it.
fn look(path: &Path) -> Result<Surroundings, DatabaseError> {
    let metadata = fs::metadata(path).map_err(|cause| unreadable(path, &cause))?;
    if !metadata.is_file() {
        return Err(DatabaseError::NotADatabase(path.to_path_buf()));
    }
    if metadata.len() == 0 {
        return Err(DatabaseError::Empty);
    }
    let mut head = [0; 20];
    let is_read = File::open(path).and_then(|mut file| file.read_exact(&mut head));
    match is_read {
        Err(cause) if cause.kind() != io::ErrorKind::UnexpectedEof => {
            return Err(unreadable(path, &cause));
        }
        _ if !head.starts_with(MAGIC) => {
            return Err(DatabaseError::NotADatabase(path.to_path_buf()));
        }
        _ => {}
    }
    Ok(Surroundings {
        has_log_mode: head[18..20] == [2, 2],
        is_log_filled: has_bytes(&beside(path, "-wal")),
        has_contents: has_bytes(&beside(path, "-shm")),
    })
}

fn connect(path: &Path, way: Way, patience: Duration) -> Result<Connection, rusqlite::Error> {
    let access = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(uri(path, way.parameters()), access)?;
    connection.busy_timeout(patience)?;
    connection.set_prepared_statement_cache_capacity(32);
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    // A view or a default of somebody else's making may call nothing.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.pragma_update(None, "query_only", true)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    // The first look takes the state that all others are put to.
    connection.execute_batch("BEGIN")?;
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    Ok(connection)
}

/// The path as SQLite reads it where parameters follow.
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

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

fn has_bytes(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.len() > 0)
}

fn unreadable(path: &Path, cause: &io::Error) -> DatabaseError {
    match cause.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
            DatabaseError::Missing(path.to_path_buf())
        }
        _ => DatabaseError::Failed(cause.to_string()),
    }
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
