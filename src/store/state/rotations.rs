//! Rotations in the state: how far each is, and which worker may go on with it. What becomes of their handoffs is in
//! `handoffs/rotation.rs`.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension, Params, Row, params};

use crate::core::handoff::HandoffId;
use crate::core::host::Host;
use crate::core::named::Named;
use crate::core::rotation::{MAX_POSTPONED, RotationState};
use crate::core::time::Timestamp;
use crate::core::time_limits;
use crate::store::state::claims::process;
use crate::store::state::{Result, State};
use crate::system::path_bytes::{bytes, path};
use crate::system::process::identity::Process;

/// A window in tmux.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pane {
    pub socket: PathBuf,
    /// `%7`, which no other pane of the socket ever has.
    pub id: String,
}

/// A rotation that is about to be scheduled.
#[derive(Debug, Clone)]
pub struct NewRotation<'a> {
    pub session: &'a str,
    pub host: Host,
    /// The process that the session lives in.
    pub process: Process,
    pub pane: Option<Pane>,
    /// The file that the agent named.
    pub file: Option<PathBuf>,
    /// What is to be done then.
    pub task: Option<String>,
    pub tick_ms: i64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rotation {
    pub id: i64,
    pub session: String,
    pub scope: String,
    pub host: Host,
    /// The process that the session lives in.
    pub process: Process,
    pub pane: Option<Pane>,
    pub handoff: String,
    pub file: Option<PathBuf>,
    pub task: Option<String>,
    /// The first prompt of the new session.
    pub prompt: String,
    pub state: RotationState,
    /// Why it has this state, or why it still has it.
    pub reason: Option<String>,
    pub recorded: Timestamp,
    pub changed: Timestamp,
    /// By the clock that nobody sets.
    pub recorded_tick: i64,
    /// When the session's last turn began, or when it was last reserved after that, by the same clock.
    pub prompted_tick: i64,
    pub owner: Option<Process>,
    /// So many turns ended without it, because the window was not ready.
    pub postponed: u32,
    pub new_session: Option<String>,
    pub in_a_row: u32,
    pub is_prompted: bool,
}

const COLUMNS: &str = "id, session, scope, host, host_pid, host_started, socket, pane, handoff, file, task, prompt, state, \
    reason, recorded, changed, recorded_tick, prompted_tick, owner_pid, owner_started, postponed, new_session, in_a_row, \
    is_prompted";

/// The states of [`RotationState::is_open`].
pub(super) const OPEN: &str = "state IN ('scheduled', 'reserved', 'clearing', 'stuck')";
/// Those, and those in which the new session has not begun to work.
pub(super) const UNFINISHED: &str =
    "state IN ('scheduled', 'reserved', 'clearing', 'stuck', 'cleared', 'waiting')";

impl Rotation {
    /// Whether nothing started it for too long.
    pub fn is_too_old(&self, tick_ms: i64) -> bool {
        tick_ms.saturating_sub(self.recorded_tick) > time_limits::ROTATION.as_millis() as i64
    }

    /// Whether it is stuck because too many turns ended without it. No key was sent.
    pub fn is_given_up(&self) -> bool {
        self.state == RotationState::Stuck && self.postponed > MAX_POSTPONED
    }

    /// Whether the worker that went on with it is certainly gone.
    pub fn is_deserted(&self) -> bool {
        self.owner.is_none_or(Process::is_gone)
    }

    /// Whether a bridge has lost it on the way: it makes a new session at once, and clears nothing. Its process is no sign,
    /// because it lives on.
    pub fn is_lost(&self, tick_ms: i64) -> bool {
        let is_on_its_way = matches!(self.state, RotationState::Reserved | RotationState::Clearing);
        let age_ms = tick_ms.saturating_sub(self.prompted_tick);
        let is_late = age_ms >= time_limits::BRIDGE_ROTATION.as_millis() as i64;
        self.host == Host::Opencode && is_on_its_way && is_late
    }

    /// Whether a worker has waited for the window since before that time. No key was sent.
    pub fn is_reserved_before(&self, tick_ms: i64) -> bool {
        self.state == RotationState::Reserved && self.prompted_tick < tick_ms
    }

    /// Whether the session is being cleared at this moment.
    pub fn is_under_way(&self, tick_ms: i64) -> bool {
        self.state == RotationState::Clearing && !self.is_deserted() && !self.is_lost(tick_ms)
    }
}

impl State {
    /// The open rotation of a session.
    pub fn rotation_of(&self, session: &str) -> Result<Option<Rotation>> {
        self.first_rotation(&format!("session = ?1 AND {OPEN}"), [session])
    }

    /// The rotation by which a session began.
    pub fn rotation_into(&self, session: &str) -> Result<Option<Rotation>> {
        self.first_rotation("new_session = ?1 ORDER BY id DESC", [session])
    }

    pub fn rotation(&self, id: i64) -> Result<Option<Rotation>> {
        self.first_rotation("id = ?1", [id])
    }

    /// The rotation that a worker with this token may go on with.
    pub fn rotation_by_token(&self, token: i64) -> Result<Option<Rotation>> {
        self.first_rotation("token = ?1", [token])
    }

    /// The rotation that carried a handoff.
    pub fn rotation_with(&self, handoff: &HandoffId) -> Result<Option<Rotation>> {
        self.first_rotation("handoff = ?1 ORDER BY id DESC", [handoff.as_str()])
    }

    /// The last rotation of a session, open or over.
    pub fn last_rotation_of(&self, session: &str) -> Result<Option<Rotation>> {
        self.first_rotation("session = ?1 OR new_session = ?1 ORDER BY id DESC", [session])
    }

    /// The last rotation of a project.
    pub fn last_rotation_in(&self, scope: &str) -> Result<Option<Rotation>> {
        self.first_rotation("scope = ?1 ORDER BY id DESC LIMIT 1", [scope])
    }

    /// All rotations that are under way, the one that was scheduled last first.
    pub fn unfinished_rotations(&self) -> Result<Vec<Rotation>> {
        let condition = format!("{UNFINISHED} ORDER BY id DESC");
        self.read(|connection| select(connection, &condition, []))
    }

    fn first_rotation(&self, condition: &str, params: impl Params) -> Result<Option<Rotation>> {
        let found = self.read(|connection| select(connection, condition, params))?;
        Ok(found.into_iter().next())
    }

    /// Reserves a rotation at the end of a turn; `None` if another worker has it, or if a later turn has begun. Returns
    /// the token of the worker.
    pub fn reserve_rotation(
        &mut self,
        id: i64,
        ended_tick: i64,
        owner: Process,
        now_ms: i64,
    ) -> Result<Option<i64>> {
        let sql = "UPDATE rotations SET state = 'reserved', reason = NULL, changed = ?5, token = random(), \
                   prompted_tick = ?2, owner_pid = ?3, owner_started = ?4 \
                   WHERE id = ?1 AND state = 'scheduled' AND prompted_tick <= ?2 RETURNING token";
        let Process { pid, started } = owner;
        self.write(|connection| {
            let values = params![id, ended_tick, pid, started, now_ms];
            connection.query_row(sql, values, |row| row.get(0)).optional()
        })
    }

    /// Lets a worker own its rotation from now on.
    pub fn own_rotation(&mut self, token: i64, owner: Process) -> Result<()> {
        let sql = "UPDATE rotations SET owner_pid = ?2, owner_started = ?3 WHERE token = ?1";
        self.execute(sql, params![token, owner.pid, owner.started]).map(drop)
    }

    /// Takes a step of a rotation, if it is where the step begins and the token still counts. Returns whether it was.
    pub fn step_rotation(
        &mut self,
        token: i64,
        from: RotationState,
        to: RotationState,
        reason: Option<&str>,
        now_ms: i64,
    ) -> Result<bool> {
        // Whoever goes back to the beginning, or to a person, has no worker any more.
        let sql = "UPDATE rotations SET state = ?3, reason = ?4, changed = ?5, \
                   token = iif(?3 IN ('scheduled', 'stuck'), NULL, token) \
                   WHERE token = ?1 AND state = ?2";
        let values = params![token, from.name(), to.name(), reason, now_ms];
        Ok(self.execute(sql, values)? > 0)
    }

    /// Lets a turn end without the rotation that a worker has, because the window is not ready. No key was sent.
    pub fn postpone_rotation(
        &mut self,
        token: i64,
        from: RotationState,
        reason: &str,
        now_ms: i64,
    ) -> Result<()> {
        let sql = postponing("token = ?3 AND state = ?4");
        self.execute(&sql, params![reason, now_ms, token, from.name()]).map(drop)
    }

    /// The same for a rotation that no worker has.
    pub fn delay_rotation(&mut self, id: i64, reason: &str, now_ms: i64) -> Result<()> {
        let sql = postponing("id = ?3 AND state = 'scheduled'");
        self.execute(&sql, params![reason, now_ms, id]).map(drop)
    }

    /// Lets a stuck rotation begin again, because a person says so. Returns whether it was stuck, or still waits.
    pub fn retry_rotation(&mut self, id: i64, now_ms: i64) -> Result<bool> {
        let sql = "UPDATE rotations SET state = 'scheduled', reason = NULL, changed = ?2, token = NULL, \
                   postponed = 0 WHERE id = ?1 AND state IN ('stuck', 'scheduled')";
        Ok(self.execute(sql, params![id, now_ms])? > 0)
    }

    /// Replaces the first prompt of the new session.
    pub fn set_rotation_prompt(&mut self, id: i64, prompt: &str) -> Result<()> {
        let sql = "UPDATE rotations SET prompt = ?2 WHERE id = ?1";
        self.execute(sql, params![id, prompt]).map(drop)
    }

    /// Records that a tool was used in a session: a worker that waits for its end of turn is too early.
    pub fn note_tool(&mut self, session: &str, tick_ms: i64, now_ms: i64) -> Result<()> {
        let sql = "UPDATE rotations SET state = 'scheduled', reason = 'the turn went on after its end', \
                   changed = ?3, prompted_tick = ?2, token = NULL \
                   WHERE session = ?1 AND state = 'reserved' AND prompted_tick < ?2";
        self.execute(sql, params![session, tick_ms, now_ms]).map(drop)
    }

    /// Whether [`State::note_turn`] would change anything. Takes no lock, because it is asked at every prompt.
    pub fn concerns_rotation(&self, session: &str) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM rotations WHERE session = ?1 AND state IN ('scheduled', 'reserved')) \
                   OR EXISTS (SELECT 1 FROM rotations WHERE new_session = ?1 AND is_prompted = 0)";
        self.read(|connection| match has_rotations(connection)? {
            true => connection.query_row(sql, [session], |row| row.get(0)),
            false => Ok(false),
        })
    }
}

/// Counts a turn that ended without a rotation. After too many, only a person lets it begin again.
fn postponing(which: &str) -> String {
    format!(
        "UPDATE rotations SET postponed = postponed + 1, reason = ?1, changed = ?2, token = NULL, \
         state = iif(postponed >= {MAX_POSTPONED}, 'stuck', 'scheduled') WHERE {which}"
    )
}

pub(super) fn select(
    connection: &Connection,
    condition: &str,
    params: impl Params,
) -> rusqlite::Result<Vec<Rotation>> {
    if !has_rotations(connection)? {
        return Ok(Vec::new());
    }
    let sql = format!("SELECT {COLUMNS} FROM rotations WHERE {condition}");
    connection.prepare(&sql)?.query_map(params, rotation)?.collect()
}

/// Whether the database has rotations: a state that is only read can have an older version.
fn has_rotations(connection: &Connection) -> rusqlite::Result<bool> {
    connection.table_exists(None, "rotations")
}

fn rotation(row: &Row<'_>) -> rusqlite::Result<Rotation> {
    let socket = row.get::<_, Option<Vec<u8>>>(6)?.map(path);
    let pane = socket.zip(row.get(7)?).map(|(socket, id)| Pane { socket, id });
    let time = Timestamp::from_milliseconds;
    Ok(Rotation {
        id: row.get(0)?,
        session: row.get(1)?,
        scope: row.get(2)?,
        host: Host::parse(&row.get::<_, String>(3)?).unwrap_or_default(),
        process: process(row, 4)?.unwrap_or(Process::of_number(0)),
        pane,
        handoff: row.get(8)?,
        file: row.get::<_, Option<Vec<u8>>>(9)?.map(path),
        task: row.get(10)?,
        prompt: row.get(11)?,
        // What a later version calls otherwise is no affair of this one.
        state: RotationState::parse(&row.get::<_, String>(12)?).unwrap_or(RotationState::Done),
        reason: row.get(13)?,
        recorded: time(row.get(14)?),
        changed: time(row.get(15)?),
        recorded_tick: row.get(16)?,
        prompted_tick: row.get(17)?,
        owner: process(row, 18)?,
        postponed: row.get(20)?,
        new_session: row.get(21)?,
        in_a_row: row.get(22)?,
        is_prompted: row.get(23)?,
    })
}

/// Writes a new rotation. Its session and its pane have no open one.
pub(super) fn insert(
    connection: &Connection,
    new: &NewRotation<'_>,
    scope: &str,
    (handoff, prompt): (&HandoffId, &str),
    in_a_row: u32,
    now_ms: i64,
) -> rusqlite::Result<i64> {
    let sql = "INSERT INTO rotations (session, scope, host, host_pid, host_started, socket, pane, handoff, file, task, prompt, \
               state, recorded, changed, recorded_tick, prompted_tick, in_a_row) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, 'scheduled', ?12, ?12, ?13, 0, ?14)";
    let (socket, pane) =
        new.pane.as_ref().map(|pane| (bytes(&pane.socket), pane.id.as_str())).unzip();
    let Process { pid, started } = new.process;
    let file = new.file.as_deref().map(|file: &Path| bytes(file));
    connection.execute(
        sql,
        params![
            new.session,
            scope,
            new.host.name(),
            pid,
            started,
            socket,
            pane,
            handoff.as_str(),
            file,
            new.task,
            prompt,
            now_ms,
            new.tick_ms,
            in_a_row
        ],
    )?;
    Ok(connection.last_insert_rowid())
}
