//! The handoff of a session's context: claimed with the session's claim, consumed when the session
//! has it, and released if the session never gets it.

use rusqlite::{Connection, Error, Result, params};

use super::rows::{self, find, first, select};
use super::{Steps, has_handoffs};
use crate::core::handoff::choice::{ChoiceFacts, HandoffChoice, HandoffQuery, choose};
use crate::core::handoff::life::{Actor, HandoffEvent, SUPERSEDED};
use crate::core::handoff::record::HandoffRecord;
use crate::core::handoff::{HandoffId, Status};
use crate::store::state::claims::process;
use crate::store::state::{State, StateError, Token};
use crate::system::process::identity::Process;

impl State {
    /// The handoff that a session in the process `host` would get. Changes nothing, not even a
    /// state from before handoffs existed.
    pub fn preview_handoff(
        &self,
        query: &HandoffQuery<'_>,
        host: Option<Process>,
    ) -> Result<HandoffChoice, StateError> {
        self.read(|connection| match has_handoffs(connection)? {
            true => choose(query, &StoredFacts { connection, query, host }),
            false => Ok(HandoffChoice::Nothing),
        })
    }

    /// Claims the handoff of a session in the process `host`, under the session's claim.
    pub fn claim_handoff(
        &mut self,
        query: &HandoffQuery<'_>,
        host: Option<Process>,
        Token(token): Token,
    ) -> Result<HandoffChoice, StateError> {
        let actor = Actor { session: Some(query.session.to_owned()), now_ms: query.now_ms };
        self.handoffs(&actor, |&Steps { transaction, actor, .. }| {
            let steps = Steps { transaction, actor, token: Some(token) };
            steps.release_void(query.scope)?;
            let choice = choose(query, &StoredFacts { connection: transaction, query, host })?;
            match &choice {
                HandoffChoice::Given(given) => {
                    steps.apply(given, HandoffEvent::Offered)?;
                    if given.status == Status::Claimed {
                        hand_over(transaction, token, &given.id)?;
                    }
                    attach(transaction, token, Some(&given.id))?;
                }
                HandoffChoice::Again(given) => attach(transaction, token, Some(&given.id))?,
                HandoffChoice::TooOld(old) => drop(steps.apply(old, HandoffEvent::TooOld)?),
                _ => {}
            }
            Ok(choice)
        })
    }

    /// The handoff that a session received last.
    pub fn last_received(&self, session: &str) -> Result<Option<HandoffRecord>, StateError> {
        self.read(|connection| last_received(connection, session))
    }

    /// Releases a claimed handoff whose document is unusable.
    pub fn give_back_handoff(
        &mut self,
        Token(token): Token,
        reason: &str,
        actor: &Actor,
    ) -> Result<(), StateError> {
        self.handoffs(actor, |steps| steps.detach(token, reason))
    }
}

fn last_received(connection: &Connection, session: &str) -> Result<Option<HandoffRecord>> {
    let condition = "id = (SELECT handoff FROM handoff_receivers WHERE session = ?1 \
                     ORDER BY at DESC LIMIT 1)";
    first(connection, condition, [session])
}

/// Lets a session's claim hold a handoff that a rotation has held for it.
fn hand_over(connection: &Connection, token: i64, id: &HandoffId) -> Result<()> {
    let sql =
        "UPDATE handoffs SET token = ?1, owner_pid = NULL, owner_started = NULL WHERE id = ?2";
    connection.execute(sql, params![token, id.as_str()]).map(drop)
}

/// Records the handoff of a claim's context.
fn attach(connection: &Connection, token: i64, id: Option<&HandoffId>) -> Result<()> {
    let sql = "UPDATE claims SET handoff = ?2 WHERE token = ?1";
    connection.execute(sql, params![token, id.map(HandoffId::as_str)]).map(drop)
}

impl Steps<'_> {
    /// Removes the handoff from a claim, whose context is delivered without it.
    pub(in crate::store::state) fn detach(&self, token: i64, reason: &str) -> Result<()> {
        attach(self.transaction, token, None)?;
        self.give_back(token, reason)
    }

    /// Records that the session has the handoff of a claim's context.
    pub(in crate::store::state) fn consume(&self, token: i64, id: &str) -> Result<()> {
        let Some(handoff) = find(self.transaction, id)? else { return Ok(()) };
        let is_new = self.note_receiver(&handoff.id)?;
        let sql = "SELECT 1 FROM handoffs WHERE id = ?1 AND token = ?2";
        let is_held = self.transaction.prepare(sql)?.exists(params![id, token])?;
        self.apply(&handoff, HandoffEvent::Delivered { is_held, is_new }).map(drop)
    }

    /// Releases the handoff of a claim whose context was not delivered.
    pub(in crate::store::state) fn give_back(&self, token: i64, reason: &str) -> Result<()> {
        if let Some(claimed) =
            first(self.transaction, "token = ?1 AND status = 'claimed'", [token])?
        {
            self.apply(&claimed, HandoffEvent::GivenBack(reason))?;
        }
        Ok(())
    }

    /// Records that the session has a handoff. Returns whether that is new.
    pub(super) fn note_receiver(&self, id: &HandoffId) -> Result<bool> {
        let Actor { session: Some(session), now_ms } = self.actor else { return Ok(false) };
        let sql =
            "INSERT OR IGNORE INTO handoff_receivers (session, handoff, at) VALUES (?1, ?2, ?3)";
        Ok(self.transaction.execute(sql, params![session, id.as_str(), now_ms])? > 0)
    }
}

/// The state's data for the choice of a handoff.
struct StoredFacts<'a> {
    connection: &'a Connection,
    query: &'a HandoffQuery<'a>,
    /// The process that the session runs in.
    host: Option<Process>,
}

impl ChoiceFacts for StoredFacts<'_> {
    type Error = Error;

    fn last_received(&self) -> Result<Option<HandoffRecord>> {
        last_received(self.connection, self.query.session)
    }

    fn left_by_itself(&self) -> Result<Option<HandoffRecord>> {
        let condition = "scope = ?1 AND session = ?2 AND kind = 'session' AND occasion <> 'end' \
                         AND (status = 'active' OR status = 'cleared' AND reason = ?3 AND occasion = 'auto') \
                         AND id NOT IN (SELECT handoff FROM handoff_receivers WHERE session = ?2) \
                         ORDER BY status <> 'active', created DESC, id DESC LIMIT 1";
        first(self.connection, condition, [self.query.scope, self.query.session, SUPERSEDED])
    }

    fn has_received(&self, id: &HandoffId) -> Result<bool> {
        let sql = "SELECT 1 FROM handoff_receivers WHERE session = ?1 AND handoff = ?2";
        self.connection.prepare(sql)?.exists([self.query.session, id.as_str()])
    }

    fn waiting(&self) -> Result<Option<HandoffRecord>> {
        rows::waiting(self.connection, self.query.scope)
    }

    fn superseded(&self) -> Result<Vec<HandoffRecord>> {
        let condition = "scope = ?1 AND kind = 'session' AND status = 'cleared' AND reason = ?2 \
                         ORDER BY created DESC, id DESC LIMIT 10";
        select(self.connection, condition, [self.query.scope, SUPERSEDED])
    }

    fn newest(&self) -> Result<Option<HandoffRecord>> {
        let condition = "scope = ?1 AND kind = 'session' AND status IN ('active', 'claimed', 'consumed', 'expired') \
                         ORDER BY created DESC, id DESC LIMIT 1";
        first(self.connection, condition, [self.query.scope])
    }

    fn rotated(&self) -> Result<Option<HandoffRecord>> {
        let condition = "id = (SELECT handoff FROM rotations WHERE new_session = ?1 ORDER BY id DESC LIMIT 1) \
                         AND status IN ('claimed', 'active') AND token IS NULL";
        first(self.connection, condition, [self.query.session])
    }

    fn has_company(&self) -> Result<bool> {
        let others = self.live_processes("session <> ?2", self.query.session)?;
        Ok(others.into_iter().any(|process| Some(process) != self.host))
    }

    fn is_alive(&self, session: &str) -> Result<bool> {
        Ok(!self.live_processes("session = ?2", session)?.is_empty())
    }
}

impl StoredFacts<'_> {
    /// The processes of the scope's sessions that have not ended and are of this kind.
    fn live_processes(&self, which: &str, session: &str) -> Result<Vec<Process>> {
        let sql = format!(
            "SELECT pid, started FROM sessions WHERE scope = ?1 AND {which} AND ended IS NULL AND pid IS NOT NULL"
        );
        let mut statement = self.connection.prepare(&sql)?;
        let found = statement.query_map([self.query.scope, session], |row| process(row, 0))?;
        let found: Vec<Option<Process>> = found.collect::<Result<_>>()?;
        Ok(found.into_iter().flatten().filter(|process| !process.is_gone()).collect())
    }
}
