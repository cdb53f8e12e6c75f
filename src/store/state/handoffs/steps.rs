//! The steps of a handoff's life: each is a change of its status and a line in its log.

use rusqlite::{Transaction, params};

use super::rows::{self, current, find};
use super::{Activated, Actor, given};
use crate::core::handoff::record::HandoffRecord;
use crate::core::handoff::{HandoffId, Kind, Occasion, Status};
use crate::system::process::identity::Process;

/// A process that neither lives nor died for sure has had this long.
const OWNER_LEASE_MS: u64 = 60_000;
/// A handoff that claims to be from further in the future than this has a wrong date.
pub const CLOCKS_DIFFER_MS: i64 = 5 * 60_000;

pub(super) fn activate(
    transaction: &Transaction<'_>,
    id: &HandoffId,
    actor: &Actor,
) -> Result<Activated, rusqlite::Error> {
    let Some(draft) = find(transaction, id)? else {
        return Err(rusqlite::Error::QueryReturnedNoRows);
    };
    // Somebody who took its writer for dead may have been faster, and somebody else may have it by now.
    if draft.status != Status::Draft {
        return Ok(Activated { status: draft.status, superseded: None });
    }
    let mut superseded = None;
    if draft.kind == Kind::Session
        && let Some(waiting) = current(transaction, &draft.scope)?
    {
        let is_older = (draft.created, &draft.id) < (waiting.created, &waiting.id)
            && !is_misdated(&waiting, actor.now_ms);
        if is_older || gives_way(&draft, &waiting) {
            supersede(transaction, &draft, &waiting.id, actor)?;
            return Ok(Activated { status: Status::Cleared, superseded: None });
        }
        supersede(transaction, &waiting, id, actor)?;
        superseded = Some(waiting.id);
    }
    change(transaction, &draft, &Status::Active, None, actor)?;
    Ok(Activated { status: Status::Active, superseded })
}

/// Puts a handoff away because another one is in its place.
pub(super) fn supersede(
    transaction: &Transaction<'_>,
    old: &HandoffRecord,
    by: &HandoffId,
    actor: &Actor,
) -> Result<(), rusqlite::Error> {
    change(transaction, old, &Status::Cleared, Some(given::SUPERSEDED), actor)?;
    let sql = "UPDATE handoffs SET superseded_by = ?2 WHERE id = ?1";
    transaction.execute(sql, [old.id.as_str(), by.as_str()]).map(drop)
}

pub(super) fn take(
    transaction: &Transaction<'_>,
    found: HandoffRecord,
    actor: &Actor,
) -> Result<Box<HandoffRecord>, rusqlite::Error> {
    change(transaction, &found, &Status::Claimed, Some("picked up"), actor)?;
    let Process { pid, started } = Process::this();
    let sql = "UPDATE handoffs SET owner_pid = ?2, owner_started = ?3 WHERE id = ?1";
    transaction.execute(sql, params![found.id.as_str(), pid, started])?;
    Ok(Box::new(found))
}

/// A handoff that was claimed waits again, unless another one has rightly taken its place. Returns its status then.
pub(super) fn back(
    transaction: &Transaction<'_>,
    claimed: &HandoffRecord,
    reason: &str,
    actor: &Actor,
) -> Result<Status, rusqlite::Error> {
    let waiting = match claimed.kind {
        Kind::Session => current(transaction, &claimed.scope)?,
        Kind::Task => None,
    };
    if let Some(waiting) = waiting {
        let is_newer = (claimed.created, &claimed.id) > (waiting.created, &waiting.id);
        if !is_newer && !gives_way(&waiting, claimed) {
            supersede(transaction, claimed, &waiting.id, actor)?;
            return Ok(Status::Cleared);
        }
        supersede(transaction, &waiting, &claimed.id, actor)?;
    }
    change(transaction, claimed, &Status::Active, Some(reason), actor)?;
    Ok(Status::Active)
}

/// Whether a handoff only tells about a session that has ended, and the other one was left on purpose.
pub(super) fn gives_way(handoff: &HandoffRecord, other: &HandoffRecord) -> bool {
    handoff.occasion == Occasion::End && !matches!(other.occasion, Occasion::End | Occasion::Auto)
}

/// Whether the clock was wrong when a handoff was written, or is now.
pub(super) fn is_misdated(handoff: &HandoffRecord, now_ms: i64) -> bool {
    handoff.created.milliseconds() > now_ms.saturating_add(CLOCKS_DIFFER_MS)
}

/// Gives back what was claimed by processes and for sessions that are gone.
pub(super) fn release_void(
    transaction: &Transaction<'_>,
    scope: &str,
    actor: &Actor,
) -> Result<(), rusqlite::Error> {
    for claimed in rows::void_claims(transaction, scope, actor.now_ms)? {
        back(transaction, &claimed, "whoever claimed it is gone", actor)?;
    }
    Ok(())
}

/// Gives a handoff another status, and writes that down.
pub(super) fn change(
    transaction: &Transaction<'_>,
    handoff: &HandoffRecord,
    to: &Status,
    reason: Option<&str>,
    actor: &Actor,
) -> Result<(), rusqlite::Error> {
    transaction.execute(
        "UPDATE handoffs SET status = ?2, reason = ?3, changed = ?4, changed_by_pid = ?5, changed_by = ?6, \
         token = NULL, owner_pid = NULL, owner_started = NULL WHERE id = ?1",
        params![
            handoff.id.as_str(),
            to.as_str(),
            reason,
            actor.now_ms,
            std::process::id(),
            actor.session
        ],
    )?;
    log(transaction, &handoff.scope, &handoff.id, (Some(&handoff.status), Some(to)), actor, reason)
}

pub(super) fn remove(
    transaction: &Transaction<'_>,
    handoff: &HandoffRecord,
    reason: &str,
    actor: &Actor,
) -> Result<(), rusqlite::Error> {
    transaction.execute("DELETE FROM handoffs WHERE id = ?1", [handoff.id.as_str()])?;
    let steps = (Some(&handoff.status), None);
    log(transaction, &handoff.scope, &handoff.id, steps, actor, Some(reason))
}

pub(super) fn log(
    transaction: &Transaction<'_>,
    scope: &str,
    id: &HandoffId,
    (from, to): (Option<&Status>, Option<&Status>),
    actor: &Actor,
    reason: Option<&str>,
) -> Result<(), rusqlite::Error> {
    let sql = "INSERT INTO handoff_events (at, scope, handoff, old, new, pid, session, reason) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    transaction
        .execute(
            sql,
            params![
                actor.now_ms,
                scope,
                id.as_str(),
                from.map(Status::as_str),
                to.map(Status::as_str),
                std::process::id(),
                actor.session,
                reason
            ],
        )
        .map(drop)
}

/// Whether nobody can be working any more for what was begun at `since`.
pub(super) fn is_gone(owner: Option<Process>, since: i64, now_ms: i64) -> bool {
    match owner {
        Some(owner) if owner.is_gone() => true,
        // Where the system does not tell a process from a later one with its number, time has to. Who waited for the lock asks
        // with a time that is a little before what was done meanwhile.
        Some(Process { started: 0, .. }) => now_ms.abs_diff(since) >= OWNER_LEASE_MS,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_with_a_time_before_the_claim_does_not_take_its_owner_for_dead() {
        // P-3.18
        let this = Process::this();
        assert!(!is_gone(Some(this), 1_000_000, i64::MAX), "it lives, however long it takes");
        let owner = Some(Process { started: 0, ..this });
        assert!(!is_gone(owner, 1_000_000, 1_000_000 - 5_000));
        assert!(!is_gone(owner, 1_000_000, 1_000_000 + 59_000));
        assert!(is_gone(owner, 1_000_000, 1_000_000 + 60_000));
        assert!(is_gone(owner, 1_000_000, 1_000_000 - 60_000), "the clock was set back");
        assert!(!is_gone(None, 1_000_000, 0));
    }
}
