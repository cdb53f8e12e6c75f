//! Explains what a session was given, or would be given.

use std::path::Path;

use crate::app::inject::inject;
use crate::app::recorder::Recording;
use crate::app::session::Session;
use crate::core::context::explain;
use crate::core::context::explanation::Explanation;
use crate::core::context::page::page;
use crate::core::time_limits;
use crate::store::state::State;
use crate::system::atomic_file;
use crate::workspace::{AppError, Place, Request};

/// Explains the last context of a project, or the last one of a session; `None` where there is none.
pub fn last(request: &Request, session: Option<&str>) -> Result<Option<Explanation>, AppError> {
    let place = Place::find(request)?;
    let state = State::open(&place.directories.state, time_limits::STATE)?;
    let receipt = match session {
        Some(session) => state.last_of_session(session)?,
        None => state.last_of_project(&place.project.key)?,
    };
    Ok(receipt.map(explain::explain))
}

/// Explains what a session would be given now, and writes nothing down.
pub fn dry_run(session: &Session) -> Result<Explanation, AppError> {
    Ok(explain::explain(inject(session, Recording::Off)?.receipt))
}

/// Writes an explanation to a file, as a page for a browser.
pub fn write_page(explanation: &Explanation, file: &Path) -> Result<(), AppError> {
    Ok(atomic_file::save(file, &page(explanation))?)
}
