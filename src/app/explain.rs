//! Explains which context a session got, or would get.

use std::path::Path;

use serde::Serialize;

use crate::app::inject::inject;
use crate::app::recorder::Recording;
use crate::app::session::Session;
use crate::core::context::explain;
use crate::core::context::explanation::Explanation;
use crate::core::context::page::page;
use crate::core::context::rank::Ranking;
use crate::core::context::summary::ContextSummary;
use crate::core::context::supplement::Given;
use crate::core::time_limits;
use crate::store::state::{State, StateError};
use crate::store::unsaved_receipts;
use crate::system::atomic_file;
use crate::workspace::{AppError, Place, Request};

/// How many contexts a list has.
const LISTED: usize = 100;

/// The last contexts of the sessions of a project.
#[derive(Debug, Serialize)]
pub struct ContextList {
    /// `None` outside a project.
    pub project: Option<String>,
    /// Newest first.
    pub contexts: Vec<ContextSummary>,
}

/// The explanation of a context, and why sessions get none, if the settings cannot be read.
type Explained = (Option<Explanation>, Option<String>);

/// Explains the last context of a project or of a session, and what the first prompt added to it; `None` if there is no
/// context. Wrong settings do not matter here: they may be what is to be explained.
pub fn last(request: &Request, session: Option<&str>) -> Result<Explained, AppError> {
    let place = Place::find(&Request { is_lenient: true, ..request.clone() })?;
    let (folder, project) = (&place.directories.state, &place.project.key);
    let explanation = recorded(folder, session, project).or_else(|error| {
        // What the state could not take is there all the same.
        let unsaved = unsaved_receipts::last(folder, session, project);
        unsaved.map(|receipt| Some(explain::explain(receipt))).ok_or(error)
    })?;
    Ok((explanation, place.closed))
}

/// Explains the last context of a session, as [`last`] does, and changes nothing.
pub fn look(request: &Request, session: &str) -> Result<Option<Explanation>, AppError> {
    let place = Place::find(&Request { is_lenient: true, ..request.clone() })?;
    let (folder, project) = (&place.directories.state, &place.project.key);
    // What the state could not take yet is the newest.
    if let Some(receipt) = unsaved_receipts::last(folder, Some(session), project) {
        return Ok(Some(explain::explain(receipt)));
    }
    let Some(state) = State::look(folder, time_limits::STATE)? else { return Ok(None) };
    Ok(explained(&state, Some(session), project)?)
}

/// Lists the last contexts of the sessions of a project, and changes nothing.
pub fn list(request: &Request) -> Result<ContextList, AppError> {
    let place = Place::find(&Request { is_lenient: true, ..request.clone() })?;
    let state = State::look(&place.directories.state, time_limits::STATE)?;
    let contexts = state.map(|state| state.contexts_of_project(&place.project.key, LISTED));
    Ok(ContextList {
        project: place.project.name,
        contexts: contexts.transpose()?.unwrap_or_default(),
    })
}

fn recorded(
    folder: &Path,
    session: Option<&str>,
    project: &str,
) -> Result<Option<Explanation>, StateError> {
    let mut state = State::open(folder, time_limits::STATE)?;
    unsaved_receipts::take_in(folder, &mut state)?;
    explained(&state, session, project)
}

fn explained(
    state: &State,
    session: Option<&str>,
    project: &str,
) -> Result<Option<Explanation>, StateError> {
    let receipt = match session {
        Some(session) => state.last_of_session(session)?,
        None => state.last_of_project(project)?,
    };
    let Some(receipt) = receipt else { return Ok(None) };
    let supplement = match Given::of(&receipt) {
        Some(_) => state.supplement_of_session(&receipt.session)?,
        None => None,
    };
    let supplement = supplement.map(|receipt| Box::new(explain::explain(receipt)));
    Ok(Some(Explanation { supplement, ..explain::explain(receipt) }))
}

/// Explains which context a session would get now, and records nothing.
pub fn dry_run(session: &Session) -> Result<Explanation, AppError> {
    let explanation = explain::explain(inject(session, Recording::Off)?.receipt);
    Ok(Explanation { is_dry_run: true, ..explanation })
}

/// Explains which context a session would get now, and which one with another ranking.
pub fn compared(session: &Session, ranking: Ranking) -> Result<[Explanation; 2], AppError> {
    let other = Session { ranking: Some(ranking), ..session.clone() };
    Ok([dry_run(session)?, dry_run(&other)?])
}

/// Writes an explanation to a file as an HTML page.
pub fn write_page(explanation: &Explanation, file: &Path) -> Result<(), AppError> {
    atomic_file::save(file, &page(explanation)).map_err(AppError::Place)
}
