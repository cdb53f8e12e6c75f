//! Rotation in OpenCode: the bridge makes the new session, and the old one stays as it is.

use std::path::Path;

use crate::app::rotation::{actor, readable};
use crate::core::handoff::section::shorten;
use crate::core::host::Host;
use crate::core::rotation::{self, RotationState};
use crate::core::secrets;
use crate::core::time_limits;
use crate::hosts::opencode::BridgeRotation;
use crate::store::state::{Result, Rotation, State};
use crate::system::breakpoint;
use crate::system::clock::{now_ms, tick_ms};
use crate::system::directories::Directories;
use crate::system::process::identity::Process;
use crate::system::user_input::is_file;

/// The longest title of a session.
const MAX_TITLE_CHARS: usize = 60;

/// A session has nothing to do any more: what the bridge needs for its rotation, if it scheduled one. Where the state is busy,
/// the bridge asks again.
pub(in crate::app) fn idle(
    directories: &Directories,
    session: &str,
    host: Option<Process>,
) -> Result<Option<BridgeRotation>> {
    let folder = &directories.state;
    let Some(looked) = State::look(folder, time_limits::HOOK_STATE)? else { return Ok(None) };
    let open = looked.rotation_of(session)?.filter(|rotation| rotation.host == Host::Opencode);
    let Some(Rotation { id, process, .. }) = open else { return Ok(None) };
    drop(looked);
    let mut state = State::open(folder, time_limits::HOOK_STATE)?;
    state.make_durable()?;
    state.reconsider_rotations(tick_ms(), &actor(session))?;
    let Some(rotation) = state.rotation(id)? else { return Ok(None) };
    let handoff = state.handoff(&rotation.scope, &rotation.handoff)?;
    if let Some(handoff) = &handoff
        && let Err(why) = readable(directories, &rotation.scope, &handoff.id)
    {
        state.delay_rotation(id, why, now_ms())?;
        return Ok(None);
    }
    let owner = host.unwrap_or(process);
    let Some(token) = state.reserve_rotation(id, tick_ms(), owner, now_ms())? else {
        return Ok(None);
    };
    breakpoint::reach("rotate:reserved");
    let (from, to) = (RotationState::Reserved, RotationState::Clearing);
    if !state.step_rotation(token, from, to, None, now_ms())? {
        return Ok(None);
    }
    breakpoint::reach("rotate:clearing");
    let goal = handoff.and_then(|handoff| handoff.goal).unwrap_or_default();
    let goal = secrets::mask(goal.lines().next().unwrap_or_default()).into_owned();
    let title = match goal.trim() {
        "" => format!("Continued by {}", rotation.handoff),
        goal => shorten(goal, MAX_TITLE_CHARS),
    };
    let file = rotation.file.as_deref().filter(|file| is_file(file));
    let unread = rotation::unread_prompt(&rotation.handoff, file, rotation.task.as_deref());
    let (token, prompt) = (token.to_string(), rotation.prompt);
    Ok(Some(BridgeRotation { token, title, prompt, unread: Some(unread) }))
}

/// The bridge has made the new session.
pub(in crate::app) fn made(folder: &Path, token: &str, session: &str) -> Option<Rotation> {
    let mut state = State::open(folder, time_limits::STATE).ok()?;
    let rotation = state.confirm_new_session(token.parse().ok()?, session, &actor(session));
    breakpoint::reach("rotate:confirmed");
    rotation.ok()?
}

/// The first prompt, if the context does not show all of the handoff.
pub(in crate::app) fn prompt_for(rotation: &Rotation, is_whole: bool) -> Option<String> {
    let file = rotation.file.as_deref().filter(|_| !is_whole)?;
    let file = Some(file).filter(|file| is_file(file))?;
    Some(rotation::prompt(&rotation.handoff, Some(file), rotation.task.as_deref()))
}

/// The bridge has sent the first prompt, or failed before it could.
pub(in crate::app) fn finished(folder: &Path, token: &str, error: Option<&str>) -> Result<()> {
    use RotationState::{Cleared, Clearing, Done, Waiting};
    let Ok(token) = token.parse() else { return Ok(()) };
    let mut state = State::open(folder, time_limits::STATE)?;
    let now_ms = now_ms();
    match error {
        None => {
            let rotation = state.rotation_by_token(token)?;
            let made = rotation.and_then(|rotation| Some((rotation.id, rotation.new_session?)));
            if state.step_rotation(token, Cleared, Done, None, now_ms)?
                && let Some((id, session)) = made
            {
                state.take_up_rotation(id, &actor(&session))?;
            }
            Ok(())
        }
        // Nothing was made, so the next idle moment tries again; or there is a session without a prompt.
        Some(error) => {
            state.step_rotation(token, Cleared, Waiting, Some(error), now_ms)?;
            state.postpone_rotation(token, Clearing, error, now_ms)
        }
    }
}
