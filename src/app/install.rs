//! Installs kgctx into a host, and uninstalls it so that everything is as before.

pub(super) mod bundle;
pub(super) mod json_hooks;
pub(super) mod plugin_file;

use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::core::host::Host;
use crate::core::installation::{Change, Install, InstallKind, Installation, Parts, Scope, Step};
use crate::core::time_limits;
use crate::hosts::config_folder;
use crate::hosts::json_hooks::{SettingsFileError, backup, has_backup, write_backup};
use crate::store::state::{State, StateError};
use crate::system::atomic_file;
use crate::system::folders;
use crate::system::tmux;
use crate::workspace::{AppError, Request, Surroundings};

/// The version to install: this program's.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Why an installation or removal failed.
#[derive(Debug, Error)]
pub enum InstallError {
    #[error(transparent)]
    App(#[from] AppError),
    #[error("{0}; nothing was changed")]
    State(#[from] StateError),
    #[error(
        "--monitor, --rotation and --statusline are only for Claude Code; leave them out, {0} needs no options"
    )]
    NoParts(&'static str),
    #[error(
        "--rotation needs tmux, which Windows does not have; leave it out: without it, OpenCode alone is rotated"
    )]
    NoTmux,
    #[error("kgctx cannot be installed into {0}")]
    Host(&'static str),
    #[error(
        "this folder is not in a project: {because}; run this in a project's folder, or leave out --project"
    )]
    NoProject { because: String },
    #[error("neither {variable} nor HOME is a folder; set one of them to where {host} looks")]
    NoHome { variable: &'static str, host: &'static str },
    #[error("HOME is not a folder; set it to where {0} looks")]
    NoHomeAlone(&'static str),
    #[error(transparent)]
    Settings(#[from] SettingsFileError),
    #[error(
        "{} is {what} and was not changed; move it away and try again", file.display()
    )]
    Taken { file: PathBuf, what: &'static str },
    #[error(
        "{} was not changed: {what}; {what_to_do}, and run this again: - {item}", path.display()
    )]
    ByHand { path: PathBuf, what: String, what_to_do: String, item: String },
    #[error(
        "a list in {} would hide {other}, which is in {}; run `kgctx install {host}` without --project",
        own.display(), file.display()
    )]
    Hides { own: PathBuf, file: PathBuf, other: String, host: Host },
    #[error("cannot change {}: {cause}; check its permissions and the disk", path.display())]
    Io { path: PathBuf, cause: io::Error },
}

pub(super) type InstallResult<T> = Result<T, InstallError>;

/// A host, and the folder for its installation.
pub(super) struct Target<'a> {
    pub(super) surroundings: &'a Surroundings,
    pub(super) host: Host,
    pub(super) install: &'static Install,
    /// The host's folder for the scope.
    pub(super) folder: PathBuf,
    pub(super) scope: Scope,
}

impl<'a> Target<'a> {
    pub(super) fn find(
        surroundings: &'a Surroundings,
        host: Host,
        scope: Scope,
    ) -> InstallResult<Target<'a>> {
        let facts = host.facts();
        let install = facts.install.as_ref().ok_or(InstallError::Host(facts.title))?;
        let folder = match (scope, &surroundings.project.checkout) {
            (Scope::Global, _) => config_folder::global(install, &surroundings.environment).ok_or(
                match install.variable {
                    Some(variable) => InstallError::NoHome { variable, host: facts.title },
                    None => InstallError::NoHomeAlone(facts.title),
                },
            )?,
            (Scope::Project, Some(checkout)) => {
                folders::settled(checkout.join(install.project_folder))
            }
            (Scope::Project, None) => {
                let because = surroundings.project.because.clone();
                return Err(InstallError::NoProject { because });
            }
        };
        Ok(Target { surroundings, host, install, folder, scope })
    }

    fn state(&self) -> InstallResult<Option<State>> {
        Ok(State::open_if_there(&self.surroundings.directories.state, time_limits::STATE)?)
    }
}

/// The plan of an installation.
#[derive(Debug, Default)]
pub struct InstallPlan {
    /// The changes in order; empty if this version is already installed.
    pub changes: Vec<Change>,
    /// The file to write.
    pub file: PathBuf,
    /// Other copies of the plugin that the host would load here.
    pub other_copies: Vec<String>,
    /// This program, if the plugin would not find a kgctx.
    pub unfound_program: Option<PathBuf>,
    text: String,
    /// The content that an uninstallation restores, unless it is already backed up.
    original: Option<String>,
    /// Files in kgctx's own folder, written before the one that names them.
    own_files: Vec<(PathBuf, String)>,
    own_folder: Option<PathBuf>,
    state: PathBuf,
}

/// Plans an installation and changes nothing.
pub fn plan_install(
    request: &Request,
    host: Host,
    scope: Scope,
    parts: Parts,
) -> InstallResult<InstallPlan> {
    let surroundings = Surroundings::find(request)?;
    let target = Target::find(&surroundings, host, scope)?;
    match &target.install.kind {
        InstallKind::JsonHooks(_) if parts.rotation && !tmux::IS_POSSIBLE => {
            Err(InstallError::NoTmux)
        }
        InstallKind::JsonHooks(hooks) => json_hooks::plan_install(&target, hooks, parts),
        InstallKind::PluginFile(_) if parts != Parts::default() => {
            Err(InstallError::NoParts(host.facts().title))
        }
        InstallKind::PluginFile(plugin) => plugin_file::plan_install(&target, plugin),
        InstallKind::Bundle(bundle) => bundle::plan_install(&target, bundle),
    }
}

impl InstallPlan {
    fn new(target: &Target<'_>, file: PathBuf, text: String) -> InstallPlan {
        let state = target.surroundings.directories.state.clone();
        InstallPlan { file, text, state, ..InstallPlan::default() }
    }

    /// Plans a new file and its missing parent folders.
    fn make_file(&mut self, remark: &str) {
        let missing = folders::missing(&self.file);
        self.changes.extend(missing.iter().map(|one| Change::new(Step::MakeFolder, one, "")));
        self.changes.push(Change::new(Step::Write, &self.file, remark));
    }

    /// Records the former state first, so that the installation can always be undone, then writes
    /// the file.
    pub fn apply(&self) -> InstallResult<()> {
        let at = |step| self.changes.iter().filter(move |change| change.step == step);
        let is_new = at(Step::Write).any(|change| change.path == self.file);
        let new_folders: Vec<PathBuf> =
            at(Step::MakeFolder).map(|change| change.path.clone()).collect();
        let state = State::open(&self.state, time_limits::STATE)?;
        let before = state.installation(&self.file)?;
        // If a user removed our file, its folders no longer belong to us.
        let made_before = before.as_ref().filter(|_| !is_new).map_or(0, |known| known.folders_made);
        let now = Installation {
            version: VERSION.to_owned(),
            sha256: sha256(&self.text),
            folders_made: new_folders.len() as u32 + made_before,
        };
        state.remember_installation(&self.file, &now)?;
        let made = self.write_own().and_then(|()| folders::make(&new_folders));
        made.and_then(|()| self.write()).map_err(|cause| {
            folders::remove(new_folders.iter().rev());
            if let (Some(own), None) = (&self.own_folder, &before) {
                let _ = folders::remove_own(own);
            }
            // The first error is the one to report.
            let _ = match &before {
                Some(before) => state.remember_installation(&self.file, before),
                None => state.forget_installation(&self.file),
            };
            InstallError::Io { path: self.file.clone(), cause }
        })
    }

    fn write_own(&self) -> io::Result<()> {
        self.own_files.iter().try_for_each(|(path, text)| folders::write_own(path, text))
    }

    fn write(&self) -> io::Result<()> {
        let is_changed = self.changes.iter().any(|change| change.path == self.file);
        if !is_changed && self.original.is_none() {
            return Ok(());
        }
        let is_first_backup = self.original.is_some() && !has_backup(&self.file);
        if let Some(original) = &self.original {
            write_backup(&self.file, original)?;
        }
        atomic_file::write(&self.file, &self.text).inspect_err(|_| {
            if is_first_backup {
                // The first error is the one to report.
                let _ = config_folder::remove(&backup(&self.file));
            }
        })
    }
}

/// The plan of a removal.
pub struct UninstallPlan {
    /// The changes in order; empty if kgctx is not installed.
    pub changes: Vec<Change>,
    /// The folder or file that was searched.
    pub searched: PathBuf,
    /// Copies of the plugin that the host would still load here.
    pub other_copies: Vec<String>,
    /// Whether the settings had hooks of kgctx before the installation, which come back.
    pub own_hooks_stay: bool,
    /// The settings without our hooks.
    rest: Option<String>,
    files: Vec<PathBuf>,
    state: Option<State>,
}

/// Plans a removal and changes nothing.
pub fn plan_uninstall(request: &Request, host: Host, scope: Scope) -> InstallResult<UninstallPlan> {
    let surroundings = Surroundings::find(request)?;
    let target = Target::find(&surroundings, host, scope)?;
    match &target.install.kind {
        InstallKind::JsonHooks(hooks) => json_hooks::plan_uninstall(&target, hooks),
        InstallKind::PluginFile(plugin) => plugin_file::plan_uninstall(&target, plugin),
        InstallKind::Bundle(bundle) => bundle::plan_uninstall(&target, bundle),
    }
}

impl UninstallPlan {
    pub fn apply(&self) -> InstallResult<()> {
        for Change { step, path, .. } in &self.changes {
            let done = match step {
                Step::Restore | Step::Edit => {
                    atomic_file::write(path, self.rest.as_deref().unwrap_or_default())
                }
                Step::Remove => config_folder::remove(path),
                Step::RemoveOwn => folders::remove_own(path),
                Step::RemoveFolder => {
                    folders::remove([path]);
                    Ok(())
                }
                _ => Ok(()),
            };
            done.map_err(|cause| InstallError::Io { path: path.clone(), cause })?;
        }
        if let Some(state) = &self.state {
            for file in &self.files {
                state.forget_installation(file).map_err(AppError::from)?;
            }
        }
        Ok(())
    }
}

/// The folders that were created for a file, and whether each can be removed.
fn folders_to_go(file: &Path, folders_made: u32) -> InstallResult<Vec<Change>> {
    let mut changes = Vec::new();
    let mut gone = file;
    for folder in file.ancestors().skip(1).take(folders_made as usize) {
        match folders::holds_only(folder, gone) {
            Ok(true) => {
                changes.push(Change::new(Step::RemoveFolder, folder, "made by install, empty"));
            }
            Ok(false) => {
                changes.push(Change::new(Step::KeepFolder, folder, "now contains other files"));
                break;
            }
            // Already removed.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(cause) => return Err(InstallError::Io { path: folder.to_path_buf(), cause }),
        }
        gone = folder;
    }
    Ok(changes)
}

fn remembered(state: Option<&State>, file: &Path) -> InstallResult<Option<Installation>> {
    Ok(state.map(|state| state.installation(file)).transpose()?.flatten())
}

fn sha256(text: &str) -> Vec<u8> {
    Sha256::digest(text).to_vec()
}
