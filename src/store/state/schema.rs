//! The schema of the state database, its migrations, and its write-ahead log.

use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, TransactionBehavior};

/// Identifies our files among all SQLite files: "kgst" in ASCII.
pub(super) const APPLICATION_ID: i32 = 0x6b67_7374;
/// The migrations from an empty database to the current schema. A released migration never changes.
pub(super) const STEPS: &[&str] = &[
    include_str!("../../../schema/state/0001_receipts.sql"),
    include_str!("../../../schema/state/0002_claims.sql"),
    include_str!("../../../schema/state/0003_installations.sql"),
    include_str!("../../../schema/state/0004_handoffs.sql"),
    include_str!("../../../schema/state/0005_audience.sql"),
    include_str!("../../../schema/state/0006_contexts.sql"),
    include_str!("../../../schema/state/0007_rotation.sql"),
    include_str!("../../../schema/state/0008_wraps.sql"),
    include_str!("../../../schema/state/0009_context_windows.sql"),
];
/// The length above which the log is copied back into the database. Every process that finds a log
/// reads all of it once, and copying it back waits for the disk: this number of pages keeps both
/// short.
const LOG_PAGES: i64 = 250;

/// Sets up a connection. Returns the result of [`identify`].
pub(super) fn prepare(
    connection: &Connection,
    patience: Duration,
) -> Result<(i32, i64), rusqlite::Error> {
    connection.busy_timeout(patience)?;
    // A session start does not wait for the disk: a commit is atomic either way.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    identify(connection)
}

/// The application id of the database, and the number of its migrations.
pub(super) fn identify(connection: &Connection) -> Result<(i32, i64), rusqlite::Error> {
    // One commit writes both. Another process may make it now: whoever sees the version sees the id, too.
    let version = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let application = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    Ok((application, version))
}

/// Whether the database has no tables yet.
pub(super) fn is_empty(connection: &Connection) -> Result<bool, rusqlite::Error> {
    let sql = "SELECT count(*) = 0 FROM sqlite_schema";
    connection.query_row(sql, [], |row| row.get(0))
}

/// Whether another process only blocks the database at the moment.
pub(super) fn is_busy(error: &rusqlite::Error) -> bool {
    use ErrorCode::{DatabaseBusy, DatabaseLocked};
    matches!(error.sqlite_error_code(), Some(DatabaseBusy | DatabaseLocked))
}

/// Copies a long log back into the database, and empties it. SQLite's own rule would copy it again
/// with every commit, because it forgets what it has copied when the last process closes the
/// database.
pub(super) fn empty_long_log(
    connection: &Connection,
    patience: Duration,
) -> Result<(), rusqlite::Error> {
    let pages: i64 = connection.query_row("PRAGMA wal_checkpoint(NOOP)", [], |row| row.get(1))?;
    if pages > LOG_PAGES {
        // Does not wait for readers of an old state, which can block this.
        connection.busy_timeout(Duration::ZERO)?;
        let emptied = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        connection.busy_timeout(patience)?;
        emptied?;
    }
    Ok(())
}

/// Runs the missing migrations in one transaction; `false` for the database of another program.
pub(super) fn migrate(connection: &mut Connection) -> Result<bool, rusqlite::Error> {
    connection.pragma_update(None, "journal_mode", "WAL")?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Exclusive)?;
    let pragma = |name| transaction.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    // Another process may have been faster.
    let taken = usize::try_from(pragma("user_version")?).unwrap_or_default();
    if pragma("application_id")? != i64::from(APPLICATION_ID) && !is_empty(&transaction)? {
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
