//! A door: one of the ways a context takes into a session, with its rules of waiting and settling.

use std::time::Duration;

use crate::core::time_limits;
use crate::store::state::StateError;
use crate::system::process::identity::Process;

/// A way into a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Door {
    /// The bridge inside of OpenCode saw a new session. It can ask again at the first prompt.
    BridgeEvent,
    /// The bridge holds a prompt back. `is_undone`: it saw an undo remove the context that was given before.
    BridgePrompt { is_undone: bool },
    /// The host reads our standard output: the context is delivered with its last byte.
    Stdout,
    /// We store a message through an OpenCode server's API.
    Http,
}

impl Door {
    /// Whether the claim outlives this process, and the bridge settles or releases it by the receipt's number.
    pub(super) fn is_bridge(self) -> bool {
        matches!(self, Door::BridgeEvent | Door::BridgePrompt { .. })
    }

    /// Whether to wait for another process that holds the claim.
    pub(super) fn waits(self) -> bool {
        matches!(self, Door::BridgePrompt { .. })
    }

    /// The process whose end voids the claim.
    pub(super) fn owner(self) -> Option<Process> {
        (self == Door::Stdout).then(Process::this)
    }

    /// After how long a moment that was settled may be claimed again, because the session no longer has its context.
    pub(super) fn again(self) -> Option<Duration> {
        match self {
            Door::BridgePrompt { is_undone: true } => Some(Duration::ZERO),
            Door::BridgePrompt { is_undone: false } => Some(time_limits::UNDONE_AFTER),
            Door::BridgeEvent | Door::Stdout | Door::Http => None,
        }
    }

    pub(super) fn state_patience(self) -> Duration {
        match self {
            Door::Http => time_limits::DELIVERY_STATE,
            _ => time_limits::HOOK_STATE,
        }
    }

    /// Whether a state with this error forbids to give anything. A hook is called once per moment and gives the context without a
    /// handoff. A bridge does not, where a newer version may hold a claim that this one cannot read.
    pub(super) fn is_stopped_by(self, error: &StateError) -> bool {
        match self {
            Door::Http => true,
            Door::Stdout => false,
            Door::BridgeEvent | Door::BridgePrompt { .. } => {
                matches!(error, StateError::Newer { .. })
            }
        }
    }
}
