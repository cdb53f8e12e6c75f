//! Which handoff a session is given by itself, and what becomes of it: claimed with the session's claim, consumed when the
//! session has it, and back in its place if it never gets it.

use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::Actor;
use super::rows::{COLUMNS, current, find, record};
use super::steps::{back, change, is_misdated, log, release_void};
use crate::core::handoff::record::HandoffRecord;
use crate::core::handoff::{Consume, HandoffId, Occasion, Status};
use crate::store::state::claims::process;
use crate::store::state::{State, StateError, Token};
use crate::system::process::identity::Process;

/// Why a handoff was put away by the one that came after it.
pub(super) const SUPERSEDED: &str = "superseded";

/// What a session asks for.
#[derive(Debug, Clone, Copy)]
pub enum HandoffRequest {
    /// What was left for it, at its start.
    First,
    /// What it had before, after its host has forgotten it.
    Again,
    /// What was left by somebody else since then, in milliseconds since 1970.
    Since(i64),
}

/// Who asks for a handoff.
#[derive(Debug, Clone, Copy)]
pub struct HandoffQuery<'a> {
    /// Where.
    pub scope: &'a str,
    /// The session.
    pub session: &'a str,
    /// The process that it lives in.
    pub host: Option<Process>,
    /// What it asks for.
    pub wanted: HandoffRequest,
    /// How old one may be that stays for further sessions.
    pub max_age_ms: i64,
    /// Now, in milliseconds since 1970.
    pub now_ms: i64,
    /// Handoffs that turned out to be of no use.
    pub unusable: &'a [HandoffId],
}

/// What a session is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HandoffChoice {
    /// This one.
    Given(Box<HandoffRecord>),
    /// This one, which it had before.
    Again(Box<HandoffRecord>),
    /// None: this one is too old.
    TooOld(Box<HandoffRecord>),
    /// None: this one is for whoever goes on, and somebody else is still at it.
    Withheld(Box<HandoffRecord>),
    /// None: the date of this one is wrong.
    Misdated(Box<HandoffRecord>),
    /// None.
    Nothing,
}

impl State {
    /// What a session would be given. Changes nothing, not even a state from before there were handoffs.
    pub fn peek_handoff(&self, asked: &HandoffQuery<'_>) -> Result<HandoffChoice, StateError> {
        self.read(|connection| {
            if connection.table_exists(None, "handoffs")? {
                choose(connection, asked)
            } else {
                Ok(HandoffChoice::Nothing)
            }
        })
    }

    /// What a session is given, under its claim.
    pub fn load_handoff(
        &mut self,
        asked: &HandoffQuery<'_>,
        Token(token): Token,
    ) -> Result<HandoffChoice, StateError> {
        let actor = Actor { session: Some(asked.session.to_owned()), now_ms: asked.now_ms };
        self.handoffs(|transaction| {
            release_void(transaction, asked.scope, &actor)?;
            let choice = choose(transaction, asked)?;
            match &choice {
                HandoffChoice::Given(given) => {
                    if given.consume == Consume::Once {
                        change(transaction, given, &Status::Claimed, None, &actor)?;
                        let sql = "UPDATE handoffs SET token = ?2 WHERE id = ?1";
                        transaction.execute(sql, params![given.id.as_str(), token])?;
                    }
                    goes_with(transaction, token, Some(&given.id))?;
                }
                HandoffChoice::Again(given) => goes_with(transaction, token, Some(&given.id))?,
                HandoffChoice::TooOld(old) if old.status == Status::Active => {
                    change(transaction, old, &Status::Expired, Some("too old"), &actor)?;
                }
                _ => {}
            }
            Ok(choice)
        })
    }

    /// The handoff that was claimed turned out to be of no use: it waits again.
    pub fn unload_handoff(
        &mut self,
        Token(token): Token,
        reason: &str,
        actor: &Actor,
    ) -> Result<(), StateError> {
        self.handoffs(|transaction| given_back(transaction, token, reason, actor))
    }
}

/// The context of a claim is given without its handoff, which waits again.
pub(in crate::store::state) fn given_back(
    transaction: &Transaction<'_>,
    token: i64,
    reason: &str,
    actor: &Actor,
) -> Result<(), rusqlite::Error> {
    goes_with(transaction, token, None)?;
    not_delivered(transaction, token, reason, actor)
}

/// Notes the handoff that goes with a claim's context.
fn goes_with(
    transaction: &Transaction<'_>,
    token: i64,
    id: Option<&HandoffId>,
) -> Result<(), rusqlite::Error> {
    let sql = "UPDATE claims SET handoff = ?2 WHERE token = ?1";
    transaction.execute(sql, params![token, id.map(HandoffId::as_str)]).map(drop)
}

/// The session has the context of a claim, and the handoff in it.
pub(in crate::store::state) fn delivered(
    transaction: &Transaction<'_>,
    token: i64,
    now_ms: i64,
) -> Result<(), rusqlite::Error> {
    let sql = "SELECT session, handoff FROM claims WHERE token = ?1 AND handoff IS NOT NULL";
    let row = |row: &rusqlite::Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?));
    let Some((session, handoff)) = transaction.query_row(sql, [token], row).optional()? else {
        return Ok(());
    };
    let Ok(id) = HandoffId::parse(&handoff) else { return Ok(()) };
    let Some(handoff) = find(transaction, &id)? else { return Ok(()) };
    let is_new = receive(transaction, &session, &id, now_ms)?;
    let actor = Actor { session: Some(session), now_ms };
    let sql = "SELECT 1 FROM handoffs WHERE id = ?1 AND token = ?2 AND status = 'claimed'";
    let is_claimed =
        transaction.query_row(sql, params![id.as_str(), token], |_| Ok(())).optional()?.is_some();
    if is_claimed {
        change(transaction, &handoff, &Status::Consumed, None, &actor)
    } else if is_new {
        let stays = (Some(&handoff.status), Some(&handoff.status));
        log(transaction, &handoff.scope, &id, stays, &actor, Some("given to a session"))
    } else {
        Ok(())
    }
}

/// The context of a claim was not given: its handoff waits again.
pub(in crate::store::state) fn not_delivered(
    transaction: &Transaction<'_>,
    token: i64,
    reason: &str,
    actor: &Actor,
) -> Result<(), rusqlite::Error> {
    let sql = format!("SELECT {COLUMNS} FROM handoffs WHERE token = ?1 AND status = 'claimed'");
    match transaction.query_row(&sql, [token], record).optional()? {
        Some(claimed) => back(transaction, &claimed, reason, actor).map(drop),
        None => Ok(()),
    }
}

/// Notes that a session has a handoff. Returns whether that is new.
pub(super) fn receive(
    transaction: &Transaction<'_>,
    session: &str,
    id: &HandoffId,
    now_ms: i64,
) -> Result<bool, rusqlite::Error> {
    let sql = "INSERT OR IGNORE INTO handoff_receivers (session, handoff, at) VALUES (?1, ?2, ?3)";
    Ok(transaction.execute(sql, params![session, id.as_str(), now_ms])? > 0)
}

fn choose(
    connection: &Connection,
    asked: &HandoffQuery<'_>,
) -> Result<HandoffChoice, rusqlite::Error> {
    let had =
        last_received(connection, asked.session)?.filter(|had| !asked.unusable.contains(&had.id));
    let since = match (asked.wanted, had) {
        (HandoffRequest::First | HandoffRequest::Again, Some(had)) => {
            return Ok(HandoffChoice::Again(Box::new(had)));
        }
        (HandoffRequest::Again, None) => return Ok(HandoffChoice::Nothing),
        (HandoffRequest::First, None) => i64::MIN,
        (HandoffRequest::Since(since), _) => since,
    };
    for candidate in candidates(connection, asked)? {
        let created = candidate.created.milliseconds();
        let is_own = candidate.session.as_deref() == Some(asked.session);
        if is_own || created <= since || has_received(connection, asked.session, &candidate.id)? {
            continue;
        }
        let too_old_at = [
            candidate.expires.map(|expires| expires.milliseconds()),
            (candidate.consume == Consume::Sticky)
                .then(|| created.saturating_add(asked.max_age_ms)),
        ];
        let candidate = Box::new(candidate);
        return Ok(if is_misdated(&candidate, asked.now_ms) {
            HandoffChoice::Misdated(candidate)
        } else if too_old_at.into_iter().flatten().any(|at| at < asked.now_ms) {
            HandoffChoice::TooOld(candidate)
        } else if is_for_who_goes_on(&candidate) && has_company(connection, asked)? {
            HandoffChoice::Withheld(candidate)
        } else {
            HandoffChoice::Given(candidate)
        });
    }
    match asked.wanted {
        HandoffRequest::First => last_too_old(connection, asked.scope),
        _ => Ok(HandoffChoice::Nothing),
    }
}

/// The one that waits; where it is of no use, the one that it took the place of, and so on. Others before them have had their
/// time.
fn candidates(
    connection: &Connection,
    asked: &HandoffQuery<'_>,
) -> Result<Vec<HandoffRecord>, rusqlite::Error> {
    let mut candidates = Vec::from_iter(current(connection, asked.scope)?);
    if !asked.unusable.is_empty() {
        let sql = format!(
            "SELECT {COLUMNS} FROM handoffs WHERE scope = ?1 AND kind = 'session' AND status = 'cleared' \
             AND reason = ?2 ORDER BY created DESC, id DESC LIMIT 10"
        );
        let mut statement = connection.prepare(&sql)?;
        for superseded in statement.query_map([asked.scope, SUPERSEDED], record)? {
            candidates.push(superseded?);
        }
    }
    candidates.retain(|candidate| {
        let took_its_place = candidate.superseded_by.as_ref();
        !asked.unusable.contains(&candidate.id)
            && took_its_place.is_none_or(|newer| asked.unusable.contains(newer))
    });
    Ok(candidates)
}

/// Whether a handoff was written so that the very work goes on, rather than for whoever comes next.
fn is_for_who_goes_on(handoff: &HandoffRecord) -> bool {
    matches!(handoff.occasion, Occasion::Auto | Occasion::Rotation)
}

/// Whether another session lives here, in another process.
fn has_company(connection: &Connection, asked: &HandoffQuery<'_>) -> Result<bool, rusqlite::Error> {
    let sql = "SELECT pid, started FROM sessions \
               WHERE scope = ?1 AND session <> ?2 AND ended IS NULL AND pid IS NOT NULL";
    let mut statement = connection.prepare(sql)?;
    let processes = statement
        .query_map([asked.scope, asked.session], |row| Ok(process(row.get(0)?, row.get(1)?)))?;
    for process in processes {
        if process?.is_some_and(|process| Some(process) != asked.host && !process.is_gone()) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The last handoff, where nobody got it before it was too old.
fn last_too_old(connection: &Connection, scope: &str) -> Result<HandoffChoice, rusqlite::Error> {
    let sql = format!(
        "SELECT {COLUMNS} FROM handoffs WHERE scope = ?1 AND kind = 'session' \
         AND status IN ('active', 'claimed', 'consumed', 'expired') ORDER BY created DESC, id DESC LIMIT 1"
    );
    let last = connection.query_row(&sql, [scope], record).optional()?;
    Ok(match last {
        Some(last) if last.status == Status::Expired => HandoffChoice::TooOld(Box::new(last)),
        _ => HandoffChoice::Nothing,
    })
}

fn last_received(
    connection: &Connection,
    session: &str,
) -> Result<Option<HandoffRecord>, rusqlite::Error> {
    let sql = "SELECT handoff FROM handoff_receivers WHERE session = ?1 ORDER BY at DESC LIMIT 1";
    let id: Option<String> = connection.query_row(sql, [session], |row| row.get(0)).optional()?;
    match id.and_then(|id| HandoffId::parse(&id).ok()) {
        Some(id) => find(connection, &id),
        None => Ok(None),
    }
}

fn has_received(
    connection: &Connection,
    session: &str,
    id: &HandoffId,
) -> Result<bool, rusqlite::Error> {
    let sql = "SELECT 1 FROM handoff_receivers WHERE session = ?1 AND handoff = ?2";
    Ok(connection.query_row(sql, [session, id.as_str()], |_| Ok(())).optional()?.is_some())
}
