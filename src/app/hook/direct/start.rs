//! A session starts, is resumed, was cleared or compacted: which context and which handoff it gets.

use std::time::Duration;

use super::{Due, Reply, Told};
use crate::app::deliver::remember;
use crate::app::monitor;
use crate::app::restart;
use crate::app::rotation;
use crate::core::handoff::HandoffId;
use crate::core::handoff::choice::{HandoffChoice, HandoffQuery, HandoffRequest};
use crate::core::session::Moment;
use crate::core::time_limits;
use crate::hosts::transcript;
use crate::hosts::words::{SessionEvent, StartCause};
use crate::store::state::{Ending, State};
use crate::system::clock::now_ms;
use crate::system::environment::Environment;
use crate::system::process::detach;
use crate::system::process::identity::Process;
use crate::workspace::Place;

impl Told {
    pub(super) fn answer_start(&self, cause: StartCause) -> Reply {
        let SessionEvent { session, folder, .. } = &self.event;
        // Commands in the session's shells then know their session.
        self.words.name_session(session);
        let here = Place::find(&self.limits.request(folder.clone())).ok()?;
        let mut state = State::open(&here.directories.state, time_limits::HOOK_STATE).ok();
        if let (Some(state), Some(file)) = (&mut state, &self.event.transcript) {
            // The monitor misses a session without this, and nobody else does.
            let (is_fresh, lets) = (cause == StartCause::Compacted, monitor::compaction_window());
            let _ = state.note_context(session, file, is_fresh, lets, now_ms());
        }
        if let Some(state) = state.as_mut().filter(|_| !self.words.is_guest()) {
            restart::track(state, session, folder);
        }
        let rotation = match (cause, &mut state) {
            (StartCause::Cleared, Some(state)) if !self.words.is_guest() => {
                rotation::cleared(state, session)
            }
            _ => None,
        };
        let known = state.as_ref().and_then(|state| state.session_origin(session).ok()?);
        // Uses the folder where the session started, not its current one.
        let at = self.limits.request(known.as_ref().map_or(folder, |known| &known.folder).clone());
        let place = match known {
            Some(_) => Place::find(&at).unwrap_or(here),
            None => here,
        };
        if let Some(reason) = &place.closed {
            return self.tell(reason);
        }
        if !place.settings.enabled.value {
            return None;
        }
        if let Some(state) = &mut state {
            self.end_lost_sessions(&place, state);
            rotation::look_after(state);
        }
        if let Some(rotation) = rotation {
            let due = (Moment::Start, Some(HandoffRequest::Rotated));
            let given = self.inject(&place, at, due, None)?;
            rotation::note_given(&place, &rotation, &given.content);
            return Some(self.reply(given));
        }
        if place.settings.handoff.enabled.value
            && state.as_ref().is_some_and(|state| state.has_free_ending(now_ms()).unwrap_or(false))
        {
            // The process that should have written the handoff has ended.
            let _ = detach::finish_endings();
        }
        let since = || known.map(|known| known.at_ms).or_else(|| self.last_said());
        let due = match (self.due(cause, &place, state, since)?, self.words.is_guest()) {
            // It may drop the answer, and the handoff would be lost.
            ((moment, _), true) => (moment, None),
            (due, false) => due,
        };
        self.give(&place, at, due, None)
    }

    /// The session's moment; `None` if it gets no context.
    fn due(
        &self,
        cause: StartCause,
        place: &Place,
        state: Option<State>,
        since: impl FnOnce() -> Option<i64>,
    ) -> Option<Due> {
        let session = &self.event.session;
        let start = Some((Moment::Start, Some(HandoffRequest::First)));
        match cause {
            StartCause::New => start,
            StartCause::Cleared if place.settings.handoff.inject_on_clear.value => {
                // A session that keeps its id has had its handoff; whoever clears it wants to be rid of that.
                let is_same = !self.words.keeps_context();
                let other = Some((Moment::Start, Some(HandoffRequest::Since(i64::MIN))));
                if is_same { other } else { start }
            }
            // Whoever clears wants to be rid of what was, and still works in this project.
            StartCause::Cleared => Some((Moment::Start, Some(HandoffRequest::Tasks))),
            StartCause::Compacted => {
                let compactions = state.and_then(|state| state.compactions(session).ok());
                let Some((count, last)) = compactions else {
                    // Nothing tells this compaction from earlier ones. Its notes are gone all the same.
                    return Some((Moment::Compaction(now_ms().to_string()), None));
                };
                let same = 0..time_limits::SAME_COMPACTION.as_millis() as i64;
                let is_same = last.is_some_and(|last| same.contains(&(now_ms() - last)));
                let moment = Moment::Compaction((count + 1).to_string());
                (!is_same).then_some((moment, Some(HandoffRequest::Again)))
            }
            // What it had is still there, or it would drop the answer.
            StartCause::Resumed if self.words.is_guest() => {
                self.remember(place, state);
                None
            }
            StartCause::Resumed => {
                // With an unknown age, no handoff counts as newer.
                let request = HandoffRequest::Since(since().unwrap_or(i64::MAX));
                let newer = state.as_ref().and_then(|state| self.newer(place, state, request));
                match newer {
                    newer if !self.words.keeps_context() => {
                        let again = newer.map_or(HandoffRequest::Again, |_| request);
                        Some((Moment::Start, Some(again)))
                    }
                    Some(newer) => Some((Moment::Handoff(newer.to_string()), Some(request))),
                    None => {
                        self.remember(place, state);
                        None
                    }
                }
            }
        }
    }

    /// The handoff that was left for the session meanwhile.
    fn newer(&self, place: &Place, state: &State, request: HandoffRequest) -> Option<HandoffId> {
        let query = HandoffQuery {
            scope: &place.project.scope,
            session: &self.event.session,
            request,
            is_scripted: self.is_scripted,
            max_age: place.settings.handoff.max_age(),
            now_ms: now_ms(),
            unusable: &[],
        };
        match state.preview_handoff(&query, Process::host()).ok()? {
            HandoffChoice::Given(newer) => Some(newer.id),
            _ => None,
        }
    }

    /// Records the end of sessions whose process is gone and whose host told nothing, as one that was killed: the handoff
    /// comes from what their transcripts have.
    fn end_lost_sessions(&self, place: &Place, state: &mut State) {
        let environment = Environment::of_process();
        let SessionEvent { session, folder, .. } = &self.event;
        if self.words.transcript(&environment, folder, session).is_none() {
            // The host tells every end.
            return;
        }
        for (session, folder) in state.lost_sessions(&place.project.scope).unwrap_or_default() {
            let transcript = self.words.transcript(&environment, &folder, &session);
            let written = transcript.as_deref().and_then(transcript::last_written);
            if let Some(at_ms) = written.filter(|_| session != self.event.session) {
                let ending = Ending { session, folder, transcript, at_ms };
                // If this fails, the next start tries again.
                let _ = state.end_session(&ending.session, Some(&ending), at_ms);
            }
        }
    }

    /// The time of the last response in the session, in milliseconds since 1970.
    fn last_said(&self) -> Option<i64> {
        if let Some(written) = self.event.transcript.as_deref().and_then(transcript::last_written) {
            return Some(written);
        }
        // A fork has no transcript yet. Its silence is rounded to whole seconds: delivering twice
        // is better than never.
        let silence = self.event.silence?.saturating_add(Duration::from_secs(1));
        Some(now_ms().saturating_sub(i64::try_from(silence.as_millis()).ok()?))
    }

    /// Records a session that gets no context.
    fn remember(&self, place: &Place, state: Option<State>) {
        if let Some(mut state) = state {
            let SessionEvent { session, folder, .. } = &self.event;
            remember(&mut state, session, place, folder, Process::host());
        }
    }
}
