//! Checks rotations that need a person.

use crate::core::diagnosis::Check;
use crate::core::rotation::RotationState;
use crate::core::time_limits;
use crate::store::state::State;
use crate::workspace::Surroundings;

/// Checks all rotations that are under way; `None` if none needs anything.
pub(super) fn look(surroundings: &Surroundings) -> Option<Check> {
    // An unusable state has its own check.
    let folder = &surroundings.directories.state;
    let state = State::look(folder, time_limits::DOCTOR).ok()??;
    let open = state.unfinished_rotations().ok()?;
    let stuck = open.iter().find(|rotation| rotation.state == RotationState::Stuck)?;
    let why = stuck.reason.as_deref().unwrap_or("for an unknown reason");
    let found = format!("the rotation of session {} is stuck: {why}", stuck.session);
    Some(Check::warn("rotation", found, "`kgctx handoff rotate --status` shows what to do"))
}
