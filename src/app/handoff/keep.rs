//! Releases and archives handoffs, and removes archived ones. Never removes an active or claimed
//! handoff.

use crate::app::handoff::{HandoffError, Handoffs, Result};
use crate::core::handoff::life::HandoffEvent;
use crate::core::handoff::record::HandoffRecord;
use crate::core::handoff::{HandoffId, Status};
use crate::core::rotation::RotationState;
use crate::system::breakpoint;

/// The handoffs that were removed, or would be in a dry run.
#[derive(Debug)]
pub struct Pruned {
    /// Oldest first.
    pub removed: Vec<HandoffRecord>,
    /// The number of archived handoffs that are left.
    pub n_kept: usize,
}

impl Handoffs {
    /// Releases a handoff that is claimed, or that a session was given; without an id, the one that
    /// this session claimed last. Returns its new status: another handoff may have replaced it.
    pub fn release(&mut self, id: Option<&HandoffId>) -> Result<(HandoffId, Status)> {
        let id = match id {
            Some(id) => id.clone(),
            None => self.last_claimed()?,
        };
        if self.end_rotation_of(&id, "its handoff was released")? {
            let freed = self.find(Some(&id))?;
            return Ok((freed.id, freed.status));
        }
        let actor = self.actor();
        breakpoint::reach("release:begun");
        let event = HandoffEvent::GivenBack("released");
        let mut released = self.state.step_handoff(&self.scope, &id, event, &actor)?;
        if let Some((HandoffRecord { status: Status::Consumed, .. }, None)) = released {
            let event = HandoffEvent::GivenAgain("released");
            released = self.state.step_handoff(&self.scope, &id, event, &actor)?;
        }
        breakpoint::reach("release:done");
        match released {
            Some((record, Some(status))) => Ok((record.id, status)),
            Some((record, None)) => Err(self.not_released(&record)?),
            None => Err(self.unknown(&id)),
        }
    }

    /// Ends the rotation that a handoff is kept for, so that no window is cleared for nothing. Returns whether there was one.
    fn end_rotation_of(&mut self, id: &HandoffId, why: &str) -> Result<bool> {
        let Some(record) = self.state.handoff(&self.scope, id.as_str())? else { return Ok(false) };
        let rotation = self.state.rotation_with(&record.id)?;
        let Some(rotation) = rotation.filter(|rotation| rotation.state.is_open()) else {
            return Ok(false);
        };
        let (to, actor) = (RotationState::Cancelled, self.actor());
        if self.state.end_rotation(rotation.id, to, Some(why), &actor)? {
            return Ok(true);
        }
        Err(HandoffError::No(format!(
            "session {} is being cleared right now, and goes on with {}; wait a few seconds",
            rotation.session, record.id
        )))
    }

    fn not_released(&self, record: &HandoffRecord) -> Result<HandoffError> {
        let HandoffRecord { id, status, .. } = record;
        let waiting = self.state.current_handoff(&self.scope)?;
        Ok(HandoffError::No(match waiting.filter(|_| *status == Status::Consumed) {
            Some(HandoffRecord { id: newer, .. }) => format!(
                "{id} cannot wait again while the newer {newer} waits; `kgctx handoff archive {newer}` makes room"
            ),
            None => format!(
                "{id} is {status}, not claimed; you can release only a handoff that was picked up or given to a session"
            ),
        }))
    }

    fn last_claimed(&self) -> Result<HandoffId> {
        let is_ours = |record: &HandoffRecord| {
            record.status == Status::Claimed && record.changed_by == self.session
        };
        let claimed = self.state.list_handoffs(&self.scope)?.into_iter().filter(is_ours);
        let last = claimed.max_by_key(|record| record.changed).map(|record| record.id);
        let channel = &self.channel;
        last.ok_or_else(|| {
            HandoffError::No(format!(
                "this session picked up nothing in channel {channel}; name the handoff"
            ))
        })
    }

    pub fn archive(&mut self, id: &HandoffId) -> Result<HandoffRecord> {
        self.end_rotation_of(id, "its handoff was archived")?;
        let actor = self.actor();
        let event = HandoffEvent::Archived("archived");
        match self.state.step_handoff(&self.scope, id, event, &actor)? {
            Some((record, Some(_))) => Ok(record),
            Some((HandoffRecord { id, status, .. }, None)) => {
                Err(HandoffError::No(format!("{id} is already archived: it is {status}")))
            }
            None => Err(self.unknown(id)),
        }
    }

    /// Archives the handoff that waits for the next session, if there is one.
    pub fn clear(&mut self) -> Result<Option<HandoffRecord>> {
        let Some(current) = self.state.current_handoff(&self.scope)? else { return Ok(None) };
        breakpoint::reach("clear:begun");
        let actor = self.actor();
        let event = HandoffEvent::Archived("cleared");
        let cleared = self.state.step_handoff(&self.scope, &current.id, event, &actor)?;
        breakpoint::reach("clear:done");
        // Another process may have been faster.
        Ok(cleared.and_then(|(record, now)| now.map(|_| record)))
    }

    /// Removes all archived handoffs except the newest ones.
    pub fn prune(&mut self, keep: usize, is_dry_run: bool) -> Result<Pruned> {
        let mut removed = self.state.archived_handoffs(&self.scope)?;
        let n_kept = removed.len().min(keep);
        removed.truncate(removed.len() - n_kept);
        for record in removed.iter().filter(|_| !is_dry_run) {
            self.remove(record, "pruned")?;
        }
        Ok(Pruned { removed, n_kept })
    }

    /// Removes handoffs that were archived long ago, and forgets sessions that ended long ago.
    pub(super) fn tidy(&mut self) -> Result<()> {
        let now_ms = self.actor().now_ms;
        for record in self.state.outdated_handoffs(now_ms)? {
            // A file that cannot be removed is tried again next time.
            let _ = self.remove(&record, "too old to be kept");
        }
        Ok(self.state.forget_old_sessions(now_ms)?)
    }

    /// Removes an archived handoff. Removes the file before the record: without the file, the
    /// handoff cannot reappear.
    pub(super) fn remove(&mut self, record: &HandoffRecord, reason: &str) -> Result<()> {
        let HandoffRecord { id, scope, .. } = record;
        let actor = self.actor();
        // From here on, no process claims it.
        if !self.state.change_handoff(id, HandoffEvent::Condemned, &actor)? {
            return Ok(());
        }
        breakpoint::reach("prune:condemned");
        let files = self.files(scope);
        files.remove(id).map_err(|cause| HandoffError::document(files.path(id), cause))?;
        breakpoint::reach("prune:removed");
        self.state.change_handoff(id, HandoffEvent::Removed(reason), &actor)?;
        Ok(())
    }
}
