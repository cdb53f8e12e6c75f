//! Handoffs that a person or an agent picks up.

use rusqlite::params;

use super::rows::{TASKS, find_in_scope, select};
use crate::core::handoff::HandoffId;
use crate::core::handoff::life::{Actor, HandoffEvent};
use crate::store::state::{Result, State, Stepped};
use crate::system::process::identity::Process;

impl State {
    /// Claims a handoff by its id, until this process ends or the claim is confirmed.
    pub fn take_handoff(
        &mut self,
        scope: &str,
        id: &HandoffId,
        actor: &Actor,
    ) -> Result<Option<Stepped>> {
        self.handoffs(actor, |steps| {
            steps.release_void(scope)?;
            let found = find_in_scope(steps.transaction, scope, id.as_str())?;
            steps.step(found, HandoffEvent::PickedUp)
        })
    }

    /// Claims the task with the highest priority (among equals, the oldest), except for some.
    pub fn take_next_task(
        &mut self,
        scope: &str,
        except: &[HandoffId],
        actor: &Actor,
    ) -> Result<Option<Stepped>> {
        self.handoffs(actor, |steps| {
            steps.release_void(scope)?;
            let tasks = select(steps.transaction, TASKS, [scope])?;
            let next = tasks.into_iter().find(|task| !except.contains(&task.id));
            steps.step(next, HandoffEvent::PickedUp)
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
