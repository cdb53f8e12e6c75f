//! Settings from files and the environment: converts them to [`Settings`], each value with its
//! origin.

mod file;
mod registry;
mod vaults;

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

pub(crate) use self::file::{invalid, position};
use crate::core::settings::{Origin, Settings, WrongVariable};
use crate::core::source::SourcePreference;
use crate::system::directories::Directories;
use crate::system::environment::Environment;

#[derive(Debug, Error)]
pub enum SettingsError {
    #[error("{}:{line}:{column}: {message}", path.display())]
    /// Line and column start at 1; the column counts characters.
    Invalid { path: PathBuf, line: usize, column: usize, message: String },
    #[error("cannot read {}: {cause}", path.display())]
    Unreadable { path: PathBuf, cause: io::Error },
    #[error(transparent)]
    Variable(#[from] WrongVariable),
    /// A committed file must not reach outside of its project.
    #[error(
        "{}: the vault {} lies outside of the project; a project may only name its own folders, so put it into your {}",
        file.display(), vault.display(), user_file.display()
    )]
    VaultOutside { file: PathBuf, vault: PathBuf, user_file: PathBuf },
    /// A committed file must not choose where notes are sent, what is run, or what else is read.
    #[error(
        "{}: a project may not set {key}, {why}; put it into your {}",
        file.display(), user_file.display()
    )]
    NotForProject { file: PathBuf, key: &'static str, why: &'static str, user_file: PathBuf },
    #[error("{}: {reason}; it is a JSON object of folders and the names of their channels", file.display())]
    Registry { file: PathBuf, reason: String },
    #[error(
        "two vaults are called {name:?}: {} and {}; give one of them another name",
        first.display(), second.display()
    )]
    SameName { name: String, first: PathBuf, second: PathBuf },
    #[error("{name:?} (for {}) is no name for a vault; use letters, digits, `-`, `_` and `.`", path.display())]
    VaultName { name: String, path: PathBuf },
}

/// The inputs of the settings.
#[derive(Debug, Clone, Copy)]
pub struct Sources<'a> {
    pub environment: &'a Environment,
    pub directories: &'a Directories,
    /// The folder that contains the project's notes and its `kgctx.toml`.
    pub notes_root: Option<&'a Path>,
    /// Vaults given on the command line; they replace all others.
    pub vault_flags: &'a [PathBuf],
    /// The source given on the command line.
    pub source_flag: Option<SourcePreference>,
}

/// Settings and the faults in their sources. A faulty value is ignored.
#[derive(Debug, Default)]
pub struct LoadedSettings {
    pub settings: Settings,
    pub faults: Vec<SettingsError>,
}

/// Resolves all settings: defaults, the user's file, the project's file, the environment, flags; later wins.
pub fn load(sources: Sources<'_>) -> LoadedSettings {
    let mut loaded = LoadedSettings::default();
    registry::apply(&mut loaded, sources.directories);
    let user_file = sources.directories.config.join("config.toml");
    loaded.read_user_file(&user_file, sources.environment);
    if let Some(root) = sources.notes_root {
        loaded.read_project_file(root, &user_file);
    }
    loaded.read_variables(sources.environment);
    loaded.settings.source.set(sources.source_flag, Origin::Flag("--source"));
    vaults::complete(&mut loaded, sources);
    loaded
}

impl LoadedSettings {
    fn read_user_file(&mut self, file: &Path, environment: &Environment) {
        if let Some(written) = file::read(file, &mut self.faults) {
            let home = environment.home();
            let origin = Origin::UserFile(file.to_path_buf());
            file::apply(&mut self.settings, written, file, &origin, home.as_deref());
        }
    }

    /// Reads the committed file of a project. It must neither reach outside of the project nor
    /// choose what is run.
    fn read_project_file(&mut self, root: &Path, user_file: &Path) {
        let file = root.join("kgctx.toml");
        let Some(mut written) = file::read(&file, &mut self.faults) else { return };
        written.vaults.retain(|vault| {
            let is_inside = vaults::lies_inside(&file::resolve(&vault.path, &file, None), root);
            if !is_inside {
                let (file, vault) = (file.clone(), vault.path.clone().into());
                let user_file = user_file.to_path_buf();
                self.faults.push(SettingsError::VaultOutside { file, vault, user_file });
            }
            is_inside
        });
        // The message about `servers` comes before that about `source`.
        let forbidden = written.remove_forbidden().into_iter().rev();
        for (key, why) in forbidden.chain(written.handoff.remove_forbidden()) {
            let (file, user_file) = (file.clone(), user_file.to_path_buf());
            self.faults.push(SettingsError::NotForProject { file, key, why, user_file });
        }
        let origin = Origin::ProjectFile(file.clone());
        file::apply(&mut self.settings, written, &file, &origin, None);
    }

    fn read_variables(&mut self, environment: &Environment) {
        let get =
            |name: &str| environment.get(name).map(|value| value.to_string_lossy().into_owned());
        let channel = get("KGCTX_CHANNEL").map(|name| Some(name.trim().to_owned()));
        self.settings.channel.set(channel, Origin::Environment("KGCTX_CHANNEL"));
        let wrong = self.settings.set_from_variables(&get);
        let wrong = wrong.into_iter().chain(self.settings.handoff.set_from_variables(&get));
        self.faults.extend(wrong.map(SettingsError::from));
    }
}
