//! Handoffs in the state: loads rows, applies the rules of [`life`], and writes every change and
//! its log line in one transaction. Reads no document.

mod adoption;
mod delivery;
mod imports;
mod pickup;
mod rotation;
mod rows;

use std::path::PathBuf;

use rusqlite::{Connection, OptionalExtension, Transaction, params};

pub use crate::store::state::handoffs::adoption::Adoption;
pub use crate::store::state::handoffs::rotation::Scheduled;

use crate::core::handoff::life::{
    self, Actor, CONDEMNED, HandoffChange, HandoffEvent, Home, NO_SUMMARY, StepFacts,
};
use crate::core::handoff::record::{HandoffRecord, LogLine};
use crate::core::handoff::{HandoffId, Head, Occasion, Status};
use crate::core::time::Timestamp;
use crate::store::state::claims::process;
use crate::store::state::handoffs::rows::{find, find_in_scope, select};
use crate::store::state::{Result, State, sessions};
use crate::system::breakpoint;
use crate::system::path_bytes;
use crate::system::process::identity::Process;

/// A process whose end the system cannot determine counts as gone after this time.
const OWNER_LEASE_MS: u64 = 60_000;
/// How long an archived handoff is kept.
const KEPT_MS: i64 = 7 * 24 * 3_600_000;

/// The former record of a handoff, and its new status if the former one allowed the event.
pub type Stepped = (HandoffRecord, Option<Status>);

impl State {
    /// Whether this state can hold handoffs: a read-only one can have an older version.
    pub fn has_handoffs(&self) -> bool {
        has_handoffs(&self.connection).unwrap_or(false)
    }

    /// Reserves an id for a document that is about to be written.
    pub fn draft_handoff(
        &mut self,
        home: &Home<'_>,
        head: &Head,
        is_free: impl Fn(&HandoffId) -> bool,
        actor: &Actor,
    ) -> Result<HandoffId> {
        self.handoffs(actor, |steps| steps.draft(home, head, is_free, None))
    }

    /// Activates a handoff whose document is written. Of those for the next session, only the
    /// newest stays active: an older one is archived at once. Returns the new status, and the
    /// handoff that it replaced.
    pub fn activate_handoff(
        &mut self,
        id: &HandoffId,
        actor: &Actor,
    ) -> Result<(Status, Option<HandoffId>)> {
        self.handoffs(actor, |steps| {
            let draft = find(steps.transaction, id.as_str())?;
            let draft = draft.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
            let changes = steps.apply(&draft, HandoffEvent::Written)?;
            let mut records = changes.into_iter().map(|change| change.record).rev();
            // Without a change, another process considered its writer dead and was faster.
            let status = records.next().map_or(draft.status, |now| now.status);
            Ok((status, records.next().map(|other| other.id)))
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
    ) -> Result<()> {
        self.handoffs(actor, |steps| {
            let draft = steps.insert(id.clone(), home, head, Some("recovered"))?;
            let event = match is_archived {
                true => HandoffEvent::Recovered,
                false => HandoffEvent::Written,
            };
            steps.apply(&draft, event).map(drop)
        })
    }

    /// Releases the claims of processes and sessions that have ended.
    pub fn release_void_handoffs(&mut self, scope: &str, actor: &Actor) -> Result<()> {
        // Looks without a lock first, because usually there are none.
        let void = self.read(|connection| rows::void_claims(connection, scope, actor.now_ms))?;
        if void.is_empty() {
            return Ok(());
        }
        self.handoffs(actor, |steps| steps.release_void(scope))
    }

    /// Applies an event to a handoff that a person or an agent named.
    pub fn step_handoff(
        &mut self,
        scope: &str,
        id: &HandoffId,
        event: HandoffEvent<'_>,
        actor: &Actor,
    ) -> Result<Option<Stepped>> {
        self.handoffs(actor, |steps| {
            steps.step(find_in_scope(steps.transaction, scope, id.as_str())?, event)
        })
    }

    /// Applies an event to exactly this handoff, if it exists. Returns whether its status allowed it.
    pub fn change_handoff(
        &mut self,
        id: &HandoffId,
        event: HandoffEvent<'_>,
        actor: &Actor,
    ) -> Result<bool> {
        self.handoffs(actor, |steps| {
            let stepped = steps.step(find(steps.transaction, id.as_str())?, event)?;
            Ok(matches!(stepped, Some((_, Some(_)))))
        })
    }

    /// Drafts whose writer has ended.
    pub fn orphaned_drafts(&self, scope: &str, now_ms: i64) -> Result<Vec<HandoffId>> {
        let sql = "SELECT id, owner_pid, owner_started, changed FROM handoffs \
                   WHERE scope = ?1 AND status = 'draft'";
        self.read(|connection| {
            let mut statement = connection.prepare(sql)?;
            let drafts = statement.query_map([scope], |row| {
                let is_orphan = is_owner_gone(process(row, 1)?, row.get(3)?, now_ms);
                Ok(HandoffId::parse(&row.get::<_, String>(0)?).ok().filter(|_| is_orphan))
            })?;
            drafts.filter_map(rusqlite::Result::transpose).collect()
        })
    }

    /// Finds a handoff by its id, or by its id in the tool that it was imported from.
    pub fn handoff(&self, scope: &str, id: &str) -> Result<Option<HandoffRecord>> {
        self.read(|connection| find_in_scope(connection, scope, id))
    }

    /// The handoff that waits for the next session.
    pub fn current_handoff(&self, scope: &str) -> Result<Option<HandoffRecord>> {
        self.read(|connection| rows::waiting(connection, scope))
    }

    /// Archives what waits of a session that was cleared, and was written before a compaction: nobody goes on with that.
    pub fn archive_captured(&mut self, session: &str, actor: &Actor) -> Result<()> {
        // Looks without a lock first, because usually there is none.
        if self.read(|connection| captured(connection, session))?.is_empty() {
            return Ok(());
        }
        self.handoffs(actor, |steps| steps.archive_captured(session))
    }

    /// All handoffs of a scope except drafts, newest first.
    pub fn list_handoffs(&self, scope: &str) -> Result<Vec<HandoffRecord>> {
        let condition = "scope = ?1 AND status <> 'draft' ORDER BY created DESC, id DESC";
        self.read(|connection| select(connection, condition, [scope]))
    }

    /// All handoffs of any scope that are active or claimed, newest first.
    pub fn open_handoffs(&self) -> Result<Vec<HandoffRecord>> {
        let condition = "status IN ('active', 'claimed') ORDER BY created DESC, id DESC";
        self.read(|connection| select(connection, condition, []))
    }

    /// The number of waiting tasks, and the one that is taken first.
    pub fn waiting_tasks(&self, scope: &str) -> Result<(usize, Option<HandoffRecord>)> {
        self.read(|connection| {
            if !has_handoffs(connection)? {
                return Ok((0, None));
            }
            // Both from the same moment: another process may take a task in between.
            let snapshot = connection.unchecked_transaction()?;
            // Counts in the database, because a session waits for this.
            let sql = "SELECT count(*) FROM handoffs \
                       WHERE scope = ?1 AND kind = 'task' AND status = 'active'";
            let n_tasks: u32 = snapshot.query_row(sql, [scope], |row| row.get(0))?;
            let first = rows::first(&snapshot, &format!("{} LIMIT 1", rows::TASKS), [scope])?;
            Ok((n_tasks as usize, first))
        })
    }

    /// All folders in which handoffs of a scope were left or its sessions started, as far as known.
    pub fn folders_of(&self, scope: &str) -> Result<Vec<PathBuf>> {
        let sql = "SELECT CAST(working_dir AS BLOB) FROM handoffs \
                   WHERE scope = ?1 AND working_dir IS NOT NULL \
                   UNION SELECT folder FROM sessions WHERE scope = ?1";
        self.read(|connection| {
            let mut statement = connection.prepare(sql)?;
            let folders = statement.query_map([scope], |row| row.get(0).map(path_bytes::path))?;
            folders.collect()
        })
    }

    /// All archived handoffs, oldest first.
    pub fn archived_handoffs(&self, scope: &str) -> Result<Vec<HandoffRecord>> {
        let condition = "scope = ?1 AND status IN ('consumed', 'expired', 'cleared') \
                         ORDER BY created, id";
        self.read(|connection| select(connection, condition, [scope]))
    }

    /// Handoffs whose removal was started and perhaps not finished.
    pub fn condemned_handoffs(&self, scope: &str) -> Result<Vec<HandoffRecord>> {
        let condition = "scope = ?1 AND status IN ('consumed', 'cleared') AND reason = ?2";
        self.read(|connection| select(connection, condition, [scope, CONDEMNED]))
    }

    /// All handoffs of any scope that were archived too long ago to be kept.
    pub fn outdated_handoffs(&self, now_ms: i64) -> Result<Vec<HandoffRecord>> {
        let condition = "status IN ('consumed', 'expired', 'cleared') AND changed < ?1 \
                         ORDER BY created, id";
        let until = now_ms.saturating_sub(KEPT_MS);
        self.read(|connection| select(connection, condition, [until]))
    }

    /// The last log lines, newest first, of one handoff or of all in a scope.
    pub fn handoff_log(
        &self,
        scope: &str,
        id: Option<&HandoffId>,
        limit: usize,
    ) -> Result<Vec<LogLine>> {
        let sql = "SELECT at, handoff, old, new, pid, session, reason FROM handoff_events \
                   WHERE scope = ?1 AND (?2 IS NULL OR handoff = ?2) ORDER BY number DESC LIMIT ?3";
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.read(|connection| {
            let mut statement = connection.prepare(sql)?;
            let values = params![scope, id.map(HandoffId::as_str), limit];
            let lines = statement.query_map(values, |row| {
                let (at, id, from, to, pid, session, reason) = row.try_into()?;
                let at = Timestamp::from_milliseconds(at);
                let status = |name: Option<String>| name.map(Status::from);
                Ok(LogLine { at, id, from: status(from), to: status(to), pid, session, reason })
            })?;
            lines.collect()
        })
    }

    /// Notes in the log of a handoff that no summary was made for it.
    pub fn note_summary_failure(
        &mut self,
        id: &HandoffId,
        failure: &str,
        actor: &Actor,
    ) -> Result<()> {
        let sql = "INSERT INTO handoff_events (at, scope, handoff, old, new, pid, session, reason) \
                   SELECT ?2, scope, id, status, status, ?3, ?4, ?5 FROM handoffs WHERE id = ?1";
        let Actor { session, now_ms } = actor;
        let reason = format!("{NO_SUMMARY}{failure}");
        let values = params![id.as_str(), now_ms, std::process::id(), session, reason];
        self.execute(sql, values).map(drop)
    }

    /// Why the last session of a scope that ended left a handoff without a summary, and that handoff's id.
    pub fn summary_failure(&self, scope: &str) -> Result<Option<(String, String)>> {
        // A delivery of a sticky handoff leaves the status as it is, too.
        let sql = "SELECT handoff, substr(reason, length(?2) + 1) FROM handoff_events \
                   WHERE old = new AND substr(reason, 1, length(?2)) = ?2 AND handoff = \
                   (SELECT id FROM handoffs WHERE scope = ?1 AND occasion = 'end' \
                    ORDER BY created DESC, id DESC LIMIT 1) ORDER BY number DESC LIMIT 1";
        let values = [scope, NO_SUMMARY];
        self.read(|connection| connection.query_row(sql, values, |row| row.try_into()).optional())
    }

    /// Runs steps of handoffs in one transaction.
    fn handoffs<T>(
        &mut self,
        actor: &Actor,
        work: impl FnOnce(&Steps<'_>) -> rusqlite::Result<T>,
    ) -> Result<T> {
        self.transaction(|transaction| {
            let done = work(&Steps { transaction, actor, token: None })?;
            breakpoint::reach("state:uncommitted");
            Ok(done)
        })
    }
}

/// Steps of handoffs by the rules of their life, in one transaction.
pub(super) struct Steps<'a> {
    pub(super) transaction: &'a Transaction<'a>,
    pub(super) actor: &'a Actor,
    /// The session's claim under which these steps claim handoffs; `None` if this process claims them.
    /// Not the claim of a handoff that is given back or consumed: those functions take it themselves.
    pub(super) token: Option<i64>,
}

impl Steps<'_> {
    /// Applies an event to a handoff, and writes the changes.
    fn apply(
        &self,
        handoff: &HandoffRecord,
        event: HandoffEvent<'_>,
    ) -> rusqlite::Result<Vec<HandoffChange>> {
        let waiting = match event {
            HandoffEvent::Written | HandoffEvent::GivenBack(_) | HandoffEvent::GivenAgain(_) => {
                rows::waiting(self.transaction, &handoff.scope)?
            }
            _ => None,
        };
        let is_auto = |record: &&HandoffRecord| record.occasion == Occasion::Auto;
        let author = waiting.iter().chain([handoff]).find(is_auto);
        let author = author.filter(|_| waiting.is_some()).and_then(|auto| auto.session.as_deref());
        let is_author_over =
            author.map(|session| sessions::is_over(self.transaction, session)).transpose()?;
        let facts = StepFacts {
            is_author_over: is_author_over.unwrap_or(false),
            ..self.facts(waiting.as_ref())
        };
        let changes = life::step(handoff, event, &facts);
        for change in &changes {
            rows::write(self.transaction, change, self.token)?;
        }
        Ok(changes)
    }

    /// Applies an event to a handoff, if it was found.
    fn step(
        &self,
        found: Option<HandoffRecord>,
        event: HandoffEvent<'_>,
    ) -> rusqlite::Result<Option<Stepped>> {
        let Some(found) = found else { return Ok(None) };
        let changes = self.apply(&found, event)?;
        Ok(Some((found, changes.into_iter().next_back().map(|change| change.record.status))))
    }

    fn archive_captured(&self, session: &str) -> rusqlite::Result<()> {
        for handoff in captured(self.transaction, session)? {
            self.apply(&handoff, HandoffEvent::Archived("its session was cleared"))?;
        }
        Ok(())
    }

    fn facts<'f>(&'f self, waiting: Option<&'f HandoffRecord>) -> StepFacts<'f> {
        StepFacts { actor: self.actor, pid: std::process::id(), waiting, is_author_over: false }
    }

    /// Inserts a draft under an id that was never used.
    fn draft(
        &self,
        home: &Home<'_>,
        head: &Head,
        is_free: impl Fn(&HandoffId) -> bool,
        reason: Option<&str>,
    ) -> rusqlite::Result<HandoffId> {
        let (created, session) = (created(head, self.actor), head.session_id.as_deref());
        // A removed handoff keeps its log, so its id must not be reused.
        let mut used = self.transaction.prepare(
            "SELECT 1 FROM handoffs WHERE id = ?1 \
             UNION ALL SELECT 1 FROM handoff_events WHERE handoff = ?1 LIMIT 1",
        )?;
        let mut nth = 1;
        loop {
            let id = HandoffId::new(created, session, nth);
            if !used.exists([id.as_str()])? && is_free(&id) {
                return Ok(self.insert(id, home, head, reason)?.id);
            }
            nth += 1;
        }
    }

    fn insert(
        &self,
        id: HandoffId,
        home: &Home<'_>,
        head: &Head,
        reason: Option<&str>,
    ) -> rusqlite::Result<HandoffRecord> {
        let created = created(head, self.actor);
        let draft = life::draft(id, home, head, created, reason, &self.facts(None));
        rows::write(self.transaction, &draft, None)?;
        Ok(draft.record)
    }

    /// Releases the claims of processes and sessions that have ended.
    fn release_void(&self, scope: &str) -> rusqlite::Result<()> {
        for claimed in rows::void_claims(self.transaction, scope, self.actor.now_ms)? {
            self.apply(&claimed, HandoffEvent::GivenBack("the session that claimed it is gone"))?;
        }
        Ok(())
    }
}

/// What a session wrote before a compaction, and still waits.
fn captured(connection: &Connection, session: &str) -> rusqlite::Result<Vec<HandoffRecord>> {
    let condition = "session = ?1 AND occasion = 'auto' AND kind = 'session' AND status = 'active'";
    select(connection, condition, [session])
}

/// Whether the database holds handoffs, in their current form or in an earlier one.
fn has_handoffs(connection: &Connection) -> rusqlite::Result<bool> {
    connection.table_exists(None, "handoffs")
}

/// The creation time, rounded to the state's precision.
fn created(head: &Head, actor: &Actor) -> Timestamp {
    Timestamp::from_milliseconds(head.created_at.map_or(actor.now_ms, Timestamp::milliseconds))
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
