//! Answers a bridge's question: whether a session lacks context, and if so, which it is given. Whatever goes wrong
//! is an answer, never an error.

mod amplifier;
mod claude_code;
mod direct;

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

pub use crate::app::hook::amplifier::{amplifier, go_on};
pub use crate::app::hook::claude_code::claude_code;
pub use crate::app::hook::direct::Underway;
pub use crate::system::summariser::is_at_work as is_summariser;

use crate::app::inject::inject;
use crate::app::recorder::Recording;
use crate::app::session;
use crate::app::session_handoff::{SessionHandoff, claim_handoff, wanted};
use crate::app::warm::Warm;
use crate::core::context::budget::Host;
use crate::core::context::receipt::{Injection, Receipt};
use crate::core::session::{Announcement, Moment, Recipients};
use crate::core::text::number::thousands;
pub use crate::hosts::opencode::Answer;
use crate::hosts::opencode::{Given, Metadata, Notice, Question, Session};
use crate::store::state::{Claim, SessionOrigin, State, StateError, Token};
use crate::system::clock;
use crate::system::directories::Directories;
use crate::system::environment::Environment;
use crate::system::process::identity::Process;
use crate::workspace::{Place, Request, Strictness};

/// By then there is an answer. The bridge waits a little longer, and then goes on without one.
pub const LIMIT: Duration = Duration::from_millis(1_000);
/// Another process that is writing the state is waited for this long at a time.
const STATE_PATIENCE: Duration = Duration::from_millis(200);
/// How often it is asked whether another process has given the context by now.
const HELD_INTERVAL: Duration = Duration::from_millis(5);
/// A context that was given longer ago than this and is not stored any more was taken back by an undo, in another process
/// of the host than this one. One that was given just now may have been stored after the bridge looked.
const UNDONE_AFTER: Duration = Duration::from_secs(3);

/// Who asks.
pub struct Caller<'a> {
    /// The environment that counts, if not that of this process.
    pub environment: Option<Environment>,
    /// What is known ahead, if this process stays.
    pub warm: Option<&'a Warm>,
    /// The process of the host, if it is known.
    pub host: Option<Process>,
    /// When the answer is no longer of use.
    pub until: Instant,
}

impl Caller<'_> {
    /// A process that was started for this one question.
    pub fn alone(until: Instant) -> Caller<'static> {
        Caller { environment: None, warm: None, host: Process::host(), until }
    }
}

/// Answers what the bridge inside of OpenCode asks.
pub fn opencode(question: &[u8], caller: &Caller<'_>) -> Answer {
    match Question::parse(question) {
        Ok(question) => answer(&question, caller),
        Err(error) => Answer::none(error),
    }
}

fn answer(question: &Question, caller: &Caller<'_>) -> Answer {
    match question {
        Question::Created(session) => match unsuitable(session) {
            Some(reason) => Answer::none(reason),
            // The messages that it takes over arrive after this event.
            None if session.is_fork() => Answer::ask("a fork may have its context already"),
            None => Asking { caller, session, prompt: None }.give(Moment::Start),
        },
        Question::Prompted { session, is_new, is_undone, stored } => {
            if let Some(reason) = unsuitable(session) {
                return Answer::none(reason);
            }
            let is_copy = *is_new && session.is_fork();
            let to = if is_copy { Recipients::All } else { Recipients::Unprompted };
            let prompt = Some(Prompt { is_undone: *is_undone });
            match stored.lacking(to) {
                Some(moment) => Asking { caller, session, prompt }.give(moment),
                None => Answer::none("the session has its context, or was under way before"),
            }
        }
        Question::Delivered(receipt) => {
            let now_ms = now_ms();
            written(caller, |state| state.settle(*receipt, now_ms).map(drop))
        }
        Question::Released(receipt) => written(caller, |state| state.release(*receipt, now_ms())),
        Question::Other => Answer::none("nothing to do"),
    }
}

/// Whom a question is about: the session, and the folder that it works in.
pub fn subject(question: &[u8]) -> Option<(String, String)> {
    match Question::parse(question).ok()? {
        Question::Created(session) | Question::Prompted { session, .. } => {
            Some((session.id, session.directory))
        }
        Question::Delivered(_) | Question::Released(_) | Question::Other => None,
    }
}

/// Frees the moment of a receipt whose context nobody took.
pub fn release(receipt: i64, environment: &Environment) {
    // If it cannot be released, it becomes free by itself.
    let _ = Directories::locate(environment).map(|directories| {
        State::open(&directories.state, STATE_PATIENCE)
            .and_then(|mut state| state.release(receipt, now_ms()))
    });
}

/// Why a session is never given anything.
fn unsuitable(session: &Session) -> Option<&'static str> {
    if session.parent_id.is_some() {
        Some("a child session: it works for one that has the context")
    } else if session.revert.is_some() {
        Some("an undo is pending, which a message would make final")
    } else {
        None
    }
}

/// Writes to the state.
fn written(
    caller: &Caller<'_>,
    write: impl FnOnce(&mut State) -> Result<(), StateError>,
) -> Answer {
    let environment = caller.environment.clone().unwrap_or_else(Environment::of_process);
    let state = match Directories::locate(&environment) {
        Ok(directories) => State::open(&directories.state, STATE_PATIENCE),
        Err(error) => return Answer::none(error),
    };
    match state.and_then(|mut state| write(&mut state)) {
        Ok(()) => Answer::none("noted"),
        Err(error) => Answer::none(error),
    }
}

fn now_ms() -> i64 {
    clock::now().milliseconds()
}

/// A prompt that waits for the answer.
#[derive(Clone, Copy)]
struct Prompt {
    /// Whether what was given before was surely taken back.
    is_undone: bool,
}

/// A question about one session.
struct Asking<'a> {
    caller: &'a Caller<'a>,
    session: &'a Session,
    prompt: Option<Prompt>,
}

impl Asking<'_> {
    /// Gives the session the context of a moment, if nobody else does.
    fn give(&self, moment: Moment) -> Answer {
        let request = Request {
            dir: Some(self.session.directory.clone().into()),
            environment: self.caller.environment.clone(),
            strictness: Strictness::Lenient,
            ..Request::default()
        };
        let place = match Place::find(&request) {
            Ok(place) => place,
            Err(error) => return Answer::none(error),
        };
        if !place.settings.enabled.value {
            return Answer::none(format!("switched off by {}", place.settings.enabled.origin));
        }
        let mut claimed = match self.claim(&place, &moment) {
            Ok(claimed) => Some(claimed),
            Err(NotClaimed::For(answer)) => return answer,
            Err(NotClaimed::NoState) => None,
        };
        let loaded = claimed.as_mut().map_or_else(SessionHandoff::default, |(state, token)| {
            let id = &self.session.id;
            let host = self.caller.host;
            // Where it lives is of use to others, not to this one.
            let _ = state.remember_session(id, &origin(&place, &self.session.directory), host);
            claim_handoff(state, *token, &place, id, wanted(&moment), host)
        });
        let token = claimed.as_ref().map(|(_, token)| *token);
        let recording =
            claimed.map_or(Recording::Off, |(state, token)| Recording::UnderClaim(state, token));
        let session = session::Session {
            id: self.session.id.clone(),
            moment,
            host: Host::Opencode,
            budget: None,
            now: None,
            within: Some(self.left()),
            is_watched: false,
            place: request,
            handoff: Some(loaded),
        };
        let made = match self.caller.warm {
            Some(warm) => warm.inject(&place, session.clone(), recording),
            None => inject(&session, recording),
        };
        let made = match made {
            // The bridge tells by the receipt that a session has its handoff. Without one, nobody would know: it is left to the
            // next session, as soon as the claim is void.
            Ok(injection) if injection.id.is_none() && injection.receipt.handoff.is_some() => {
                let handoff = Some(SessionHandoff::default());
                inject(&session::Session { handoff, ..session }, Recording::Off)
            }
            made => made,
        };
        let answer = match made {
            Ok(Injection { text, .. }) if text.is_empty() => {
                Answer::none("there is nothing to say about this project")
            }
            Ok(injection) => return Answer::Inject(Box::new(given(&place, injection))),
            Err(error) => Answer::none(error),
        };
        if let Some(token) = token {
            // If it cannot be released, it becomes free by itself.
            let _ = State::open(&place.directories.state, STATE_PATIENCE)
                .and_then(|mut state| state.release_claim(token, now_ms()));
        }
        answer
    }

    /// Claims the moment. A prompt waits for another process that has it, and for a state that is being written.
    fn claim(&self, place: &Place, moment: &Moment) -> Result<(State, Token), NotClaimed> {
        let again = self.prompt.map(|prompt| match prompt.is_undone {
            true => Duration::ZERO,
            false => UNDONE_AFTER,
        });
        let mut state = None;
        loop {
            match self.try_claim(&mut state, place, moment, again) {
                Ok(Claim::Won(token)) => {
                    return state.map(|state| (state, token)).ok_or(NotClaimed::NoState);
                }
                Ok(Claim::Settled) => {
                    return Err(NotClaimed::none("the session was given its context already"));
                }
                Ok(Claim::Held) => {}
                Err(error) if error.is_transient() => {}
                // What a newer version has claimed cannot be read by this one.
                Err(error @ StateError::Newer { .. }) => return Err(NotClaimed::none(error)),
                Err(_) => return Err(NotClaimed::NoState),
            }
            if self.prompt.is_none() {
                let reason = "another process is about to give it";
                return Err(NotClaimed::For(Answer::ask(reason)));
            }
            if self.left() < HELD_INTERVAL {
                return Err(NotClaimed::none("another process has not given it in time"));
            }
            thread::sleep(HELD_INTERVAL);
        }
    }

    /// Claims the moment, if that looks possible: who waits must not be in the way of who is waited for. The state is
    /// opened if it is not yet.
    fn try_claim(
        &self,
        state: &mut Option<State>,
        place: &Place,
        moment: &Moment,
        again: Option<Duration>,
    ) -> Result<Claim, StateError> {
        let state = match state {
            Some(state) => state,
            None => state.insert(State::open(&place.directories.state, STATE_PATIENCE)?),
        };
        let now_ms = now_ms();
        if !state.is_free(&self.session.id, moment, now_ms, again)? {
            return Ok(Claim::Held);
        }
        state.claim(&self.session.id, moment, now_ms, again)
    }

    fn left(&self) -> Duration {
        self.caller.until.saturating_duration_since(Instant::now())
    }
}

/// Why a moment was not claimed.
enum NotClaimed {
    /// The bridge is told this instead.
    For(Answer),
    /// There is no state that could be used, by anybody: then only a bridge, which knows its own sessions, gives anything.
    NoState,
}

impl NotClaimed {
    fn none(reason: impl ToString) -> NotClaimed {
        NotClaimed::For(Answer::none(reason))
    }
}

/// Where a session is started.
fn origin(place: &Place, folder: impl AsRef<Path>) -> SessionOrigin {
    let now_ms = now_ms();
    SessionOrigin {
        scope: place.project.scope.clone(),
        channel: place.project.channel.clone(),
        folder: folder.as_ref().to_path_buf(),
        at_ms: now_ms,
        seen_ms: now_ms,
    }
}

/// What the bridge gets of an injection.
fn given(place: &Place, injection: Injection) -> Given {
    let Injection { text, id, receipt, .. } = injection;
    let how = place.settings.notice.value;
    let notice = (how != Announcement::Off).then(|| Notice { how, text: notice(&receipt) });
    let metadata = Metadata::of(id, &receipt);
    Given { receipt: id, text, delivery: place.settings.delivery.value, metadata, notice }
}

/// One line for a person.
pub fn notice(receipt: &Receipt) -> String {
    let after = match receipt.moment {
        Moment::Start => "",
        Moment::Compaction(_) => ", after compaction",
        Moment::Handoff(_) => ", taken up again",
    };
    let handoff = receipt.shown_handoff().map(|handoff| format!(", handoff {}", handoff.id));
    let handoff = handoff.unwrap_or_default();
    format!("kgctx: {} tokens{after}{handoff}", thousands(receipt.used.tokens))
}
