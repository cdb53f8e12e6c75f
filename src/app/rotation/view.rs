//! A rotation, for people and programs: how far it is, why it waits, and the way out.

use serde_json::{Value, json};

use crate::core::host::Host;
use crate::core::rotation::RotationState;
use crate::core::text::number::counted;
use crate::store::state::Rotation;

#[derive(Debug)]
pub struct RotationView(pub(super) Rotation);

impl RotationView {
    pub fn state(&self) -> RotationState {
        self.0.state
    }

    pub fn session(&self) -> &str {
        &self.0.session
    }

    pub fn handoff(&self) -> &str {
        &self.0.handoff
    }

    /// When, from which session to which, by which handoff, and how far.
    pub fn line(&self) -> String {
        let Rotation { session, handoff, state, changed, new_session, reason, .. } = &self.0;
        let new = new_session.as_deref().unwrap_or("?");
        let reason = reason.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
        format!("{changed}  {session} → {new}  {handoff}  {state}{reason}")
    }

    pub fn to_json(&self) -> Value {
        let Rotation { session, host, handoff, state, reason, recorded, changed, .. } = &self.0;
        json!({
            "session": session,
            "host": host,
            "handoff": handoff,
            "state": state,
            "reason": reason,
            "recorded": recorded,
            "changed": changed,
            "new_session": self.0.new_session,
            "in_a_row": self.0.in_a_row,
            "postponed": self.0.postponed,
        })
    }

    /// What it is about to do, or why it does nothing, and the way out.
    pub fn words(&self) -> String {
        use RotationState::{
            Cancelled, Cleared, Clearing, Done, Dropped, Expired, Reserved, Scheduled, Stuck,
            Superseded, Waiting,
        };
        let because = self.0.reason.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
        let passed = match self.0.postponed {
            0 => String::new(),
            n => format!(", {} ended without it", counted(n as usize, "turn")),
        };
        let new = self.0.new_session.as_deref().unwrap_or_default();
        let id = &self.0.handoff;
        match self.0.state {
            Scheduled => format!(
                "waits for the end of a turn{passed}{because}; `kgctx handoff rotate --cancel` cancels it"
            ),
            Reserved => "waits for an idle window with an empty composer".to_owned(),
            Clearing if self.0.host == Host::Opencode => {
                "OpenCode makes the new session".to_owned()
            }
            Clearing => "the window is being cleared".to_owned(),
            Cleared => format!("session {new} has the handoff and gets its first prompt"),
            Waiting => {
                format!("session {new} has the handoff and waits for a prompt{because}; type one")
            }
            Stuck if self.0.is_given_up() => format!(
                "given up, nothing was cleared{passed}{because}; run `kgctx handoff rotate --retry` to start again, or --cancel to leave the handoff to the next session"
            ),
            Stuck => format!(
                "stuck{because}; look at the window, then run `kgctx handoff rotate --retry` to clear it again, or --cancel"
            ),
            Done => format!("session {new} continues"),
            Cancelled => format!("cancelled; the handoff {id} waits for the next session"),
            Dropped if !new.is_empty() => format!(
                "dropped{because}, before session {new} got a prompt; the handoff {id} waits for the next session"
            ),
            Dropped | Expired => {
                format!("{}{because}; the handoff {id} waits for the next session", self.0.state)
            }
            Superseded => "superseded by a later one of the same session".to_owned(),
        }
    }
}
