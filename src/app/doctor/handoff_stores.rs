//! Looks for handoffs that other programs keep for the place, and that were not taken in.

use std::path::PathBuf;

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

/// What another program keeps for the place, and kgctx has not taken in.
#[derive(Debug)]
pub struct WaitingHandoffs {
    pub tool: Tool,
    pub number: usize,
    pub folder: PathBuf,
}

/// One line for each program with something that waits.
pub(super) fn look(place: &Place) -> Vec<Check> {
    let check = |WaitingHandoffs { tool, number, folder }: &WaitingHandoffs| {
        let found = format!(
            "{} of {} that {} not imported, in {}: `kgctx handoff import --from {tool}`",
            counted(*number, "handoff"),
            tool.title(),
            if *number == 1 { "was" } else { "were" },
            folder.display()
        );
        Check::ok("other handoffs", found)
    };
    all_waiting(place).iter().map(check).collect()
}

pub(in crate::app) fn all_waiting(place: &Place) -> Vec<WaitingHandoffs> {
    // An unusable state has its own check.
    let Ok(state) = State::look(&place.directories.state, time_limits::DOCTOR) else {
        return Vec::new();
    };
    let state = state.filter(State::has_handoffs);
    Tool::ALL.iter().filter_map(|tool| waiting(place, state.as_ref(), *tool)).collect()
}

fn waiting(place: &Place, state: Option<&State>, tool: Tool) -> Option<WaitingHandoffs> {
    let store = handoff_stores::look(tool, &place.project, &place.environment, clock::now());
    let (scope, files) =
        (&place.project.scope, HandoffFiles::new(&place.directories, &place.project.scope));
    let is_new = |incoming: &Incoming| {
        !state.is_some_and(|state| is_known(state, &files, scope, incoming).unwrap_or(true))
    };
    let waiting = store.waiting.into_iter();
    let incoming = waiting.filter_map(|found| Incoming::read(Some(tool), found).ok());
    let number = incoming.filter(is_new).count();
    let folder = store.folders.into_iter().next()?;
    (number > 0).then_some(WaitingHandoffs { tool, number, folder })
}
