//! Explains what a session was given, or would be given.

use std::path::Path;
use std::time::Duration;

use crate::adapters::document;
use crate::adapters::state::State;
use crate::app::inject::{Keep, Session, inject};
use crate::app::workspace::{AppError, Place, Request};
use crate::domain::explanation::Explanation;
use crate::engine::explain as engine;
use crate::engine::page::page;

/// Another process that is writing is waited for this long.
const PATIENCE: Duration = Duration::from_secs(5);

/// Explains the last context of a project, or the last one of a session; `None` where there is none.
pub fn last(request: &Request, session: Option<&str>) -> Result<Option<Explanation>, AppError> {
    let place = Place::find(request)?;
    let state = State::open(&place.directories.state, PATIENCE)?;
    let receipt = match session {
        Some(session) => state.last_of_session(session)?,
        None => state.last_of_project(&place.project.key)?,
    };
    Ok(receipt.map(engine::explain))
}

/// Explains what a session would be given now, and writes nothing down.
pub fn dry_run(session: &Session) -> Result<Explanation, AppError> {
    Ok(engine::explain(inject(session, Keep::Nothing)?.receipt))
}

/// Writes an explanation to a file, as a page for a browser.
pub fn write_page(explanation: &Explanation, file: &Path) -> Result<(), AppError> {
    Ok(document::write(file, &page(explanation))?)
}
