//! Handoffs that a person or an agent takes, and gives back.

use rusqlite::{Error, Transaction, params};

use super::rows::{Hold, find_in_scope, select};
use super::{apply, delivery, release_void};
use crate::core::handoff::life::{Actor, HandoffEvent};
use crate::core::handoff::record::HandoffRecord;
use crate::core::handoff::{HandoffId, Status};
use crate::store::state::{State, StateError};
use crate::system::process::identity::Process;

/// How taking a handoff went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TakeOutcome {
    /// The handoff as it was before.
    Won(Box<HandoffRecord>),
    /// Its status does not allow it.
    Unavailable(Box<HandoffRecord>),
    None,
}

impl State {
    /// Takes a handoff by its id, for as long as this process lives or until it is confirmed.
    pub fn take_handoff(
        &mut self,
        scope: &str,
        id: &HandoffId,
        actor: &Actor,
    ) -> Result<TakeOutcome, StateError> {
        self.handoffs(|transaction| {
            release_void(transaction, scope, actor)?;
            let found = find_in_scope(transaction, scope, id)?;
            found.map_or(Ok(TakeOutcome::None), |found| take(transaction, found, actor))
        })
    }

    /// Takes the most urgent task, and of those the oldest, except for some.
    pub fn take_next_task(
        &mut self,
        scope: &str,
        except: &[HandoffId],
        actor: &Actor,
    ) -> Result<TakeOutcome, StateError> {
        let condition =
            "scope = ?1 AND kind = 'task' AND status = 'active' ORDER BY priority, created, id";
        self.handoffs(|transaction| {
            release_void(transaction, scope, actor)?;
            let tasks = select(transaction, condition, [scope])?;
            let next = tasks.into_iter().find(|task| !except.contains(&task.id));
            next.map_or(Ok(TakeOutcome::None), |task| take(transaction, task, actor))
        })
    }

    /// Keeps a handoff taken after this process ends, until it is released or archived: its text was shown.
    pub fn confirm_taken(&mut self, id: &HandoffId, actor: &Actor) -> Result<(), StateError> {
        self.handoffs(|transaction| {
            let Process { pid, started } = Process::this();
            let sql = "UPDATE handoffs SET owner_pid = NULL, owner_started = NULL \
                       WHERE id = ?1 AND status = 'claimed' AND owner_pid = ?2 AND owner_started = ?3";
            let n_kept = transaction.execute(sql, params![id.as_str(), pid, started])?;
            if let Some(session) = actor.session.as_ref().filter(|_| n_kept > 0) {
                delivery::note_receiver(transaction, session, id, actor.now_ms)?;
            }
            Ok(())
        })
    }

    /// Gives a taken handoff back. Returns it as it was before, and its status now if it was taken.
    pub fn release_handoff(
        &mut self,
        scope: &str,
        id: &HandoffId,
        reason: &str,
        actor: &Actor,
    ) -> Result<Option<(HandoffRecord, Option<Status>)>, StateError> {
        self.handoffs(|transaction| {
            let Some(found) = find_in_scope(transaction, scope, id)? else { return Ok(None) };
            let event = HandoffEvent::GivenBack(reason);
            let changes = apply(transaction, &found, event, Hold::Free, actor)?;
            Ok(Some((found, changes.into_iter().next_back().map(|change| change.record.status))))
        })
    }
}

fn take(
    transaction: &Transaction<'_>,
    found: HandoffRecord,
    actor: &Actor,
) -> Result<TakeOutcome, Error> {
    let changes = apply(transaction, &found, HandoffEvent::PickedUp, Hold::Process, actor)?;
    let found = Box::new(found);
    Ok(if changes.is_empty() { TakeOutcome::Unavailable(found) } else { TakeOutcome::Won(found) })
}
