//! Handoffs that a person or an agent picks up.

use rusqlite::params;

use super::Steps;
use super::rows::{find_in_scope, select};
use crate::core::handoff::HandoffId;
use crate::core::handoff::life::{Actor, HandoffEvent};
use crate::core::handoff::record::HandoffRecord;
use crate::store::state::{Result, State};
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
    ) -> Result<TakeOutcome> {
        self.handoffs(actor, |steps| {
            steps.release_void(scope)?;
            steps.take(find_in_scope(steps.transaction, scope, id.as_str())?)
        })
    }

    /// Claims the task with the highest priority (among equals, the oldest), except for some.
    pub fn take_next_task(
        &mut self,
        scope: &str,
        except: &[HandoffId],
        actor: &Actor,
    ) -> Result<TakeOutcome> {
        let condition =
            "scope = ?1 AND kind = 'task' AND status = 'active' ORDER BY priority, created, id";
        self.handoffs(actor, |steps| {
            steps.release_void(scope)?;
            let tasks = select(steps.transaction, condition, [scope])?;
            steps.take(tasks.into_iter().find(|task| !except.contains(&task.id)))
        })
    }

    /// Keeps a handoff claimed after this process ends, until it is released or archived, because
    /// its text was shown.
    pub fn confirm_taken(&mut self, id: &HandoffId, actor: &Actor) -> Result<()> {
        self.handoffs(actor, |steps| {
            let Process { pid, started } = Process::this();
            let sql = "UPDATE handoffs SET owner_pid = NULL, owner_started = NULL \
                       WHERE id = ?1 AND status = 'claimed' AND owner_pid = ?2 AND owner_started = ?3";
            if steps.transaction.execute(sql, params![id.as_str(), pid, started])? > 0 {
                steps.note_receiver(id)?;
            }
            Ok(())
        })
    }
}

impl Steps<'_> {
    fn take(&self, found: Option<HandoffRecord>) -> rusqlite::Result<TakeOutcome> {
        let Some(found) = found.map(Box::new) else { return Ok(TakeOutcome::None) };
        let changes = self.apply(&found, HandoffEvent::PickedUp)?;
        Ok(match changes.is_empty() {
            true => TakeOutcome::Unavailable(found),
            false => TakeOutcome::Won(found),
        })
    }
}
