//! Answers hosts that read our standard output: delivers contexts to sessions, and records their
//! ends.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::app::capture::{Forgetful, before_compaction};
use crate::app::deliver::{
    DeliveryRequest, Door, PendingDelivery, deliver, release_receipt, remember, settle_receipt,
};
use crate::app::hook::closed_notice;
use crate::app::monitor;
use crate::app::session::Session;
use crate::app::supplement::{DueSupplement, GivenBy, due};
use crate::core::context::receipt::Injection;
use crate::core::context::supplement::Given;
use crate::core::handoff::choice::{HandoffChoice, HandoffQuery, HandoffRequest};
use crate::core::handoff::{Audience, HandoffId};
use crate::core::host::Host;
use crate::core::session::Moment;
use crate::core::time_limits;
use crate::hosts::transcript;
use crate::hosts::words::{EventKind, HostWords, SessionEvent, StartCause, words};
use crate::store::state::{Ending, State, StateError};
use crate::system::clock::now_ms;
use crate::system::directories::Directories;
use crate::system::environment::Environment;
use crate::system::process::detach;
use crate::system::process::identity::Process;
use crate::workspace::{Place, Request};

/// How much of a transcript is read while a host waits.
const SOON_READ_BYTES: u64 = 16 * 1024 * 1024;

/// Answers a hook; `None` if there is nothing to print.
pub fn direct(host: Host, question: &[u8], until: Instant) -> Option<PendingDelivery<String>> {
    let named = words(host)?;
    let environment = Environment::of_process();
    // The argument names the host. The marks of another one tell more.
    let (host, words): (Host, &'static dyn HostWords) = match named.guest(question, &environment) {
        Some(guest) => (guest.host(), guest),
        None => (host, named),
    };
    let is_scripted = words.is_scripted(&environment) || environment.is_in_ci();
    let mut event = words.read(question)?;
    let untold = || words.transcript(&environment, &event.folder, &event.session);
    event.transcript = event.transcript.clone().or_else(untold);
    let told = Told { host, words, event, is_scripted, until };
    match told.event.kind {
        EventKind::Started(cause) => told.answer_start(cause),
        EventKind::Prompted if words.starts_at_prompt() => {
            let at = Request::lenient(told.event.folder.clone());
            let place = Place::find(&at).ok()?;
            if let Some(reason) = &place.closed {
                return told.tell(reason);
            }
            told.give(&place, at, (Moment::Start, Some(HandoffRequest::First)), None)
        }
        EventKind::Prompted | EventKind::ToolUsed | EventKind::Compacting if words.is_guest() => {
            None
        }
        EventKind::Prompted => told.answer_prompt(),
        EventKind::ToolUsed => told.answer_tool(),
        EventKind::Compacting => told.answer_compacting(),
        EventKind::Ended { is_cleared } => {
            told.note_end(is_cleared);
            None
        }
        EventKind::Delivered { receipt } => {
            note_outcome(&environment, |state| settle_receipt(state, receipt))
        }
        EventKind::Released { receipt } => {
            note_outcome(&environment, |state| release_receipt(state, receipt))
        }
    }
}

type Reply = Option<PendingDelivery<String>>;

/// Records what became of a context.
fn note_outcome(
    environment: &Environment,
    note: impl FnOnce(&Path) -> Result<(), StateError>,
) -> Reply {
    let state = Directories::locate(environment).ok()?.state;
    // If this fails, the claim expires.
    let _ = note(&state);
    None
}

/// A moment at which a session gets a context, and the handoff that it gets then, if any.
type Due = (Moment, Option<HandoffRequest>);

/// What a host tells its hook.
struct Told {
    host: Host,
    words: &'static dyn HostWords,
    event: SessionEvent,
    /// Whether no person takes part in the session.
    is_scripted: bool,
    until: Instant,
}

impl Told {
    /// Delivers a context in the host's format. `given`: what the session already has, for a supplement.
    fn give(
        &self,
        place: &Place,
        at: Request,
        (moment, wanted): Due,
        given: Option<Given>,
    ) -> Reply {
        let (kind, words) = (self.event.kind, self.words);
        // Whoever confirms has looked that the session does not have the context.
        let confirmed = words.is_confirmed(kind).then_some(Door::BridgePrompt { is_undone: true });
        let pending = deliver(DeliveryRequest {
            door: confirmed.unwrap_or(Door::Stdout),
            session: Session {
                moment,
                prompt: self.event.prompt.clone(),
                given,
                is_scripted: self.is_scripted,
                max_chars: self.event.max_chars,
                ..Session::new(&self.event.session, at, self.host)
            },
            place,
            wanted,
            process: Process::host(),
            until: Some(self.until),
            warm: None,
        });
        Some(pending.ok()?.map(|Injection { text, id, .. }| match confirmed {
            Some(_) => words.confirmed_context(kind, &text, id),
            None => words.context(kind, &text),
        }))
    }

    /// Adds to the first prompt the notes that fit it.
    fn answer_prompt(&self) -> Reply {
        let SessionEvent { session, folder, .. } = &self.event;
        let state = Directories::locate(&Environment::of_process()).ok()?.state;
        let DueSupplement { given, folder: known } = due(&state, session, GivenBy::Start)?;
        let at = Request::lenient(known.unwrap_or_else(|| folder.clone()));
        let place = Place::find(&at).ok()?;
        self.give(&place, at, (Moment::Prompt, None), Some(given))
    }

    /// Tells the model once that its context is filling up.
    fn answer_tool(&self) -> Reply {
        let SessionEvent { session, folder, transcript, kind, .. } = &self.event;
        let notice = monitor::after_tool(session, folder, transcript.as_deref()?)?;
        Some(PendingDelivery::unclaimed(self.words.context(*kind, &notice)))
    }

    /// Writes a handoff before a compaction, and tells the summariser of it.
    fn answer_compacting(&self) -> Reply {
        let SessionEvent { session, folder, transcript, .. } = &self.event;
        let file = transcript.as_deref();
        let conversation = file.and_then(|file| transcript::read_end(file, SOON_READ_BYTES).ok());
        let told = before_compaction(&Forgetful {
            session,
            folder: folder.clone(),
            conversation: &conversation.unwrap_or_default(),
            transcript: file,
            is_scripted: self.is_scripted,
            environment: None,
        })?;
        self.words.to_summariser(&told).map(PendingDelivery::unclaimed)
    }

    /// Tells the user why there is no context.
    fn tell(&self, reason: &str) -> Reply {
        self.words.notice(&closed_notice(reason)).map(PendingDelivery::unclaimed)
    }

    fn answer_start(&self, cause: StartCause) -> Reply {
        let SessionEvent { session, folder, .. } = &self.event;
        // Commands in the session's shells then know their session.
        self.words.name_session(session);
        let here = Place::find(&Request::lenient(folder.clone())).ok()?;
        let mut state = State::open(&here.directories.state, time_limits::HOOK_STATE).ok();
        if let (Some(state), Some(file)) = (&mut state, &self.event.transcript) {
            // The monitor misses a session without this, and nobody else does.
            let _ = state.note_context(session, file, cause == StartCause::Compacted, now_ms());
        }
        let known = state.as_ref().and_then(|state| state.session_origin(session).ok()?);
        // Uses the folder where the session started, not its current one.
        let at = Request::lenient(known.as_ref().map_or(folder, |known| &known.folder).clone());
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
            StartCause::Cleared => Some((Moment::Start, None)),
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

    /// Records that a session has ended. A separate process writes the handoff, so that the host does
    /// not wait.
    fn note_end(self, is_cleared: bool) {
        let SessionEvent { session, folder, transcript, .. } = self.event;
        let Ok(place) = Place::find(&Request::lenient(folder.clone())) else { return };
        let settings = &place.settings.handoff;
        let is_on = place.settings.enabled.value && settings.enabled.value;
        // What a script leaves would take the place of what a person has left.
        let is_heard = !self.is_scripted || settings.audience.value == Audience::Any;
        let leaves_one = !is_cleared && is_on && is_heard && !self.words.is_guest();
        let mut ending = Ending { session, folder, transcript, at_ms: now_ms() };
        let noted =
            State::open(&place.directories.state, time_limits::HOOK_STATE).and_then(|mut state| {
                if let Some(known) = state.session_origin(&ending.session)? {
                    ending.folder = known.folder;
                }
                state.end_session(&ending.session, leaves_one.then_some(&ending), ending.at_ms)
            });
        // If the process cannot be started, the next session's start tries again. An end that could not
        // be recorded is passed as arguments.
        if leaves_one {
            let _ = match noted {
                Ok(()) => detach::finish_endings(),
                Err(_) => detach::finish_ending(
                    &ending.session,
                    &ending.folder,
                    ending.transcript.as_deref(),
                ),
            };
        }
    }
}
