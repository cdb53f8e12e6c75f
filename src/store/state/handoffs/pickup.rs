//! Handoffs that a person or an agent picks up and releases.

use rusqlite::{Error, Transaction, params};

use super::rows::{Hold, find_in_scope, select};
use super::{apply, delivery, release_void};
use crate::core::handoff::life::{Actor, HandoffEvent};
use crate::core::handoff::record::HandoffRecord;
use crate::core::handoff::{HandoffId, Status};
use crate::store::state::{State, StateError};
use crate::system::process::identity::Process;

/// The result of picking up a handoff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TakeOutcome {
    /// The record from before the claim.
    Won(Box<HandoffRecord>),
    /// Its status does not allow it.
    Unavailable(Box<HandoffRecord>),
    None,
}

impl State {
    /// Claims a handoff by its id, until this process ends or the claim is confirmed.
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

    /// Claims the task with the highest priority (among equals, the oldest), except for some.
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

    /// Keeps a handoff claimed after this process ends, until it is released or archived, because
    /// its text was shown.
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

    /// Releases a claimed handoff. Returns its former record, and its new status if it was claimed.
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
