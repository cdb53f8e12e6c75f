//! Handoffs that are archived, and later removed.

use super::apply;
use super::rows::{Hold, find_in_scope, select};
use crate::core::handoff::HandoffId;
use crate::core::handoff::life::{Actor, CONDEMNED, HandoffEvent};
use crate::core::handoff::record::HandoffRecord;
use crate::store::state::{State, StateError};

/// How long an archived handoff is kept.
const KEPT_MS: i64 = 7 * 24 * 3_600_000;

impl State {
    /// Archives a handoff. Returns its former record; an archived handoff stays unchanged.
    pub fn archive_handoff(
        &mut self,
        scope: &str,
        id: &HandoffId,
        reason: &str,
        actor: &Actor,
    ) -> Result<Option<HandoffRecord>, StateError> {
        self.handoffs(|transaction| {
            let found = find_in_scope(transaction, scope, id)?;
            if let Some(found) = &found {
                let event = HandoffEvent::Archived(reason);
                apply(transaction, found, event, Hold::Free, actor)?;
            }
            Ok(found)
        })
    }

    /// All archived handoffs, oldest first.
    pub fn archived_handoffs(&self, scope: &str) -> Result<Vec<HandoffRecord>, StateError> {
        let condition = "scope = ?1 AND status IN ('consumed', 'expired', 'cleared') \
                         ORDER BY created, id";
        self.read(|connection| select(connection, condition, [scope]))
    }

    /// All handoffs of any scope that were archived too long ago to be kept.
    pub fn outdated_handoffs(&self, now_ms: i64) -> Result<Vec<HandoffRecord>, StateError> {
        let condition = "status IN ('consumed', 'expired', 'cleared') AND changed < ?1 \
                         ORDER BY created, id";
        let until = now_ms.saturating_sub(KEPT_MS);
        self.read(|connection| select(connection, condition, [until]))
    }

    /// Marks an archived handoff whose document is about to be removed, so that no process claims
    /// it. Returns whether it is archived.
    pub fn condemn_handoff(&mut self, id: &HandoffId, actor: &Actor) -> Result<bool, StateError> {
        let changes = self.change_handoff(id, HandoffEvent::Condemned, actor)?;
        Ok(!changes.is_empty())
    }

    /// Handoffs whose removal was started and perhaps not finished.
    pub fn condemned_handoffs(&self, scope: &str) -> Result<Vec<HandoffRecord>, StateError> {
        let condition = "scope = ?1 AND status IN ('consumed', 'cleared') AND reason = ?2";
        self.read(|connection| select(connection, condition, [scope, CONDEMNED]))
    }

    /// Forgets an archived handoff whose document was removed. Keeps its log.
    pub fn forget_handoff(
        &mut self,
        id: &HandoffId,
        reason: &str,
        actor: &Actor,
    ) -> Result<(), StateError> {
        self.change_handoff(id, HandoffEvent::Removed(reason), actor).map(drop)
    }
}
