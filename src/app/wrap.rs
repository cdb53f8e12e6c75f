//! Runs an agent in this terminal. If its user asked for that, a session whose context is full is ended when it is at rest,
//! and followed by a new one that goes on with its handoff.

use std::cell::OnceCell;
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::thread;
use std::time::Instant;

use thiserror::Error;

use crate::app::restart::WRAPPER;
use crate::app::window::{self, Window};
use crate::core::time_limits;
use crate::core::wrap::{Restarts, prompt};
use crate::hosts::claude_code::arguments;
use crate::store::state::{Pane, State, StateError, Wrap};
use crate::system::breakpoint;
use crate::system::clock;
use crate::system::environment::Environment;
use crate::system::process::foreground::{self, End, EndedBy, Watch};
use crate::system::process::identity::Process;
use crate::system::process::terminal::Terminal;
use crate::system::tmux;
use crate::workspace::{AppError, Place, Request};

#[derive(Debug, Error)]
pub enum WrapError {
    #[error(
        "kgctx wrap does not work on Windows yet; start the agent without it: contexts and handoffs do not need it"
    )]
    NotHere,
    #[error(transparent)]
    App(#[from] AppError),
    #[error(
        "{option} works only for Claude Code, and {program} is not Claude Code; leave {option} out, or put `claude` \
        after `--`"
    )]
    NotClaude { option: &'static str, program: String },
    #[error("no handoff waits for {channel}; leave out --handoff, or see `kgctx handoff list`")]
    NoHandoff { channel: String },
    #[error("cannot start {program}: {cause}; check its name, and the PATH")]
    Start { program: String, cause: io::Error },
    #[error(
        "cannot start {program} again: {cause}; the handoff {handoff} waits for the next session, and `kgctx handoff show \
        {handoff}` prints it"
    )]
    Again { program: String, cause: io::Error, handoff: String },
}

impl From<StateError> for WrapError {
    fn from(error: StateError) -> WrapError {
        WrapError::App(error.into())
    }
}

impl WrapError {
    /// The same error of a start that was to go on with this handoff.
    fn after(self, handoff: Option<String>) -> WrapError {
        match (self, handoff) {
            (WrapError::Start { program, cause }, Some(handoff)) => {
                WrapError::Again { program, cause, handoff }
            }
            (error, _) => error,
        }
    }
}

/// What is wanted of a wrapper.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// The program, then its arguments.
    pub command: Vec<OsString>,
    /// Whether a session whose context is full is followed by a new one.
    pub is_auto: bool,
    pub max_restarts: u32,
    /// Whether the first session begins with the handoff that waits.
    pub with_handoff: bool,
}

/// How it ended.
#[derive(Debug)]
pub struct Wrapped {
    /// The agent's exit code.
    pub code: u8,
    /// Whether it would have been started again too often.
    pub is_refused: bool,
    /// The handoff that waits for the next session.
    pub handoff: Option<String>,
    /// What was asked for and not done, in words.
    pub remarks: Vec<String>,
}

/// What a person should know before an agent is ended in a window that kgctx cannot look at.
const UNSEEN: &str = "outside tmux, kgctx cannot see what you typed and did not send: a restart, 10 seconds after your last key, \
                      would lose it; run this in tmux to keep it";

/// Runs an agent until it is over. `tell` says in the terminal, between two sessions, why a new one begins.
pub fn wrap(
    request: &Request,
    wanted: &Wanted,
    tell: &mut dyn FnMut(&str),
) -> Result<Wrapped, WrapError> {
    if !foreground::IS_SUPPORTED {
        return Err(WrapError::NotHere);
    }
    let place = Place::find(request)?;
    let begun = Instant::now();
    let token = format!("{}-{}", std::process::id(), clock::now_ms());
    let (pane, remarks, is_auto) = (OnceCell::new(), Vec::new(), wanted.is_auto);
    let mut wrapper = Wrapper { place, token, wanted, is_auto, pane, remarks };
    let mut command = wrapper.first_command()?;
    let mut restarts = Restarts::at_most(wanted.max_restarts);
    let mut folder = request.dir.clone();
    let mut left = None;
    let ended = loop {
        if let Err(error) = wrapper.begin(restarts.count == 0) {
            // An agent that nobody restarts is better than none.
            tell(&format!("this session is not restarted: {error}"));
            wrapper.is_auto = false;
        } else if is_auto && restarts.count == 0 && is_unseen() {
            tell(UNSEEN);
        }
        let ended = wrapper.run(&command, folder.as_deref());
        let ended = ended.map_err(|error| error.after(left.take()));
        let Ok((end, Some(last))) = &ended else { break ended.map(|(end, _)| (end, false)) };
        breakpoint::reach("wrap:ended");
        let handoff = wrapper.waiting(last.handoff.as_deref());
        if !restarts.one_more(begun.elapsed().as_millis() as u64) {
            break Ok((*end, true));
        }
        let with = handoff.as_deref().map(|id| format!(" with handoff {id}")).unwrap_or_default();
        let (count, max) = (restarts.count, restarts.max);
        tell(&format!(
            "the context was full; a new session continues{with} (restart {count} of {max})"
        ));
        let again = arguments::again(&wanted.command, &prompt(handoff.as_deref()));
        command = again.unwrap_or_else(|| wanted.command.clone());
        folder = last.folder.clone().or(folder);
        left = handoff;
    };
    let session = wrapper.looked().and_then(|wrap| wrap.session);
    // A row of a wrapper that is gone is removed by the next one.
    let _ = wrapper.state().map(|mut state| state.end_wrap(&wrapper.token));
    let (end, is_refused) = ended?;
    let is_clean = end.code() == 0 && end.by == EndedBy::Itself;
    let handoff = (is_clean || is_refused).then(|| wrapper.left_by(session.as_deref())).flatten();
    Ok(Wrapped { code: end.code(), is_refused, handoff, remarks: wrapper.remarks })
}

struct Wrapper<'a> {
    place: Place,
    /// Names this wrapper in the agent's environment.
    token: String,
    wanted: &'a Wanted,
    /// Whether it restarts the agent. Not without the state.
    is_auto: bool,
    /// The window of the agent, if that can be looked at. Nobody asks tmux before an agent is to be ended.
    pane: OnceCell<Option<Pane>>,
    remarks: Vec<String>,
}

impl Wrapper<'_> {
    fn state(&self) -> Result<State, StateError> {
        State::open(&self.place.directories.state, time_limits::STATE)
    }

    /// Records that an agent is about to start.
    fn begin(&self, is_first: bool) -> Result<(), StateError> {
        let mut state = self.state()?;
        if is_first {
            state.begin_wrap(&self.token, self.is_auto)?;
        }
        state.begin_agent(&self.token)
    }

    /// What hooks have told of the agent.
    fn looked(&self) -> Option<Wrap> {
        let state = State::look(&self.place.directories.state, time_limits::HOOK_STATE).ok()??;
        state.wrap(&self.token).ok()?
    }

    /// The command as it was given, unless a handoff is to be begun with.
    fn first_command(&self) -> Result<Vec<OsString>, WrapError> {
        let Wanted { command, is_auto, with_handoff, .. } = self.wanted;
        let option = match (*is_auto, *with_handoff) {
            (_, true) => "--handoff",
            (true, _) => "--auto-restart",
            _ => return Ok(command.clone()),
        };
        let program = program(command);
        let not_claude = || WrapError::NotClaude { option, program };
        if !with_handoff {
            return arguments::begin(command).map(|_| command.clone()).ok_or_else(not_claude);
        }
        let waiting = self.state()?.current_handoff(&self.place.project.scope)?;
        let channel = || self.place.project.channel.clone();
        let id = waiting.ok_or_else(|| WrapError::NoHandoff { channel: channel() })?.id;
        arguments::with_prompt(command, &prompt(Some(id.as_str()))).ok_or_else(not_claude)
    }

    /// Runs the agent until it ends. Returns what was known of it if it is to be started again.
    fn run(
        &mut self,
        command: &[OsString],
        folder: Option<&Path>,
    ) -> Result<(End, Option<Wrap>), WrapError> {
        let variable = (WRAPPER, self.token.clone());
        let is_auto = self.is_auto;
        let (mut rest, mut over) = (Rest::default(), None);
        let mut is_over = |terminal: Option<&Terminal>| {
            over = self.over(&mut rest, terminal);
            over.as_ref().and_then(|wrap| wrap.host)
        };
        let (every, grace) = (time_limits::WRAP_POLL, time_limits::WRAP_GRACE);
        let watch = Watch { every, is_over: &mut is_over, grace };
        let end = foreground::run(command, folder, variable, is_auto.then_some(watch))
            .map_err(|cause| WrapError::Start { program: program(command), cause })?;
        Ok((end, over.filter(|_| end.by == EndedBy::Us)))
    }

    /// What is known of the agent, if it is to be ended now.
    fn over(&mut self, rest: &mut Rest, terminal: Option<&Terminal>) -> Option<Wrap> {
        let wrap = self.looked()?;
        let Some(session) = wrap.restart_for.as_deref() else {
            *rest = Rest::default();
            return None;
        };
        let asked = *rest.asked.get_or_insert_with(Instant::now);
        if wrap.session.as_deref() != Some(session) {
            let now = wrap.session.as_deref().unwrap_or("none");
            self.remarks.push(format!(
                "session {session} ended before kgctx could restart it: the agent was in {now}"
            ));
            self.take_back();
        } else if !self.is_at_rest(&wrap, session, terminal) {
            rest.since = None;
            if asked.elapsed() > time_limits::WRAP_REST {
                self.take_back();
            }
        } else if rest.since.get_or_insert_with(Instant::now).elapsed() >= time_limits::IDLE {
            breakpoint::reach("wrap:due");
            return Some(wrap);
        }
        None
    }

    /// Whether nothing is under way in the session, nothing waits in its queue, nobody types, and nothing is typed that would
    /// be lost.
    fn is_at_rest(&self, wrap: &Wrap, session: &str, terminal: Option<&Terminal>) -> bool {
        let untouched = terminal.and_then(Terminal::untouched);
        let is_typing = untouched.is_some_and(|time| time < time_limits::WRAP_UNTOUCHED);
        let environment = Environment::of_process();
        let is_idle = || {
            let folder = &self.place.directories.state;
            let state = State::look(folder, time_limits::HOOK_STATE).ok()??;
            window::is_idle(wrap.host?, session, &environment, &state).ok()
        };
        let is_free = |process| match self.pane.get_or_init(|| pane(&environment)).clone() {
            Some(pane) => {
                let environment = environment.clone();
                Window { process, pane, environment }.is_free().is_ok()
            }
            // Nothing tells what is typed there.
            None => true,
        };
        !is_typing && is_idle().is_some() && wrap.host.is_some_and(is_free)
    }

    /// Forgets what was asked. The next end of a turn asks again.
    fn take_back(&self) {
        let _ = self.state().map(|mut state| state.drop_restart(&self.token));
    }

    /// The handoff, if it still waits for the next session.
    fn waiting(&self, id: Option<&str>) -> Option<String> {
        let waiting = self.state().ok()?.current_handoff(&self.place.project.scope).ok()??;
        Some(waiting.id.to_string()).filter(|waiting| id.is_none_or(|id| id == waiting))
    }

    /// The handoff that waits after a session, which may be about to be written.
    fn left_by(&self, session: Option<&str>) -> Option<String> {
        let until = Instant::now() + time_limits::WRAP_ENDING;
        let is_ending = || Some(self.state().ok()?.is_ending(session?).unwrap_or(false));
        while is_ending() == Some(true) && Instant::now() < until {
            thread::sleep(time_limits::BUSY_POLL);
        }
        self.waiting(None)
    }
}

/// The pane in which this process runs. One that does not answer counts: nothing is ended in what cannot be seen.
fn pane(environment: &Environment) -> Option<Pane> {
    let is_here = |pane: &Pane| {
        let started = tmux::pane_process(&pane.socket, &pane.id);
        started.is_none_or(|pid| Process::this().is_within(pid))
    };
    window::pane_here(environment).filter(is_here)
}

/// Whether nothing tells what is typed in the agent's window.
fn is_unseen() -> bool {
    window::pane_here(&Environment::of_process()).is_none()
}

/// How long an agent that is to be ended is waited for, and since when it is at rest.
#[derive(Default)]
struct Rest {
    asked: Option<Instant>,
    since: Option<Instant>,
}

fn program(command: &[OsString]) -> String {
    command.first().map(|program| program.to_string_lossy().into_owned()).unwrap_or_default()
}
