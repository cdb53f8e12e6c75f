//! Puts our hooks into Claude Code's settings, and takes them out again so that every byte is as it was before.

use std::io;
use std::path::PathBuf;

use sha2::{Digest, Sha256};

use crate::app::install::{InstallError, PATIENCE, folders_to_go, put_in, remembered};
use crate::core::installation::{Change, Scope};
use crate::hosts::claude_code::SettingsFile;
use crate::hosts::claude_code::backup;
use crate::hosts::claude_code::places;
use crate::store::state::State;
use crate::system::atomic_file;
use crate::system::folders;
use crate::system::process::find;
use crate::workspace::{AppError, Request, Surroundings};

/// What installing would do.
#[derive(Debug)]
pub struct InstallPlan {
    /// What changes, in order; nothing where the hooks are as they should be.
    pub changes: Vec<Change>,
    /// The settings file.
    pub file: PathBuf,
    /// What is in it then.
    wanted: SettingsFile,
    /// What uninstalling is to restore; `None` where it is kept already, or where there was nothing.
    original: Option<SettingsFile>,
    state: PathBuf,
}

/// Finds out what installing would do, and changes nothing.
pub fn plan_install(request: &Request, scope: Scope) -> Result<InstallPlan, InstallError> {
    let surroundings = Surroundings::find(request)?;
    let file = settings_of(&surroundings, scope)?;
    let found = SettingsFile::read(&file)?;
    let now = found.clone().map_or_else(|| SettingsFile::empty(&file), Ok)?;
    let wanted = now.with_hooks(&program_in_settings(&surroundings)?)?;
    let state = surroundings.directories.state;
    let mut plan = InstallPlan { changes: Vec::new(), file, wanted, original: None, state };
    let Some(found) = found else {
        let missing = folders::missing(&plan.file).into_iter();
        plan.changes.extend(missing.map(Change::MakeFolder));
        plan.changes.push(Change::MakeSettings(plan.file.clone()));
        return Ok(plan);
    };
    if plan.wanted == now {
        return Ok(plan);
    }
    let known = remembered(State::open_if_there(&plan.state, PATIENCE)?.as_ref(), &plan.file)?;
    // What is kept is still right if nobody has changed the file since. Else what others wrote is to survive, too.
    let is_as_left = known.is_some_and(|known| known.sha256 == sha256(found.text()));
    if !is_as_left {
        plan.original = Some(found.without_hooks(backup::read(&plan.file)?.as_ref())?);
        plan.changes.push(Change::BackUpSettings(places::backup(&plan.file)));
    }
    plan.changes.push(Change::AddHooks(plan.file.clone()));
    Ok(plan)
}

impl InstallPlan {
    /// Does it.
    pub fn apply(&self) -> Result<(), InstallError> {
        let is_new = self.changes.contains(&Change::MakeSettings(self.file.clone()));
        let sha256 = sha256(self.wanted.text());
        put_in(&self.state, &self.file, &self.changes, is_new, sha256, || self.write())
    }

    fn write(&self) -> io::Result<()> {
        let had_backup = backup::is_there(&self.file);
        if let Some(original) = &self.original {
            backup::write(&self.file, original)?;
        }
        atomic_file::write(&self.file, self.wanted.text()).inspect_err(|_| {
            if self.original.is_some() && !had_backup {
                // The cause is what is to be told.
                let _ = backup::remove(&self.file);
            }
        })
    }
}

/// What removing would do.
pub struct UninstallPlan {
    /// What changes, in order; nothing where no hook of ours is there.
    pub changes: Vec<Change>,
    /// Where they were looked for.
    pub file: PathBuf,
    /// What is in the file then.
    rest: Option<SettingsFile>,
    state: Option<State>,
}

/// Finds out what removing would do, and changes nothing.
pub fn plan_uninstall(request: &Request, scope: Scope) -> Result<UninstallPlan, InstallError> {
    let surroundings = Surroundings::find(request)?;
    let state = State::open_if_there(&surroundings.directories.state, PATIENCE)?;
    let file = settings_of(&surroundings, scope)?;
    let known = remembered(state.as_ref(), &file)?;
    let found = SettingsFile::read(&file)?;
    let kept = if known.is_some() { backup::read(&file)? } else { None };
    let mut changes = Vec::new();
    let mut rest = None;
    match (found, &known, &kept) {
        (Some(found), Some(known), Some(kept)) if known.sha256 == sha256(found.text()) => {
            rest = Some(kept.clone());
            changes.push(Change::RestoreSettings(file.clone()));
        }
        (Some(found), known, kept) if !found.our_hooks().is_empty() => {
            let without = found.without_hooks(kept.as_ref())?;
            if without.is_empty() && known.is_some() && kept.is_none() {
                changes.push(Change::RemoveSettings(file.clone()));
            } else {
                rest = Some(without);
                changes.push(Change::RemoveHooks(file.clone()));
            }
        }
        (Some(found), ..) => rest = Some(found),
        (None, ..) => {}
    }
    if let Some(known) = known {
        if backup::is_there(&file) {
            changes.push(Change::RemoveBackup(places::backup(&file)));
        }
        // Somebody's settings are in them, or somebody has put other files there.
        if rest.is_none() {
            changes.extend(folders_to_go(&file, known.folders_made)?);
        }
    }
    Ok(UninstallPlan { changes, file, rest, state })
}

impl UninstallPlan {
    /// Does it.
    pub fn apply(&self) -> Result<(), InstallError> {
        for change in &self.changes {
            let done = match (change, &self.rest) {
                (Change::RestoreSettings(file) | Change::RemoveHooks(file), Some(rest)) => {
                    atomic_file::write(file, rest.text())
                }
                (Change::RemoveSettings(file), _) => SettingsFile::remove(file),
                (Change::RemoveBackup(_), _) => backup::remove(&self.file),
                (Change::RemoveFolder(folder), _) => {
                    folders::remove([folder]);
                    Ok(())
                }
                _ => Ok(()),
            };
            done.map_err(|cause| InstallError::Io { path: self.file.clone(), cause })?;
        }
        if let Some(state) = &self.state {
            state.forget_installation(&self.file).map_err(AppError::from)?;
        }
        Ok(())
    }
}

/// The settings file for `scope`.
pub(crate) fn settings_of(
    surroundings: &Surroundings,
    scope: Scope,
) -> Result<PathBuf, InstallError> {
    match scope {
        Scope::Global => places::global(&surroundings.environment)
            .ok_or(InstallError::NoHome { variable: "CLAUDE_CONFIG_DIR", host: "Claude Code" }),
        Scope::Project => match &surroundings.project.checkout {
            Some(checkout) => Ok(places::project(checkout)),
            None => Err(InstallError::NoProject { because: surroundings.project.because.clone() }),
        },
    }
}

/// How this program is named in the settings: shortly, where the PATH leads to it.
fn program_in_settings(surroundings: &Surroundings) -> Result<String, InstallError> {
    let found = find::find("kgctx".as_ref(), &surroundings.environment);
    let this = find::this();
    let is_same = match (&found, &this) {
        (Some(found), Some(this)) => {
            folders::settled(found.clone()) == folders::settled(this.clone())
        }
        _ => false,
    };
    let path = this.filter(|_| !is_same).unwrap_or_else(|| PathBuf::from("kgctx"));
    let no_text = |path: PathBuf| InstallError::Io {
        cause: io::Error::new(io::ErrorKind::InvalidInput, "its name is no text"),
        path,
    };
    path.into_os_string().into_string().map_err(|path| no_text(path.into()))
}

fn sha256(text: &str) -> Vec<u8> {
    Sha256::digest(text).to_vec()
}
