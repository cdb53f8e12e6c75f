//! Checks the handoffs that wait in the place's channel, and whether the state knows all documents.

use crate::core::diagnosis::Check;
use crate::core::handoff::record::HandoffRecord;
use crate::core::handoff::{HandoffId, Kind, Status};
use crate::core::text::number::counted;
use crate::core::time_limits;
use crate::store::handoff_files::HandoffFiles;
use crate::store::state::State;
use crate::workspace::Place;

/// The problem with the document of the waiting handoff, if any.
fn trouble(place: &Place, known: &[HandoffRecord]) -> Option<String> {
    let is_current =
        |record: &&HandoffRecord| record.kind == Kind::Session && record.status == Status::Active;
    let current = known.iter().find(is_current)?;
    let id = &current.id;
    let files = HandoffFiles::new(&place.directories, &current.scope);
    let read = match files.read_usable(id) {
        Ok(read) => read,
        Err(why) => return Some(format!("{id} waits and {why}")),
    };
    let named = read.document.head.id.as_deref().unwrap_or("none");
    (!read.is_raw && named != id.as_str())
        .then(|| format!("{id} waits and its document has the id {named}"))
}

/// Checks the handoffs of a place; `None` if there are none.
pub(super) fn look(place: &Place) -> Option<Check> {
    let name = "handoffs";
    let scope = &place.project.scope;
    let documents = HandoffFiles::new(&place.directories, scope).all().unwrap_or_default();
    // An unusable state has its own check.
    let state = State::look(&place.directories.state, time_limits::DOCTOR).ok()?;
    let known = match state {
        Some(state) if state.has_handoffs() => state.list_handoffs(scope).ok()?,
        _ => Vec::new(),
    };
    let is_lost = |id: &&HandoffId| !known.iter().any(|record| record.id == **id);
    let n_lost = documents.iter().filter(is_lost).count();
    if n_lost > 0 {
        let found = format!("the state does not know {}", counted(n_lost, "document"));
        return Some(Check::warn(name, found, "`kgctx handoff reconcile --repair` takes them in"));
    }
    if let Some(why) = trouble(place, &known) {
        let out = "no session is given it; `kgctx handoff reconcile` tells more";
        return Some(Check::warn(name, why, out));
    }
    let handoff = &place.settings.handoff.enabled;
    let count = |kind: Kind, status: Status| {
        let is_it = |record: &&HandoffRecord| record.kind == kind && record.status == status;
        known.iter().filter(is_it).count()
    };
    let n_tasks = count(Kind::Task, Status::Active);
    let n_claimed = count(Kind::Task, Status::Claimed);
    let next = match known
        .iter()
        .find(|record| record.kind == Kind::Session && record.status == Status::Active)
    {
        Some(record) => format!("{} waits for the next session", record.id),
        None => "none waits for the next session".to_owned(),
    };
    if known.is_empty() {
        return None;
    }
    let found = format!("{next}, {} in the queue, {n_claimed} claimed", counted(n_tasks, "task"));
    if !handoff.value {
        let found = format!("{found}; sessions are given none: switched off by {}", handoff.origin);
        return Some(Check::warn(name, found, "set enabled = true under [handoff]"));
    }
    Some(Check::ok(name, found))
}
