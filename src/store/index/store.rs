//! The store: where an index is, which process may write it, and how a new one replaces the old
//! one.
//!
//! `index.db` leads to a file with a unique name, and a new index is swapped in by renaming a
//! new `index.db` over it. Renaming the database itself would leave the old one's write-ahead log behind
//! under the new one's name.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use thiserror::Error;

use crate::core::time_limits;
use crate::store::index::in_use;
use crate::store::index::read::Index;
use crate::store::index::worktree::Worktree;
use crate::store::index::{APPLICATION_ID, IndexError, SCHEMA_VERSION};
use crate::system::{directories, durable};

/// The beginning of every database.
const DATABASE: &[u8; 16] = b"SQLite format 3\0";
/// The limit for memory-mapping an index.
const MAPPED_BYTES: i64 = 1 << 30;
const LINK: &str = "index.db";
const FILE_PREFIX: &str = "index-";

#[derive(Debug, Clone)]
pub struct Store {
    folder: PathBuf,
    worktree: Option<Worktree>,
}

/// Why there is no readable index.
#[derive(Debug, Error)]
pub enum Unusable {
    #[error("there was no index yet")]
    Missing,
    #[error("index.db is not an index of kgctx")]
    Foreign,
    /// Another version wrote it, or it was built from other vaults or settings.
    #[error("it was made by another version or with other settings")]
    Outdated,
    #[error("{0}")]
    Failed(#[from] IndexError),
}

/// The right to write an index. One process at a time has it; it ends with the process.
#[derive(Debug)]
pub struct WriterLock {
    _file: File,
    store: Store,
}

impl Store {
    /// The store `key` in the cache folder.
    pub fn new(cache: &Path, key: &str) -> Store {
        Store { folder: cache.join("index").join(key), worktree: None }
    }

    /// The store of a worktree. Its first index takes the history over from the store `main`, that of the repository's
    /// own working tree.
    pub fn of_worktree(self, top: &Path, main: &str) -> Store {
        let worktree = Worktree { top: top.to_path_buf(), main: self.folder.with_file_name(main) };
        Store { worktree: Some(worktree), ..self }
    }

    pub fn path(&self) -> PathBuf {
        self.folder.join(LINK)
    }

    pub fn open(&self, fingerprint: &str) -> Result<Index, Unusable> {
        let path = in_use::database(&self.path());
        match self.connect(&path, fingerprint, OpenFlags::SQLITE_OPEN_READ_ONLY) {
            // Even a reader writes its position in the log, beside the database. If it cannot, as
            // on a full disk, it reads the database alone, in its state at the last checkpoint.
            Err(Unusable::Failed(IndexError::Io { .. } | IndexError::Full(_))) => {
                let access = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
                self.connect(&immutable(&path), fingerprint, access)
            }
            opened => opened,
        }
        .map(Index::new)
    }

    fn connect(
        &self,
        path: &Path,
        fingerprint: &str,
        access: OpenFlags,
    ) -> Result<Connection, Unusable> {
        // SQLite would wait for a pipe's writer.
        if !is_file(&self.path()) {
            return Err(Unusable::Missing);
        }
        let connection =
            Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)
                .map_err(IndexError::from)?;
        let prepare = || -> Result<(String, i32), rusqlite::Error> {
            connection.busy_timeout(time_limits::INDEX)?;
            plan_once(&connection)?;
            // Checks that every page's cells are within it: a damaged file is then an error and not
            // a wrong answer.
            connection.pragma_update(None, "cell_size_check", true)?;
            let sql = "SELECT value FROM meta WHERE key = 'fingerprint'";
            let made_from = connection.query_row(sql, [], |row| row.get(0))?;
            let version = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
            Ok((made_from, version))
        };
        match prepare() {
            Ok((made_from, SCHEMA_VERSION)) if made_from == fingerprint => Ok(connection),
            Ok(_) => Err(told_apart(&connection).unwrap_or(Unusable::Outdated)),
            Err(_) if is_no_database(&in_use::database(&self.path())) => Err(Unusable::Foreign),
            Err(error) => {
                Err(told_apart(&connection).unwrap_or_else(|| Unusable::Failed(error.into())))
            }
        }
    }

    /// Opens the index in use for its history, whatever else it was made from and by which version; before the first
    /// one of a worktree, that of the repository's own working tree.
    pub(super) fn open_old(&self) -> Option<Connection> {
        let access = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let own = self.path();
        let of_main = || self.worktree.as_ref().map(|worktree| worktree.main.join(LINK));
        let path = if is_file(&own) { own } else { of_main().filter(|path| is_file(path))? };
        let connection = Connection::open_with_flags(in_use::database(&path), access).ok()?;
        connection.busy_timeout(time_limits::INDEX).ok()?;
        plan_once(&connection).ok()?;
        // Maps pages instead of copying them: every row is read once, and the writer lock keeps other writers out.
        connection.pragma_update(None, "mmap_size", MAPPED_BYTES).ok()?;
        let id = connection.pragma_query_value(None, "application_id", |row| row.get::<_, i32>(0));
        (id == Ok(APPLICATION_ID)).then_some(connection)
    }

    /// Takes the right to write, and waits for another writer to finish.
    pub fn lock(&self) -> Result<WriterLock, IndexError> {
        let file = self.lock_file()?;
        file.lock().map_err(|cause| self.io_error(cause))?;
        Ok(WriterLock { _file: file, store: self.clone() })
    }

    /// Takes the right to write if no other process has it.
    pub fn try_lock(&self) -> Result<Option<WriterLock>, IndexError> {
        let file = self.lock_file()?;
        match file.try_lock() {
            Ok(()) => Ok(Some(WriterLock { _file: file, store: self.clone() })),
            Err(fs::TryLockError::WouldBlock) => Ok(None),
            Err(fs::TryLockError::Error(cause)) => Err(self.io_error(cause)),
        }
    }

    fn lock_file(&self) -> Result<File, IndexError> {
        directories::create_private(&self.folder)
            .and_then(|()| directories::private_file(&self.folder.join("lock")))
            .map_err(|cause| self.io_error(cause))
    }

    fn io_error(&self, cause: io::Error) -> IndexError {
        let place = self.folder.display().to_string();
        match cause.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => IndexError::Full(place),
            _ => IndexError::Io { place, cause },
        }
    }
}

impl WriterLock {
    pub(super) fn store(&self) -> &Store {
        &self.store
    }

    pub(super) fn open(&self, fingerprint: &str) -> Result<Connection, Unusable> {
        let access = OpenFlags::SQLITE_OPEN_READ_WRITE;
        let database = in_use::database(&self.store.path());
        let connection = self.store.connect(&database, fingerprint, access)?;
        let prepare = || -> Result<(), rusqlite::Error> {
            // Empties the log when it is long, not with every process: a session start with one
            // changed note does not wait for the disk. A commit is atomic either way.
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
            connection.pragma_update(None, "wal_autocheckpoint", 0)?;
            connection.pragma_update(None, "synchronous", "NORMAL")?;
            connection.set_prepared_statement_cache_capacity(64);
            Ok(())
        };
        prepare().map_err(IndexError::from)?;
        Ok(connection)
    }

    /// Returns a new, empty file for an index, beside the one in use.
    pub(super) fn new_file(&self) -> Result<PathBuf, IndexError> {
        self.sweep();
        if let Some(worktree) = &self.store.worktree
            && !self.store.path().exists()
        {
            worktree.settle(&self.store.folder).map_err(|cause| self.store.io_error(cause))?;
        }
        let stamp = crate::system::clock::now().0;
        let path =
            self.store.folder.join(format!("{FILE_PREFIX}{stamp}-{}.db", std::process::id()));
        directories::private_file(&path).map_err(|cause| self.store.io_error(cause))?;
        Ok(path)
    }

    /// Replaces the index in use with a finished file.
    pub(super) fn publish(&self, file: &Path) -> Result<(), IndexError> {
        let publish = || -> io::Result<()> {
            // Syncs the file first: after a power cut, `index.db` never leads to half a file.
            durable::sync_file(file)?;
            in_use::swap(&self.store.path(), file.file_name().unwrap_or_default())
        };
        publish().map_err(|cause| self.store.io_error(cause))
    }

    /// Removes all index files except the one in use. Called before a new index is built, so that a
    /// replaced one stays until the next time, for readers that have just resolved its name.
    fn sweep(&self) {
        let in_use = in_use::name(&self.store.path()).unwrap_or_default();
        let in_use = in_use.as_encoded_bytes();
        let Ok(entries) = fs::read_dir(&self.store.folder) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let is_in_use = !in_use.is_empty() && name.as_encoded_bytes().starts_with(in_use);
            if is_ours(&name) && !is_in_use {
                // Another process may remove its leftovers at any time; failures are retried next
                // time.
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

/// Keeps SQLite from compiling a statement again whenever another value is bound to it, to plan for that value.
pub(super) fn plan_once(connection: &Connection) -> Result<(), rusqlite::Error> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}

/// Why a database is unusable, if that can be determined.
fn told_apart(connection: &Connection) -> Option<Unusable> {
    let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    match (pragma("application_id"), pragma("user_version")) {
        (Ok(APPLICATION_ID), Ok(SCHEMA_VERSION)) => None,
        (Ok(APPLICATION_ID), Ok(_)) => Some(Unusable::Outdated),
        (Ok(_), _) => Some(Unusable::Foreign),
        (Err(error), _) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::NotADatabase) => {
            Some(Unusable::Foreign)
        }
        _ => None,
    }
}

/// Whether an index's path leads to a plain file.
fn is_file(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|there| there.is_file())
}

/// Whether a file does not even begin as a database does. SQLite takes a short one for a damaged database.
fn is_no_database(path: &Path) -> bool {
    let mut beginning = [0; DATABASE.len()];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut beginning));
    read.is_ok() && beginning != *DATABASE
}

/// The URI of a database that does not change.
fn immutable(path: &Path) -> PathBuf {
    // SQLite wants a slash before a disk, and slashes behind it.
    let mut uri = String::from(if cfg!(windows) { "file:///" } else { "file:" });
    for c in path.to_string_lossy().chars() {
        match c {
            '%' | '?' | '#' => uri.push_str(&format!("%{:02x}", u32::from(c))),
            '\\' if cfg!(windows) => uri.push('/'),
            c => uri.push(c),
        }
    }
    uri.push_str("?immutable=1");
    uri.into()
}

/// Whether a name is that of an index's file, or of what SQLite keeps beside it.
pub(super) fn is_ours(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(FILE_PREFIX.as_bytes())
}
