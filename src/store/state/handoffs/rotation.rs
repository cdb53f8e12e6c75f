//! The handoffs of rotations: kept for the new session while the rotation is under way, given to it alone, and free for
//! any session as soon as the rotation is over without it.

use rusqlite::{Connection, OptionalExtension, Result, params};

use super::Steps;
use super::rows::find;
use crate::core::handoff::life::{Actor, HandoffEvent};
use crate::core::handoff::{HandoffId, Status};
use crate::core::host::Host;
use crate::core::named::Named;
use crate::core::rotation::{self, MAX_IN_A_ROW, MAX_POSTPONED, RotationState};
use crate::store::state::rotations::{self, NewRotation, OPEN, Rotation, UNFINISHED};
use crate::store::state::{State, StateError};
use crate::system::process::identity::Process;

/// The result of scheduling a rotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheduled {
    As(i64),
    /// The session is being cleared at this moment.
    UnderWay,
    /// Too many happened since a person last said something.
    TooMany,
}

/// The reason of a handoff whose session wrote a later one for the same rotation.
const REPLACED: &str = "its session wrote another one";

impl State {
    /// Schedules the rotation of a session by a handoff whose document is written. An earlier one of the session, which
    /// has not begun, is superseded.
    pub fn schedule_rotation(
        &mut self,
        new: &NewRotation<'_>,
        handoff: &HandoffId,
        actor: &Actor,
    ) -> Result<Scheduled, StateError> {
        self.handoffs(actor, |steps| {
            let connection = steps.transaction;
            let in_a_row = match in_a_row(connection, new.session)? {
                before if before >= MAX_IN_A_ROW => return Ok(Scheduled::TooMany),
                before => before + 1,
            };
            let condition = format!("session = ?1 AND {OPEN}");
            for before in rotations::select(connection, &condition, [new.session])? {
                if before.is_under_way(new.tick_ms) {
                    return Ok(Scheduled::UnderWay);
                }
                steps.end_rotation(&before, RotationState::Superseded, None)?;
            }
            steps.leave_pane(new)?;
            let draft = find(connection, handoff.as_str())?;
            let draft = draft.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
            steps.apply(&draft, HandoffEvent::KeptForRotation)?;
            // It is free again when the session's process is gone.
            let sql = "UPDATE handoffs SET owner_pid = ?2, owner_started = ?3 WHERE id = ?1";
            let Process { pid, started } = new.process;
            connection.execute(sql, params![handoff.as_str(), pid, started])?;
            let prompt = rotation::prompt(handoff.as_str(), None, new.task.as_deref());
            let what = (handoff, prompt.as_str());
            let now_ms = steps.actor.now_ms;
            rotations::insert(connection, new, &draft.scope, what, in_a_row, now_ms)
                .map(Scheduled::As)
        })
    }

    /// Ends a rotation that has not begun, that is stuck, or whose host clears nothing; its handoff is free. Returns whether
    /// it was so.
    pub fn end_rotation(
        &mut self,
        id: i64,
        to: RotationState,
        reason: Option<&str>,
        actor: &Actor,
    ) -> Result<bool, StateError> {
        self.handoffs(actor, |steps| {
            let condition = "id = ?1 AND (state IN ('scheduled', 'reserved', 'stuck') \
                             OR (state = 'clearing' AND host = ?2))";
            let values = params![id, Host::Opencode.name()];
            let found = rotations::select(steps.transaction, condition, values)?;
            found.iter().try_for_each(|rotation| steps.end_rotation(rotation, to, reason))?;
            Ok(!found.is_empty())
        })
    }

    /// Ends the rotations of a session that has ended: one that it scheduled, unless that may have ended it, and one by which
    /// it began, if nobody has said anything in it.
    pub fn drop_rotations(&mut self, session: &str, actor: &Actor) -> Result<(), StateError> {
        let condition = format!(
            "(session = ?1 AND (state IN ('scheduled', 'reserved') \
              OR (state = 'stuck' AND postponed > {MAX_POSTPONED}))) \
             OR (new_session = ?1 AND state IN ('cleared', 'waiting'))"
        );
        // Looks without a lock first, because usually there are none.
        let found = |connection: &_| rotations::select(connection, &condition, [session]);
        if self.read(found)?.is_empty() {
            return Ok(());
        }
        self.handoffs(actor, |steps| {
            let (to, reason) = (RotationState::Dropped, Some("its session has ended"));
            let over = rotations::select(steps.transaction, &condition, [session])?;
            over.iter().try_for_each(|rotation| steps.end_rotation(rotation, to, reason))
        })
    }

    /// Confirms that a host has cleared the session of a rotation: `session` is the new one. Returns the rotation, and the
    /// token for another worker if the first one is gone.
    pub fn confirm_rotation(
        &mut self,
        process: Process,
        session: &str,
        actor: &Actor,
    ) -> Result<Option<(Rotation, Option<i64>)>, StateError> {
        self.handoffs(actor, |steps| {
            let &Steps { transaction, actor, .. } = steps;
            let condition =
                "state IN ('clearing', 'stuck') AND host_pid = ?1 AND host_started = ?2 AND session <> ?3";
            let values = params![process.pid, process.started, session];
            let found = rotations::select(transaction, condition, values)?;
            // One that was given up has cleared nothing.
            let Some(rotation) = found.into_iter().find(|found| !found.is_given_up()) else {
                return Ok(None);
            };
            let is_deserted = rotation.is_deserted();
            let owner = rotation.owner.filter(|_| !is_deserted).unwrap_or(Process::this());
            let sql = "UPDATE rotations SET state = 'cleared', reason = NULL, new_session = ?2, changed = ?3, \
                       token = coalesce(token, random()), owner_pid = ?4, owner_started = ?5 WHERE id = ?1 RETURNING token";
            let values = params![rotation.id, session, actor.now_ms, owner.pid, owner.started];
            let token: i64 = transaction.query_row(sql, values, |row| row.get(0))?;
            steps.archive_captured(&rotation.session)?;
            Ok(Some((rotation, is_deserted.then_some(token))))
        })
    }

    /// Confirms that the host of a rotation, which clears nothing, has made the new session.
    pub fn confirm_new_session(
        &mut self,
        token: i64,
        session: &str,
        actor: &Actor,
    ) -> Result<Option<Rotation>, StateError> {
        self.handoffs(actor, |steps| {
            let &Steps { transaction, actor, .. } = steps;
            let condition = "state = 'clearing' AND token = ?1 AND session <> ?2";
            let found = rotations::select(transaction, condition, params![token, session])?;
            let sql = "UPDATE rotations SET state = 'cleared', new_session = ?2, changed = ?3 WHERE token = ?1";
            if let Some(rotation) = found.first() {
                transaction.execute(sql, params![token, session, actor.now_ms])?;
                steps.archive_captured(&rotation.session)?;
            }
            Ok(found.into_iter().next())
        })
    }

    /// Records that a prompt was typed into a session: a worker that waits for its end of turn is too early, and a new
    /// session has begun to work.
    pub fn note_turn(
        &mut self,
        session: &str,
        prompt: &str,
        tick_ms: i64,
        actor: &Actor,
    ) -> Result<(), StateError> {
        self.handoffs(actor, |steps| {
            let (transaction, now_ms) = (steps.transaction, steps.actor.now_ms);
            let sql = "UPDATE rotations SET prompted_tick = max(prompted_tick, ?2), token = NULL, changed = ?3, \
                       reason = iif(state = 'reserved', 'a prompt came before it', reason), state = 'scheduled' \
                       WHERE session = ?1 AND state IN ('scheduled', 'reserved')";
            transaction.execute(sql, params![session, tick_ms, now_ms])?;
            let condition = "new_session = ?1 AND state IN ('cleared', 'waiting') AND trim(prompt) = ?2";
            let ours = rotations::select(transaction, condition, params![session, prompt.trim()])?;
            let sql = "UPDATE rotations SET is_prompted = 1 WHERE new_session = ?1 AND trim(prompt) <> ?2";
            transaction.execute(sql, params![session, prompt.trim()])?;
            let sql = "UPDATE rotations SET state = 'done', reason = NULL, changed = ?2 \
                       WHERE new_session = ?1 AND state IN ('cleared', 'waiting')";
            transaction.execute(sql, params![session, now_ms])?;
            ours.iter().try_for_each(|rotation| steps.take_up(rotation))
        })
    }

    /// Records that the new session of a rotation has its first prompt: the handoff is its own, also if the prompt only says how
    /// to read it.
    pub fn take_up_rotation(&mut self, id: i64, actor: &Actor) -> Result<(), StateError> {
        self.handoffs(actor, |steps| {
            let found = rotations::select(steps.transaction, "id = ?1", [id])?;
            found.iter().try_for_each(|rotation| steps.take_up(rotation))
        })
    }

    /// Looks after rotations that nobody else does: whose session or worker is gone, or that are too old.
    pub fn reconsider_rotations(&mut self, tick_ms: i64, actor: &Actor) -> Result<(), StateError> {
        // Looks without a lock first, because usually there are none.
        let open = self.read(|connection| rotations::select(connection, UNFINISHED, []))?;
        if open.iter().all(|rotation| fate(rotation, tick_ms).is_none()) {
            return Ok(());
        }
        self.handoffs(actor, |steps| {
            for rotation in rotations::select(steps.transaction, UNFINISHED, [])? {
                match fate(&rotation, tick_ms) {
                    Some((to, reason)) if to.is_open() || to == RotationState::Waiting => {
                        steps.move_rotation(&rotation, to, Some(reason))?;
                    }
                    Some((to, reason)) => steps.end_rotation(&rotation, to, Some(reason))?,
                    None => {}
                }
            }
            Ok(())
        })
    }
}

/// What becomes of a rotation that nobody looks after, and why.
fn fate(rotation: &Rotation, tick_ms: i64) -> Option<(RotationState, &'static str)> {
    use RotationState::{Cleared, Clearing, Dropped, Expired, Reserved, Scheduled, Stuck, Waiting};
    match rotation.state {
        _ if rotation.process.is_gone() => Some((Dropped, "its session is gone")),
        Scheduled if rotation.is_too_old(tick_ms) => {
            Some((Expired, "2 hours have passed without it"))
        }
        Reserved | Clearing if rotation.is_lost(tick_ms) => {
            Some((Scheduled, "OpenCode made no new session"))
        }
        Reserved if rotation.is_deserted() => {
            Some((Scheduled, "its worker ended before it sent a key"))
        }
        Clearing if rotation.is_deserted() => {
            Some((Stuck, "its worker ended after it may have sent a key"))
        }
        Cleared if rotation.is_deserted() => {
            Some((Waiting, "its worker ended before the first prompt was taken up"))
        }
        _ => None,
    }
}

/// How many rotations have led to a session since a person last said something.
fn in_a_row(connection: &Connection, session: &str) -> Result<u32> {
    let sql = "SELECT iif(is_prompted, 0, in_a_row) FROM rotations WHERE new_session = ?1 \
               ORDER BY id DESC LIMIT 1";
    Ok(connection.query_row(sql, [session], |row| row.get(0)).optional()?.unwrap_or_default())
}

impl Steps<'_> {
    /// Ends a rotation, and frees its handoff, unless a session works with it already.
    fn end_rotation(
        &self,
        rotation: &Rotation,
        to: RotationState,
        reason: Option<&str>,
    ) -> Result<()> {
        self.move_rotation(rotation, to, reason)?;
        let Some(handoff) = find(self.transaction, &rotation.handoff)? else { return Ok(()) };
        let why = format!("its rotation was {to}");
        let event = match (to, &handoff.status) {
            (RotationState::Superseded, _) => HandoffEvent::Archived(REPLACED),
            // The new session was given it, and nobody has said anything there.
            (_, Status::Consumed) => HandoffEvent::GivenAgain(&why),
            _ => HandoffEvent::GivenBack(&why),
        };
        self.apply(&handoff, event).map(drop)
    }

    /// Lets the new session have the handoff, if the rotation still holds it. The claim of a context sees to it by itself.
    fn take_up(&self, rotation: &Rotation) -> Result<()> {
        let sql = "SELECT 1 FROM handoffs WHERE id = ?1 AND status = 'claimed' AND token IS NULL";
        if !self.transaction.prepare(sql)?.exists([&rotation.handoff])? {
            return Ok(());
        }
        let Some(handoff) = find(self.transaction, &rotation.handoff)? else { return Ok(()) };
        let is_new = self.note_receiver(&handoff.id)?;
        self.apply(&handoff, HandoffEvent::Delivered { is_held: true, is_new }).map(drop)
    }

    fn move_rotation(
        &self,
        rotation: &Rotation,
        to: RotationState,
        reason: Option<&str>,
    ) -> Result<()> {
        let sql = "UPDATE rotations SET state = ?2, reason = ?3, changed = ?4, token = NULL WHERE id = ?1";
        let values = params![rotation.id, to.name(), reason, self.actor.now_ms];
        self.transaction.execute(sql, values).map(drop)
    }

    /// Ends what earlier sessions in the same window have not finished: they are not there any more.
    fn leave_pane(&self, new: &NewRotation<'_>) -> Result<()> {
        let Some(pane) = &new.pane else { return Ok(()) };
        let condition =
            format!("socket = ?1 AND pane = ?2 AND ({OPEN} OR state IN ('cleared', 'waiting'))");
        let values = params![pane.socket.as_os_str().as_encoded_bytes(), pane.id];
        for other in rotations::select(self.transaction, &condition, values)? {
            if other.state.is_open() {
                let reason = "another session has its window";
                self.end_rotation(&other, RotationState::Dropped, Some(reason))?;
            } else {
                self.move_rotation(&other, RotationState::Done, None)?;
            }
        }
        Ok(())
    }
}
