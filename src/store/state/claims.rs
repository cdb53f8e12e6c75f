//! Claims: of all processes that want to deliver a session's context, exactly one may.

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};

use crate::core::handoff::life::Actor;
use crate::core::session::Moment;
use crate::store::state::handoffs::Steps;
use crate::store::state::{Result, State};
use crate::system::process::identity::Process;

/// The lifetime of an open claim: longer than building and storing a context can take.
const LEASE_MS: i64 = 15_000;
/// A process can read the clock this long before it gets the lock, and then find a claim that is
/// newer than its own time.
const WAITED_MS: i64 = 10_000;

/// The result of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    Won(Token),
    /// Another process is about to deliver the context, or died trying: the claim then expires.
    Held,
    Settled,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token(pub(super) i64);

impl State {
    /// Claims a moment of a session, for the process `owner` if there is one: the claim is void if
    /// that process ends before it is settled. With `again`, also claims a moment that was settled
    /// longer ago than that, because the session no longer has its context.
    pub fn claim_for(
        &mut self,
        owner: Option<Process>,
        session: &str,
        moment: &Moment,
        now_ms: i64,
        again: Option<Duration>,
    ) -> Result<Claim> {
        let moment = moment.to_string();
        self.transaction(|transaction| {
            if let Some(claim) = standing(transaction, session, &moment, now_ms, again)? {
                return Ok(claim);
            }
            let (pid, started) = owner.map(|owner| (owner.pid, owner.started)).unzip();
            let until = now_ms.saturating_add(LEASE_MS);
            let token = transaction.query_row(
                "INSERT OR REPLACE INTO claims (session, moment, token, until, owner_pid, owner_started) \
                 VALUES (?1, ?2, random(), ?3, ?4, ?5) RETURNING token",
                params![session, moment, until, pid, started],
                |row| row.get(0),
            )?;
            Ok(Claim::Won(Token(token)))
        })
    }

    /// Whether a moment could be claimed now. Takes no lock, so that it can be polled.
    pub fn is_claimable(
        &self,
        session: &str,
        moment: &Moment,
        now_ms: i64,
        again: Option<Duration>,
    ) -> Result<bool> {
        let moment = moment.to_string();
        let held = self.read(|connection| standing(connection, session, &moment, now_ms, again))?;
        Ok(held != Some(Claim::Held))
    }

    /// Whether a session was given what belongs to a moment.
    pub fn is_settled(&self, session: &str, moment: &Moment) -> Result<bool> {
        let sql = "SELECT count(*) > 0 FROM claims \
                   WHERE session = ?1 AND moment = ?2 AND settled IS NOT NULL";
        let moment = moment.to_string();
        self.read(|connection| connection.query_row(sql, [session, &moment], |row| row.get(0)))
    }

    /// The number of a session's compactions that were followed by a context, and the time of the
    /// last one.
    pub fn compactions(&self, session: &str) -> Result<(u32, Option<i64>)> {
        let sql = "SELECT count(*), max(settled) FROM claims \
                   WHERE session = ?1 AND moment LIKE 'compaction:%' AND settled IS NOT NULL";
        self.read(|connection| connection.query_row(sql, [session], |row| row.try_into()))
    }

    /// Extends a claim; `false` if another process has taken it over.
    pub fn renew_claim(&mut self, Token(token): Token, now_ms: i64) -> Result<bool> {
        let sql = "UPDATE claims SET until = ?2 WHERE token = ?1 AND settled IS NULL";
        Ok(self.execute(sql, [token, now_ms.saturating_add(LEASE_MS)])? > 0)
    }

    /// Records that the session has the context of this receipt. Returns whether there was a claim.
    pub fn settle_receipt(&mut self, receipt: i64, now_ms: i64) -> Result<bool> {
        self.transaction(|transaction| {
            let token = claim_of_receipt(transaction, receipt)?;
            if let Some(token) = token {
                settle(transaction, token, now_ms)?;
            }
            transaction.execute(
                "UPDATE injections SET delivered = 1, receipt = json_set(receipt, '$.delivered', json('true')) \
                 WHERE id = ?1",
                [receipt],
            )?;
            Ok(token.is_some())
        })
    }

    /// Records that the session has the context of this claim, which has no receipt.
    pub fn settle_claim(&mut self, Token(token): Token, now_ms: i64) -> Result<()> {
        self.transaction(|transaction| settle(transaction, token, now_ms))
    }

    /// Records that the context of this receipt was not delivered: its moment and its handoff are
    /// free again.
    pub fn release_receipt(&mut self, receipt: i64, now_ms: i64) -> Result<()> {
        self.transaction(|transaction| match claim_of_receipt(transaction, receipt)? {
            Some(token) => release(transaction, token, now_ms),
            None => Ok(()),
        })
    }

    /// Records that the context of this claim was not delivered: its moment and its handoff are
    /// free again.
    pub fn release_claim(&mut self, Token(token): Token, now_ms: i64) -> Result<()> {
        self.transaction(|transaction| release(transaction, token, now_ms))
    }
}

/// The claim of a receipt, if it is not settled yet.
fn claim_of_receipt(connection: &Connection, receipt: i64) -> rusqlite::Result<Option<i64>> {
    let sql = "SELECT token FROM claims WHERE injection = ?1 AND settled IS NULL";
    connection.query_row(sql, [receipt], |row| row.get(0)).optional()
}

fn settle(transaction: &Transaction<'_>, token: i64, now_ms: i64) -> rusqlite::Result<()> {
    let sql = "UPDATE claims SET settled = ?2 WHERE token = ?1 AND settled IS NULL \
               RETURNING session, handoff";
    let settled = transaction.query_row(sql, [token, now_ms], |row| row.try_into()).optional()?;
    let Some((session, Some::<String>(handoff))) = settled else { return Ok(()) };
    let actor = Actor { session: Some(session), now_ms };
    Steps { transaction, actor: &actor, token: None }.consume(token, &handoff)
}

fn release(transaction: &Transaction<'_>, token: i64, now_ms: i64) -> rusqlite::Result<()> {
    let sql = "DELETE FROM claims WHERE token = ?1 AND settled IS NULL RETURNING session";
    let session = transaction.query_row(sql, [token], |row| row.get(0)).optional()?;
    if session.is_some() {
        let actor = Actor { session, now_ms };
        let steps = Steps { transaction, actor: &actor, token: None };
        steps.give_back(token, "its context was not delivered")?;
    }
    Ok(())
}

/// Whether a claim is neither settled nor void.
pub(super) fn stands(connection: &Connection, token: i64, now_ms: i64) -> rusqlite::Result<bool> {
    let sql =
        "SELECT until, owner_pid, owner_started FROM claims WHERE token = ?1 AND settled IS NULL";
    let held = |row: &Row<'_>| Ok(is_held(row.get(0)?, process(row, 1)?, now_ms));
    Ok(connection.query_row(sql, [token], held).optional()?.unwrap_or(false))
}

/// Whether an open claim is still valid. A clock that was set back must not extend it much beyond
/// its lease; slightly is allowed, because a process that waited for the lock asks with an earlier
/// time.
fn is_held(until: i64, owner: Option<Process>, now_ms: i64) -> bool {
    until > now_ms
        && until - now_ms <= LEASE_MS + WAITED_MS
        && owner.is_none_or(|owner| !owner.is_gone())
}

/// Reads a process from two columns, of which `at` is the first.
pub(super) fn process(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<Process>> {
    let (pid, started): (Option<u32>, Option<i64>) = (row.get(at)?, row.get(at + 1)?);
    Ok(pid.map(|pid| Process { pid, started: started.unwrap_or_default() }))
}

/// The claim that blocks another one, if there is one.
fn standing(
    connection: &Connection,
    session: &str,
    moment: &str,
    now_ms: i64,
    again: Option<Duration>,
) -> rusqlite::Result<Option<Claim>> {
    let sql = "SELECT until, settled, owner_pid, owner_started FROM claims \
               WHERE session = ?1 AND moment = ?2";
    let is_recent = |settled: i64, age: Duration| (now_ms - settled) < age.as_millis() as i64;
    let claim = |row: &Row<'_>| {
        Ok(match row.get(1)? {
            Some(settled) => {
                let is_final = again.is_none_or(|age| is_recent(settled, age));
                is_final.then_some(Claim::Settled)
            }
            None => is_held(row.get(0)?, process(row, 2)?, now_ms).then_some(Claim::Held),
        })
    };
    Ok(connection.query_row(sql, [session, moment], claim).optional()?.flatten())
}

#[cfg(test)]
mod tests;
