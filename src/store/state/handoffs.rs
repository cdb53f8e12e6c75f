//! Handoffs in the state: loads rows, applies the rules of [`life`], and writes every change and
//! its log line in one transaction. Reads no document.

mod delivery;
mod pickup;
mod removal;
mod rows;

use rusqlite::{OptionalExtension, Transaction, params};

pub(super) use crate::store::state::handoffs::delivery::{consume, detach, give_back};
pub use crate::store::state::handoffs::pickup::TakeOutcome;

use crate::core::handoff::life::{self, Actor, HandoffChange, HandoffEvent, Home, StepFacts};
use crate::core::handoff::record::{HandoffRecord, LogLine};
use crate::core::handoff::{HandoffId, Head, Status};
use crate::core::time::Timestamp;
use crate::store::state::claims::process;
use crate::store::state::handoffs::rows::{Hold, find, find_in_scope, select};
use crate::store::state::{State, StateError};
use crate::system::breakpoint;
use crate::system::process::identity::Process;

/// A process whose end the system cannot determine counts as gone after this time.
const OWNER_LEASE_MS: u64 = 60_000;

/// The result of an activation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Activated {
    /// The new status: a handoff that is older than the waiting one is archived at once.
    pub status: Status,
    /// The handoff that it replaced.
    pub superseded: Option<HandoffId>,
}

impl State {
    /// Whether this state can hold handoffs: a read-only one can have an older version.
    pub fn has_handoffs(&self) -> bool {
        let sql = "SELECT 1 FROM sqlite_schema WHERE name = 'handoffs'";
        self.connection.query_row(sql, [], |_| Ok(())).is_ok()
    }

    /// Reserves an id for a document that is about to be written.
    pub fn draft_handoff(
        &mut self,
        home: &Home<'_>,
        head: &Head,
        is_free: impl Fn(&HandoffId) -> bool,
        actor: &Actor,
    ) -> Result<HandoffId, StateError> {
        self.handoffs(|transaction| {
            let created = created(head, actor);
            let session = head.session_id.as_deref();
            // A removed handoff keeps its log, so its id must not be reused.
            let sql = "SELECT 1 FROM handoffs WHERE id = ?1 \
                       UNION ALL SELECT 1 FROM handoff_events WHERE handoff = ?1 LIMIT 1";
            let mut nth = 1;
            loop {
                let id = HandoffId::new(created, session, nth);
                let row = transaction.query_row(sql, [id.as_str()], |_| Ok(())).optional()?;
                if row.is_none() && is_free(&id) {
                    let draft = insert(transaction, id, home, head, None, actor)?;
                    return Ok(draft.id);
                }
                nth += 1;
            }
        })
    }

    /// Activates a handoff whose document is written. Of those for the next session, only the
    /// newest stays active.
    pub fn activate_handoff(
        &mut self,
        id: &HandoffId,
        actor: &Actor,
    ) -> Result<Activated, StateError> {
        self.handoffs(|transaction| {
            let draft = find(transaction, id)?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
            activate(transaction, &draft, actor)
        })
    }

    /// Adopts a document that the state does not know.
    pub fn adopt_handoff(
        &mut self,
        home: &Home<'_>,
        id: &HandoffId,
        head: &Head,
        is_archived: bool,
        actor: &Actor,
    ) -> Result<Activated, StateError> {
        self.handoffs(|transaction| {
            let draft = insert(transaction, id.clone(), home, head, Some("recovered"), actor)?;
            if is_archived {
                apply(transaction, &draft, HandoffEvent::Recovered, Hold::Free, actor)?;
                return Ok(Activated { status: Status::Cleared, superseded: None });
            }
            activate(transaction, &draft, actor)
        })
    }

    /// Releases the claims of processes and sessions that have ended.
    pub fn release_void_handoffs(&mut self, scope: &str, actor: &Actor) -> Result<(), StateError> {
        // Looks without a lock first, because usually there are none.
        let void = self.read(|connection| rows::void_claims(connection, scope, actor.now_ms))?;
        if void.is_empty() {
            return Ok(());
        }
        self.handoffs(|transaction| release_void(transaction, scope, actor))
    }

    /// Forgets a draft whose document could not be written.
    pub fn abandon_draft(&mut self, id: &HandoffId, actor: &Actor) -> Result<(), StateError> {
        self.change_handoff(id, HandoffEvent::Abandoned, actor).map(drop)
    }

    /// Drafts whose writer has ended.
    pub fn orphaned_drafts(&self, scope: &str, now_ms: i64) -> Result<Vec<HandoffId>, StateError> {
        let sql = "SELECT id, owner_pid, owner_started, changed FROM handoffs \
                   WHERE scope = ?1 AND status = 'draft'";
        self.read(|connection| {
            let mut statement = connection.prepare(sql)?;
            let rows = statement.query_map([scope], |row| {
                let is_orphan =
                    is_owner_gone(process(row.get(1)?, row.get(2)?), row.get(3)?, now_ms);
                Ok(Some(row.get::<_, String>(0)?).filter(|_| is_orphan))
            })?;
            let ids: Vec<Option<String>> = rows.collect::<Result<_, _>>()?;
            Ok(ids.iter().flatten().filter_map(|id| HandoffId::parse(id).ok()).collect())
        })
    }

    /// Finds a handoff by its id, or by its id in the tool that it was imported from.
    pub fn handoff(
        &self,
        scope: &str,
        id: &HandoffId,
    ) -> Result<Option<HandoffRecord>, StateError> {
        self.read(|connection| find_in_scope(connection, scope, id))
    }

    /// Whether an imported handoff is already known, by its id in the other tool.
    pub fn has_source(&self, scope: &str, source_id: &str) -> Result<bool, StateError> {
        let sql = "SELECT 1 FROM handoffs WHERE scope = ?1 AND source_id = ?2 LIMIT 1";
        self.read(|connection| {
            Ok(connection.query_row(sql, [scope, source_id], |_| Ok(())).optional()?.is_some())
        })
    }

    /// The handoff that waits for the next session.
    pub fn current_handoff(&self, scope: &str) -> Result<Option<HandoffRecord>, StateError> {
        self.read(|connection| rows::waiting(connection, scope))
    }

    /// All handoffs of a scope except drafts, newest first.
    pub fn list_handoffs(&self, scope: &str) -> Result<Vec<HandoffRecord>, StateError> {
        let condition = "scope = ?1 AND status <> 'draft' ORDER BY created DESC, id DESC";
        self.read(|connection| select(connection, condition, [scope]))
    }

    /// The last log lines, newest first, of one handoff or of all in a scope.
    pub fn handoff_log(
        &self,
        scope: &str,
        id: Option<&HandoffId>,
        limit: usize,
    ) -> Result<Vec<LogLine>, StateError> {
        let sql = "SELECT at, handoff, old, new, pid, session, reason FROM handoff_events \
                   WHERE scope = ?1 AND (?2 IS NULL OR handoff = ?2) ORDER BY number DESC LIMIT ?3";
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.read(|connection| {
            let mut statement = connection.prepare(sql)?;
            let lines =
                statement.query_map(params![scope, id.map(HandoffId::as_str), limit], |row| {
                    Ok(LogLine {
                        at: Timestamp::from_milliseconds(row.get(0)?),
                        id: row.get(1)?,
                        from: row.get::<_, Option<String>>(2)?.map(Status::from),
                        to: row.get::<_, Option<String>>(3)?.map(Status::from),
                        pid: row.get(4)?,
                        session: row.get(5)?,
                        reason: row.get(6)?,
                    })
                })?;
            lines.collect()
        })
    }

    /// Applies an event to a handoff, if it exists. Returns its changes.
    fn change_handoff(
        &mut self,
        id: &HandoffId,
        event: HandoffEvent<'_>,
        actor: &Actor,
    ) -> Result<Vec<HandoffChange>, StateError> {
        self.handoffs(|transaction| match find(transaction, id)? {
            Some(found) => apply(transaction, &found, event, Hold::Free, actor),
            None => Ok(Vec::new()),
        })
    }

    /// Runs work on handoffs in one transaction.
    fn handoffs<T>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, rusqlite::Error>,
    ) -> Result<T, StateError> {
        self.transaction(|transaction| {
            let done = work(transaction)?;
            breakpoint::reach("state:uncommitted");
            Ok(done)
        })
    }
}

/// Applies an event to a handoff by the rules of its life, and writes the changes.
fn apply(
    transaction: &Transaction<'_>,
    handoff: &HandoffRecord,
    event: HandoffEvent<'_>,
    hold: Hold,
    actor: &Actor,
) -> Result<Vec<HandoffChange>, rusqlite::Error> {
    let waiting = match event {
        HandoffEvent::Written | HandoffEvent::GivenBack(_) => {
            rows::waiting(transaction, &handoff.scope)?
        }
        _ => None,
    };
    let facts = StepFacts { actor, pid: std::process::id(), waiting: waiting.as_ref() };
    let changes = life::step(handoff, event, &facts);
    for change in &changes {
        rows::write(transaction, change, hold)?;
    }
    Ok(changes)
}

fn insert(
    transaction: &Transaction<'_>,
    id: HandoffId,
    home: &Home<'_>,
    head: &Head,
    reason: Option<&str>,
    actor: &Actor,
) -> Result<HandoffRecord, rusqlite::Error> {
    let facts = StepFacts { actor, pid: std::process::id(), waiting: None };
    let draft = life::draft(id, home, head, created(head, actor), reason, &facts);
    rows::insert(transaction, &draft)?;
    Ok(draft.record)
}

/// The creation time, rounded to the state's precision.
fn created(head: &Head, actor: &Actor) -> Timestamp {
    Timestamp::from_milliseconds(head.created_at.map_or(actor.now_ms, Timestamp::milliseconds))
}

fn activate(
    transaction: &Transaction<'_>,
    draft: &HandoffRecord,
    actor: &Actor,
) -> Result<Activated, rusqlite::Error> {
    let changes = apply(transaction, draft, HandoffEvent::Written, Hold::Free, actor)?;
    let mut records = changes.into_iter().map(|change| change.record).rev();
    // Without a change, another process considered its writer dead and was faster.
    let status = records.next().map_or_else(|| draft.status.clone(), |now| now.status);
    Ok(Activated { status, superseded: records.next().map(|other| other.id) })
}

/// Releases the claims of processes and sessions that have ended.
fn release_void(
    transaction: &Transaction<'_>,
    scope: &str,
    actor: &Actor,
) -> Result<(), rusqlite::Error> {
    let event = HandoffEvent::GivenBack("whoever claimed it is gone");
    for claimed in rows::void_claims(transaction, scope, actor.now_ms)? {
        apply(transaction, &claimed, event, Hold::Free, actor)?;
    }
    Ok(())
}

/// Whether the process that started work at `since` has certainly ended.
fn is_owner_gone(owner: Option<Process>, since: i64, now_ms: i64) -> bool {
    match owner {
        Some(owner) if owner.is_gone() => true,
        // If the system cannot distinguish a process from a later one with the same id, time
        // decides. A process that waited for the lock asks with a time slightly before that of the
        // latest changes.
        Some(Process { started: 0, .. }) => now_ms.abs_diff(since) >= OWNER_LEASE_MS,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_is_not_gone_because_the_caller_looked_at_the_clock_before_it_claimed() {
        // P-3.18
        let this = Process::this();
        assert!(!is_owner_gone(Some(this), 1_000_000, i64::MAX), "it lives, however long it takes");
        let owner = Some(Process { started: 0, ..this });
        assert!(!is_owner_gone(owner, 1_000_000, 1_000_000 - 5_000));
        assert!(!is_owner_gone(owner, 1_000_000, 1_000_000 + 59_000));
        assert!(is_owner_gone(owner, 1_000_000, 1_000_000 + 60_000));
        assert!(is_owner_gone(owner, 1_000_000, 1_000_000 - 60_000), "the clock was set back");
        assert!(!is_owner_gone(None, 1_000_000, 0));
    }
}
