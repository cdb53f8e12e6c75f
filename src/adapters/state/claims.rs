//! Claims: of all who want to give a session its context, exactly one may.

use std::time::Duration;

use rusqlite::{OptionalExtension, TransactionBehavior, params};

use crate::adapters::state::{State, StateError};
use crate::domain::session::Moment;

/// How long a claim stands that is neither settled nor released: longer than making and delivering a context takes at worst.
const LEASE: Duration = Duration::from_secs(15);

/// How a claim went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    /// It is ours.
    Won,
    /// Somebody else is about to give the context, or died trying: in that case it is free after so long.
    Held(Duration),
    /// The session was given its context so long ago.
    Settled(Duration),
}

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
        let lease_ms = LEASE.as_millis() as i64;
        let since = |then: i64| Duration::from_millis(u64::try_from(now_ms - then).unwrap_or(0));
        self.write(|connection| {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let last: Option<(i64, Option<i64>)> = transaction
                .query_row(
                    "SELECT until, settled FROM claims WHERE session = ?1 AND moment = ?2",
                    params![session, moment.to_string()],
                    |row| Ok((row.get(0)?, row.get(1)?)),
                )
                .optional()?;
            match last {
                Some((_, Some(settled))) if again.is_none_or(|age| since(settled) < age) => {
                    return Ok(Claim::Settled(since(settled)));
                }
                // A clock that was set back must not leave a claim standing for longer than any is made for.
                Some((until, None)) if until > now_ms && until - now_ms <= lease_ms => {
                    let left = u64::try_from(until - now_ms).unwrap_or(0);
                    return Ok(Claim::Held(Duration::from_millis(left)));
                }
                _ => {}
            }
            transaction.execute(
                "INSERT OR REPLACE INTO claims (session, moment, until) VALUES (?1, ?2, ?3)",
                params![session, moment.to_string(), now_ms.saturating_add(lease_ms)],
            )?;
            transaction.commit()?;
            Ok(Claim::Won)
        })
    }

    /// How a moment of a session stands, without claiming it; `None` where nobody has.
    pub fn claimed(
        &self,
        session: &str,
        moment: &Moment,
        now_ms: i64,
    ) -> Result<Option<Claim>, StateError> {
        let claim = self.connection.query_row(
            "SELECT until, settled FROM claims WHERE session = ?1 AND moment = ?2",
            params![session, moment.to_string()],
            |row| {
                let (until, settled): (i64, Option<i64>) = (row.get(0)?, row.get(1)?);
                let ms = |ms: i64| Duration::from_millis(u64::try_from(ms).unwrap_or(0));
                Ok(match settled {
                    Some(settled) => Claim::Settled(ms(now_ms - settled)),
                    None => Claim::Held(ms(until - now_ms)),
                })
            },
        );
        claim.optional().map_err(|cause| self.failed(cause))
    }

    /// The session has the context of this receipt. Returns whether there is such a claim.
    pub fn settle(&mut self, receipt: i64, now_ms: i64) -> Result<bool, StateError> {
        self.write(|connection| {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let n_settled = transaction.execute(
                "UPDATE claims SET settled = ?2 WHERE injection = ?1 AND settled IS NULL",
                params![receipt, now_ms],
            )?;
            transaction.execute(
                "UPDATE injections SET delivered = 1, receipt = json_set(receipt, '$.delivered', json('true')) \
                 WHERE id = ?1",
                [receipt],
            )?;
            transaction.commit()?;
            Ok(n_settled > 0)
        })
    }

    /// The session already had a context of this moment when it was looked at.
    pub fn settle_moment(
        &mut self,
        session: &str,
        moment: &Moment,
        now_ms: i64,
    ) -> Result<(), StateError> {
        self.write(|connection| {
            connection.execute(
                "INSERT INTO claims (session, moment, until, settled) VALUES (?1, ?2, ?3, ?3) \
                 ON CONFLICT DO UPDATE SET settled = coalesce(settled, excluded.settled)",
                params![session, moment.to_string(), now_ms],
            )?;
            Ok(())
        })
    }

    /// The context of this receipt was not given after all: the moment is free again.
    pub fn release(&mut self, receipt: i64) -> Result<(), StateError> {
        self.write(|connection| {
            let sql = "DELETE FROM claims WHERE injection = ?1 AND settled IS NULL";
            connection.execute(sql, [receipt]).map(drop)
        })
    }

    /// A claim for which there will be no receipt is given up.
    pub fn release_moment(&mut self, session: &str, moment: &Moment) -> Result<(), StateError> {
        self.write(|connection| {
            let sql = "DELETE FROM claims WHERE session = ?1 AND moment = ?2 AND settled IS NULL";
            connection.execute(sql, params![session, moment.to_string()]).map(drop)
        })
    }
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
            assert_eq!(
                claims.iter().filter(|&&claim| claim == Claim::Won).count(),
                1,
                "{claims:?}"
            );
        }
    }

    #[test]
    fn a_claim_is_held_until_its_time_is_up_and_settled_for_good() {
        let (_folder, mut state) = state();
        let mut claim = |now, again| state.claim("s", &Moment::Start, now, again).unwrap();
        assert_eq!(claim(0, None), Claim::Won);
        assert_eq!(claim(4_000, None), Claim::Held(Duration::from_secs(11)));
        assert_eq!(claim(15_000, None), Claim::Won, "whoever had it is gone");
        // Another moment is another matter.
        let moment = Moment::Compaction("msg_1".to_owned());
        assert_eq!(state.claim("s", &moment, 10_000, None).unwrap(), Claim::Won);
        state.settle_moment("s", &Moment::Start, 11_000).unwrap();
        let mut claim = |now, again| state.claim("s", &Moment::Start, now, again).unwrap();
        assert_eq!(claim(99_000, None), Claim::Settled(Duration::from_secs(88)));
        let long = Some(Duration::from_secs(5));
        assert_eq!(claim(12_000, long), Claim::Settled(Duration::from_secs(1)));
        assert_eq!(claim(99_000, long), Claim::Won, "the session no longer has it");
    }

    #[test]
    fn a_released_claim_is_free_and_a_settled_one_cannot_be_released() {
        let (_folder, mut state) = state();
        let claim = |state: &mut State| state.claim("s", &Moment::Start, 0, None).unwrap();
        assert_eq!(claim(&mut state), Claim::Won);
        state.release_moment("s", &Moment::Start).unwrap();
        assert_eq!(claim(&mut state), Claim::Won);
        state.settle_moment("s", &Moment::Start, 1).unwrap();
        state.release_moment("s", &Moment::Start).unwrap();
        assert!(matches!(claim(&mut state), Claim::Settled(_)));
    }

    #[test]
    fn a_clock_that_was_set_back_frees_what_it_claimed() {
        let (_folder, mut state) = state();
        let mut claim = |now| state.claim("s", &Moment::Start, now, None).unwrap();
        assert_eq!(claim(1_000_000_000), Claim::Won);
        assert_eq!(claim(0), Claim::Won);
    }
}
