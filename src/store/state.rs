//! The state database: what was done and must not be forgotten. Unlike the index it cannot be made again, so it is
//! only ever migrated.

mod claims;
mod handoffs;
mod installations;
mod sessions;

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, TransactionBehavior, params};
use thiserror::Error;

pub use crate::store::state::claims::{Claim, Token};
pub use crate::store::state::handoffs::{
    Activated, Actor, CLOCKS_DIFFER_MS, HandoffChoice, HandoffQuery, HandoffRequest, Home,
    TakeOutcome,
};
pub use crate::store::state::sessions::{Ending, SessionOrigin};

use crate::core::context::receipt::Receipt;
use crate::system::directories;

/// Identifies our files among all SQLite files: "kgst" in ASCII.
const APPLICATION_ID: i32 = 0x6b67_7374;
/// Every step from an empty database to today's. A released step is never changed.
const STEPS: &[&str] = &[
    include_str!("../../schema/state/0001_receipts.sql"),
    include_str!("../../schema/state/0002_claims.sql"),
    include_str!("../../schema/state/0003_installations.sql"),
    include_str!("../../schema/state/0004_handoffs.sql"),
];
/// At least so many dry runs are kept: they tell what would have been given, which soon nobody asks.
const DRY_RUNS_KEPT: i64 = 200;
/// So many delivered ones are kept, for who asks what a session was given. That it was given is kept by its claim.
const DELIVERED_KEPT: i64 = 1_000;
/// Older ones are removed with every so many-th context, for which the others need not wait.
const SWEEP_EVERY: i64 = 50;
/// A log longer than this is copied back into the database. Every process that finds a log reads all of it once, and
/// copying it back waits for the disk: this many pages keep both small.
const LOG_PAGES: i64 = 250;

/// Why the state could not be read or written.
#[derive(Debug, Error)]
pub enum StateError {
    /// A folder or file cannot be used.
    #[error("cannot use {}: {cause}; check its permissions and the disk", path.display())]
    Io {
        /// The folder or file.
        path: PathBuf,
        /// What the system said.
        cause: std::io::Error,
    },
    /// A newer version has been here.
    #[error("{} was written by a newer version of kgctx; update this one", path.display())]
    Newer {
        /// The database.
        path: PathBuf,
    },
    /// Some other program's database.
    #[error("{} is not kgctx's state; move it away", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// SQLite refused.
    #[error("cannot use {}: {cause}", path.display())]
    Database {
        /// The database.
        path: PathBuf,
        /// What SQLite said.
        cause: rusqlite::Error,
    },
    /// A receipt that cannot be understood.
    #[error("a receipt in {} cannot be read: {cause}", path.display())]
    Receipt {
        /// The database.
        path: PathBuf,
        /// What is wrong with it.
        cause: serde_json::Error,
    },
}

impl StateError {
    /// Whether another process is only in the way at the moment.
    pub fn is_transient(&self) -> bool {
        let StateError::Database { cause, .. } = self else { return false };
        matches!(
            cause.sqlite_error_code(),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
        )
    }
}

/// The state database, open.
pub struct State {
    connection: Connection,
    path: PathBuf,
    patience: Duration,
}

impl State {
    /// Opens the database in `folder` and makes it if need be. Waits at most so long for another process.
    pub fn open(folder: &Path, patience: Duration) -> Result<State, StateError> {
        let path = folder.join("state.db");
        let io = |cause| StateError::Io { path: path.clone(), cause };
        // One look tells that everything is there, as it nearly always is.
        if !path.exists() {
            directories::create_private(folder).map_err(io)?;
            directories::private_file(&path).map_err(io)?;
        }
        let database = |cause| StateError::Database { path: path.clone(), cause };
        // One thread at a time has it.
        let access = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(&path, access).map_err(database)?;
        let (application, version) = prepare(&connection, patience).map_err(database)?;
        match usize::try_from(version) {
            Ok(version) if version == STEPS.len() && application != APPLICATION_ID => {
                return Err(StateError::Foreign { path });
            }
            Ok(version) if version == STEPS.len() => {}
            Ok(version) if version < STEPS.len() => {
                if !migrate(&mut connection).map_err(database)? {
                    return Err(StateError::Foreign { path });
                }
            }
            _ => return Err(StateError::Newer { path }),
        }
        Ok(State { connection, path, patience })
    }

    /// What is written from now on survives a loss of power as soon as it is said to be written.
    pub fn make_durable(&mut self) -> Result<(), StateError> {
        let set = self.connection.pragma_update(None, "synchronous", "FULL");
        set.map_err(|cause| self.failed(cause))
    }

    /// Opens the database in `folder`; `None` where there is none.
    pub fn open_if_there(folder: &Path, patience: Duration) -> Result<Option<State>, StateError> {
        let is_there = folder.join("state.db").exists();
        is_there.then(|| State::open(folder, patience)).transpose()
    }

    /// Opens the database in `folder` for a look at it; `None` where there is none. Neither makes nor migrates it.
    pub fn look(folder: &Path, patience: Duration) -> Result<Option<State>, StateError> {
        let path = folder.join("state.db");
        if !path.exists() {
            return Ok(None);
        }
        let database = |cause| StateError::Database { path: path.clone(), cause };
        let access = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&path, access).map_err(database)?;
        connection.busy_timeout(patience).map_err(database)?;
        let (application, version) = whose(&connection).map_err(database)?;
        if application != APPLICATION_ID {
            return Err(StateError::Foreign { path });
        }
        if usize::try_from(version).is_ok_and(|version| version > STEPS.len()) {
            return Err(StateError::Newer { path });
        }
        Ok(Some(State { connection, path, patience }))
    }

    /// How many receipts there are.
    pub fn n_receipts(&self) -> Result<i64, StateError> {
        self.connection
            .query_row("SELECT count(*) FROM injections", [], |row| row.get(0))
            .map_err(|cause| StateError::Database { path: self.path.clone(), cause })
    }

    /// Keeps a receipt and returns its number, which the claim that it was made under learns of. Old ones make room for
    /// new ones.
    pub fn record(&mut self, receipt: &Receipt, claim: Option<Token>) -> Result<i64, StateError> {
        let json = serde_json::to_string(receipt)
            .map_err(|cause| StateError::Receipt { path: self.path.clone(), cause })?;
        let number = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
        self.write(|connection| {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let moment = receipt.moment.to_string();
            transaction.execute(
                "INSERT INTO injections (session, project, at, delivered, budget, tokens, chars, sha256, receipt, moment) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
                params![
                    receipt.session,
                    receipt.project_key,
                    receipt.at.seconds(),
                    receipt.delivered,
                    number(receipt.budget.tokens),
                    number(receipt.used.tokens),
                    number(receipt.used.chars),
                    receipt.sha256,
                    json,
                    moment
                ],
            )?;
            let id = transaction.last_insert_rowid();
            if let Some(Token(token)) = claim {
                let sql = "UPDATE claims SET injection = ?2 WHERE token = ?1 AND settled IS NULL";
                transaction.execute(sql, [token, id])?;
                if receipt.omitted_handoff().is_some() {
                    let session = Some(receipt.session.clone());
                    let actor = Actor { session, now_ms: receipt.at.milliseconds() };
                    handoffs::given_back(&transaction, token, "there was no room for it", &actor)?;
                }
            }
            if id % SWEEP_EVERY == 0 {
                // The numbers stand in the text so that the index of dry runs is used.
                for (delivered, kept) in [(0, DRY_RUNS_KEPT), (1, DELIVERED_KEPT)] {
                    let sql = format!(
                        "DELETE FROM injections WHERE delivered = {delivered} AND id <= (SELECT id FROM injections \
                         WHERE delivered = {delivered} ORDER BY id DESC LIMIT 1 OFFSET {kept})"
                    );
                    transaction.execute(&sql, [])?;
                }
            }
            transaction.commit()?;
            Ok(id)
        })
    }

    /// Writes, and keeps the log short.
    fn write<T>(
        &mut self,
        write: impl FnOnce(&mut Connection) -> Result<T, rusqlite::Error>,
    ) -> Result<T, StateError> {
        let written = write(&mut self.connection).map_err(|cause| self.failed(cause))?;
        // What was written is written, whatever becomes of the log: the next one tries again.
        let _ = empty_long_log(&self.connection, self.patience);
        Ok(written)
    }

    fn failed(&self, cause: rusqlite::Error) -> StateError {
        StateError::Database { path: self.path.clone(), cause }
    }

    /// The last receipt of a session.
    pub fn last_of_session(&self, session: &str) -> Result<Option<Receipt>, StateError> {
        self.last(
            "SELECT receipt FROM injections WHERE session = ?1 ORDER BY id DESC LIMIT 1",
            session,
        )
    }

    /// The last receipt of a project, by the project's key.
    pub fn last_of_project(&self, project: &str) -> Result<Option<Receipt>, StateError> {
        self.last(
            "SELECT receipt FROM injections WHERE project = ?1 ORDER BY id DESC LIMIT 1",
            project,
        )
    }

    fn last(&self, sql: &str, of: &str) -> Result<Option<Receipt>, StateError> {
        let json: Option<String> = self
            .connection
            .query_row(sql, [of], |row| row.get(0))
            .optional()
            .map_err(|cause| StateError::Database { path: self.path.clone(), cause })?;
        json.map(|json| serde_json::from_str(&json))
            .transpose()
            .map_err(|cause| StateError::Receipt { path: self.path.clone(), cause })
    }
}

/// Sets the connection up and returns whose database it is, and how many steps it has taken.
fn prepare(connection: &Connection, patience: Duration) -> Result<(i32, i64), rusqlite::Error> {
    connection.busy_timeout(patience)?;
    // A session start does not wait for the disk: a commit is whole either way.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    whose(connection)
}

/// Whose database it is, and how many steps it has taken.
fn whose(connection: &Connection) -> Result<(i32, i64), rusqlite::Error> {
    let application = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let version = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    Ok((application, version))
}

/// Copies a long log back into the database, and empties it. SQLite's own rule would copy it again with every commit:
/// what was copied is forgotten when the last process closes the database.
fn empty_long_log(connection: &Connection, patience: Duration) -> Result<(), rusqlite::Error> {
    let pages: i64 = connection.query_row("PRAGMA wal_checkpoint(NOOP)", [], |row| row.get(1))?;
    if pages > LOG_PAGES {
        // Readers of an old state may hold it back; they are not waited for.
        connection.busy_timeout(Duration::ZERO)?;
        let emptied = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        connection.busy_timeout(patience)?;
        emptied?;
    }
    Ok(())
}

/// Takes the steps that are missing, all or none; `false` for a database of somebody else.
fn migrate(connection: &mut Connection) -> Result<bool, rusqlite::Error> {
    connection.pragma_update(None, "journal_mode", "WAL")?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Exclusive)?;
    let pragma = |name| transaction.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    // Another process may have been faster.
    let taken = usize::try_from(pragma("user_version")?).unwrap_or_default();
    let n_tables: i64 =
        transaction.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if pragma("application_id")? != i64::from(APPLICATION_ID) && n_tables > 0 {
        return Ok(false);
    }
    for step in STEPS.iter().skip(taken) {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", STEPS.len() as i64)?;
    transaction.commit()?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
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
        match state.claim(session, &Moment::Start, 0, None).unwrap() {
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
        let error = state.claim("s", &Moment::Start, 0, None).unwrap_err();
        assert!(error.is_transient(), "{error}");
        assert!(!StateError::Newer { path: PathBuf::new() }.is_transient());
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

    #[test]
    fn a_receipt_that_arrived_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let mut state = State::open(folder.path(), PATIENCE).unwrap();
        let token = claimed(&mut state, "s");
        // A dry run for the same session has nothing to do with it.
        state.record(&receipt("s", false), None).unwrap();
        let id = state.record(&receipt("s", false), Some(token)).unwrap();
        state.record(&receipt("s", false), None).unwrap();
        assert!(state.settle(id, 5).unwrap());
        assert!(!state.last_of_session("s").unwrap().unwrap().delivered);
        assert!(!state.settle(id, 6).unwrap(), "once is enough");
        state.release(id, 0).unwrap();
        assert_eq!(state.claim("s", &Moment::Start, 7, None).unwrap(), Claim::Settled);
    }

    #[test]
    fn old_receipts_make_room_and_claims_stay() {
        let folder = tempfile::tempdir().unwrap();
        let mut state = State::open(folder.path(), PATIENCE).unwrap();
        let token = claimed(&mut state, "s0");
        for n in 0..DELIVERED_KEPT + 2 * SWEEP_EVERY {
            let id = state.record(&receipt(&format!("s{n}"), true), Some(token)).unwrap();
            if n == 0 {
                assert!(state.settle(id, 1).unwrap());
            }
        }
        let sql = "SELECT count(*) FROM injections";
        let n_kept: i64 = state.connection.query_row(sql, [], |row| row.get(0)).unwrap();
        assert!((DELIVERED_KEPT..DELIVERED_KEPT + SWEEP_EVERY).contains(&n_kept), "{n_kept}");
        assert!(state.last_of_session("s0").unwrap().is_none());
        assert_eq!(state.claim("s0", &Moment::Start, 2, None).unwrap(), Claim::Settled);
    }
}
