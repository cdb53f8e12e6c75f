//! Checks the summariser: whether its program is there, and whether it failed when it was last needed here.

use std::ffi::OsStr;

use crate::core::diagnosis::Check;
use crate::core::secrets;
use crate::core::time_limits;
use crate::store::state::State;
use crate::system::environment::Environment;
use crate::system::process::find;
use crate::workspace::Place;

const NAME: &str = "summariser";

/// Checks the summariser of a place; `None` if there is none.
pub(super) fn look(place: &Place, environment: &Environment) -> Option<Check> {
    let command = &place.settings.handoff.summariser.value;
    let program = command.first()?;
    if find::find(OsStr::new(program), environment).is_none() {
        let found =
            format!("{program} is not found, so handoffs of ended sessions have no summary");
        return Some(Check::warn(NAME, found, "fix summariser under [handoff]"));
    }
    // An unusable state has its own check.
    let state = State::look(&place.directories.state, time_limits::DOCTOR).ok().flatten();
    let state = state.filter(State::has_handoffs);
    let failure = state.and_then(|state| state.summary_failure(&place.project.scope).ok()?);
    // Another program may have been the summariser then.
    let is_of_this = |reason: &str| reason.contains(&format!("summariser {program} "));
    let failure = failure.filter(|(_, reason)| is_of_this(reason));
    Some(match failure {
        Some((id, reason)) => {
            let found = format!("{id} has no summary: {}", secrets::mask(&reason));
            let out = "run it by hand: it reads a prompt from standard input and prints markdown";
            Check::warn(NAME, found, out)
        }
        None => Check::ok(NAME, secrets::mask(&command.join(" ")).into_owned()),
    })
}
