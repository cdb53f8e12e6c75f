//! Answers hosts that read our standard output: delivers contexts to sessions, and records their
//! ends.

mod start;

use std::path::Path;
use std::time::Instant;

use crate::app::capture::{Forgetful, before_compaction};
use crate::app::deliver::{
    DeliveryRequest, Door, PendingDelivery, deliver, release_receipt, settle_receipt,
};
use crate::app::hook::{HookLimits, closed_notice, homeless_notice};
use crate::app::monitor;
use crate::app::restart;
use crate::app::rotation;
use crate::app::session::Session;
use crate::app::supplement::{DueSupplement, GivenBy, due};
use crate::core::context::receipt::Injection;
use crate::core::context::supplement::Given;
use crate::core::handoff::Audience;
use crate::core::handoff::choice::HandoffRequest;
use crate::core::handoff::life::Actor;
use crate::core::host::Host;
use crate::core::session::Moment;
use crate::core::time_limits;
use crate::hosts::transcript;
use crate::hosts::words::{EventKind, HostWords, SessionEvent, words};
use crate::store::state::{Ending, State, StateError};
use crate::system::clock::{self, now_ms};
use crate::system::directories::Directories;
use crate::system::environment::Environment;
use crate::system::process::detach;
use crate::system::process::identity::Process;
use crate::workspace::{Place, Request};

/// How much of a transcript is read while a host waits.
const SOON_READ_BYTES: u64 = 16 * 1024 * 1024;

/// Answers a hook; `None` if there is nothing to print.
pub fn direct(
    host: Host,
    question: &[u8],
    until: Instant,
    limits: HookLimits,
) -> Option<PendingDelivery<String>> {
    let named = words(host)?;
    let environment = Environment::of_process();
    // The argument names the host. The marks of another one tell more.
    let (host, words): (Host, &'static dyn HostWords) = match named.guest(question, &environment) {
        Some(guest) => (guest.host(), guest),
        None => (host, named),
    };
    let is_scripted = words.is_scripted(&environment) || environment.is_in_ci();
    let tick_ms = clock::tick_ms();
    let mut event = words.read(question)?;
    let untold = || words.transcript(&environment, &event.folder, &event.session);
    event.transcript = event.transcript.clone().or_else(untold);
    let told = Told { host, words, event, is_scripted, until, limits };
    if let Some(notice) = homeless_notice(&environment).filter(|_| told.is_start()) {
        return words.notice(&notice).map(PendingDelivery::unclaimed);
    }
    match told.event.kind {
        EventKind::Started(cause) => told.answer_start(cause),
        EventKind::Prompted if words.starts_at_prompt() => {
            let at = told.limits.request(told.event.folder.clone());
            let place = Place::find(&at).ok()?;
            if let Some(reason) = &place.closed {
                return told.tell(reason);
            }
            told.give(&place, at, (Moment::Start, Some(HandoffRequest::First)), None)
        }
        EventKind::Prompted
        | EventKind::ToolUsed
        | EventKind::TurnEnded { .. }
        | EventKind::Compacting
            if words.is_guest() =>
        {
            None
        }
        EventKind::Prompted => {
            let SessionEvent { session, prompt, .. } = &told.event;
            if let Ok(Directories { state, .. }) = Directories::locate(&environment) {
                let prompt = prompt.as_deref().unwrap_or_default();
                rotation::prompted(&state, session, prompt, tick_ms);
            }
            told.answer_prompt()
        }
        EventKind::TurnEnded { is_working, has_agents } => {
            rotation::turn_ended(&told.event.session, has_agents, tick_ms);
            restart::after_turn(&told.event, is_working, is_scripted);
            None
        }
        EventKind::ToolUsed => told.answer_tool(tick_ms),
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
    limits: HookLimits,
}

impl Told {
    /// Delivers a context in the host's format. `given`: what the session already has, for a supplement.
    fn give(&self, place: &Place, at: Request, due: Due, given: Option<Given>) -> Reply {
        self.inject(place, at, due, given).map(|pending| self.reply(pending))
    }

    fn inject(
        &self,
        place: &Place,
        at: Request,
        (moment, wanted): Due,
        given: Option<Given>,
    ) -> Option<PendingDelivery<Injection>> {
        let pending = deliver(DeliveryRequest {
            door: self.confirmed().unwrap_or(Door::Stdout),
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
        pending.ok()
    }

    /// Whether the session is to get its first context.
    fn is_start(&self) -> bool {
        match self.event.kind {
            EventKind::Started(_) => true,
            EventKind::Prompted => self.words.starts_at_prompt(),
            _ => false,
        }
    }

    /// The door for a host that reports what became of a context.
    fn confirmed(&self) -> Option<Door> {
        // Whoever confirms has looked that the session does not have the context.
        let is_confirmed = self.words.is_confirmed(self.event.kind);
        is_confirmed.then_some(Door::BridgePrompt { is_undone: true })
    }

    fn reply(&self, pending: PendingDelivery<Injection>) -> PendingDelivery<String> {
        let (kind, words) = (self.event.kind, self.words);
        let confirmed = self.confirmed();
        pending.map(|Injection { text, id, .. }| match confirmed {
            Some(_) => words.confirmed_context(kind, &text, id),
            None => words.context(kind, &text),
        })
    }

    /// Adds to the first prompt the notes that fit it.
    fn answer_prompt(&self) -> Reply {
        let SessionEvent { session, folder, .. } = &self.event;
        let state = Directories::locate(&Environment::of_process()).ok()?.state;
        let DueSupplement { given, folder: known } = due(&state, session, GivenBy::Start)?;
        let at = self.limits.request(known.unwrap_or_else(|| folder.clone()));
        let place = Place::find(&at).ok()?;
        self.give(&place, at, (Moment::Prompt, None), Some(given))
    }

    /// Keeps a session whose turn goes on, and tells the model once that its context is filling up.
    fn answer_tool(&self, tick_ms: i64) -> Reply {
        let SessionEvent { session, folder, transcript, kind, .. } = &self.event;
        if let Ok(Directories { state, .. }) = Directories::locate(&Environment::of_process()) {
            rotation::tool_used(&state, session, tick_ms);
        }
        let notice = monitor::after_tool(session, folder, transcript.as_deref()?)?;
        Some(PendingDelivery::unclaimed(self.words.context(*kind, &notice)))
    }

    /// Writes a handoff before a compaction, and tells the summariser of it.
    fn answer_compacting(&self) -> Reply {
        let SessionEvent { session, folder, transcript, .. } = &self.event;
        let file = transcript.as_deref();
        let conversation = file.and_then(|file| transcript::read_ends(file, SOON_READ_BYTES).ok());
        let told = before_compaction(&Forgetful {
            session,
            folder: folder.clone(),
            conversation: &conversation.unwrap_or_default(),
            transcript: file,
            is_scripted: self.is_scripted,
            environment: None,
            patience: time_limits::COMPACTION_WORK,
        })?;
        self.words.to_summariser(&told).map(PendingDelivery::unclaimed)
    }

    /// Tells the user why there is no context.
    fn tell(&self, reason: &str) -> Reply {
        self.words.notice(&closed_notice(reason)).map(PendingDelivery::unclaimed)
    }

    /// Records that a session has ended. A separate process writes the handoff, so that the host does
    /// not wait.
    fn note_end(self, is_cleared: bool) {
        let SessionEvent { session, folder, transcript, .. } = self.event;
        let Ok(place) = Place::find(&self.limits.request(folder.clone())) else { return };
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
                rotation::ended(&mut state, &ending.session);
                if is_cleared {
                    let actor =
                        Actor { session: Some(ending.session.clone()), now_ms: ending.at_ms };
                    state.archive_captured(&ending.session, &actor)?;
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
