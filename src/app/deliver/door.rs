//! A door: one of the ways by which a context enters a session, with its rules for waiting and
//! settling.

use std::time::Duration;

use crate::core::time_limits;
use crate::system::process::identity::Process;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Door {
    /// The bridge in OpenCode saw a new session. It can ask again at the first prompt.
    BridgeEvent,
    /// The bridge holds back a prompt. `is_undone`: an undo removed the earlier context, or no model can see it.
    BridgePrompt { is_undone: bool },
    /// The bridge holds back the first prompt, which a supplement may go with.
    BridgeSupplement,
    /// The host reads our standard output: the context is delivered with its last byte.
    Stdout,
    /// kgctx stores a message through an OpenCode server's API.
    Http,
}

impl Door {
    /// Whether the claim outlives this process, and the bridge settles or releases it by the
    /// receipt's id.
    pub(super) fn is_bridge(self) -> bool {
        match self {
            Door::BridgeEvent | Door::BridgePrompt { .. } | Door::BridgeSupplement => true,
            Door::Stdout | Door::Http => false,
        }
    }

    /// Whether to wait for another process that holds the claim.
    pub(super) fn waits(self) -> bool {
        matches!(self, Door::BridgePrompt { .. })
    }

    /// Whether the same context can be asked for later, so that a busy state costs nothing.
    pub(super) fn asks_again(self) -> bool {
        match self {
            Door::BridgeEvent | Door::BridgeSupplement | Door::Http => true,
            Door::BridgePrompt { .. } | Door::Stdout => false,
        }
    }

    /// The process whose end voids the claim.
    pub(super) fn owner(self) -> Option<Process> {
        (self == Door::Stdout).then(Process::this)
    }

    /// The time after which a settled moment may be claimed again, because the session no longer
    /// has its context.
    pub(super) fn again(self) -> Option<Duration> {
        match self {
            Door::BridgePrompt { is_undone: true } => Some(Duration::ZERO),
            Door::BridgePrompt { is_undone: false } => Some(time_limits::UNDONE_AFTER),
            Door::BridgeEvent | Door::BridgeSupplement | Door::Stdout | Door::Http => None,
        }
    }

    pub(super) fn state_patience(self) -> Duration {
        match self {
            Door::Http => time_limits::DELIVERY_STATE,
            _ => time_limits::HOOK_STATE,
        }
    }

    /// Whether an error of the state forbids any delivery. A hook runs once per moment, and a bridge sees to it that a
    /// session gets a context once: they deliver it without a handoff.
    pub(super) fn needs_state(self) -> bool {
        self == Door::Http
    }
}
