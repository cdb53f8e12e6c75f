//! A place on the stage: its settings, and how a session is put there with nothing of the user's in reach.

use std::ffi::OsString;
use std::io;

use crate::check::CheckError;
use crate::check::contexts::temp_checkout::TempCheckout;
use crate::check::repository::{Repository, SETTINGS};
use crate::check::settings;
use crate::check::settings::SessionSpec;
use crate::check::snapshot::text;
use crate::core::source::SourcePreference;
use crate::system::environment::Environment;
use crate::workspace::{AppError, Place, Request};

/// Nobody waits here: a slow machine must not change what is found.
const PATIENCE_MS: &str = "3600000";
/// The branch that a session is on which names none.
pub(crate) const BRANCH: &str = "main";

/// Puts settings on the stage: those at the top, and those of packages where there is no repository around them.
pub(crate) fn set_settings(
    repository: &Repository,
    stage: &TempCheckout,
) -> Result<(), CheckError> {
    let set = |path: &str, text: &str| stage.write(path, text.as_bytes());
    if repository.text.is_some() {
        set(SETTINGS, &repository.file.without_unknown).map_err(on_stage)?;
    }
    if repository.has_repository() {
        stage.check_out(BRANCH).map_err(on_stage)?;
        return Ok(());
    }
    let in_package = |path: &&String| path.ends_with("/kgctx.toml");
    for path in repository.paths.iter().filter(in_package) {
        let Some(text) = repository.tree.read(path, 1 << 20).map(text) else { continue };
        let file = settings::file::read(path, &text)?;
        set(path, &file.without_unknown).map_err(on_stage)?;
    }
    Ok(())
}

/// Makes sure that a session starts somewhere.
pub(crate) fn check_folder(
    repository: &Repository,
    stage: &TempCheckout,
    session: &SessionSpec,
) -> Result<(), CheckError> {
    let SessionSpec { name, dir, .. } = session;
    if !stage.has_folder(dir) {
        let n =
            repository.sessions.iter().position(|other| other.name == *name).unwrap_or_default();
        let keys = [format!("check.session.{n}.dir"), format!("check.session.{n}")];
        let line = repository.spot(&keys).map_or(1, |spot| spot.line);
        return Err(CheckError::Place(format!(
            "{SETTINGS}:{line}: the session {name:?} starts in {dir:?}, and no file of the repository is there"
        )));
    }
    Ok(())
}

/// What a folder on the stage belongs to.
pub(crate) fn place_of(stage: &TempCheckout, dir: &str) -> Result<Place, CheckError> {
    Place::find(&request(stage, dir)).map_err(|error| unstaged(stage, error))
}

/// Wrong settings, with their paths as they are in the repository.
fn unstaged(stage: &TempCheckout, error: AppError) -> CheckError {
    match error {
        AppError::Settings(error) => CheckError::Place(stage.unstaged(&error.to_string())),
        error => error.into(),
    }
}

/// A session's place, with nothing of the user's in reach.
pub(crate) fn request(stage: &TempCheckout, dir: &str) -> Request {
    let environment = [("KGCTX_DEADLINE_MS", PATIENCE_MS)];
    let environment: Environment =
        environment.into_iter().map(|(k, v)| (OsString::from(k), OsString::from(v))).collect();
    Request {
        dir: Some(stage.project().join(dir)),
        home: Some(stage.home()),
        environment: Some(environment),
        source: Some(SourcePreference::Index),
        // Where temporary folders are is the machine's matter, and may be inside of somebody's repository.
        ceiling: Some(stage.folder().to_path_buf()),
        ..Request::default()
    }
}

/// A stage that could not be set.
pub(crate) fn on_stage(cause: io::Error) -> CheckError {
    CheckError::Write { path: "a temporary folder".to_owned(), cause }
}
