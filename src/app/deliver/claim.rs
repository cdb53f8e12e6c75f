//! A claim to a session's moment. Dropping it releases the claim.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::app::deliver::door::Door;
use crate::app::deliver::refusal::NotDelivered;
use crate::core::session::Moment;
use crate::core::time_limits;
use crate::store::state::{Claim, Result, State, Token};
use crate::system::clock::now_ms;

const BUSY: &str = "the state was busy until shortly before the deadline";

/// What happens to a claim that is dropped.
#[derive(Debug, Clone, Copy)]
pub(super) enum ClaimEnd {
    /// The session does not have the context: the moment and its handoff are free again.
    Release,
    /// The session has the context.
    Settle { receipt: Option<i64> },
    /// The session may have the context. The bridge settles or releases the claim by the receipt's
    /// id, or its lease ends.
    Leave,
}

/// The result of claiming a moment.
pub(super) enum Taken {
    Claimed(SessionClaim, Box<State>),
    /// The door delivers without a claim, because the state is unusable, or busy for too long.
    Unclaimed {
        reason: String,
    },
}

/// A claim that this process won. Dropped, it ends as `end` says: it releases itself, unless the session may have the
/// context.
#[derive(Debug)]
pub(super) struct SessionClaim {
    folder: PathBuf,
    session: String,
    patience: Duration,
    pub(super) token: Token,
    until: Option<Instant>,
    pub(super) end: ClaimEnd,
}

impl SessionClaim {
    /// Claims a moment.
    pub(super) fn take(
        folder: &Path,
        session: &str,
        moment: &Moment,
        door: Door,
        until: Option<Instant>,
    ) -> Result<Taken, NotDelivered> {
        let mut opened = None;
        loop {
            match try_claim(&mut opened, folder, session, moment, door) {
                Ok(Claim::Won(token)) => {
                    let claim = SessionClaim {
                        folder: folder.to_path_buf(),
                        session: session.to_owned(),
                        patience: door.state_patience(),
                        token,
                        until,
                        end: ClaimEnd::Release,
                    };
                    return Ok(match opened {
                        Some(state) => Taken::Claimed(claim, Box::new(state)),
                        None => Taken::Unclaimed { reason: BUSY.to_owned() },
                    });
                }
                Ok(Claim::Settled) => return Err(NotDelivered::Has(session.to_owned())),
                Ok(Claim::Held) if door.waits() && left(until) > time_limits::HELD_POLL => {}
                Ok(Claim::Held) => return Err(NotDelivered::Taken(session.to_owned())),
                Err(error) if door.needs_state() => return Err(error.into()),
                // The process that locks the state may be delivering this very context.
                Err(error) if error.is_transient() && door.asks_again() => {
                    return Err(NotDelivered::Taken(session.to_owned()));
                }
                Err(error) if error.is_transient() => {
                    // Another try takes up to the patience.
                    if left(until) < time_limits::UNCLAIMED_CONTEXT + door.state_patience() {
                        return Ok(Taken::Unclaimed { reason: BUSY.to_owned() });
                    }
                }
                Err(error) => return Ok(Taken::Unclaimed { reason: error.to_string() }),
            }
            thread::sleep(time_limits::HELD_POLL);
        }
    }

    /// Extends the claim; fails if another process has taken it over.
    pub(super) fn renew(&self) -> Result<(), NotDelivered> {
        match self.write(self.patience, |state| state.renew_claim(self.token, now_ms()))? {
            true => Ok(()),
            false => Err(NotDelivered::Taken(self.session.clone())),
        }
    }

    fn write<T>(
        &self,
        patience: Duration,
        write: impl FnOnce(&mut State) -> Result<T>,
    ) -> Result<T> {
        State::open(&self.folder, patience).and_then(|mut state| write(&mut state))
    }
}

impl Drop for SessionClaim {
    fn drop(&mut self) {
        let (token, patience) = (self.token, self.patience);
        // If this fails, the claim expires.
        let _ = match self.end {
            ClaimEnd::Release => self.write(patience, |state| state.release_claim(token, now_ms())),
            // Waits longer, because an unrecorded settlement leads to a second delivery.
            ClaimEnd::Settle { receipt } => {
                self.write(patience.max(left(self.until)), |state| match receipt {
                    Some(receipt) => state.settle_receipt(receipt, now_ms()).map(drop),
                    None => state.settle_claim(token, now_ms()),
                })
            }
            ClaimEnd::Leave => Ok(()),
        };
    }
}

/// The time that is left.
fn left(until: Option<Instant>) -> Duration {
    until.map_or(Duration::ZERO, |until| until.saturating_duration_since(Instant::now()))
}

fn try_claim(
    opened: &mut Option<State>,
    folder: &Path,
    session: &str,
    moment: &Moment,
    door: Door,
) -> Result<Claim> {
    let state = match opened {
        Some(state) => state,
        None => opened.insert(State::open(folder, door.state_patience())?),
    };
    let (now_ms, again) = (now_ms(), door.again());
    // A bridge first looks without a lock, so that waiting prompts do not block the holder.
    if door.is_bridge() && !state.is_claimable(session, moment, now_ms, again)? {
        return Ok(Claim::Held);
    }
    state.claim_for(door.owner(), session, moment, now_ms, again)
}

/// Handles the bridge's message that the session has the context of this receipt.
pub fn settle_receipt(folder: &Path, receipt: i64) -> Result<()> {
    let mut state = State::open(folder, Door::BridgeEvent.state_patience())?;
    state.settle_receipt(receipt, now_ms()).map(drop)
}

/// Handles the bridge's message that the context of this receipt was not used.
pub fn release_receipt(folder: &Path, receipt: i64) -> Result<()> {
    let mut state = State::open(folder, Door::BridgeEvent.state_patience())?;
    state.release_receipt(receipt, now_ms())
}
