//! The process that clears a window of Claude Code and types the first prompt of the new context. It looks before every
//! key, and steps back as soon as anything is not as it must be.

use std::thread;
use std::time::{Duration, Instant};

use crate::app::rotation::{actor, begin, readable};
use crate::app::window::{GONE, Obstacle, Window};
use crate::core::handoff::{HandoffId, Status};
use crate::core::rotation::{self, RotationState};
use crate::core::time_limits;
use crate::hosts::claude_code::composer::{self, Composer};
use crate::store::state::{Rotation, State};
use crate::system::breakpoint;
use crate::system::clock::{now_ms, tick_ms};
use crate::system::directories::Directories;
use crate::system::environment::Environment;
use crate::system::process::identity::Process;
use crate::system::tmux;
use crate::system::user_input;

/// What clears the context.
const CLEAR: &str = "/clear";

/// Goes on with the rotation of this token.
pub fn run(token: i64) {
    let environment = Environment::of_process();
    let Ok(directories) = Directories::locate(&environment) else { return };
    let Ok(mut state) = State::open(&directories.state, time_limits::STATE) else { return };
    // What was written survives a loss of power: no key is sent that was not announced.
    let owned = state.make_durable().and_then(|()| state.own_rotation(token, Process::this()));
    let rotation = owned.and_then(|()| state.rotation_by_token(token));
    let Ok(Some(rotation)) = rotation else { return };
    let Some(pane) = rotation.pane.clone() else { return };
    let window = Window { process: rotation.process, pane, environment };
    let mut worker = Worker { directories, state, token, rotation, window, watched_until: None };
    match worker.rotation.state {
        RotationState::Reserved => worker.clear(),
        RotationState::Cleared => worker.prompt(),
        _ => {}
    }
}

/// Begins the rotation of a session whose hook could not, because the state was busy.
pub fn begin_for(session: &str, has_agents: bool, ended_tick: i64) {
    let Ok(directories) = Directories::locate(&Environment::of_process()) else { return };
    let Ok(mut state) = State::open(&directories.state, time_limits::STATE) else { return };
    if let Ok(Some(rotation)) = state.rotation_of(session) {
        // If this fails, the next end of a turn tries again.
        let _ = begin(&mut state, &rotation, has_agents, ended_tick);
    }
}

struct Worker {
    directories: Directories,
    state: State,
    token: i64,
    rotation: Rotation,
    window: Window,
    /// Until when it watches a window that was not ready at the end of the turn.
    watched_until: Option<Instant>,
}

impl Worker {
    /// Clears the window when it is ready, and goes on with the prompt.
    fn clear(mut self) {
        use RotationState::{Cleared, Clearing, Reserved, Stuck};
        let session = self.rotation.session.clone();
        let ready = self.wait_until_ready(&session, time_limits::IDLE, time_limits::READY);
        if let Err(why) = ready {
            return self.step_back(why);
        }
        breakpoint::reach("rotate:ready");
        let Some(handoff) = self.kept_handoff() else {
            let (to, why) = (RotationState::Cancelled, "its handoff is no longer kept for it");
            let _ = self.state.end_rotation(self.rotation.id, to, Some(why), &actor(&session));
            return;
        };
        if let Err(why) = readable(&self.directories, &self.rotation.scope, &handoff) {
            return self.step_back(why);
        }
        // From here on a key may have been sent, whatever happens to this process.
        if !self.step(Reserved, Clearing, None) {
            return;
        }
        breakpoint::reach("rotate:clearing");
        if let Err(why) = self.type_line(CLEAR, &session) {
            self.step(Clearing, Stuck, Some(why));
            return;
        }
        breakpoint::reach("rotate:entered");
        let is_cleared = |worker: &Worker| worker.current_state() == Some(Cleared);
        if self.wait_for(time_limits::CLEAR, is_cleared) || self.sees_new_session() {
            self.prompt();
        } else {
            let why = "the window did not report within 5 s that it was cleared";
            self.step(Clearing, Stuck, Some(why));
        }
    }

    /// Leaves a window that is not ready, and comes back when it is: whoever has it now may end no turn.
    fn step_back(mut self, why: Obstacle) {
        let Worker { token, .. } = self;
        let (from, to) = (RotationState::Reserved, RotationState::Scheduled);
        // A turn has ended without it once. If this fails, the next process sees that this one is gone.
        let _ = match self.watched_until {
            None => self.state.postpone_rotation(token, from, why, now_ms()),
            Some(_) => self.state.step_rotation(token, from, to, Some(why), now_ms()).map(drop),
        };
        if let Some(worker) = self.watch() {
            worker.clear();
        }
    }

    /// Watches the window until it is free, while nobody else goes on with the rotation. Holds nothing meanwhile: a repair of
    /// the state does not wait for this process.
    fn watch(self) -> Option<Worker> {
        let Worker { directories, state, rotation, window, watched_until, .. } = self;
        let ended_tick = tick_ms();
        let left = state.rotation(rotation.id).ok()??;
        drop(state);
        let until = watched_until.unwrap_or_else(|| Instant::now() + time_limits::WATCH);
        while left.state == RotationState::Scheduled && Instant::now() < until {
            thread::sleep(time_limits::WATCH_POLL);
            let looked = State::look(&directories.state, time_limits::STATE).ok()??;
            // Any step of it is somebody else's: a turn, a command, another worker.
            if looked.rotation(rotation.id).ok()?.as_ref() != Some(&left) {
                return None;
            }
            let is_idle = window.is_idle(&rotation.session, &looked);
            drop(looked);
            match is_idle.and_then(|()| window.is_free()) {
                Err(GONE) => return None,
                Err(_) if window.process.is_gone() => return None,
                Err(_) => continue,
                Ok(()) => {}
            }
            let mut state = State::open(&directories.state, time_limits::STATE).ok()?;
            state.make_durable().ok()?;
            let owner = Process::this();
            let token = state.reserve_rotation(left.id, ended_tick, owner, now_ms()).ok()??;
            let watched_until = Some(until);
            return Some(Worker { directories, state, token, rotation, window, watched_until });
        }
        None
    }

    /// The handoff, if it is still kept for the new session.
    fn kept_handoff(&self) -> Option<HandoffId> {
        let Rotation { scope, handoff, .. } = &self.rotation;
        let found = self.state.handoff(scope, handoff).ok()??;
        (found.status == Status::Claimed).then_some(found.id)
    }

    /// Whether the host itself says that it has another session now, where its hook could not.
    fn sees_new_session(&mut self) -> bool {
        let Some(live) = self.window.live().filter(|live| live.session_id != self.rotation.session)
        else {
            return false;
        };
        let (process, session) = (self.rotation.process, live.session_id);
        let confirmed = self.state.confirm_rotation(process, &session, &actor(&session));
        matches!(confirmed, Ok(Some(_)))
    }

    /// Types the first prompt of the new session, unless somebody else does.
    fn prompt(&mut self) {
        use RotationState::{Cleared, Waiting};
        breakpoint::reach("rotate:cleared");
        let rotation = self.state.rotation_by_token(self.token).ok().flatten();
        let Some(rotation) = rotation.filter(|now| now.state == Cleared) else { return };
        let Some(session) = rotation.new_session.clone() else { return };
        self.rotation = rotation;
        let (idle, patience) = (time_limits::NEW_IDLE, time_limits::FIRST_PROMPT);
        let ready = self.wait_until_ready(&session, idle, patience);
        let prompt = self.first_prompt();
        // What is typed here is no word of a person, and is told from one by this.
        let stored = ready.and_then(|()| {
            let stored = self.state.set_rotation_prompt(self.rotation.id, &prompt);
            stored.map_err(|_| "the state cannot be written")
        });
        if let Err(why) = stored.and_then(|()| self.type_line(&prompt, &session)) {
            self.step(Cleared, Waiting, Some(why));
            return;
        }
        breakpoint::reach("rotate:prompted");
        let is_taken_up = |worker: &Worker| worker.current_state() == Some(RotationState::Done);
        if self.wait_for(time_limits::TAKEN_UP, is_taken_up) {
            return;
        }
        // A window may take the Enter for a part of what was pasted.
        let is_still_there =
            self.window.composer() == Ok(Composer::Text(composer::squeezed(&prompt)));
        if is_still_there && self.window.is_idle(&session, &self.state).is_ok() {
            let pane = &self.window.pane;
            let _ = tmux::enter(&pane.socket, &pane.id);
            if self.wait_for(time_limits::TAKEN_UP, is_taken_up) {
                return;
            }
        }
        let why = "the first prompt was typed, but had no effect";
        self.step(Cleared, Waiting, Some(why));
    }

    /// The first prompt, by whether the session was given its handoff.
    fn first_prompt(&self) -> String {
        // Its hook may have chosen another one meanwhile.
        let now = self.state.rotation_by_token(self.token).ok().flatten();
        let rotation = now.as_ref().unwrap_or(&self.rotation);
        let Rotation { scope, handoff: id, file, task, prompt, .. } = rotation;
        let handoff = self.state.handoff(scope, id).ok().flatten();
        if handoff.is_none_or(|handoff| handoff.status == Status::Consumed) {
            return prompt.clone();
        }
        let file = file.as_deref().filter(|file| user_input::is_file(file));
        rotation::unread_prompt(id, file, task.as_deref())
    }

    /// Types a line into the empty composer, looks that nothing else is there, and sends it.
    fn type_line(&mut self, line: &str, session: &str) -> Result<(), Obstacle> {
        let pane = self.window.pane.clone();
        tmux::write(&pane.socket, &pane.id, line).map_err(|_| "tmux did not take the keys")?;
        breakpoint::reach(match self.rotation.new_session {
            Some(_) => "rotate:prompt-typed",
            None => "rotate:typed",
        });
        let wanted = Composer::Text(composer::squeezed(line));
        let is_shown = |worker: &Worker| worker.window.composer() == Ok(wanted.clone());
        if !self.wait_for(time_limits::ECHO, is_shown) {
            return Err("the window does not show what was typed, or shows other text next to it");
        }
        thread::sleep(time_limits::SETTLE);
        // Somebody may have typed meanwhile, and a dialog may have opened.
        self.window.is_idle(session, &self.state)?;
        if self.window.composer() != Ok(wanted) {
            return Err("someone typed into the window at the same time");
        }
        let expected = match self.rotation.new_session {
            Some(_) => RotationState::Cleared,
            None => RotationState::Clearing,
        };
        if self.current_state() != Some(expected) {
            return Err("someone else has cleared the window, or sent a prompt");
        }
        tmux::enter(&pane.socket, &pane.id).map_err(|_| "tmux did not take the Enter")
    }

    /// Waits until a session has been idle for a while, with an empty composer that nobody uses.
    fn wait_until_ready(
        &mut self,
        session: &str,
        idle: Duration,
        patience: Duration,
    ) -> Result<(), Obstacle> {
        let until = Instant::now() + patience;
        let mut ready_since = None;
        loop {
            let now = Instant::now();
            let obstacle = match self.obstacle(session) {
                Some(obstacle) => {
                    ready_since = None;
                    obstacle
                }
                None if now - *ready_since.get_or_insert(now) >= idle => return Ok(()),
                None => "it was not idle for long enough",
            };
            // Neither of these comes back.
            let is_over = obstacle == GONE || self.rotation.process.is_gone();
            if now >= until || is_over || self.current_state().is_none() {
                return Err(obstacle);
            }
            thread::sleep(time_limits::WINDOW_POLL);
        }
    }

    /// Why no key may be sent now.
    fn obstacle(&self, session: &str) -> Option<Obstacle> {
        self.window.is_idle(session, &self.state).and_then(|()| self.window.is_free()).err()
    }

    /// The rotation's state; `None` if it is not this worker's any more.
    fn current_state(&self) -> Option<RotationState> {
        let found = self.state.rotation_by_token(self.token).ok().flatten();
        found.map(|rotation| rotation.state)
    }

    /// Takes a step, if the rotation is still this worker's.
    fn step(&mut self, from: RotationState, to: RotationState, why: Option<&str>) -> bool {
        self.state.step_rotation(self.token, from, to, why, now_ms()).unwrap_or(false)
    }

    fn wait_for(&self, patience: Duration, is_so: impl Fn(&Worker) -> bool) -> bool {
        let until = Instant::now() + patience;
        loop {
            if is_so(self) {
                return true;
            }
            if Instant::now() >= until {
                return false;
            }
            thread::sleep(time_limits::WINDOW_POLL);
        }
    }
}
