//! The state database: receipts, claims, handoffs, sessions and installations. Unlike the index, it
//! cannot be rebuilt, so it is only ever migrated.

mod claims;
mod contexts;
mod damage;
mod handoffs;
mod installations;
mod receipts;
mod repair;
mod rotations;
mod schema;
mod sessions;
mod usage;
mod wraps;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags, Params, Transaction, TransactionBehavior};
use thiserror::Error;

pub use crate::store::state::claims::{Claim, Token};
pub use crate::store::state::contexts::{ContextRecord, LiveContext, StatusLine};
pub use crate::store::state::handoffs::{Adoption, Scheduled, Stepped};
pub use crate::store::state::repair::Repair;
pub use crate::store::state::rotations::{NewRotation, Pane, Rotation};
pub use crate::store::state::sessions::{Ending, SessionOrigin};
pub use crate::store::state::wraps::Wrap;

use crate::core::time_limits;
use crate::store::state::schema::{APPLICATION_ID, STEPS};
use crate::store::state::usage::Unlocked;
use crate::system::directories;

/// The name of the database in its folder.
const DATABASE: &str = "state.db";

#[derive(Debug, Error)]
pub enum StateError {
    #[error("cannot use {}: {cause}; check its permissions and the disk", path.display())]
    Io { path: PathBuf, cause: std::io::Error },
    #[error(
        "{} was written by a newer version of kgctx; update this one, until then sessions get notes but no handoffs",
        path.display()
    )]
    Newer { path: PathBuf },
    #[error(
        "{} is not kgctx's state; `kgctx handoff reconcile --repair` moves it aside and makes a new one",
        path.display()
    )]
    Foreign { path: PathBuf },
    #[error(
        "{} is damaged: {what}; `kgctx handoff reconcile --repair` moves it aside and makes a new one",
        path.display()
    )]
    Damaged { path: PathBuf, what: String },
    #[error("another process is repairing {}; try again in a moment", path.display())]
    InRepair { path: PathBuf },
    #[error("another process uses {}; try again when it has ended", path.display())]
    InUse { path: PathBuf },
    #[error("another process is writing kgctx's state; try again in a moment")]
    Locked,
    #[error("cannot use {}: {cause}; check its permissions and the disk", path.display())]
    Database { path: PathBuf, cause: rusqlite::Error },
    #[error("a receipt in {} cannot be read: {cause}", path.display())]
    Receipt { path: PathBuf, cause: serde_json::Error },
}

/// The answer of the state to a question or a change.
pub type Result<T, E = StateError> = std::result::Result<T, E>;

impl StateError {
    /// Whether another process only blocks the database at the moment.
    pub fn is_transient(&self) -> bool {
        matches!(self, StateError::InRepair { .. } | StateError::InUse { .. } | StateError::Locked)
    }
}

pub struct State {
    connection: Connection,
    path: PathBuf,
    patience: Duration,
    /// Keeps a repair from replacing the file. Released after the connection is closed.
    _shared: Option<File>,
}

impl State {
    /// Opens the database in `folder`, and creates it if necessary. Waits up to `patience` for
    /// another process.
    pub fn open(folder: &Path, patience: Duration) -> Result<State> {
        let path = folder.join(DATABASE);
        let mut shared = State::share(folder, patience)?;
        if is_missing(&path) {
            drop(shared);
            State::create(folder, patience)?;
            shared = State::share(folder, patience)?;
        }
        repair::check_finished(folder)?;
        Ok(State { _shared: shared, ..State::connect(&path, patience)? })
    }

    /// Creates the database, unless another process does. Others see it when it is complete: SQLite does not wait for
    /// a process that turns an empty file into a database.
    fn create(folder: &Path, patience: Duration) -> Result<()> {
        let path = folder.join(DATABASE);
        let failed = |cause| StateError::Io { path: path.clone(), cause };
        let until = Instant::now() + patience;
        while is_missing(&path) {
            match usage::alone(folder, time_limits::HELD_POLL) {
                Ok(_alone) if is_missing(&path) => {
                    repair::check_finished(folder)?;
                    if path.symlink_metadata().is_err() {
                        directories::private_file(&path).map_err(failed)?;
                    }
                    return State::connect(&path, patience).map(drop);
                }
                Ok(_) => {}
                Err(Unlocked::Busy) if Instant::now() < until => {}
                Err(Unlocked::Busy) => return Err(StateError::InUse { path }),
                Err(Unlocked::Io(cause)) => return Err(failed(cause)),
            }
        }
        Ok(())
    }

    /// Opens a database that is there, and brings it to the current version.
    fn connect(path: &Path, patience: Duration) -> Result<State> {
        damage::check_plain(path)?;
        let failed = |cause| StateError::of(path, cause);
        // Only one thread at a time uses the connection.
        let access = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(path, access).map_err(failed)?;
        let (application, version) = schema::prepare(&connection, patience).map_err(failed)?;
        let path = path.to_path_buf();
        let is_ours = match usize::try_from(version) {
            Ok(version) if version < STEPS.len() => {
                schema::migrate(&mut connection).map_err(|cause| StateError::of(&path, cause))?
            }
            _ => application == APPLICATION_ID,
        };
        if !is_ours {
            return Err(StateError::Foreign { path });
        }
        if version > STEPS.len() as i64 || version < 0 {
            return Err(StateError::of_version(path, version));
        }
        Ok(State { connection, path, patience, _shared: None })
    }

    /// Shares the folder with other processes; fails if a repair takes longer than `patience`.
    fn share(folder: &Path, patience: Duration) -> Result<Option<File>> {
        usage::share(folder, patience).map_err(|unlocked| match unlocked {
            Unlocked::Busy => StateError::InRepair { path: folder.join(DATABASE) },
            Unlocked::Io(cause) => StateError::Io { path: folder.join(DATABASE), cause },
        })
    }

    /// From now on, every commit survives a loss of power.
    pub fn make_durable(&mut self) -> Result<()> {
        self.read(|connection| connection.pragma_update(None, "synchronous", "FULL"))
    }

    /// Opens the database in `folder`; `None` if it does not exist.
    pub fn open_if_there(folder: &Path, patience: Duration) -> Result<Option<State>> {
        let is_there = folder.join(DATABASE).symlink_metadata().is_ok();
        is_there.then(|| State::open(folder, patience)).transpose()
    }

    /// Opens the database in `folder` read-only; `None` if it does not exist or has no tables yet.
    /// Neither creates nor migrates it.
    pub fn look(folder: &Path, patience: Duration) -> Result<Option<State>> {
        let path = folder.join(DATABASE);
        if path.symlink_metadata().is_err() {
            return repair::check_finished(folder).map(|()| None);
        }
        let _shared = State::share(folder, patience)?;
        repair::check_finished(folder)?;
        damage::check_plain(&path)?;
        let failed = |cause| StateError::of(&path, cause);
        let access = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&path, access).map_err(failed)?;
        connection.busy_timeout(patience).map_err(failed)?;
        let (application, version) = schema::identify(&connection).map_err(failed)?;
        if application != APPLICATION_ID {
            let is_new = schema::is_empty(&connection).map_err(failed)?;
            return if is_new { Ok(None) } else { Err(StateError::Foreign { path }) };
        }
        if version > STEPS.len() as i64 || version < 0 {
            return Err(StateError::of_version(path, version));
        }
        Ok(Some(State { connection, path, patience, _shared }))
    }

    /// Writes, and keeps the log short.
    fn write<T>(
        &mut self,
        write: impl FnOnce(&mut Connection) -> rusqlite::Result<T>,
    ) -> Result<T> {
        let written = write(&mut self.connection).map_err(|cause| self.failed(cause))?;
        // The data is committed even if this fails; the next write tries again.
        let _ = schema::empty_long_log(&self.connection, self.patience);
        Ok(written)
    }

    /// Runs one statement that writes. Returns the number of changed rows.
    fn execute(&mut self, sql: &str, params: impl Params) -> Result<usize> {
        self.write(|connection| connection.execute(sql, params))
    }

    /// Writes in one transaction that takes the lock at its start.
    fn transaction<T>(
        &mut self,
        write: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T> {
        self.write(|connection| {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let written = write(&transaction)?;
            transaction.commit()?;
            Ok(written)
        })
    }

    fn read<T>(&self, read: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T> {
        read(&self.connection).map_err(|cause| self.failed(cause))
    }

    fn failed(&self, cause: rusqlite::Error) -> StateError {
        StateError::of(&self.path, cause)
    }
}

/// Whether there is no database, or only the empty file of a process that was killed.
fn is_missing(path: &Path) -> bool {
    fs::metadata(path).map_or(true, |file| file.len() == 0)
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::core::context::receipt::Receipt;
    use crate::core::session::Moment;

    const PATIENCE: Duration = Duration::from_secs(5);

    fn receipt(session: &str, delivered: bool) -> Receipt {
        let json = serde_json::json!({
            "session": session, "project": "p", "projectKey": "p-1", "at": "2026-01-31T12:00:00Z",
            "delivered": delivered, "host": "opencode", "ranking": "frequency",
            "encoding": "o200k_base", "budget": {"tokens": 4_000, "chars": null},
            "used": {"tokens": 10, "chars": 40}, "sha256": "", "parts": [], "found": [],
            "entries": [], "faults": [], "stages": [],
        });
        serde_json::from_value(json).unwrap()
    }

    fn claimed(state: &mut State, session: &str) -> Token {
        match state.claim_for(None, session, &Moment::Start, 0, None).unwrap() {
            Claim::Won(token) => token,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_state_that_another_process_writes_is_only_busy() {
        let folder = tempfile::tempdir().unwrap();
        let mut state = State::open(folder.path(), Duration::ZERO).unwrap();
        let other = Connection::open(folder.path().join("state.db")).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let error = state.claim_for(None, "s", &Moment::Start, 0, None).unwrap_err();
        assert!(error.is_transient(), "{error}");
        assert!(!StateError::Newer { path: PathBuf::new() }.is_transient());
    }

    #[test]
    fn processes_that_start_at_once_make_one_database() {
        for _ in 0..40 {
            let folder = tempfile::tempdir().unwrap();
            let open = || State::open(folder.path(), PATIENCE).map(drop);
            let opened: Vec<_> = thread::scope(|scope| {
                let threads: Vec<_> = (0..8).map(|_| scope.spawn(open)).collect();
                threads.into_iter().map(|one| one.join().unwrap()).collect()
            });
            assert!(opened.iter().all(Result::is_ok), "{opened:?}");
        }
    }

    #[test]
    fn a_database_that_another_process_creates_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let Ok(alone) = usage::alone(folder.path(), PATIENCE) else { panic!() };
        assert!(
            State::open(folder.path(), Duration::ZERO).is_err_and(|error| error.is_transient())
        );
        assert!(!folder.path().join(DATABASE).exists());
        let opened = thread::scope(|scope| {
            let opened = scope.spawn(|| State::open(folder.path(), PATIENCE).map(drop));
            thread::sleep(Duration::from_millis(100));
            drop(alone);
            opened.join().unwrap()
        });
        opened.unwrap();
    }

    #[test]
    fn a_database_without_tables_holds_nothing_yet() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("state.db"), "").unwrap();
        assert!(State::look(folder.path(), PATIENCE).unwrap().is_none());
        drop(State::open(folder.path(), PATIENCE).unwrap());
        assert!(State::look(folder.path(), PATIENCE).unwrap().is_some());
    }

    #[test]
    fn what_an_older_version_wrote_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.db");
        let old = Connection::open(&path).unwrap();
        old.execute_batch(STEPS[0]).unwrap();
        old.pragma_update(None, "application_id", APPLICATION_ID).unwrap();
        old.pragma_update(None, "user_version", 1).unwrap();
        let json = serde_json::to_string(&receipt("ses_old", false)).unwrap();
        let json = json.replace(r#""moment":"start","#, "");
        old.execute(
            "INSERT INTO injections (session, project, at, delivered, budget, tokens, chars, sha256, receipt) \
             VALUES ('ses_old', 'p-1', 0, 0, 0, 0, 0, '', ?1)",
            [json],
        )
        .unwrap();
        drop(old);
        let mut state = State::open(folder.path(), PATIENCE).unwrap();
        let kept = state.last_of_session("ses_old").unwrap().unwrap();
        assert_eq!(kept.moment, Moment::Start);
        let id = state.record(&receipt("ses_new", false), None).unwrap();
        assert_eq!(id, 2);
        claimed(&mut state, "ses_new");
    }
}
