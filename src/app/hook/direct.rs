//! Answers hosts that read our standard output: delivers contexts to sessions, and records their
//! ends.

use std::time::{Duration, Instant};

use crate::app::deliver::{DeliveryRequest, Door, PendingDelivery, deliver, remember};
use crate::app::hook::closed_notice;
use crate::app::session::Session;
use crate::app::supplement::{DueSupplement, GivenBy, due};
use crate::core::context::supplement::Given;
use crate::core::handoff::choice::{HandoffChoice, HandoffQuery, HandoffRequest};
use crate::core::host::Host;
use crate::core::session::Moment;
use crate::core::time_limits;
use crate::hosts::claude_code::transcript;
use crate::hosts::words::{EventKind, HostWords, SessionEvent, StartCause, words};
use crate::store::state::{Ending, State};
use crate::system::clock::now_ms;
use crate::system::directories::Directories;
use crate::system::environment::Environment;
use crate::system::process::detach;
use crate::system::process::identity::Process;
use crate::workspace::{Place, Request};

/// Answers a hook; `None` if there is nothing to print.
pub fn direct(host: Host, question: &[u8], until: Instant) -> Option<PendingDelivery<String>> {
    let words = words(host)?;
    let told = Told { host, words, event: words.read(question)?, until };
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
        EventKind::Prompted => told.answer_prompt(),
        EventKind::Ended { is_cleared } => {
            note_end(told.event, is_cleared);
            None
        }
    }
}

type Reply = Option<PendingDelivery<String>>;

/// A moment at which a session gets a context, and the handoff that it gets then, if any.
type Due = (Moment, Option<HandoffRequest>);

/// What a host tells its hook.
struct Told {
    host: Host,
    words: &'static dyn HostWords,
    event: SessionEvent,
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
        let pending = deliver(DeliveryRequest {
            door: Door::Stdout,
            session: Session {
                moment,
                prompt: self.event.prompt.clone(),
                given,
                ..Session::new(&self.event.session, at, self.host)
            },
            place,
            wanted,
            process: Process::host(),
            until: Some(self.until),
            warm: None,
        });
        Some(pending.ok()?.map(|injection| self.words.context(self.event.kind, &injection.text)))
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

    /// Tells the user why there is no context.
    fn tell(&self, reason: &str) -> Reply {
        self.words.notice(&closed_notice(reason)).map(PendingDelivery::unclaimed)
    }

    fn answer_start(&self, cause: StartCause) -> Reply {
        let SessionEvent { session, folder, .. } = &self.event;
        // Commands in the session's shells then know their session.
        self.words.name_session(session);
        let here = Place::find(&Request::lenient(folder.clone())).ok()?;
        let state = State::open(&here.directories.state, time_limits::HOOK_STATE).ok();
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
        if place.settings.handoff.enabled.value
            && state.as_ref().is_some_and(|state| state.has_free_ending(now_ms()).unwrap_or(false))
        {
            // The process that should have written the handoff has ended.
            let _ = detach::finish_endings();
        }
        let since = || known.map(|known| known.at_ms).or_else(|| self.last_said());
        let due = self.due(cause, &place, state, since)?;
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
            StartCause::Cleared if place.settings.handoff.inject_on_clear.value => start,
            // Whoever clears wants to be rid of what was, and still works in this project.
            StartCause::Cleared => Some((Moment::Start, None)),
            StartCause::Compacted => {
                let (count, last) = state?.compactions(session).ok()?;
                let same = 0..time_limits::SAME_COMPACTION.as_millis() as i64;
                let is_same = last.is_some_and(|last| same.contains(&(now_ms() - last)));
                let moment = Moment::Compaction((count + 1).to_string());
                (!is_same).then_some((moment, Some(HandoffRequest::Again)))
            }
            StartCause::Resumed => {
                let state = state?;
                let query = HandoffQuery {
                    scope: &place.project.scope,
                    session,
                    // With an unknown age, no handoff counts as newer.
                    request: HandoffRequest::Since(since().unwrap_or(i64::MAX)),
                    max_age: place.settings.handoff.max_age(),
                    now_ms: now_ms(),
                    unusable: &[],
                };
                match state.preview_handoff(&query, Process::host()).ok()? {
                    HandoffChoice::Given(newer) => {
                        Some((Moment::Handoff(newer.id.to_string()), Some(query.request)))
                    }
                    _ => {
                        self.remember(place, Some(state));
                        None
                    }
                }
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

/// Records that a session has ended. A separate process writes the handoff, so that the host does
/// not wait.
fn note_end(event: SessionEvent, is_cleared: bool) {
    let SessionEvent { session, folder, transcript, .. } = event;
    let Ok(place) = Place::find(&Request::lenient(folder.clone())) else { return };
    let is_on = place.settings.enabled.value && place.settings.handoff.enabled.value;
    let leaves_one = !is_cleared && is_on;
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
            Err(_) => {
                detach::finish_ending(&ending.session, &ending.folder, ending.transcript.as_deref())
            }
        };
    }
}
