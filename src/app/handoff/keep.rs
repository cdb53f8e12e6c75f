//! Gives handoffs back, puts them away, and removes what is done with. What waits or is claimed is never removed.

use crate::app::handoff::{HandoffError, Handoffs};
use crate::core::handoff::record::HandoffRecord;
use crate::core::handoff::{HandoffId, Status};
use crate::system::breakpoint;

/// What was removed, or would be.
#[derive(Debug)]
pub struct Pruned {
    /// The handoffs, the oldest first.
    pub removed: Vec<HandoffRecord>,
    /// How many that are done with are left.
    pub n_kept: usize,
}

impl Handoffs {
    /// Gives back what was picked up; without an id, what this session picked up last. Returns its status now: another one may
    /// have taken its place.
    pub fn release(&mut self, id: Option<&HandoffId>) -> Result<(HandoffId, Status), HandoffError> {
        let id = match id {
            Some(id) => id.clone(),
            None => self.last_claimed()?,
        };
        let actor = self.actor();
        breakpoint::reach("release:begun");
        let released = self.state.release_handoff(&self.scope, &id, "released", &actor)?;
        breakpoint::reach("release:done");
        match released {
            Some((record, Some(status))) => Ok((record.id, status)),
            Some((record, None)) => Err(HandoffError::NotClaimed {
                id: record.id,
                status: record.status.as_str().to_owned(),
            }),
            None => Err(self.unknown(&id)),
        }
    }

    fn last_claimed(&self) -> Result<HandoffId, HandoffError> {
        let ours = |record: &HandoffRecord| {
            record.status == Status::Claimed && record.changed_by == self.session
        };
        let records = self.state.list_handoffs(&self.scope)?;
        let last = records.into_iter().filter(ours).max_by_key(|record| record.changed);
        last.map(|record| record.id)
            .ok_or_else(|| HandoffError::NothingClaimed(self.channel.clone()))
    }

    /// Puts a handoff away.
    pub fn archive(&mut self, id: &HandoffId) -> Result<HandoffRecord, HandoffError> {
        let actor = self.actor();
        match self.state.archive_handoff(&self.scope, id, "archived", &actor)? {
            Some(record) if record.is_archived() => Err(HandoffError::Archived {
                id: record.id,
                status: record.status.as_str().to_owned(),
            }),
            Some(record) => Ok(record),
            None => Err(self.unknown(id)),
        }
    }

    /// Puts away what waits for the next session, if something does.
    pub fn clear(&mut self) -> Result<Option<HandoffRecord>, HandoffError> {
        let Some(current) = self.state.current_handoff(&self.scope)? else { return Ok(None) };
        breakpoint::reach("clear:begun");
        let actor = self.actor();
        let cleared = self.state.archive_handoff(&self.scope, &current.id, "cleared", &actor)?;
        breakpoint::reach("clear:done");
        // Somebody may have been faster.
        Ok(cleared.filter(|record| !record.is_archived()))
    }

    /// Removes all that is done with but the newest.
    pub fn prune(&mut self, keep: usize, is_dry_run: bool) -> Result<Pruned, HandoffError> {
        let mut archived = self.state.archived_handoffs(&self.scope)?;
        let n_kept = archived.len().min(keep);
        archived.truncate(archived.len() - n_kept);
        if !is_dry_run {
            for record in &archived {
                self.remove(record, "pruned")?;
            }
        }
        Ok(Pruned { removed: archived, n_kept })
    }

    /// Removes what was done with long ago, and forgets sessions that are long over.
    pub(super) fn tidy(&mut self) -> Result<(), HandoffError> {
        let now_ms = self.actor().now_ms;
        for record in self.state.outdated_handoffs(now_ms)? {
            // A disk that refuses one of them is asked again next time.
            let _ = self.remove(&record, "too old to be kept");
        }
        Ok(self.state.forget_old_sessions(now_ms)?)
    }

    /// Removes a handoff that is done with. The file goes before the record: without it, there is nothing that could come
    /// back.
    pub(super) fn remove(
        &mut self,
        record: &HandoffRecord,
        reason: &str,
    ) -> Result<(), HandoffError> {
        let actor = self.actor();
        if !self.state.condemn_handoff(&record.id, &actor)? {
            return Ok(());
        }
        breakpoint::reach("prune:condemned");
        let files = self.files(&record.scope);
        let removed = files.remove(&record.id);
        removed.map_err(|cause| HandoffError::document(files.path(&record.id), cause))?;
        breakpoint::reach("prune:removed");
        Ok(self.state.forget_handoff(&record.id, reason, &actor)?)
    }
}
