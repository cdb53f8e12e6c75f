//! Puts a bridge into its host, and takes it out again so that everything is as it was before.

pub mod claude_code;

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use thiserror::Error;

use crate::core::installation::{Change, Installation, OldFile, Scope};
use crate::hosts::opencode::bridge::{self, Copy, Occupant};
use crate::hosts::opencode::places;
use crate::hosts::opencode::plugins;
use crate::store::state::{State, StateError};
use crate::system::atomic_file;
use crate::system::folders;
use crate::system::process::find;
use crate::workspace::{AppError, Request, Surroundings};

pub use crate::hosts::claude_code::SettingsFileError;
pub use crate::hosts::opencode::bridge::VERSION;

/// Another process that is writing is waited for this long.
const PATIENCE: Duration = Duration::from_secs(5);

/// Why a bridge was not installed or removed.
#[derive(Debug, Error)]
pub enum InstallError {
    /// The place cannot be told.
    #[error(transparent)]
    App(#[from] AppError),
    /// What was there before could not be remembered.
    #[error("{0}; nothing was changed")]
    State(#[from] StateError),
    /// There is no project to install for.
    #[error(
        "there is no project here: {because}; go into a project's folder, or leave out --project"
    )]
    NoProject {
        /// Why not.
        because: String,
    },
    /// There is no folder of the user's.
    #[error("neither {variable} nor HOME names a folder; set one of them to where {host} looks")]
    NoHome {
        /// What names the host's own folder.
        variable: &'static str,
        /// The host.
        host: &'static str,
    },
    /// A settings file is not to be touched.
    #[error(transparent)]
    Settings(#[from] SettingsFileError),
    /// The place is taken.
    #[error(
        "{} is {what}, and was left alone; move it away and try again", file.display()
    )]
    Taken {
        /// The file.
        file: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// A file or folder could not be changed.
    #[error("cannot change {}: {cause}; check its permissions and the disk", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
}

/// What installing would do.
#[derive(Debug)]
pub struct InstallPlan {
    /// What changes, in order; nothing where this version is installed already.
    pub changes: Vec<Change>,
    /// Where the bridge is then.
    pub file: PathBuf,
    /// Other copies of it that OpenCode would load here.
    pub other_copies: Vec<String>,
    /// This program, if the bridge would not find any under its name.
    pub unfound_program: Option<PathBuf>,
    state: PathBuf,
}

/// Finds out what installing would do, and changes nothing.
pub fn plan_install(request: &Request, scope: Scope) -> Result<InstallPlan, InstallError> {
    let surroundings = Surroundings::find(request)?;
    let file = place(&folder(&surroundings, scope)?)?;
    let mut changes: Vec<Change> =
        folders::missing(&file).into_iter().map(Change::MakeFolder).collect();
    match look(&file)? {
        Occupant::Nobody => changes.push(Change::WriteFile(file.clone())),
        Occupant::Ours(copy) if copy.is_original => {}
        Occupant::Ours(copy) => {
            let state = State::open_if_there(&surroundings.directories.state, PATIENCE)?;
            let known = remembered(state.as_ref(), &file)?;
            changes.push(Change::ReplaceFile(old_file(&file, copy, known.as_ref())));
        }
        Occupant::Link => return Err(taken(&file, "a link, which install does not make")),
        Occupant::Foreign => return Err(taken(&file, "not kgctx's own")),
    }
    Ok(InstallPlan {
        changes,
        other_copies: other_copies(&surroundings, std::slice::from_ref(&file)),
        unfound_program: program_of_bridge(&surroundings).is_none().then(find::this).flatten(),
        state: surroundings.directories.state,
        file,
    })
}

impl InstallPlan {
    /// Does it.
    pub fn apply(&self) -> Result<(), InstallError> {
        let is_new = self.changes.contains(&Change::WriteFile(self.file.clone()));
        let write = || atomic_file::write(&self.file, bridge::TEXT);
        put_in(&self.state, &self.file, &self.changes, is_new, bridge::sha256(), write)
    }
}

/// Writes a file into a host, with the folders that it takes. What was there before is remembered first, so that whatever
/// happens next can be undone.
fn put_in(
    state: &Path,
    file: &Path,
    changes: &[Change],
    is_new: bool,
    sha256: Vec<u8>,
    write: impl FnOnce() -> io::Result<()>,
) -> Result<(), InstallError> {
    if changes.is_empty() {
        return Ok(());
    }
    let folder = |change: &Change| match change {
        Change::MakeFolder(folder) => Some(folder.clone()),
        _ => None,
    };
    let new_folders: Vec<PathBuf> = changes.iter().filter_map(folder).collect();
    let state = State::open(state, PATIENCE)?;
    let before = state.installation(file)?;
    // Where our file was removed by hand, what stands there now is what is to be restored one day.
    let made_before = before.as_ref().filter(|_| !is_new).map_or(0, |known| known.folders_made);
    let now = Installation {
        version: VERSION.to_owned(),
        sha256,
        folders_made: new_folders.len() as u32 + made_before,
    };
    state.remember_installation(file, &now)?;
    folders::make(&new_folders).and_then(|()| write()).map_err(|cause| {
        folders::remove(new_folders.iter().rev());
        // The cause is what is to be told.
        let _ = match &before {
            Some(before) => state.remember_installation(file, before),
            None => state.forget_installation(file),
        };
        InstallError::Io { path: file.to_path_buf(), cause }
    })
}

/// What removing would do.
pub struct UninstallPlan {
    /// What changes, in order; nothing where no bridge is installed.
    pub changes: Vec<Change>,
    /// Where it was looked for.
    pub folder: PathBuf,
    /// Copies of it that OpenCode would still load here.
    pub other_copies: Vec<String>,
    files: Vec<PathBuf>,
    state: Option<State>,
}

/// Finds out what removing would do, and changes nothing.
pub fn plan_uninstall(request: &Request, scope: Scope) -> Result<UninstallPlan, InstallError> {
    let surroundings = Surroundings::find(request)?;
    let state = State::open_if_there(&surroundings.directories.state, PATIENCE)?;
    let folder = folder(&surroundings, scope)?;
    let mut changes = Vec::new();
    let mut files = Vec::new();
    for file in places::files(&folder) {
        let known = remembered(state.as_ref(), &file)?;
        match look(&file)? {
            Occupant::Ours(copy) => {
                changes.push(Change::RemoveFile(old_file(&file, copy, known.as_ref())));
            }
            Occupant::Nobody if known.is_some() => {}
            _ => continue,
        }
        changes.extend(folders_to_go(&file, known.map_or(0, |known| known.folders_made))?);
        files.push(file);
    }
    let other_copies = other_copies(&surroundings, &files);
    Ok(UninstallPlan { changes, folder, other_copies, files, state })
}

impl UninstallPlan {
    /// Does it.
    pub fn apply(&self) -> Result<(), InstallError> {
        for change in &self.changes {
            match change {
                Change::RemoveFile(old) => bridge::remove(&old.path)
                    .map_err(|cause| InstallError::Io { path: old.path.clone(), cause })?,
                Change::RemoveFolder(folder) => folders::remove([folder]),
                _ => {}
            }
        }
        if let Some(state) = &self.state {
            for file in &self.files {
                state.forget_installation(file).map_err(AppError::from)?;
            }
        }
        Ok(())
    }
}

/// The program that the bridge would start.
pub(super) fn program_of_bridge(surroundings: &Surroundings) -> Option<PathBuf> {
    let environment = &surroundings.environment;
    let name = environment.get("KGCTX_BIN").map_or(OsStr::new("kgctx"), |named| named.as_os_str());
    find::find(name, environment)
}

/// OpenCode's folder that a bridge for `scope` belongs into.
fn folder(surroundings: &Surroundings, scope: Scope) -> Result<PathBuf, InstallError> {
    match scope {
        Scope::Global => places::global(&surroundings.environment)
            .ok_or(InstallError::NoHome { variable: "OPENCODE_CONFIG_DIR", host: "OpenCode" }),
        Scope::Project => match &surroundings.project.checkout {
            Some(checkout) => Ok(places::project(checkout)),
            None => Err(InstallError::NoProject { because: surroundings.project.because.clone() }),
        },
    }
}

/// Where the bridge goes: where it is already, else where plugins are, else into a new folder.
fn place(folder: &Path) -> Result<PathBuf, InstallError> {
    let [plugin, plugins] = places::files(folder);
    for file in [&plugin, &plugins] {
        if matches!(look(file)?, Occupant::Ours(_)) {
            return Ok(file.clone());
        }
    }
    let is_there = |file: &Path| file.parent().is_some_and(folders::is_folder);
    Ok(if is_there(&plugins) && !is_there(&plugin) { plugins } else { plugin })
}

/// The folders that were made for a file, and whether each can go.
fn folders_to_go(file: &Path, folders_made: u32) -> Result<Vec<Change>, InstallError> {
    let mut changes = Vec::new();
    let mut gone = file;
    for folder in file.ancestors().skip(1).take(folders_made as usize) {
        match folders::holds_only(folder, gone) {
            Ok(true) => changes.push(Change::RemoveFolder(folder.to_path_buf())),
            Ok(false) => {
                changes.push(Change::KeepFolder(folder.to_path_buf()));
                break;
            }
            // Somebody has removed it.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(cause) => return Err(InstallError::Io { path: folder.to_path_buf(), cause }),
        }
        gone = folder;
    }
    Ok(changes)
}

fn remembered(state: Option<&State>, file: &Path) -> Result<Option<Installation>, InstallError> {
    Ok(state.map(|state| state.installation(file)).transpose()?.flatten())
}

fn old_file(file: &Path, copy: Copy, known: Option<&Installation>) -> OldFile {
    let is_edited = match known {
        Some(known) => known.sha256 != copy.sha256,
        // Of another version only who wrote it could tell.
        None => copy.version.as_deref() == Some(VERSION) && !copy.is_original,
    };
    OldFile { path: file.to_path_buf(), version: copy.version, is_edited }
}

fn other_copies(surroundings: &Surroundings, files: &[PathBuf]) -> Vec<String> {
    let other = |found: plugins::Found| match found {
        plugins::Found::Bridge { file, .. } if !files.contains(&file) => {
            Some(file.display().to_string())
        }
        plugins::Found::Package { name, named_in } => {
            Some(format!("{name} in {}", named_in.display()))
        }
        _ => None,
    };
    plugins_of(surroundings).into_iter().filter_map(other).collect()
}

/// Everything that OpenCode would load as the bridge here.
pub(super) fn plugins_of(surroundings: &Surroundings) -> Vec<plugins::Found> {
    let Surroundings { environment, facts, .. } = surroundings;
    let top = facts.repository.as_ref().map(|repository| repository.checkout.as_path());
    plugins::find(environment, &facts.folder, top)
}

fn look(file: &Path) -> Result<Occupant, InstallError> {
    bridge::look(file).map_err(|cause| InstallError::Io { path: file.to_path_buf(), cause })
}

fn taken(file: &Path, what: &'static str) -> InstallError {
    InstallError::Taken { file: file.to_path_buf(), what }
}
