//! Checks the handoffs that wait in the place's channel, and whether the state knows all documents.

use crate::core::diagnosis::Check;
use crate::core::handoff::expiry::is_in_future;
use crate::core::handoff::record::HandoffRecord;
use crate::core::handoff::{HandoffId, Kind, Status};
use crate::core::text::number::counted;
use crate::core::time_limits;
use crate::store::handoff_files::HandoffFiles;
use crate::store::state::State;
use crate::system::clock;
use crate::workspace::Place;

const RECONCILE: &str = "no session gets it; `kgctx handoff reconcile` shows more";

/// Checks the document of the waiting handoff. The error is the problem with it, and the way out.
fn check_document(place: &Place, waiting: &HandoffRecord) -> Result<(), (String, String)> {
    let id = &waiting.id;
    let files = HandoffFiles::new(&place.directories, &waiting.scope);
    let read = files.read_usable(id);
    let read = read.map_err(|why| (format!("{id} waits, but {why}"), RECONCILE.to_owned()))?;
    let named = read.document.head.id.as_deref().unwrap_or("none");
    if !read.is_raw && named != id.as_str() {
        return Err((
            format!("{id} waits, but its document has the id {named}"),
            RECONCILE.to_owned(),
        ));
    }
    let written = read.document.head.created_at.filter(|_| !read.is_raw);
    let mut times = [Some(waiting.created), written].into_iter().flatten();
    match times.find(|at| is_in_future(*at, clock::now_ms())) {
        Some(at) => Err((
            format!(
                "{id} is dated in the future ({at}): sessions are told of it, and do not get it"
            ),
            format!("`kgctx handoff pickup {id}` loads it; or correct the date in its document"),
        )),
        None => Ok(()),
    }
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
        return Some(Check::warn(name, found, "`kgctx handoff reconcile --repair` registers them"));
    }
    if known.is_empty() {
        return None;
    }
    let with = |kind, status| {
        known.iter().filter(move |record| record.kind == kind && record.status == status)
    };
    let waiting = with(Kind::Session, Status::Active).next();
    if let Some(Err((why, out))) = waiting.map(|waiting| check_document(place, waiting)) {
        return Some(Check::warn(name, why, out));
    }
    let next = waiting.map_or("none", |waiting| waiting.id.as_str());
    let tasks = counted(with(Kind::Task, Status::Active).count(), "task");
    let n_claimed = with(Kind::Task, Status::Claimed).count();
    let found =
        format!("{next} waits for the next session, {tasks} in the queue, {n_claimed} claimed");
    let handoff = &place.settings.handoff.enabled;
    if !handoff.value {
        let found =
            format!("{found}; sessions get none, because {} switches handoffs off", handoff.origin);
        return Some(Check::warn(name, found, "set enabled = true under [handoff]"));
    }
    Some(Check::ok(name, found))
}
