//! Wrappers in the state: the agent that each runs, and the session that is to be followed by a new one.

use std::path::{Path, PathBuf};

use rusqlite::{OptionalExtension, params};

use crate::store::state::claims::process;
use crate::store::state::{Result, State};
use crate::system::path_bytes::{bytes, path};
use crate::system::process::identity::Process;

/// What is known of a wrapper's agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrap {
    wrapper: Process,
    is_auto: bool,
    /// The agent's process, and its session with the folder where that began; `None` until a hook has told it.
    pub host: Option<Process>,
    pub session: Option<String>,
    pub folder: Option<PathBuf>,
    /// The session that is to be followed by a new one, and the handoff that the new one goes on with.
    pub restart_for: Option<String>,
    pub handoff: Option<String>,
}

impl Wrap {
    /// Whether this session can be followed by a new one: the wrapper lives, does such things, and runs this very session
    /// in this very process.
    pub fn restarts(&self, session: &str, host: Process) -> bool {
        let is_it = self.session.as_deref() == Some(session) && self.host == Some(host);
        self.is_auto && is_it && self.restart_for.is_none() && !self.wrapper.is_gone()
    }
}

impl State {
    /// Records a wrapper. Forgets those that are gone, and no other.
    pub fn begin_wrap(&mut self, token: &str, is_auto: bool) -> Result<()> {
        let Process { pid, started } = Process::this();
        self.transaction(|transaction| {
            let mut all = transaction.prepare("SELECT token, pid, started FROM wraps")?;
            let gone = all.query_map([], |row| {
                let is_gone = process(row, 1)?.is_none_or(Process::is_gone);
                Ok(Some(row.get::<_, String>(0)?).filter(|_| is_gone))
            })?;
            for token in gone.collect::<rusqlite::Result<Vec<_>>>()?.iter().flatten() {
                transaction.execute("DELETE FROM wraps WHERE token = ?1", [token])?;
            }
            let sql = "INSERT INTO wraps (token, pid, started, is_auto) VALUES (?1, ?2, ?3, ?4)";
            transaction.execute(sql, params![token, pid, started, is_auto]).map(drop)
        })
    }

    /// Records that a wrapper is about to start an agent, of which nothing is known yet.
    pub fn begin_agent(&mut self, token: &str) -> Result<()> {
        let sql = "UPDATE wraps SET host_pid = NULL, host_started = NULL, session = NULL, folder = NULL, \
                   restart_for = NULL, handoff = NULL WHERE token = ?1";
        self.execute(sql, [token]).map(drop)
    }

    /// Records the session that a wrapper's agent is in. The first process that tells one is the agent; others that
    /// inherited its environment, as an agent that it has started itself, are not.
    pub fn track_session(
        &mut self,
        token: &str,
        host: Process,
        session: &str,
        folder: &Path,
    ) -> Result<bool> {
        let sql = "UPDATE wraps SET host_pid = ?2, host_started = ?3, session = ?4, folder = ?5 \
                   WHERE token = ?1 AND coalesce(host_pid, ?2) = ?2 AND coalesce(host_started, ?3) = ?3";
        let values = params![token, host.pid, host.started, session, bytes(folder)];
        Ok(self.execute(sql, values)? > 0)
    }

    /// Asks a wrapper to follow a session by a new one; `false` if it runs another one, or was asked before.
    pub fn ask_for_restart(&mut self, token: &str, session: &str, handoff: &str) -> Result<bool> {
        let sql = "UPDATE wraps SET restart_for = ?2, handoff = ?3 \
                   WHERE token = ?1 AND session = ?2 AND is_auto AND restart_for IS NULL";
        Ok(self.execute(sql, params![token, session, handoff])? > 0)
    }

    /// Takes back what was asked of a wrapper.
    pub fn drop_restart(&mut self, token: &str) -> Result<()> {
        let sql = "UPDATE wraps SET restart_for = NULL, handoff = NULL WHERE token = ?1";
        self.execute(sql, [token]).map(drop)
    }

    /// A wrapper; `None` also in a state of an older version.
    pub fn wrap(&self, token: &str) -> Result<Option<Wrap>> {
        let sql = "SELECT pid, started, is_auto, host_pid, host_started, session, folder, restart_for, handoff \
                   FROM wraps WHERE token = ?1";
        let wrap = |row: &rusqlite::Row<'_>| {
            Ok(Wrap {
                wrapper: process(row, 0)?.unwrap_or(Process::of_number(0)),
                is_auto: row.get(2)?,
                host: process(row, 3)?,
                session: row.get(5)?,
                folder: row.get::<_, Option<Vec<u8>>>(6)?.map(path),
                restart_for: row.get(7)?,
                handoff: row.get(8)?,
            })
        };
        self.read(|connection| match connection.table_exists(None, "wraps")? {
            true => connection.query_row(sql, [token], wrap).optional(),
            false => Ok(None),
        })
    }

    /// Forgets a wrapper.
    pub fn end_wrap(&mut self, token: &str) -> Result<()> {
        self.execute("DELETE FROM wraps WHERE token = ?1", [token]).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const AGENT: Process = Process { pid: 7, started: 70 };

    fn state(folder: &Path) -> State {
        State::open(folder, Duration::from_secs(5)).unwrap()
    }

    #[test]
    fn a_1_37_only_the_session_that_the_agent_is_in_can_be_followed_by_another() {
        // nothing tracked, another session, and an agent inside of the agent.
        let folder = tempfile::tempdir().unwrap();
        let mut state = state(folder.path());
        state.begin_wrap("w", true).unwrap();
        assert!(!state.ask_for_restart("w", "", "h").unwrap(), "nothing is tracked");
        assert!(!state.ask_for_restart("w", "s", "h").unwrap(), "nothing is tracked");
        assert!(state.track_session("w", AGENT, "s", Path::new("/p")).unwrap());
        let inner = Process { pid: 8, ..AGENT };
        assert!(!state.track_session("w", inner, "inner", Path::new("/p")).unwrap());
        let again = Process { started: 71, ..AGENT };
        assert!(!state.track_session("w", again, "later", Path::new("/p")).unwrap());
        assert!(!state.ask_for_restart("w", "inner", "h").unwrap());
        assert!(!state.ask_for_restart("v", "s", "h").unwrap(), "there is no such wrapper");
        let wrap = state.wrap("w").unwrap().unwrap();
        assert!(
            wrap.restarts("s", AGENT) && !wrap.restarts("s", inner) && !wrap.restarts("t", AGENT)
        );
        // once.
        assert!(state.ask_for_restart("w", "s", "h").unwrap());
        assert!(!state.ask_for_restart("w", "s", "h").unwrap());
        let wrap = state.wrap("w").unwrap().unwrap();
        assert!(!wrap.restarts("s", AGENT));
        assert_eq!(wrap.handoff.as_deref(), Some("h"));
        // A session that was cleared meanwhile is another one.
        assert!(state.track_session("w", AGENT, "t", Path::new("/q")).unwrap());
        let wrap = state.wrap("w").unwrap().unwrap();
        assert_eq!((wrap.session.as_deref(), wrap.restart_for.as_deref()), (Some("t"), Some("s")));
        state.drop_restart("w").unwrap();
        state.begin_agent("w").unwrap();
        assert_eq!(state.wrap("w").unwrap().unwrap().session, None);
    }

    #[test]
    fn a_1_37_a_wrapper_that_does_not_restart_is_not_asked() {
        let folder = tempfile::tempdir().unwrap();
        let mut state = state(folder.path());
        state.begin_wrap("w", false).unwrap();
        state.track_session("w", AGENT, "s", Path::new("/p")).unwrap();
        assert!(!state.wrap("w").unwrap().unwrap().restarts("s", AGENT));
        assert!(!state.ask_for_restart("w", "s", "h").unwrap());
    }

    #[test]
    fn a_1_40_a_wrapper_that_is_gone_is_forgotten_and_no_other() {
        //
        let folder = tempfile::tempdir().unwrap();
        let mut state = state(folder.path());
        state.begin_wrap("lives", true).unwrap();
        state.begin_wrap("gone", true).unwrap();
        let sql = "UPDATE wraps SET started = started + 1 WHERE token = 'gone'";
        state.execute(sql, []).unwrap();
        state.track_session("gone", AGENT, "s", Path::new("/p")).unwrap();
        assert!(!state.wrap("gone").unwrap().unwrap().restarts("s", AGENT), "nobody would");
        state.begin_wrap("new", true).unwrap();
        assert_eq!(state.wrap("gone").unwrap(), None);
        assert!(state.wrap("lives").unwrap().is_some());
        state.end_wrap("new").unwrap();
        assert_eq!(state.wrap("new").unwrap(), None);
        assert!(state.wrap("lives").unwrap().is_some());
    }
}
