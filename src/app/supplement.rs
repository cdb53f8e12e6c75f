//! The supplement at a session's first prompt: whether one is due, and what the session already has.

use std::path::{Path, PathBuf};

use crate::app::session::Session;
use crate::core::context::supplement::Given;
use crate::core::host::Host;
use crate::core::session::Moment;
use crate::core::time_limits;
use crate::store::state::State;
use crate::workspace::{AppError, Place};

/// A supplement that a session may get.
pub(super) struct DueSupplement {
    pub(super) given: Given,
    /// Where the session runs, if known.
    pub(super) folder: Option<PathBuf>,
}

/// The receipt of the context that a session has.
#[derive(Debug, Clone, Copy)]
pub(super) enum GivenBy {
    /// The one that was delivered at its start.
    Start,
    /// This one. The bridge holds its text, but may not have confirmed it yet.
    Receipt(i64),
}

/// Looks up whether a session's first prompt brings a supplement. Quick if it does not: a host asks at every prompt.
pub(super) fn due(folder: &Path, session: &str, by: GivenBy) -> Option<DueSupplement> {
    let state = State::open_if_there(folder, time_limits::HOOK_STATE).ok()??;
    if state.is_settled(session, &Moment::Prompt).ok()? {
        return None;
    }
    let receipt = match by {
        GivenBy::Start => state.start_of_session(session).ok()?.filter(|start| start.delivered),
        GivenBy::Receipt(id) => state.receipt(id).ok()?,
    };
    let given = Given::of(&receipt.filter(|receipt| receipt.session == session)?)?;
    let origin = state.session_origin(session).ok().flatten();
    Some(DueSupplement { given, folder: origin.map(|origin| origin.folder) })
}

/// The session at its first prompt, after the context that was delivered to it or last made for it.
pub fn at_first_prompt(session: Session) -> Result<Session, AppError> {
    let folder = Place::find(&session.place)?.directories.state;
    let state = State::open_if_there(&folder, time_limits::STATE)?;
    let start = state.map(|state| state.start_of_session(&session.id)).transpose()?.flatten();
    let Some(start) = start else {
        return Err(AppError::Place(format!(
            "session {:?} has no context yet; `kgctx inject --session ID --dry-run --host opencode` makes one",
            session.id
        )));
    };
    let Some(given) = Given::of(&start) else {
        return Err(AppError::Place(format!(
            "the context of session {:?} gets no supplement: it knew the prompt, or reserved no tokens for one (that \
            needs a host that sends the prompt later, rank = \"notes\" and `prompt_share`)",
            session.id
        )));
    };
    let host = if session.host == Host::Plain { start.host } else { session.host };
    Ok(Session { moment: Moment::Prompt, given: Some(given), host, ..session })
}
