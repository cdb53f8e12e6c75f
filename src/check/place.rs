//! A place on the stage: its settings, and how a session is put there with nothing of the user's in reach.

use std::ffi::OsString;
use std::io;

use super::CheckError;
use super::ground::{Ground, SETTINGS};
use super::scene::text;
use crate::check::finding::SessionSpec;
use crate::check::settings_file;
use crate::check::stage::Stage;
use crate::core::source::SourcePreference;
use crate::system::environment::Environment;
use crate::workspace::{AppError, Place, Request};

/// Nobody waits here: a slow machine must not change what is found.
const PATIENCE_MS: &str = "3600000";
/// The branch that a session is on which names none.
pub(super) const BRANCH: &str = "main";

/// Puts settings on the stage: those at the top, and those of packages where there is no repository around them.
pub(super) fn set_settings(ground: &Ground, stage: &Stage) -> Result<(), CheckError> {
    let set = |path: &str, text: &str| stage.write(path, text.as_bytes());
    if ground.text.is_some() {
        set(SETTINGS, &ground.file.without_unknown).map_err(on_stage)?;
    }
    if ground.has_repository() {
        stage.check_out(BRANCH).map_err(on_stage)?;
        return Ok(());
    }
    let in_package = |path: &&String| path.ends_with("/kgctx.toml");
    for path in ground.paths.iter().filter(in_package) {
        let Some(text) = ground.checkout.read(path, 1 << 20).map(text) else { continue };
        let file = settings_file::read(path, &text)?;
        set(path, &file.without_unknown).map_err(on_stage)?;
    }
    Ok(())
}

/// Makes sure that a session starts somewhere.
pub(super) fn check_folder(
    ground: &Ground,
    stage: &Stage,
    session: &SessionSpec,
) -> Result<(), CheckError> {
    let SessionSpec { name, dir, .. } = session;
    if !stage.has_folder(dir) {
        let n = ground.sessions.iter().position(|other| other.name == *name).unwrap_or_default();
        let keys = [format!("check.session.{n}.dir"), format!("check.session.{n}")];
        let line = ground.spot(&keys).map_or(1, |spot| spot.line);
        return Err(CheckError::Place(format!(
            "{SETTINGS}:{line}: the session {name:?} starts in {dir:?}, and no file of the repository is there"
        )));
    }
    Ok(())
}

/// What a folder on the stage belongs to.
pub(super) fn place_of(stage: &Stage, dir: &str) -> Result<Place, CheckError> {
    Place::find(&request(stage, dir)).map_err(|error| unstaged(stage, error))
}

/// Wrong settings, with their paths as they are in the repository.
fn unstaged(stage: &Stage, error: AppError) -> CheckError {
    match error {
        AppError::Settings(error) => CheckError::Place(stage.unstaged(&error.to_string())),
        error => error.into(),
    }
}

/// A session's place, with nothing of the user's in reach.
pub(super) fn request(stage: &Stage, dir: &str) -> Request {
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
pub(super) fn on_stage(cause: io::Error) -> CheckError {
    CheckError::Write { path: "a temporary folder".to_owned(), cause }
}
