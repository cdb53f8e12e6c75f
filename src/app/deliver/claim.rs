//! A claim to a session's moment that releases itself when it is dropped.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::app::deliver::door::Door;
use crate::app::deliver::refusal::NotDelivered;
use crate::core::session::Moment;
use crate::core::time_limits;
use crate::store::state::{Claim, State, StateError, Token};
use crate::system::clock;

/// A claim that this process won. Unless it is settled or held open, dropping it frees the moment and its handoff.
#[derive(Debug)]
pub(super) struct SessionClaim {
    folder: PathBuf,
    session: String,
    patience: Duration,
    token: Token,
    is_held_open: bool,
}

impl SessionClaim {
    /// Claims a moment; `None` where the door gives a context without a usable state.
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
                // The process that writes the state may be the one that gives this context.
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

    /// Extends the claim, unless another process has taken it over.
    pub(super) fn renew(&self) -> Result<(), NotDelivered> {
        match self.write(self.patience, |state| state.renew_claim(self.token, now_ms()))? {
            true => Ok(()),
            false => Err(NotDelivered::Taken(self.session.clone())),
        }
    }

    /// From now on the session may have the context: only a certain outcome ends the claim, or its lease.
    pub(super) fn hold_open(&mut self) {
        self.is_held_open = true;
    }

    /// The session has the context. Waits up to `left`, since a settlement that is not written down delivers twice.
    pub(super) fn settle(mut self, receipt: Option<i64>, left: Duration) {
        self.is_held_open = true;
        let _ = self.write(left.max(self.patience), |state| match receipt {
            Some(receipt) => state.settle_receipt(receipt, now_ms()).map(drop),
            None => state.settle_claim(self.token, now_ms()),
        });
    }

    /// The session surely does not have the context.
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
            // A claim that cannot be released lapses.
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
    // A bridge looks without a lock first, so that waiting prompts do not block the holder.
    if door.is_bridge() && !state.is_claimable(session, moment, now_ms, again)? {
        return Ok(Claim::Held);
    }
    state.claim_for(door.owner(), session, moment, now_ms, again)
}

/// The bridge says that the session has the context of this receipt.
pub fn settle_receipt(folder: &Path, receipt: i64) -> Result<(), StateError> {
    let mut state = State::open(folder, Door::BridgeEvent.state_patience())?;
    state.settle_receipt(receipt, now_ms()).map(drop)
}

/// The bridge says that the context of this receipt was not used.
pub fn release_receipt(folder: &Path, receipt: i64) -> Result<(), StateError> {
    let mut state = State::open(folder, Door::BridgeEvent.state_patience())?;
    state.release_receipt(receipt, now_ms())
}

pub(super) fn now_ms() -> i64 {
    clock::now().milliseconds()
}
