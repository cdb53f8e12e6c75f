//! Sessions of OpenCode that are at rest: OpenCode tells no end, so what was said is kept until the session is over.

use crate::app::hook::{Caller, unsuitable};
use crate::app::rotation;
use crate::core::handoff::Audience;
use crate::core::handoff::conversation::Conversation;
use crate::core::time_limits;
use crate::hosts::opencode::{self, said};
use crate::store::state::{Ending, Result, State};
use crate::system::clock::now_ms;
use crate::system::directories::Directories;
use crate::system::process::detach;
use crate::workspace::{Place, Request};

impl Caller<'_> {
    fn state(&self) -> Result<Option<State>> {
        match Directories::locate(&self.environment()) {
            Ok(directories) => State::open_if_there(&directories.state, time_limits::HOOK_STATE),
            Err(_) => Ok(None),
        }
    }

    /// Keeps what was said in a session that leaves a handoff, if it does not go on.
    pub(super) fn note_rest(
        &self,
        session: &opencode::Session,
        conversation: &Conversation,
    ) -> Result<()> {
        let folder = session.directory.clone().into();
        let environment = self.environment.clone();
        let place = Place::find(&Request { environment, ..Request::lenient(folder) });
        let Some(place) = place.ok().filter(|place| self.leaves_one(place, session, conversation))
        else {
            return Ok(());
        };
        let mut state = State::open(&place.directories.state, time_limits::HOOK_STATE)?;
        let Some(transcript) = said::keep(&place.directories.state, &session.id, conversation)
        else {
            return Ok(());
        };
        let at_ms = conversation.last_ms.unwrap_or_else(now_ms);
        let ending = Ending {
            session: session.id.clone(),
            folder: session.directory.clone().into(),
            transcript: Some(transcript),
            at_ms,
        };
        let due_ms = now_ms() + time_limits::IDLE_SESSION.as_millis() as i64;
        state.hold_ending(&ending, due_ms)
    }

    /// Whether a session with this conversation leaves a handoff when it is over.
    fn leaves_one(
        &self,
        place: &Place,
        session: &opencode::Session,
        conversation: &Conversation,
    ) -> bool {
        let settings = &place.settings.handoff;
        let is_on = place.settings.enabled.value && settings.enabled.value;
        let is_scripted = session.is_scripted() || self.is_in_ci();
        let is_heard = !is_scripted || settings.audience.value == Audience::Any;
        let is_long = conversation.turns >= settings.min_turns.value as usize;
        is_on && is_heard && is_long && place.closed.is_none() && unsuitable(session).is_none()
    }

    /// A session is over, or seems to be: a process of its own writes the handoff.
    pub(super) fn note_over(&self, session: &str, is_idle: bool) -> Result<()> {
        let Some(mut state) = self.state()? else { return Ok(()) };
        if !is_idle {
            rotation::ended(&mut state, session);
            state.end_session(session, None, now_ms())?;
        }
        if state.release_ending(session)? {
            // If this fails, the next start tries again.
            let _ = detach::finish_endings();
        }
        Ok(())
    }

    /// Has the handoffs written of sessions that are over by now.
    pub(super) fn finish_endings(&self) {
        let is_free = |state: State| state.has_free_ending(now_ms()).unwrap_or(false);
        if self.state().is_ok_and(|state| state.is_some_and(is_free)) {
            // If this fails, the next start tries again.
            let _ = detach::finish_endings();
        }
    }
}
