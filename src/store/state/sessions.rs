//! Sessions in the state: where each started, which process it runs in, and which of them ended
//! without a handoff.

use std::path::PathBuf;

use rusqlite::{Connection, OptionalExtension, params};

use crate::store::state::claims::process;
use crate::store::state::{Result, State};
use crate::system::path_bytes::{bytes, path};
use crate::system::process::identity::Process;

/// The age from which on an ended session is forgotten.
const KEPT_MS: i64 = 2 * 3_600_000;
/// An ending that was not written within this time is dropped.
const ENDING_KEPT_MS: i64 = 24 * 3_600_000;
/// The same for a session that nobody has ended: whoever works in it may come back.
const HELD_ENDING_KEPT_MS: i64 = 7 * 24 * 3_600_000;
/// The time limit for writing an ending.
const ENDING_LEASE_MS: i64 = 10 * 60_000;

/// Where a session started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionOrigin {
    /// Sessions of the same scope share handoffs.
    pub scope: String,
    pub channel: String,
    pub folder: PathBuf,
    /// In milliseconds since 1970.
    pub at_ms: i64,
    /// The time when it last started or was resumed, in milliseconds since 1970.
    pub seen_ms: i64,
}

/// A session that has ended, and whose handoff must be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ending {
    pub session: String,
    /// The folder where it started, else the one where it ended.
    pub folder: PathBuf,
    /// The host's record of the conversation.
    pub transcript: Option<PathBuf>,
    /// The time when it ended, in milliseconds since 1970.
    pub at_ms: i64,
}

impl State {
    /// Records where a session started, and which process it runs in now. The first origin is kept.
    pub fn remember_session(
        &mut self,
        session: &str,
        origin: &SessionOrigin,
        host: Option<Process>,
    ) -> Result<()> {
        let SessionOrigin { scope, channel, folder, at_ms, seen_ms } = origin;
        let (pid, started) = host.map(|host| (host.pid, host.started)).unzip();
        let sql = "INSERT INTO sessions (session, scope, channel, folder, pid, started, at, seen) \
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (session) DO UPDATE SET \
                   pid = excluded.pid, started = excluded.started, seen = excluded.seen, ended = NULL";
        let folder = bytes(folder);
        let values = params![session, scope, channel, folder, pid, started, at_ms, seen_ms];
        self.execute(sql, values).map(drop)
    }

    pub fn session_origin(&self, session: &str) -> Result<Option<SessionOrigin>> {
        let sql = "SELECT scope, channel, folder, at, seen FROM sessions WHERE session = ?1";
        let origin = |row: &rusqlite::Row<'_>| {
            let (scope, channel, folder, at_ms, seen_ms) = row.try_into()?;
            Ok(SessionOrigin { scope, channel, folder: path(folder), at_ms, seen_ms })
        };
        self.read(|connection| connection.query_row(sql, [session], origin).optional())
    }

    /// The process that a session runs in, if it is known and alive.
    pub fn session_process(&self, session: &str) -> Result<Option<Process>> {
        let sql = "SELECT pid, started FROM sessions WHERE session = ?1 AND ended IS NULL";
        let found = self.read(|connection| {
            connection.query_row(sql, [session], |row| process(row, 0)).optional()
        });
        Ok(found?.flatten().filter(|process| !process.is_gone()))
    }

    /// Whether a session is known to be over: it has ended, or its process has.
    pub fn is_session_over(&self, session: &str) -> Result<bool> {
        self.read(|connection| is_over(connection, session))
    }

    /// The sessions of a scope whose end nobody told and whose process is gone, each with the folder where it started.
    pub fn lost_sessions(&self, scope: &str) -> Result<Vec<(String, PathBuf)>> {
        let sql = "SELECT session, folder, pid, started FROM sessions \
                   WHERE scope = ?1 AND ended IS NULL AND pid IS NOT NULL";
        self.read(|connection| {
            let mut statement = connection.prepare(sql)?;
            let lost = statement.query_map([scope], |row| {
                let is_lost = process(row, 2)?.is_some_and(Process::is_gone);
                Ok(is_lost.then_some((row.get(0)?, path(row.get(1)?))))
            })?;
            lost.filter_map(rusqlite::Result::transpose).collect()
        })
    }

    /// Records that a session has ended. With an ending, its handoff must be written.
    pub fn end_session(
        &mut self,
        session: &str,
        ending: Option<&Ending>,
        now_ms: i64,
    ) -> Result<()> {
        self.transaction(|transaction| {
            let sql = "UPDATE sessions SET ended = ?2 WHERE session = ?1";
            transaction.execute(sql, params![session, now_ms])?;
            if let Some(Ending { folder, transcript, at_ms, .. }) = ending {
                let transcript = transcript.as_deref().map(bytes);
                transaction.execute(
                    "INSERT OR REPLACE INTO endings (session, folder, transcript, at) VALUES (?1, ?2, ?3, ?4)",
                    params![session, bytes(folder), transcript, at_ms],
                )?;
            }
            Ok(())
        })
    }

    /// Records a session that is at rest: unless it goes on, it is over at `due_ms`, or when its process is.
    pub fn hold_ending(&mut self, ending: &Ending, due_ms: i64) -> Result<()> {
        let Ending { session, folder, transcript, at_ms } = ending;
        let transcript = transcript.as_deref().map(bytes);
        let sql = "INSERT OR REPLACE INTO endings (session, folder, transcript, at, due) VALUES (?1, ?2, ?3, ?4, ?5)";
        self.execute(sql, params![session, bytes(folder), transcript, at_ms, due_ms]).map(drop)
    }

    /// Records that a session which was at rest is over; `false` if nothing is to be written of it.
    pub fn release_ending(&mut self, session: &str) -> Result<bool> {
        let sql = "UPDATE endings SET due = NULL WHERE session = ?1";
        Ok(self.execute(sql, [session])? > 0)
    }

    /// Takes an ending that no process is writing; prefers one that no process has tried to write.
    pub fn take_ending(&mut self, now_ms: i64) -> Result<Option<Ending>> {
        self.transaction(|transaction| {
            let free = free_endings(transaction, now_ms)?.into_iter().next();
            if let Some(ending) = &free {
                let Process { pid, started } = Process::this();
                transaction.execute(
                    "UPDATE endings SET taken = ?2, owner_pid = ?3, owner_started = ?4 WHERE session = ?1",
                    params![ending.session, now_ms, pid, started],
                )?;
            }
            Ok(free)
        })
    }

    /// Whether there is an ending that no process is writing.
    pub fn has_free_ending(&self, now_ms: i64) -> Result<bool> {
        Ok(!self.read(|connection| free_endings(connection, now_ms))?.is_empty())
    }

    /// Whether the handoff of an ended session is still to be written.
    pub fn is_ending(&self, session: &str) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM endings WHERE session = ?1)";
        self.read(|connection| connection.query_row(sql, [session], |row| row.get(0)))
    }

    /// Removes an ending, because it is written or needs no handoff. Keeps a later ending of the
    /// same session.
    pub fn finish_ending(&mut self, ending: &Ending) -> Result<()> {
        let sql = "DELETE FROM endings WHERE session = ?1 AND at = ?2";
        self.execute(sql, params![ending.session, ending.at_ms]).map(drop)
    }

    /// Forgets sessions and endings that are long over, except sessions that still claim a handoff:
    /// others can then see that it is abandoned.
    pub fn forget_old_sessions(&mut self, now_ms: i64) -> Result<()> {
        let old = now_ms.saturating_sub(KEPT_MS);
        self.write(|connection| {
            let mut sessions = connection.prepare(
                "SELECT session, pid, started, ended FROM sessions WHERE at < ?1 AND NOT EXISTS \
                 (SELECT 1 FROM handoffs WHERE status = 'claimed' AND changed_by = sessions.session)",
            )?;
            let over = sessions.query_map([old], |row| {
                let is_over = match row.get::<_, Option<i64>>(3)? {
                    Some(ended) => ended < old,
                    None => process(row, 1)?.is_none_or(Process::is_gone),
                };
                Ok(Some(row.get::<_, String>(0)?).filter(|_| is_over))
            })?;
            for session in over.collect::<rusqlite::Result<Vec<_>>>()?.iter().flatten() {
                connection.execute("DELETE FROM sessions WHERE session = ?1", [session])?;
            }
            let sql = "DELETE FROM contexts WHERE at < ?1 \
                       AND session NOT IN (SELECT session FROM sessions)";
            connection.execute(sql, [old])?;
            let sql = "DELETE FROM endings WHERE at < iif(due IS NULL, ?1, ?2)";
            let kept = [ENDING_KEPT_MS, HELD_ENDING_KEPT_MS].map(|kept| now_ms.saturating_sub(kept));
            connection.execute(sql, kept).map(drop)
        })
    }
}

pub(super) fn is_over(connection: &Connection, session: &str) -> rusqlite::Result<bool> {
    let sql = "SELECT ended, pid, started FROM sessions WHERE session = ?1";
    let is_over = |row: &rusqlite::Row<'_>| {
        let has_ended = row.get::<_, Option<i64>>(0)?.is_some();
        Ok(has_ended || process(row, 1)?.is_some_and(Process::is_gone))
    };
    Ok(connection.query_row(sql, [session], is_over).optional()?.unwrap_or(false))
}

fn free_endings(connection: &Connection, now_ms: i64) -> rusqlite::Result<Vec<Ending>> {
    let mut statement = connection.prepare(
        "SELECT endings.session, endings.folder, transcript, endings.at, taken, owner_pid, owner_started, due, pid, started \
         FROM endings LEFT JOIN sessions USING (session) ORDER BY owner_pid IS NOT NULL, endings.at",
    )?;
    let free = statement.query_map([], |row| {
        let is_free = match process(row, 5)? {
            Some(owner) if owner.is_gone() => true,
            // If the system cannot distinguish a process from a later one with the same id, time
            // decides.
            Some(Process { started: 0, .. }) => {
                let taken = row.get::<_, Option<i64>>(4)?.unwrap_or_default();
                now_ms - taken > ENDING_LEASE_MS
            }
            Some(_) => false,
            None => true,
        };
        let is_due = row.get::<_, Option<i64>>(7)?.is_none_or(|due| due <= now_ms)
            || process(row, 8)?.is_some_and(Process::is_gone);
        let ending = Ending {
            session: row.get(0)?,
            folder: path(row.get(1)?),
            transcript: row.get::<_, Option<Vec<u8>>>(2)?.map(path),
            at_ms: row.get(3)?,
        };
        Ok((is_free && is_due).then_some(ending))
    })?;
    free.filter_map(rusqlite::Result::transpose).collect()
}
