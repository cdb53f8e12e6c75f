//! Answers a bridge's question: whether a session lacks context, and if so, which it is given. Whatever goes wrong
//! is an answer, never an error.

use std::thread;
use std::time::{Duration, Instant};

use crate::adapters::clock;
use crate::adapters::directories::Directories;
use crate::adapters::environment::Environment;
pub use crate::adapters::opencode::Answer;
use crate::adapters::opencode::{Given, Metadata, Notice, Question, Session};
use crate::adapters::state::{Claim, State, StateError};
use crate::app::inject::{self, Keep, inject};
use crate::app::warm::Warm;
use crate::app::workspace::{Place, Request, Strictness};
use crate::domain::budget::Host;
use crate::domain::number::thousands;
use crate::domain::receipt::{Injection, Receipt};
use crate::domain::session::{Announcement, Moment};

/// By then there is an answer. The bridge waits a little longer, and then goes on without one.
pub const LIMIT: Duration = Duration::from_millis(1_100);
/// Another process that is writing the state is waited for this long.
const STATE_PATIENCE: Duration = Duration::from_millis(200);
/// How often it is asked whether another process has given the context by now.
const HELD_INTERVAL: Duration = Duration::from_millis(5);
/// A context that was given longer ago than this and is not stored any more was taken back by an undo. One that was given
/// just now may have been stored after the bridge looked.
const UNDONE_AFTER: Duration = Duration::from_secs(3);

/// Who asks.
pub struct Caller<'a> {
    /// The environment that counts, if not that of this process.
    pub environment: Option<Environment>,
    /// What is known ahead, if this process stays.
    pub warm: Option<&'a Warm>,
}

impl Caller<'_> {
    /// A process that was started for this one question.
    pub fn alone() -> Caller<'static> {
        Caller { environment: None, warm: None }
    }
}

/// Answers what the bridge inside of OpenCode asks.
pub fn opencode(question: &[u8], caller: &Caller<'_>) -> Answer {
    let started = Instant::now();
    match Question::parse(question) {
        Ok(question) => answer(&question, caller, started),
        Err(error) => Answer::none(error),
    }
}

fn answer(question: &Question, caller: &Caller<'_>, started: Instant) -> Answer {
    let asking =
        |session, is_prompt_waiting| Asking { caller, session, is_prompt_waiting, started };
    match question {
        Question::Created(session) => match unsuitable(session) {
            Some(reason) => Answer::none(reason),
            // The messages that it takes over arrive after this event.
            None if session.is_fork() => {
                Answer::Ask { reason: "a fork may have its context already".to_owned() }
            }
            None => asking(session, false).give(Moment::Start),
        },
        Question::Prompted { session, is_new, stored } => match unsuitable(session) {
            Some(reason) => Answer::none(reason),
            None => match stored.lacking(*is_new && session.is_fork()) {
                Some(moment) => asking(session, true).give(moment),
                None => Answer::none("the session has its context, or was under way before"),
            },
        },
        Question::Delivered(receipt) => {
            written(caller, |state| state.settle(*receipt, now_ms()).map(drop))
        }
        Question::Released(receipt) => written(caller, |state| state.release(*receipt)),
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
        State::open(&directories.state, STATE_PATIENCE).and_then(|mut state| state.release(receipt))
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

/// A question about one session.
struct Asking<'a> {
    caller: &'a Caller<'a>,
    session: &'a Session,
    is_prompt_waiting: bool,
    started: Instant,
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
        let state = match State::open(&place.directories.state, STATE_PATIENCE) {
            Ok(mut state) => match self.claim(&mut state, &moment) {
                Ok(None) => Some(state),
                Ok(Some(refusal)) => return refusal,
                Err(_) => None,
            },
            // Without a state nothing can be claimed, by nobody: only a bridge, which knows its own sessions, gives
            // anything then.
            Err(_) => None,
        };
        let session = inject::Session {
            id: self.session.id.clone(),
            moment: moment.clone(),
            host: Host::Opencode,
            budget: None,
            now: None,
            within: Some(self.left()),
            is_watched: false,
            place: request,
        };
        let keep = state.map_or(Keep::Nothing, Keep::In);
        let made = match self.caller.warm {
            Some(warm) => warm.inject(&place, session, keep),
            None => inject(&session, keep),
        };
        match made {
            Ok(Injection { text, .. }) if text.is_empty() => {
                self.give_up(&place, &moment);
                Answer::none("there is nothing to say about this project")
            }
            Ok(injection) => Answer::Inject(Box::new(given(&place, injection))),
            Err(error) => {
                self.give_up(&place, &moment);
                Answer::none(error)
            }
        }
    }

    /// Claims the moment; says what to do instead where it is not free.
    fn claim(&self, state: &mut State, moment: &Moment) -> Result<Option<Answer>, StateError> {
        let again = self.is_prompt_waiting.then_some(UNDONE_AFTER);
        loop {
            match state.claim(&self.session.id, moment, now_ms(), again)? {
                Claim::Won => return Ok(None),
                Claim::Settled(_) => {
                    return Ok(Some(Answer::none("the session was given its context already")));
                }
                Claim::Held(_) if !self.is_prompt_waiting => {
                    let reason = "another process is about to give it".to_owned();
                    return Ok(Some(Answer::Ask { reason }));
                }
                Claim::Held(_) if self.left() < HELD_INTERVAL => {
                    return Ok(Some(Answer::none("another process has not given it in time")));
                }
                Claim::Held(_) => thread::sleep(HELD_INTERVAL),
            }
        }
    }

    fn give_up(&self, place: &Place, moment: &Moment) {
        // If it cannot be released, it becomes free by itself.
        let _ = State::open(&place.directories.state, STATE_PATIENCE)
            .and_then(|mut state| state.release_moment(&self.session.id, moment));
    }

    fn left(&self) -> Duration {
        LIMIT.saturating_sub(self.started.elapsed())
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
    };
    format!("kgctx: {} tokens{after}", thousands(receipt.used.tokens))
}
