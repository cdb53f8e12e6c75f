//! Contexts in the state: what hosts tell of how full they are, and what the agents of sessions were told.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::core::monitor::Level;
use crate::store::state::claims::process;
use crate::store::state::{Result, State};
use crate::system::path_bytes::{bytes, path};
use crate::system::process::identity::Process;

/// What is remembered of a session's context.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ContextRecord {
    pub transcript: Option<PathBuf>,
    /// The status line's words: the window and the tokens, each with its time.
    pub window: Option<u64>,
    pub window_at: Option<i64>,
    pub tokens: Option<(u64, i64)>,
    pub model: Option<String>,
    /// The tokens that the host keeps free, if a bridge told all this and no status line.
    pub reserve: Option<u64>,
    /// The window that the session's own environment lets the host fill.
    pub compaction_window: Option<u64>,
    /// The number of the level that the agent was told of since the last compaction.
    notified: i64,
}

/// A session that lives, and its context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveContext {
    pub session: String,
    pub channel: String,
    pub folder: PathBuf,
    pub record: ContextRecord,
}

/// What a status line says, or a bridge.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StatusLine {
    pub window: Option<u64>,
    pub tokens: Option<u64>,
    pub model: Option<String>,
    /// The tokens that the host keeps free; only from a bridge.
    pub reserve: Option<u64>,
    /// The window that the session's own environment lets the host fill.
    pub compaction_window: Option<u64>,
}

const COLUMNS: &str =
    "transcript, window, tokens, tokens_at, model, notified, reserve, compaction_window, window_at";

impl ContextRecord {
    /// Whether the agent was told of this level, or of a higher one.
    pub fn was_told(&self, level: Level) -> bool {
        self.notified >= number(level)
    }
}

impl State {
    /// What is remembered of a session; `None` also in a state of an older version.
    pub fn context(&self, session: &str) -> Result<Option<ContextRecord>> {
        let sql = format!("SELECT {COLUMNS} FROM contexts WHERE session = ?1");
        self.read(|connection| match has_contexts(connection)? {
            true => connection.query_row(&sql, [session], |row| record(row, 0)).optional(),
            false => Ok(None),
        })
    }

    /// The sessions that have neither ended nor lost their process.
    pub fn live_contexts(&self) -> Result<Vec<LiveContext>> {
        let sql = format!(
            "SELECT session, channel, folder, pid, started, {COLUMNS} FROM sessions JOIN contexts USING (session) \
             WHERE ended IS NULL ORDER BY seen DESC, session"
        );
        self.read(|connection| {
            if !has_contexts(connection)? {
                return Ok(Vec::new());
            }
            let mut statement = connection.prepare(&sql)?;
            let live = statement.query_map([], |row| {
                let is_gone = process(row, 3)?.is_none_or(Process::is_gone);
                let (session, channel) = (row.get(0)?, row.get(1)?);
                let (folder, record) = (path(row.get(2)?), record(row, 5)?);
                Ok((!is_gone).then_some(LiveContext { session, channel, folder, record }))
            })?;
            live.filter_map(rusqlite::Result::transpose).collect()
        })
    }

    /// Records where a session's transcript is, and what its environment says of the window. `is_fresh`: its context was just replaced, so that its agent may be told
    /// of it again.
    pub fn note_context(
        &mut self,
        session: &str,
        transcript: &Path,
        is_fresh: bool,
        compaction_window: Option<u64>,
        now_ms: i64,
    ) -> Result<()> {
        let sql = "INSERT INTO contexts (session, transcript, at, compaction_window) VALUES (?1, ?2, ?3, ?4) \
                   ON CONFLICT (session) DO UPDATE SET transcript = ?2, at = ?3, compaction_window = ?4";
        let window = number_of(compaction_window);
        self.transaction(|transaction| {
            transaction.execute(sql, params![session, bytes(transcript), now_ms, window])?;
            if is_fresh {
                reset(transaction, session, now_ms)?;
            }
            Ok(())
        })
    }

    /// Records what a status line said.
    pub fn note_status_line(
        &mut self,
        session: &str,
        said: &StatusLine,
        transcript: Option<&Path>,
        now_ms: i64,
    ) -> Result<()> {
        let sql = "INSERT INTO contexts (session, transcript, window, tokens, tokens_at, model, at, reserve, \
                   compaction_window, window_at) \
                   VALUES (?1, ?2, ?3, ?4, ?6, ?5, ?6, ?7, ?8, iif(?3 IS NULL, NULL, ?6)) \
                   ON CONFLICT (session) DO UPDATE SET reserve = ?7, compaction_window = ?8, \
                   transcript = coalesce(?2, transcript), window = coalesce(?3, window), \
                   window_at = iif(?3 IS NULL, window_at, ?6), \
                   tokens = ?4, tokens_at = ?6, model = coalesce(?5, model), at = ?6";
        let StatusLine { window, tokens, model, reserve, compaction_window } = said;
        let transcript = transcript.map(bytes);
        let (window, tokens, reserve) =
            (number_of(*window), number_of(*tokens), number_of(*reserve));
        let lets = number_of(*compaction_window);
        let values = params![session, transcript, window, tokens, model, now_ms, reserve, lets];
        self.execute(sql, values).map(drop)
    }

    /// Records that the agent is told of a level that was measured at `sample_ms`; `false` if it was told before, or if
    /// that was before the last compaction. Of several processes, one gets `true`.
    pub fn notify(
        &mut self,
        session: &str,
        level: Level,
        sample_ms: i64,
        compacted_ms: Option<i64>,
        now_ms: i64,
    ) -> Result<bool> {
        self.transaction(|transaction| {
            let sql = "INSERT OR IGNORE INTO contexts (session, at) VALUES (?1, ?2)";
            transaction.execute(sql, params![session, now_ms])?;
            // Once for each compaction, also if its time lies in the future, by a clock that was set back.
            let sql = "SELECT notified_at < ?2 AND coalesce(reset, 0) < ?2 FROM contexts WHERE session = ?1";
            let is_missed = |at: i64| {
                transaction
                    .query_row(sql, params![session, at], |row| row.get::<_, Option<bool>>(0))
            };
            if let Some(at) = compacted_ms
                && is_missed(at)? == Some(true)
            {
                reset(transaction, session, at)?;
            }
            let sql = "UPDATE contexts SET notified = ?2, notified_at = ?4, at = ?4 \
                       WHERE session = ?1 AND notified < ?2 AND coalesce(reset, ?3) <= ?3";
            let values = params![session, number(level), sample_ms, now_ms];
            Ok(transaction.execute(sql, values)? > 0)
        })
    }
}

fn reset(connection: &Connection, session: &str, at: i64) -> rusqlite::Result<()> {
    let sql = "UPDATE contexts SET notified = 0, notified_at = NULL, tokens = NULL, reset = ?2 WHERE session = ?1";
    connection.execute(sql, params![session, at]).map(drop)
}

fn has_contexts(connection: &Connection) -> rusqlite::Result<bool> {
    // A state of an older version may have some of it.
    connection.column_exists(None, "contexts", "window_at")
}

fn record(row: &Row<'_>, first: usize) -> rusqlite::Result<ContextRecord> {
    let number = |at: usize| -> rusqlite::Result<Option<u64>> {
        Ok(row.get::<_, Option<i64>>(at)?.and_then(|number| u64::try_from(number).ok()))
    };
    Ok(ContextRecord {
        transcript: row.get::<_, Option<Vec<u8>>>(first)?.map(path),
        window: number(first + 1)?,
        tokens: number(first + 2)?.zip(row.get(first + 3)?),
        model: row.get(first + 4)?,
        notified: row.get(first + 5)?,
        reserve: number(first + 6)?,
        compaction_window: number(first + 7)?,
        window_at: row.get(first + 8)?,
    })
}

/// As SQLite holds it; one that is too large is none.
fn number_of(number: Option<u64>) -> Option<i64> {
    i64::try_from(number?).ok()
}

fn number(level: Level) -> i64 {
    match level {
        Level::Ok => 0,
        Level::EarlyWarn => 1,
        Level::Warn => 2,
        Level::Critical => 3,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn state(folder: &Path) -> State {
        State::open(folder, Duration::from_secs(5)).unwrap()
    }

    #[test]
    fn a_1_29_a_level_is_told_once_until_a_compaction() {
        // in every process, never again by a lower reading, and never by a sample from before.
        let folder = tempfile::tempdir().unwrap();
        let tell = |level, sample, compacted| {
            state(folder.path()).notify("s", level, sample, compacted, sample + 1).unwrap()
        };
        assert!(tell(Level::Warn, 100, None));
        assert!(!tell(Level::Warn, 110, None));
        assert!(tell(Level::Critical, 120, None));
        assert!(!tell(Level::Critical, 130, None) && !tell(Level::Warn, 140, None));
        let told = state(folder.path()).context("s").unwrap().unwrap();
        assert!(told.was_told(Level::Critical) && told.was_told(Level::Warn));
        state(folder.path()).note_context("s", Path::new("/t"), true, None, 200).unwrap();
        assert!(!state(folder.path()).context("s").unwrap().unwrap().was_told(Level::Warn));
        assert!(!tell(Level::Critical, 199, None), "it was measured before");
        assert!(tell(Level::Critical, 200, None));
        // A compaction that no hook was told of shows in the transcript.
        assert!(!tell(Level::Critical, 300, Some(150)));
        assert!(tell(Level::Critical, 400, Some(350)));
        assert!(!tell(Level::Critical, 410, Some(350)));
        // another session has its own record.
        assert!(state(folder.path()).notify("t", Level::Critical, 1, None, 1).unwrap());
        state(folder.path()).note_context("s", Path::new("/t"), false, None, 500).unwrap();
        assert!(!tell(Level::Critical, 600, None), "a resumed session was told before");
    }

    #[test]
    fn a_1_30_each_session_has_its_own_record() {
        //
        let folder = tempfile::tempdir().unwrap();
        let mut state = state(folder.path());
        let said = |window, tokens| StatusLine {
            window,
            tokens,
            model: Some("m".to_owned()),
            ..StatusLine::default()
        };
        state.note_status_line("s", &said(Some(1_000_000), Some(7)), None, 1).unwrap();
        state.note_context("t", Path::new("/t.jsonl"), false, None, 2).unwrap();
        // Before the first answer nothing is known; the window stays.
        state.note_status_line("s", &said(None, None), Some(Path::new("/s.jsonl")), 3).unwrap();
        let s = state.context("s").unwrap().unwrap();
        assert_eq!((s.window, s.tokens), (Some(1_000_000), None));
        assert_eq!(s.transcript.as_deref(), Some(Path::new("/s.jsonl")));
        let t = state.context("t").unwrap().unwrap();
        assert_eq!((t.window, t.transcript.as_deref()), (None, Some(Path::new("/t.jsonl"))));
        assert_eq!(state.context("u").unwrap(), None);
        assert_eq!(state.live_contexts().unwrap(), [], "no process is known to live");
    }
}
