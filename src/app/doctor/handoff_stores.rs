//! Looks for handoffs that other programs keep for the place, and that were not taken in.

use crate::app::handoff::is_known;
use crate::core::diagnosis::Check;
use crate::core::handoff::foreign::Incoming;
use crate::core::handoff::tool::Tool;
use crate::core::named::Named;
use crate::core::text::number::counted;
use crate::core::time_limits;
use crate::hosts::handoff_stores;
use crate::store::handoff_files::HandoffFiles;
use crate::store::state::State;
use crate::system::clock;
use crate::workspace::Place;

/// One line for each program with something that waits.
pub(super) fn look(place: &Place) -> Vec<Check> {
    // An unusable state has its own check.
    let Ok(state) = State::look(&place.directories.state, time_limits::DOCTOR) else {
        return Vec::new();
    };
    let state = state.filter(State::has_handoffs);
    Tool::ALL.iter().filter_map(|tool| waiting(place, state.as_ref(), *tool)).collect()
}

fn waiting(place: &Place, state: Option<&State>, tool: Tool) -> Option<Check> {
    let store = handoff_stores::look(tool, &place.project, &place.environment, clock::now());
    let (scope, files) =
        (&place.project.scope, HandoffFiles::new(&place.directories, &place.project.scope));
    let is_new = |incoming: &Incoming| {
        !state.is_some_and(|state| is_known(state, &files, scope, incoming).unwrap_or(true))
    };
    let waiting = store.waiting.into_iter();
    let incoming = waiting.filter_map(|found| Incoming::read(Some(tool), found).ok());
    let n_new = incoming.filter(is_new).count();
    let folder = store.folders.first()?;
    let found = format!(
        "{} of {} that {} not imported, in {}: `kgctx handoff import --from {tool}`",
        counted(n_new, "handoff"),
        tool.title(),
        if n_new == 1 { "was" } else { "were" },
        folder.display()
    );
    (n_new > 0).then(|| Check::ok("other handoffs", found))
}
