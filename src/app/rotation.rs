//! Rotation: a session goes on in a fresh context, by a handoff that it wrote itself. This is what hooks have to do with
//! it; `request` is the command, and `worker` the process that clears the window.
//!
//! No key is sent unless the session asked for it, its turn has ended, and its composer was seen empty.

pub(super) mod opencode;
mod request;
mod seat;
mod view;
pub mod worker;

use std::path::Path;

pub use crate::app::rotation::request::{RotationRequest, cancel, list, retry, schedule};
pub(super) use crate::app::rotation::seat::can_rotate;
pub use crate::app::rotation::view::RotationView;

use crate::core::context::receipt::Injection;
use crate::core::handoff::HandoffId;
use crate::core::handoff::life::Actor;
use crate::core::rotation::{self, MANY_POSTPONED, RotationState};
use crate::core::time_limits;
use crate::store::handoff_files::HandoffFiles;
use crate::store::state::{Result, Rotation, State};
use crate::system::breakpoint;
use crate::system::clock::{now_ms, tick_ms};
use crate::system::directories::Directories;
use crate::system::environment::Environment;
use crate::system::process::detach;
use crate::system::process::identity::Process;
use crate::system::user_input;
use crate::workspace::Place;

/// Why no context is cleared whose handoff is not there.
const UNREADABLE: &str =
    "its handoff cannot be read; restore the file, or run `kgctx handoff rotate` with another one";

fn actor(session: &str) -> Actor {
    Actor { session: Some(session.to_owned()), now_ms: now_ms() }
}

/// A turn of a session has ended at `ended_tick`: its rotation begins, if it scheduled one. Never waits for long.
pub(super) fn turn_ended(session: &str, has_agents: bool, ended_tick: i64) {
    let Ok(Directories { state: folder, .. }) = Directories::locate(&Environment::of_process())
    else {
        return;
    };
    let looked = State::look(&folder, time_limits::STOP_STATE);
    let open = looked.map(|state| state.map(|state| state.rotation_of(session)).transpose());
    let rotation = match open {
        Ok(Ok(rotation)) => rotation.flatten(),
        Ok(Err(_)) | Err(_) => return,
    };
    let Some(rotation) = rotation.filter(|rotation| {
        // A worker that has just begun is not disturbed.
        rotation.state == RotationState::Scheduled
            || (rotation.state == RotationState::Reserved && rotation.is_deserted())
    }) else {
        return;
    };
    let begun = State::open(&folder, time_limits::STOP_STATE)
        .and_then(|mut state| begin(&mut state, &rotation, has_agents, ended_tick));
    if begun.is_err() {
        // The state is busy: a process that can wait goes on from here.
        let _ = detach::rotate_session(session, has_agents, ended_tick);
    }
}

/// Reserves a rotation and starts its worker, unless it has to wait.
fn begin(state: &mut State, rotation: &Rotation, has_agents: bool, ended_tick: i64) -> Result<()> {
    state.reconsider_rotations(tick_ms(), &actor(&rotation.session))?;
    if has_agents {
        let is_odd = rotation.postponed + 1 >= MANY_POSTPONED;
        let remark = if is_odd { "; end them, or cancel the rotation" } else { "" };
        let reason = format!("agents work in the background{remark}");
        return state.delay_rotation(rotation.id, &reason, now_ms());
    }
    // Whether a prompt waits in the queue is for the worker to see: the host may write a moment later that it took it up.
    reserve(state, rotation.id, ended_tick)
}

/// Whether a new session can be given the document of a handoff. Without it, what the session knows would be lost.
fn readable(directories: &Directories, scope: &str, id: &HandoffId) -> Result<(), &'static str> {
    let read = HandoffFiles::new(directories, scope).read_usable(id);
    read.map(drop).map_err(|_| UNREADABLE)
}

/// Reserves a scheduled rotation, and starts its worker.
fn reserve(state: &mut State, id: i64, ended_tick: i64) -> Result<()> {
    let reserved = state.reserve_rotation(id, ended_tick, Process::this(), now_ms())?;
    let Some(token) = reserved else { return Ok(()) };
    breakpoint::reach("rotate:reserved");
    match detach::rotate(token) {
        // If this fails, the worker does it itself.
        Ok(pid) => drop(state.own_rotation(token, Process::with(pid))),
        Err(error) => {
            let reason = format!("its worker could not be started: {error}");
            let (from, to) = (RotationState::Reserved, RotationState::Scheduled);
            state.step_rotation(token, from, to, Some(&reason), now_ms())?;
        }
    }
    Ok(())
}

/// A prompt was typed into a session.
pub(super) fn prompted(folder: &Path, session: &str, prompt: &str, at_tick: i64) {
    let note = || {
        let state = State::look(folder, time_limits::HOOK_STATE).ok()??;
        if !state.concerns_rotation(session).ok()? {
            return None;
        }
        drop(state);
        let mut state = State::open(folder, time_limits::HOOK_STATE).ok()?;
        state.note_turn(session, prompt, at_tick, &actor(session)).ok()
    };
    // Without it, a worker sees by itself that a turn is under way.
    let _ = note();
}

/// A tool was used in a session: a turn is under way, whatever seemed to end it before.
pub(super) fn tool_used(folder: &Path, session: &str, at_tick: i64) {
    let note = || {
        let looked = State::look(folder, time_limits::HOOK_STATE).ok()??;
        let is_taken_back = looked.rotation_of(session).ok()??.is_reserved_before(at_tick);
        drop(looked);
        let mut state =
            is_taken_back.then(|| State::open(folder, time_limits::HOOK_STATE))?.ok()?;
        state.note_tool(session, at_tick, now_ms()).ok()
    };
    // Without it, a worker sees by itself that a turn is under way.
    let _ = note();
}

/// A session began because a host cleared its window: the rotation that did this, if one did.
pub(super) fn cleared(state: &mut State, session: &str) -> Option<Rotation> {
    let host = Process::host()?;
    let (rotation, deserted) = state.confirm_rotation(host, session, &actor(session)).ok()??;
    breakpoint::reach("rotate:confirmed");
    if let Some(token) = deserted
        && let Ok(pid) = detach::rotate(token)
    {
        let _ = state.own_rotation(token, Process::with(pid));
    }
    Some(rotation)
}

/// Whether a context shows all of its handoff.
pub(super) fn shows_whole(given: &Injection) -> bool {
    let body = given.receipt.shown_handoff().map(|handoff| handoff.body.trim());
    body.is_some_and(|body| given.text.contains(body))
}

/// Chooses the first prompt of a session by what its context shows of the handoff.
pub(super) fn note_given(place: &Place, rotation: &Rotation, given: &Injection) {
    let is_whole = shows_whole(given);
    let Some(file) = rotation.file.as_deref().filter(|file| !is_whole && user_input::is_file(file))
    else {
        return;
    };
    let prompt = rotation::prompt(&rotation.handoff, Some(file), rotation.task.as_deref());
    if let Ok(mut state) = State::open(&place.directories.state, time_limits::HOOK_STATE) {
        // Without it, the prompt names the handoff, whose text says how to read the rest.
        let _ = state.set_rotation_prompt(rotation.id, &prompt);
    }
}

/// A session has ended: what it had scheduled is over, unless the rotation itself has ended it; and so is the rotation by
/// which it began, if nobody has said anything in it.
pub(super) fn ended(state: &mut State, session: &str) {
    // If this fails, it is seen to when the host's process is gone.
    let _ = state.drop_rotations(session, &actor(session));
}

/// Looks after rotations that nobody else does.
pub(super) fn look_after(state: &mut State) {
    let actor = Actor { session: None, now_ms: now_ms() };
    // If this fails, the next process does it.
    let _ = state.reconsider_rotations(tick_ms(), &actor);
}
