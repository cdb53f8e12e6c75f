//! The handoff of a session's context: claimed with the session's claim, consumed when the session
//! has it, and released if the session never gets it.

use rusqlite::{Connection, Error, OptionalExtension, Row, Transaction, params};

use super::rows::{self, Hold, find, first, select};
use super::{apply, release_void};
use crate::core::handoff::HandoffId;
use crate::core::handoff::choice::{ChoiceFacts, HandoffChoice, HandoffQuery, choose};
use crate::core::handoff::life::{Actor, HandoffEvent, SUPERSEDED};
use crate::core::handoff::record::HandoffRecord;
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
        self.read(|connection| {
            if connection.table_exists(None, "handoffs")? {
                choose(query, &StoredFacts { connection, query, host })
            } else {
                Ok(HandoffChoice::Nothing)
            }
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
        self.handoffs(|transaction| {
            release_void(transaction, query.scope, &actor)?;
            let choice = choose(query, &StoredFacts { connection: transaction, query, host })?;
            match &choice {
                HandoffChoice::Given(given) => {
                    apply(transaction, given, HandoffEvent::Offered, Hold::Claim(token), &actor)?;
                    attach(transaction, token, Some(&given.id))?;
                }
                HandoffChoice::Again(given) => attach(transaction, token, Some(&given.id))?,
                HandoffChoice::TooOld(old) => {
                    apply(transaction, old, HandoffEvent::TooOld, Hold::Free, &actor)?;
                }
                _ => {}
            }
            Ok(choice)
        })
    }

    /// Releases a claimed handoff whose document is unusable.
    pub fn give_back_handoff(
        &mut self,
        Token(token): Token,
        reason: &str,
        actor: &Actor,
    ) -> Result<(), StateError> {
        self.handoffs(|transaction| detach(transaction, token, reason, actor))
    }
}

/// Removes the handoff from a claim, whose context is delivered without it.
pub(in crate::store::state) fn detach(
    transaction: &Transaction<'_>,
    token: i64,
    reason: &str,
    actor: &Actor,
) -> Result<(), Error> {
    attach(transaction, token, None)?;
    give_back(transaction, token, reason, actor)
}

/// Records the handoff of a claim's context.
fn attach(transaction: &Transaction<'_>, token: i64, id: Option<&HandoffId>) -> Result<(), Error> {
    let sql = "UPDATE claims SET handoff = ?2 WHERE token = ?1";
    transaction.execute(sql, params![token, id.map(HandoffId::as_str)]).map(drop)
}

/// Records that the session has the handoff of a claim's context.
pub(in crate::store::state) fn consume(
    transaction: &Transaction<'_>,
    token: i64,
    now_ms: i64,
) -> Result<(), Error> {
    let sql = "SELECT session, handoff FROM claims WHERE token = ?1 AND handoff IS NOT NULL";
    let row = |row: &Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?));
    let Some((session, handoff)) = transaction.query_row(sql, [token], row).optional()? else {
        return Ok(());
    };
    let Ok(id) = HandoffId::parse(&handoff) else { return Ok(()) };
    let Some(handoff) = find(transaction, &id)? else { return Ok(()) };
    let is_new = note_receiver(transaction, &session, &id, now_ms)?;
    let sql = "SELECT 1 FROM handoffs WHERE id = ?1 AND token = ?2";
    let is_held = transaction.query_row(sql, params![id.as_str(), token], |_| Ok(())).optional()?;
    let event = HandoffEvent::Delivered { is_held: is_held.is_some(), is_new };
    let actor = Actor { session: Some(session), now_ms };
    apply(transaction, &handoff, event, Hold::Free, &actor).map(drop)
}

/// Releases the handoff of a claim whose context was not delivered.
pub(in crate::store::state) fn give_back(
    transaction: &Transaction<'_>,
    token: i64,
    reason: &str,
    actor: &Actor,
) -> Result<(), Error> {
    if let Some(claimed) = first(transaction, "token = ?1 AND status = 'claimed'", [token])? {
        apply(transaction, &claimed, HandoffEvent::GivenBack(reason), Hold::Free, actor)?;
    }
    Ok(())
}

/// Records that a session has a handoff. Returns whether that is new.
pub(super) fn note_receiver(
    transaction: &Transaction<'_>,
    session: &str,
    id: &HandoffId,
    now_ms: i64,
) -> Result<bool, Error> {
    let sql = "INSERT OR IGNORE INTO handoff_receivers (session, handoff, at) VALUES (?1, ?2, ?3)";
    Ok(transaction.execute(sql, params![session, id.as_str(), now_ms])? > 0)
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

    fn last_received(&self) -> Result<Option<HandoffRecord>, Error> {
        let sql =
            "SELECT handoff FROM handoff_receivers WHERE session = ?1 ORDER BY at DESC LIMIT 1";
        let id =
            self.connection.query_row(sql, [self.query.session], |row| row.get(0)).optional()?;
        match id.and_then(|id: String| HandoffId::parse(&id).ok()) {
            Some(id) => find(self.connection, &id),
            None => Ok(None),
        }
    }

    fn has_received(&self, id: &HandoffId) -> Result<bool, Error> {
        let sql = "SELECT 1 FROM handoff_receivers WHERE session = ?1 AND handoff = ?2";
        let row = self.connection.query_row(sql, [self.query.session, id.as_str()], |_| Ok(()));
        Ok(row.optional()?.is_some())
    }

    fn waiting(&self) -> Result<Option<HandoffRecord>, Error> {
        rows::waiting(self.connection, self.query.scope)
    }

    fn superseded(&self) -> Result<Vec<HandoffRecord>, Error> {
        let condition = "scope = ?1 AND kind = 'session' AND status = 'cleared' AND reason = ?2 \
                         ORDER BY created DESC, id DESC LIMIT 10";
        select(self.connection, condition, [self.query.scope, SUPERSEDED])
    }

    fn newest(&self) -> Result<Option<HandoffRecord>, Error> {
        let condition = "scope = ?1 AND kind = 'session' AND status IN ('active', 'claimed', 'consumed', 'expired') \
                         ORDER BY created DESC, id DESC LIMIT 1";
        first(self.connection, condition, [self.query.scope])
    }

    fn has_company(&self) -> Result<bool, Error> {
        let sql = "SELECT pid, started FROM sessions \
                   WHERE scope = ?1 AND session <> ?2 AND ended IS NULL AND pid IS NOT NULL";
        let mut statement = self.connection.prepare(sql)?;
        let processes = statement.query_map([self.query.scope, self.query.session], |row| {
            Ok(process(row.get(0)?, row.get(1)?))
        })?;
        for process in processes {
            if process?.is_some_and(|process| Some(process) != self.host && !process.is_gone()) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
