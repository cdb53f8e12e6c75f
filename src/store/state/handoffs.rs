//! Handoffs in the state: every step is one transaction, and leaves a line in the log. No document is read here.

mod given;
mod rows;
mod steps;

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

pub use crate::store::state::handoffs::given::{HandoffChoice, HandoffQuery, HandoffRequest};
pub(super) use crate::store::state::handoffs::given::{delivered, given_back, not_delivered};
pub use crate::store::state::handoffs::steps::CLOCKS_DIFFER_MS;

use crate::core::handoff::record::{HandoffEvent, HandoffRecord};
use crate::core::handoff::{HandoffId, Head, Status};
use crate::core::time::Timestamp;
use crate::store::state::claims::process;
use crate::store::state::handoffs::rows::{COLUMNS, current, find, found_in, record};
use crate::store::state::handoffs::steps::{
    activate, back, change, is_gone, log, release_void, remove, take,
};
use crate::store::state::{State, StateError};
use crate::system::breakpoint;
use crate::system::process::identity::Process;

/// What is done with stays for this long.
const KEPT_MS: i64 = 7 * 24 * 3_600_000;
/// Why a handoff has its status whose document is about to be removed.
const CONDEMNED: &str = "being removed";

/// Who does something to a handoff, and when.
#[derive(Debug, Clone)]
pub struct Actor {
    /// For which session.
    pub session: Option<String>,
    /// In milliseconds since 1970.
    pub now_ms: i64,
}

/// Where a handoff is left.
#[derive(Debug, Clone)]
pub struct Home<'a> {
    /// Who shares it.
    pub scope: &'a str,
    /// The channel's name.
    pub channel: &'a str,
}

/// How putting a handoff in its place went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Activated {
    /// Its status now: one that is older than what waits already is put away at once.
    pub status: Status,
    /// The one that made room for it.
    pub superseded: Option<HandoffId>,
}

/// How taking a handoff went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TakeOutcome {
    /// It is ours.
    Won(Box<HandoffRecord>),
    /// It is there, but not to be had.
    Unavailable(Box<HandoffRecord>),
    /// There is none.
    None,
}

impl State {
    /// Whether this state can hold handoffs: one that was only looked at may be of an older version.
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
            let created = head.created_at.unwrap_or(Timestamp::from_milliseconds(actor.now_ms));
            let session = head.session_id.as_deref();
            let is_taken = |id: &HandoffId| {
                // One that is gone has its log, in which no other is to be found.
                let sql = "SELECT 1 FROM handoffs WHERE id = ?1 \
                           UNION ALL SELECT 1 FROM handoff_events WHERE handoff = ?1 LIMIT 1";
                let row = transaction.query_row(sql, [id.as_str()], |_| Ok(())).optional();
                row.map(|row| row.is_some() || !is_free(id))
            };
            let mut nth = 1;
            let id = loop {
                let id = HandoffId::new(created, session, nth);
                if !is_taken(&id)? {
                    break id;
                }
                nth += 1;
            };
            rows::insert(transaction, &id, home, head, created, actor)?;
            log(transaction, home.scope, &id, (None, Some(&Status::Draft)), actor, None)?;
            Ok(id)
        })
    }

    /// The document is there: the handoff waits. Of those for the next session only the newest does.
    pub fn activate_handoff(
        &mut self,
        id: &HandoffId,
        actor: &Actor,
    ) -> Result<Activated, StateError> {
        self.handoffs(|transaction| activate(transaction, id, actor))
    }

    /// Gives back what was claimed by processes and for sessions that are gone.
    pub fn release_void_handoffs(&mut self, scope: &str, actor: &Actor) -> Result<(), StateError> {
        // Mostly there is nothing to be done, and nobody to be waited for.
        let void = self.read(|connection| rows::void_claims(connection, scope, actor.now_ms))?;
        if void.is_empty() {
            return Ok(());
        }
        self.handoffs(|transaction| release_void(transaction, scope, actor))
    }

    /// Forgets a draft whose document could not be written.
    pub fn abandon_draft(&mut self, id: &HandoffId, actor: &Actor) -> Result<(), StateError> {
        self.handoffs(|transaction| {
            let Some(draft) = find(transaction, id)?.filter(|found| found.status == Status::Draft)
            else {
                return Ok(());
            };
            remove(transaction, &draft, "its document could not be written", actor)
        })
    }

    /// Drafts whose writer is gone.
    pub fn orphaned_drafts(&self, scope: &str, now_ms: i64) -> Result<Vec<HandoffId>, StateError> {
        let sql = "SELECT id, owner_pid, owner_started, changed FROM handoffs \
                   WHERE scope = ?1 AND status = 'draft'";
        self.read(|connection| {
            let mut statement = connection.prepare(sql)?;
            let rows = statement.query_map([scope], |row| {
                let owner = process(row.get(1)?, row.get(2)?);
                Ok((row.get::<_, String>(0)?, owner, row.get::<_, i64>(3)?))
            })?;
            let mut orphans = Vec::new();
            for row in rows {
                let (id, owner, changed) = row?;
                if is_gone(owner, changed, now_ms) {
                    orphans.extend(HandoffId::parse(&id).ok());
                }
            }
            Ok(orphans)
        })
    }

    /// The handoff with this id, which may also be the one that it had elsewhere.
    pub fn handoff(
        &self,
        scope: &str,
        id: &HandoffId,
    ) -> Result<Option<HandoffRecord>, StateError> {
        self.read(|connection| found_in(connection, scope, id))
    }

    /// Whether an imported handoff is known already, by what it was called elsewhere.
    pub fn has_source(&self, scope: &str, source_id: &str) -> Result<bool, StateError> {
        let sql = "SELECT 1 FROM handoffs WHERE scope = ?1 AND source_id = ?2 LIMIT 1";
        self.read(|connection| {
            Ok(connection.query_row(sql, [scope, source_id], |_| Ok(())).optional()?.is_some())
        })
    }

    /// The handoff that waits for the next session.
    pub fn current_handoff(&self, scope: &str) -> Result<Option<HandoffRecord>, StateError> {
        self.read(|connection| current(connection, scope))
    }

    /// All handoffs of a scope, in the order in which they were written, the newest first.
    pub fn handoffs_of(&self, scope: &str) -> Result<Vec<HandoffRecord>, StateError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM handoffs WHERE scope = ?1 AND status <> 'draft' \
             ORDER BY created DESC, id DESC"
        );
        self.read(|connection| {
            let mut statement = connection.prepare(&sql)?;
            statement.query_map([scope], record)?.collect()
        })
    }

    /// Takes a handoff by its id, for as long as this process lives or until it is confirmed.
    pub fn take_handoff(
        &mut self,
        scope: &str,
        id: &HandoffId,
        actor: &Actor,
    ) -> Result<TakeOutcome, StateError> {
        self.handoffs(|transaction| {
            release_void(transaction, scope, actor)?;
            match found_in(transaction, scope, id)? {
                Some(found) if matches!(found.status, Status::Active | Status::Expired) => {
                    take(transaction, found, actor).map(TakeOutcome::Won)
                }
                Some(found) => Ok(TakeOutcome::Unavailable(Box::new(found))),
                None => Ok(TakeOutcome::None),
            }
        })
    }

    /// Takes the most urgent task, and of those the oldest, except for some.
    pub fn take_next_task(
        &mut self,
        scope: &str,
        except: &[HandoffId],
        actor: &Actor,
    ) -> Result<TakeOutcome, StateError> {
        self.handoffs(|transaction| {
            release_void(transaction, scope, actor)?;
            let sql = format!(
                "SELECT {COLUMNS} FROM handoffs WHERE scope = ?1 AND kind = 'task' AND status = 'active' \
                 ORDER BY priority, created, id"
            );
            let mut statement = transaction.prepare(&sql)?;
            let mut tasks = statement.query_map([scope], record)?;
            let next = tasks.find(|task| task.as_ref().map_or(true, |task| !except.contains(&task.id)));
            match next.transpose()? {
                Some(task) => take(transaction, task, actor).map(TakeOutcome::Won),
                None => Ok(TakeOutcome::None),
            }
        })
    }

    /// Whoever took the handoff has its text: it stays taken until it is released or archived.
    pub fn confirm_taken(&mut self, id: &HandoffId, actor: &Actor) -> Result<(), StateError> {
        self.handoffs(|transaction| {
            let Process { pid, started } = Process::this();
            let sql = "UPDATE handoffs SET owner_pid = NULL, owner_started = NULL \
                       WHERE id = ?1 AND status = 'claimed' AND owner_pid = ?2 AND owner_started = ?3";
            let n_kept = transaction.execute(sql, params![id.as_str(), pid, started])?;
            if let Some(session) = actor.session.as_ref().filter(|_| n_kept > 0) {
                given::receive(transaction, session, id, actor.now_ms)?;
            }
            Ok(())
        })
    }

    /// Gives a handoff back that was taken. Returns it as it was before, and its status now if it was taken.
    pub fn release_handoff(
        &mut self,
        scope: &str,
        id: &HandoffId,
        reason: &str,
        actor: &Actor,
    ) -> Result<Option<(HandoffRecord, Option<Status>)>, StateError> {
        self.handoffs(|transaction| {
            let Some(found) = found_in(transaction, scope, id)? else { return Ok(None) };
            let now = match found.status {
                Status::Claimed => Some(back(transaction, &found, reason, actor)?),
                _ => None,
            };
            Ok(Some((found, now)))
        })
    }

    /// Puts a handoff away. Returns it as it was before; one that was put away before stays as it is.
    pub fn archive_handoff(
        &mut self,
        scope: &str,
        id: &HandoffId,
        reason: &str,
        actor: &Actor,
    ) -> Result<Option<HandoffRecord>, StateError> {
        self.handoffs(|transaction| {
            let Some(found) = found_in(transaction, scope, id)? else { return Ok(None) };
            if !found.is_archived() {
                change(transaction, &found, &Status::Cleared, Some(reason), actor)?;
            }
            Ok(Some(found))
        })
    }

    /// Everything that was put away, the oldest first.
    pub fn archived_handoffs(&self, scope: &str) -> Result<Vec<HandoffRecord>, StateError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM handoffs WHERE scope = ?1 \
             AND status IN ('consumed', 'expired', 'cleared') ORDER BY created, id"
        );
        self.read(|connection| {
            let mut statement = connection.prepare(&sql)?;
            statement.query_map([scope], record)?.collect()
        })
    }

    /// What was put away so long ago that nobody asks for it any more, in any scope.
    pub fn outdated_handoffs(&self, now_ms: i64) -> Result<Vec<HandoffRecord>, StateError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM handoffs \
             WHERE status IN ('consumed', 'expired', 'cleared') AND changed < ?1 ORDER BY created, id"
        );
        self.read(|connection| {
            let mut statement = connection.prepare(&sql)?;
            statement.query_map([now_ms.saturating_sub(KEPT_MS)], record)?.collect()
        })
    }

    /// Nobody takes a handoff any more whose document is about to be removed. Returns whether it is done with.
    pub fn condemn_handoff(&mut self, id: &HandoffId, actor: &Actor) -> Result<bool, StateError> {
        self.handoffs(|transaction| {
            let Some(found) = find(transaction, id)?.filter(HandoffRecord::is_archived) else {
                return Ok(false);
            };
            // One that is too old could still be picked up.
            if found.status == Status::Expired {
                change(transaction, &found, &Status::Cleared, Some(CONDEMNED), actor)?;
            } else {
                let sql = "UPDATE handoffs SET reason = ?2 WHERE id = ?1";
                transaction.execute(sql, [id.as_str(), CONDEMNED])?;
            }
            Ok(true)
        })
    }

    /// What somebody was about to remove, and may not have been able to.
    pub fn condemned_handoffs(&self, scope: &str) -> Result<Vec<HandoffRecord>, StateError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM handoffs WHERE scope = ?1 \
             AND status IN ('consumed', 'cleared') AND reason = ?2"
        );
        self.read(|connection| {
            let mut statement = connection.prepare(&sql)?;
            statement.query_map([scope, CONDEMNED], record)?.collect()
        })
    }

    /// Forgets a handoff that is done with, and whose document is gone. Its log stays.
    pub fn forget_handoff(
        &mut self,
        id: &HandoffId,
        reason: &str,
        actor: &Actor,
    ) -> Result<(), StateError> {
        self.handoffs(|transaction| match find(transaction, id)? {
            Some(found) if found.is_archived() => remove(transaction, &found, reason, actor),
            _ => Ok(()),
        })
    }

    /// Takes a document in that the state does not know.
    pub fn adopt_handoff(
        &mut self,
        home: &Home<'_>,
        id: &HandoffId,
        head: &Head,
        is_archived: bool,
        actor: &Actor,
    ) -> Result<Activated, StateError> {
        self.handoffs(|transaction| {
            let created = head.created_at.unwrap_or(Timestamp::from_milliseconds(actor.now_ms));
            rows::insert(transaction, id, home, head, created, actor)?;
            log(
                transaction,
                home.scope,
                id,
                (None, Some(&Status::Draft)),
                actor,
                Some("recovered"),
            )?;
            if is_archived {
                let Some(draft) = find(transaction, id)? else {
                    return Err(rusqlite::Error::QueryReturnedNoRows);
                };
                change(transaction, &draft, &Status::Cleared, Some("recovered"), actor)?;
                return Ok(Activated { status: Status::Cleared, superseded: None });
            }
            activate(transaction, id, actor)
        })
    }

    /// The last steps, the newest first; of one handoff or of all in a scope.
    pub fn handoff_events(
        &self,
        scope: &str,
        id: Option<&HandoffId>,
        limit: usize,
    ) -> Result<Vec<HandoffEvent>, StateError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.read(|connection| {
            let mut statement = connection.prepare(
                "SELECT at, handoff, old, new, pid, session, reason FROM handoff_events \
                 WHERE scope = ?1 AND (?2 IS NULL OR handoff = ?2) ORDER BY number DESC LIMIT ?3",
            )?;
            let id = id.map(HandoffId::as_str);
            let status = |text: Option<String>| text.map(Status::from);
            statement
                .query_map(params![scope, id, limit], |row| {
                    Ok(HandoffEvent {
                        at: Timestamp::from_milliseconds(row.get(0)?),
                        id: row.get(1)?,
                        from: status(row.get(2)?),
                        to: status(row.get(3)?),
                        pid: row.get(4)?,
                        session: row.get(5)?,
                        reason: row.get(6)?,
                    })
                })?
                .collect()
        })
    }

    /// Does something to handoffs, all of it or nothing.
    fn handoffs<T>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, rusqlite::Error>,
    ) -> Result<T, StateError> {
        self.write(|connection| {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let done = work(&transaction)?;
            breakpoint::reach("state:uncommitted");
            transaction.commit()?;
            Ok(done)
        })
    }

    fn read<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, rusqlite::Error>,
    ) -> Result<T, StateError> {
        work(&self.connection).map_err(|cause| self.failed(cause))
    }
}
