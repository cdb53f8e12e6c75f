//! Handoffs that another project adopts.

use rusqlite::params;

use super::is_owner_gone;
use super::rows::find;
use crate::core::handoff::life::{Actor, BEING_ADOPTED, HandoffEvent};
use crate::core::handoff::{HandoffId, Status};
use crate::store::state::claims::process;
use crate::store::state::{Result, State};
use crate::system::process::identity::Process;

/// Whether a handoff can be adopted now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Adoption {
    /// This process holds it, so that no session is given it.
    Begun,
    /// A process that was killed has begun, and may have made the copy.
    Resumed,
    /// Its session claims it for good. It can be copied and archived.
    Claimed,
    /// It was given, archived or removed, or somebody takes it at this moment.
    Refused,
}

impl State {
    /// Begins to adopt a handoff: holds it until it is archived or released, even if this process is killed.
    pub fn begin_adoption(&mut self, id: &HandoffId, actor: &Actor) -> Result<Adoption> {
        self.handoffs(actor, |steps| {
            let Some(found) = find(steps.transaction, id.as_str())? else {
                return Ok(Adoption::Refused);
            };
            steps.release_void(&found.scope)?;
            let Some(found) = find(steps.transaction, id.as_str())? else {
                return Ok(Adoption::Refused);
            };
            if found.status != Status::Claimed {
                let changes = steps.apply(&found, HandoffEvent::Adopting)?;
                return Ok(if changes.is_empty() { Adoption::Refused } else { Adoption::Begun });
            }
            let sql = "SELECT token, owner_pid, owner_started FROM handoffs WHERE id = ?1";
            let (token, owner) = steps.transaction.query_row(sql, [id.as_str()], |row| {
                Ok((row.get::<_, Option<i64>>(0)?, process(row, 1)?))
            })?;
            if found.reason.as_deref() != Some(BEING_ADOPTED) {
                let is_for_good = token.is_none() && owner.is_none();
                return Ok(if is_for_good { Adoption::Claimed } else { Adoption::Refused });
            }
            if !is_owner_gone(owner, found.changed.milliseconds(), actor.now_ms) {
                return Ok(Adoption::Refused);
            }
            let Process { pid, started } = Process::this();
            let sql = "UPDATE handoffs SET owner_pid = ?2, owner_started = ?3 WHERE id = ?1";
            steps.transaction.execute(sql, params![id.as_str(), pid, started])?;
            Ok(Adoption::Resumed)
        })
    }
}
