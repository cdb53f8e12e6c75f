//! A claim to a session's moment. Dropping it releases the claim.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::app::deliver::door::Door;
use crate::app::deliver::refusal::NotDelivered;
use crate::core::session::Moment;
use crate::core::time_limits;
use crate::store::state::{Claim, State, StateError, Token};
use crate::system::clock;

/// A claim that this process won. Unless it is settled or held open, dropping it frees the moment
/// and its handoff.
#[derive(Debug)]
pub(super) struct SessionClaim {
    folder: PathBuf,
    session: String,
    patience: Duration,
    token: Token,
    is_held_open: bool,
}

impl SessionClaim {
    /// Claims a moment; `None` if the state is unusable and the door delivers without it.
    pub(super) fn take(
        folder: &Path,
        session: &str,
        moment: &Moment,
        door: Door,
        until: Option<Instant>,
    ) -> Result<Option<(SessionClaim, State)>, NotDelivered> {
        let mut opened = None;
        loop {
            match try_claim(&mut opened, folder, session, moment, door) {
                Ok(Claim::Won(token)) => {
                    let claim = SessionClaim {
                        folder: folder.to_path_buf(),
                        session: session.to_owned(),
                        patience: door.state_patience(),
                        token,
                        is_held_open: false,
                    };
                    return Ok(opened.map(|state| (claim, state)));
                }
                Ok(Claim::Settled) => return Err(NotDelivered::Has(session.to_owned())),
                Ok(Claim::Held) => {}
                Err(error) if door.is_stopped_by(&error) => return Err(error.into()),
                // The process that locks the state may be delivering this very context.
                Err(error) if error.is_transient() => {}
                Err(_) => return Ok(None),
            }
            let left = until
                .map_or(Duration::ZERO, |until| until.saturating_duration_since(Instant::now()));
            if !door.waits() || left < time_limits::HELD_POLL {
                return Err(NotDelivered::Taken(session.to_owned()));
            }
            thread::sleep(time_limits::HELD_POLL);
        }
    }

    pub(super) fn token(&self) -> Token {
        self.token
    }

    /// Extends the claim; fails if another process has taken it over.
    pub(super) fn renew(&self) -> Result<(), NotDelivered> {
        match self.write(self.patience, |state| state.renew_claim(self.token, now_ms()))? {
            true => Ok(()),
            false => Err(NotDelivered::Taken(self.session.clone())),
        }
    }

    /// From now on the session may have the context: only a definite outcome or the end of its
    /// lease ends the claim.
    pub(super) fn hold_open(&mut self) {
        self.is_held_open = true;
    }

    /// Records that the session has the context. Waits up to `left`, because an unrecorded
    /// settlement leads to a second delivery.
    pub(super) fn settle(mut self, receipt: Option<i64>, left: Duration) {
        self.is_held_open = true;
        let _ = self.write(left.max(self.patience), |state| match receipt {
            Some(receipt) => state.settle_receipt(receipt, now_ms()).map(drop),
            None => state.settle_claim(self.token, now_ms()),
        });
    }

    /// Records that the session does not have the context.
    pub(super) fn release(mut self) {
        self.is_held_open = false;
    }

    fn write<T>(
        &self,
        patience: Duration,
        write: impl FnOnce(&mut State) -> Result<T, StateError>,
    ) -> Result<T, StateError> {
        State::open(&self.folder, patience).and_then(|mut state| write(&mut state))
    }
}

impl Drop for SessionClaim {
    fn drop(&mut self) {
        if !self.is_held_open {
            // If releasing fails, the claim expires.
            let _ = self.write(self.patience, |state| state.release_claim(self.token, now_ms()));
        }
    }
}

fn try_claim(
    opened: &mut Option<State>,
    folder: &Path,
    session: &str,
    moment: &Moment,
    door: Door,
) -> Result<Claim, StateError> {
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
pub fn settle_receipt(folder: &Path, receipt: i64) -> Result<(), StateError> {
    let mut state = State::open(folder, Door::BridgeEvent.state_patience())?;
    state.settle_receipt(receipt, now_ms()).map(drop)
}

/// Handles the bridge's message that the context of this receipt was not used.
pub fn release_receipt(folder: &Path, receipt: i64) -> Result<(), StateError> {
    let mut state = State::open(folder, Door::BridgeEvent.state_patience())?;
    state.release_receipt(receipt, now_ms())
}

pub(super) fn now_ms() -> i64 {
    clock::now().milliseconds()
}
