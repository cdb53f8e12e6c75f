//! The window of a session of Claude Code, looked at: whether the session is idle, and what somebody has typed there. Sends no
//! key and ends nothing.

use std::io;
use std::path::Path;

use crate::core::time_limits;
use crate::hosts::claude_code::composer::{self, Composer};
use crate::hosts::claude_code::editor_mode;
use crate::hosts::claude_code::live_session::{self, LiveSession};
use crate::store::state::{Pane, State};
use crate::system::clock::now_ms;
use crate::system::environment::Environment;
use crate::system::process::identity::Process;
use crate::system::tmux::{self, PaneView};

/// What keeps others from clearing a window or ending its session, in words.
pub(super) type Obstacle = &'static str;

pub(super) const GONE: Obstacle = "the window is gone, or tmux does not answer";

/// The pane in tmux in which this process was started, as its environment says.
pub(super) fn pane_here(environment: &Environment) -> Option<Pane> {
    let variable = |name: &str| environment.get(name).and_then(|value| value.to_str());
    // `socket,process,session`
    let socket = variable("TMUX")?.rsplitn(3, ',').nth(2)?;
    Some(Pane { socket: socket.into(), id: variable("TMUX_PANE")?.to_owned() })
}

/// A Claude Code in a pane.
pub(super) struct Window {
    pub(super) process: Process,
    pub(super) pane: Pane,
    pub(super) environment: Environment,
}

/// Whether Claude Code says that this session is idle, and nothing waits in its queue.
pub(super) fn is_idle(
    process: Process,
    session: &str,
    environment: &Environment,
    state: &State,
) -> Result<(), Obstacle> {
    rests(process, session, environment, state, LiveSession::is_idle)
}

/// Whether `is_at_rest` holds for what Claude Code says, and nothing waits in the session's queue.
fn rests(
    process: Process,
    session: &str,
    environment: &Environment,
    state: &State,
    is_at_rest: impl Fn(&LiveSession) -> bool,
) -> Result<(), Obstacle> {
    let live = LiveSession::of(process, environment);
    let live = live.ok_or("Claude Code does not report whether it is idle")?;
    if live.session_id != session {
        return Err("the window has another session");
    }
    if !is_at_rest(&live) {
        return Err(live.doing());
    }
    let record = state.context(session).ok().flatten();
    match record.and_then(|record| record.transcript).map(|file| has_queue(&file)) {
        None | Some(Ok(false)) => Ok(()),
        Some(Ok(true)) => Err("a prompt waits in the queue"),
        Some(Err(_)) => Err("the session's transcript cannot be read"),
    }
}

fn has_queue(transcript: &Path) -> io::Result<bool> {
    match live_session::has_queued_prompts(transcript) {
        // A session in which nothing was said has none.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        found => found,
    }
}

impl Window {
    /// What Claude Code says about its process.
    pub(super) fn live(&self) -> Option<LiveSession> {
        LiveSession::of(self.process, &self.environment)
    }

    /// Whether no turn is under way in this session, and nothing waits in its queue. A shell in the background outlives it.
    pub(super) fn is_idle(&self, session: &str, state: &State) -> Result<(), Obstacle> {
        rests(self.process, session, &self.environment, state, LiveSession::is_between_turns)
    }

    /// What is typed in the window.
    pub(super) fn composer(&self) -> Result<Composer, Obstacle> {
        self.look().map(|view| composer::read(&view.screen, view.cursor))
    }

    /// Whether the window shows its composer, nothing is typed there, and nobody has just used the window.
    pub(super) fn is_free(&self) -> Result<(), Obstacle> {
        let view = self.look()?;
        match composer::read(&view.screen, view.cursor) {
            Composer::Bare => {}
            Composer::Text(_) => return Err("something is typed in the composer"),
            Composer::Hidden => return Err("the window does not show its composer"),
        }
        let mode = composer::vim_mode(&view.screen);
        let is_text = match &mode {
            Some(mode) => mode == "INSERT",
            None => !editor_mode::is_vim(&self.environment),
        };
        if !is_text {
            return Err("the composer is not in vim's INSERT mode");
        }
        // Who types in another pane is not about to type here. A time in the future is that of a clock that was set back since:
        // nobody knows how long ago it was.
        let ago = |at: i64| now_ms() / 1_000 - at;
        match view.last_used.is_some_and(|at| ago(at) < time_limits::UNTOUCHED.as_secs() as i64) {
            true => Err("someone is using the window"),
            false => Ok(()),
        }
    }

    /// What the window shows, if that is the host's and takes keys.
    fn look(&self) -> Result<PaneView, Obstacle> {
        let process = self.process;
        let view = tmux::look(&self.pane.socket, &self.pane.id).map_err(|_| GONE)?;
        let view = view.ok_or("the window is changing")?;
        if process.is_gone() || !process.is_within(view.pid) {
            return Err("the window no longer belongs to the session");
        }
        if process.is_in_foreground() == Some(false) {
            return Err("another program has the window");
        }
        if view.is_in_mode {
            return Err("the window is in tmux's copy mode");
        }
        Ok(view)
    }
}
