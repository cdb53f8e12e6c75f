//! Claims: of all who want to give a session its context, exactly one may.

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior, params};

use crate::core::handoff::life::Actor;
use crate::core::session::Moment;
use crate::store::state::handoffs::{consume, give_back};
use crate::store::state::{State, StateError};
use crate::system::process::identity::Process;

/// How long a claim stands that is neither settled nor released: longer than making a context or storing it takes at worst.
const LEASE_MS: i64 = 15_000;
/// Whoever asks may have looked at the clock this long before it was his turn, and find what was done after that.
const WAITED_MS: i64 = 10_000;

/// How a claim went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    /// It is ours.
    Won(Token),
    /// Somebody else is about to give the context, or died trying: then it will be free by itself.
    Held,
    /// The session was given its context.
    Settled,
}

/// Tells a claim from every other one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token(pub(super) i64);

impl State {
    /// Claims a moment of a session. With `again`, also one that was settled longer ago than that: whoever asks has seen that
    /// the session no longer has what it was given.
    pub fn claim(
        &mut self,
        session: &str,
        moment: &Moment,
        now_ms: i64,
        again: Option<Duration>,
    ) -> Result<Claim, StateError> {
        self.claim_for(None, session, moment, now_ms, again)
    }

    /// Claims a moment for a process: if that ends before the claim is settled, the claim is void.
    pub fn claim_for(
        &mut self,
        owner: Option<Process>,
        session: &str,
        moment: &Moment,
        now_ms: i64,
        again: Option<Duration>,
    ) -> Result<Claim, StateError> {
        let moment = moment.to_string();
        self.write(|connection| {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            match standing(&transaction, session, &moment, now_ms, again)? {
                Some(claim) => Ok(claim),
                None => {
                    let token = transaction.query_row(
                        "INSERT OR REPLACE INTO claims (session, moment, token, until, owner_pid, owner_started) \
                         VALUES (?1, ?2, random(), ?3, ?4, ?5) RETURNING token",
                        params![
                            session,
                            moment,
                            now_ms.saturating_add(LEASE_MS),
                            owner.map(|owner| owner.pid),
                            owner.map(|owner| owner.started)
                        ],
                        |row| row.get(0),
                    )?;
                    transaction.commit()?;
                    Ok(Claim::Won(Token(token)))
                }
            }
        })
    }

    /// Whether a moment could be claimed now. Takes no lock, so that it can be asked often.
    pub fn is_free(
        &self,
        session: &str,
        moment: &Moment,
        now_ms: i64,
        again: Option<Duration>,
    ) -> Result<bool, StateError> {
        let standing = standing(&self.connection, session, &moment.to_string(), now_ms, again);
        Ok(standing.map_err(|cause| self.failed(cause))? != Some(Claim::Held))
    }

    /// How many compactions of a session were followed by a context, and when the last one was.
    pub fn compactions(&self, session: &str) -> Result<(u32, Option<i64>), StateError> {
        let sql = "SELECT count(*), max(settled) FROM claims \
                   WHERE session = ?1 AND moment LIKE 'compaction:%' AND settled IS NOT NULL";
        let found = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let found = self.connection.query_row(sql, [session], found);
        found.map_err(|cause| self.failed(cause))
    }

    /// Makes sure that a claim is still ours, and will be for long enough to deliver.
    pub fn renew(&mut self, Token(token): Token, now_ms: i64) -> Result<bool, StateError> {
        self.write(|connection| {
            let sql = "UPDATE claims SET until = ?2 WHERE token = ?1 AND settled IS NULL";
            Ok(connection.execute(sql, [token, now_ms.saturating_add(LEASE_MS)])? > 0)
        })
    }

    /// The session has the context of this receipt. Returns whether there was a claim to it.
    pub fn settle(&mut self, receipt: i64, now_ms: i64) -> Result<bool, StateError> {
        self.write(|connection| {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let token = token_of(&transaction, receipt)?;
            if let Some(token) = token {
                settled(&transaction, token, now_ms)?;
            }
            transaction.execute(
                "UPDATE injections SET delivered = 1, receipt = json_set(receipt, '$.delivered', json('true')) \
                 WHERE id = ?1",
                [receipt],
            )?;
            transaction.commit()?;
            Ok(token.is_some())
        })
    }

    /// The session has the context for which this claim was made, of which there is no receipt.
    pub fn settle_claim(&mut self, Token(token): Token, now_ms: i64) -> Result<(), StateError> {
        self.write(|connection| {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            settled(&transaction, token, now_ms)?;
            transaction.commit()
        })
    }

    /// The context of this receipt was not given after all: the moment is free again, and so is its handoff.
    pub fn release(&mut self, receipt: i64, now_ms: i64) -> Result<(), StateError> {
        self.write(|connection| {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            if let Some(token) = token_of(&transaction, receipt)? {
                released(&transaction, token, now_ms)?;
            }
            transaction.commit()
        })
    }

    /// Gives a claim up.
    pub fn release_claim(&mut self, Token(token): Token, now_ms: i64) -> Result<(), StateError> {
        self.write(|connection| {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            released(&transaction, token, now_ms)?;
            transaction.commit()
        })
    }
}

/// The claim under which a receipt was made, if it is not settled yet.
fn token_of(transaction: &Transaction<'_>, receipt: i64) -> Result<Option<i64>, rusqlite::Error> {
    let sql = "SELECT token FROM claims WHERE injection = ?1 AND settled IS NULL";
    transaction.query_row(sql, [receipt], |row| row.get(0)).optional()
}

fn settled(transaction: &Transaction<'_>, token: i64, now_ms: i64) -> Result<(), rusqlite::Error> {
    let sql = "UPDATE claims SET settled = ?2 WHERE token = ?1 AND settled IS NULL";
    if transaction.execute(sql, [token, now_ms])? > 0 {
        consume(transaction, token, now_ms)?;
    }
    Ok(())
}

fn released(transaction: &Transaction<'_>, token: i64, now_ms: i64) -> Result<(), rusqlite::Error> {
    let sql = "DELETE FROM claims WHERE token = ?1 AND settled IS NULL RETURNING session";
    let session = transaction.query_row(sql, [token], |row| row.get(0)).optional()?;
    if session.is_some() {
        let actor = Actor { session, now_ms };
        give_back(transaction, token, "its context was not delivered", &actor)?;
    }
    Ok(())
}

/// Whether a claim is neither settled nor void.
pub(super) fn stands(
    connection: &Connection,
    token: i64,
    now_ms: i64,
) -> Result<bool, rusqlite::Error> {
    let sql =
        "SELECT until, owner_pid, owner_started FROM claims WHERE token = ?1 AND settled IS NULL";
    let held = |row: &Row<'_>| Ok(is_held(row.get(0)?, process(row.get(1)?, row.get(2)?), now_ms));
    Ok(connection.query_row(sql, [token], held).optional()?.unwrap_or(false))
}

/// A clock that was set back must not leave a claim standing for much longer than any is made for. A little longer: who
/// waited for the lock asks with a time that is before the claim was made.
fn is_held(until: i64, owner: Option<Process>, now_ms: i64) -> bool {
    until > now_ms
        && until - now_ms <= LEASE_MS + WAITED_MS
        && owner.is_none_or(|owner| !owner.is_gone())
}

/// A process as two columns hold it.
pub(super) fn process(pid: Option<u32>, started: Option<i64>) -> Option<Process> {
    Some(Process { pid: pid?, started: started.unwrap_or_default() })
}

/// The claim that stands in the way of another one, if there is one.
fn standing(
    connection: &Connection,
    session: &str,
    moment: &str,
    now_ms: i64,
    again: Option<Duration>,
) -> Result<Option<Claim>, rusqlite::Error> {
    let last: Option<(i64, Option<i64>, Option<Process>)> = connection
        .query_row(
            "SELECT until, settled, owner_pid, owner_started FROM claims WHERE session = ?1 AND moment = ?2",
            params![session, moment],
            |row| Ok((row.get(0)?, row.get(1)?, process(row.get(2)?, row.get(3)?))),
        )
        .optional()?;
    let is_recent = |settled: i64, age: Duration| (now_ms - settled) < age.as_millis() as i64;
    Ok(match last {
        Some((_, Some(settled), _)) if again.is_none_or(|age| is_recent(settled, age)) => {
            Some(Claim::Settled)
        }
        Some((until, None, owner)) if is_held(until, owner, now_ms) => Some(Claim::Held),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(5);

    fn state() -> (tempfile::TempDir, State) {
        let folder = tempfile::tempdir().unwrap();
        let state = State::open(folder.path(), PATIENCE).unwrap();
        (folder, state)
    }

    fn claim(state: &mut State, now_ms: i64) -> Claim {
        state.claim("s", &Moment::Start, now_ms, None).unwrap()
    }

    fn won(state: &mut State, now_ms: i64) -> Token {
        match claim(state, now_ms) {
            Claim::Won(token) => token,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn of_many_who_claim_at_once_exactly_one_wins() {
        let (folder, _) = state();
        for n in 0..10 {
            let session = format!("ses_{n}");
            let claims: Vec<Claim> = thread::scope(|scope| {
                let claim = || {
                    let mut state = State::open(folder.path(), PATIENCE).unwrap();
                    state.claim(&session, &Moment::Start, 1_000, None).unwrap()
                };
                let threads: Vec<_> = (0..8).map(|_| scope.spawn(claim)).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            let n_won = claims.iter().filter(|claim| matches!(claim, Claim::Won(_))).count();
            assert_eq!(n_won, 1, "{claims:?}");
        }
    }

    #[test]
    fn a_claim_is_held_until_its_time_is_up_and_settled_for_good() {
        let (_folder, mut state) = state();
        won(&mut state, 0);
        assert_eq!(claim(&mut state, 4_000), Claim::Held);
        assert!(!state.is_free("s", &Moment::Start, 4_000, None).unwrap());
        assert!(state.is_free("s", &Moment::Start, 15_000, None).unwrap());
        let token = won(&mut state, 15_000);
        // Another moment is another matter.
        let moment = Moment::Compaction("msg_1".to_owned());
        assert!(matches!(state.claim("s", &moment, 15_000, None).unwrap(), Claim::Won(_)));
        state.settle_claim(token, 16_000).unwrap();
        assert_eq!(claim(&mut state, 99_000), Claim::Settled);
        let long = Some(Duration::from_secs(5));
        let mut again = |now| state.claim("s", &Moment::Start, now, long).unwrap();
        assert_eq!(again(17_000), Claim::Settled);
        assert!(matches!(again(99_000), Claim::Won(_)), "the session no longer has it");
    }

    #[test]
    fn nobody_can_release_renew_or_link_the_claim_of_another() {
        let (_folder, mut state) = state();
        let lapsed = won(&mut state, 0);
        let token = won(&mut state, 20_000);
        assert!(!state.renew(lapsed, 21_000).unwrap());
        state.release_claim(lapsed, 21_000).unwrap();
        assert_eq!(claim(&mut state, 21_000), Claim::Held);
        assert!(state.renew(token, 30_000).unwrap());
        assert_eq!(claim(&mut state, 44_000), Claim::Held, "it stands longer now");
        state.release_claim(token, 46_000).unwrap();
        let token = won(&mut state, 45_000);
        state.settle_claim(token, 46_000).unwrap();
        state.release_claim(token, 46_000).unwrap();
        assert_eq!(claim(&mut state, 47_000), Claim::Settled, "given is given");
    }

    #[test]
    fn who_asks_with_a_time_before_the_claim_finds_it_held() {
        let (_folder, mut state) = state();
        won(&mut state, 1_000_000);
        assert_eq!(claim(&mut state, 1_000_000 - 5_000), Claim::Held);
    }

    #[test]
    fn a_clock_that_was_set_back_frees_what_it_claimed() {
        let (_folder, mut state) = state();
        won(&mut state, 1_000_000_000);
        won(&mut state, 0);
    }
}
