//! Settings from files and environment: what was written becomes [`Settings`], each value with its origin.

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

/// A setting that cannot be used.
#[derive(Debug, Error)]
pub enum SettingsError {
    /// A file that is no valid configuration.
    #[error("{}:{line}:{column}: {message}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// Counted from 1, in characters.
        column: usize,
        /// What is wrong and what would be right.
        message: String,
    },
    /// A file that cannot be read.
    #[error("cannot read {}: {cause}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    #[error(transparent)]
    Variable(#[from] WrongVariable),
    /// A committed file that reaches outside of its project.
    #[error(
        "{}: the vault {} lies outside of the project; a project may only name its own folders, so put it into your {}",
        file.display(), vault.display(), user_file.display()
    )]
    VaultOutside {
        /// The project's file.
        file: PathBuf,
        /// The vault that it names.
        vault: PathBuf,
        /// Where it may be named.
        user_file: PathBuf,
    },
    /// A committed file that says whom to send notes to, what to run or what else to read.
    #[error(
        "{}: a project may not set {key}, {why}; put it into your {}",
        file.display(), user_file.display()
    )]
    NotForProject {
        /// The project's file.
        file: PathBuf,
        /// The setting.
        key: &'static str,
        /// Why not.
        why: &'static str,
        /// Where it may be set.
        user_file: PathBuf,
    },
    /// A registry of channels that cannot be used.
    #[error("{}: {reason}; it is a JSON object of folders and the names of their channels", file.display())]
    Registry {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// Two vaults whose notes would have the same addresses.
    #[error(
        "two vaults are called {name:?}: {} and {}; give one of them another name",
        first.display(), second.display()
    )]
    SameName {
        /// The name.
        name: String,
        /// The one that had it first.
        first: PathBuf,
        /// The other.
        second: PathBuf,
    },
    /// A name that cannot be part of an address.
    #[error("{name:?} (for {}) is no name for a vault; use letters, digits, `-`, `_` and `.`", path.display())]
    VaultName {
        /// The name.
        name: String,
        /// The vault.
        path: PathBuf,
    },
}

/// Everything that settings depend on.
#[derive(Debug, Clone, Copy)]
pub struct Sources<'a> {
    pub environment: &'a Environment,
    pub directories: &'a Directories,
    /// The folder that holds the project's notes and its `kgctx.toml`.
    pub notes_root: Option<&'a Path>,
    /// Vaults given on the command line; they replace all others.
    pub vault_flags: &'a [PathBuf],
    /// The source given on the command line.
    pub source_flag: Option<SourcePreference>,
}

/// Settings, and the faults of what was written. A faulty value is ignored.
#[derive(Debug, Default)]
pub struct Loaded {
    pub settings: Settings,
    pub faults: Vec<SettingsError>,
}

/// Resolves all settings: defaults, the user's file, the project's file, the environment, flags; later wins.
pub fn load(sources: Sources<'_>) -> Loaded {
    let mut loaded = Loaded::default();
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

impl Loaded {
    fn read_user_file(&mut self, file: &Path, environment: &Environment) {
        if let Some(written) = file::read(file, &mut self.faults) {
            let home = environment.home();
            let origin = Origin::UserFile(file.to_path_buf());
            file::apply(&mut self.settings, written, file, &origin, home.as_deref());
        }
    }

    /// Reads the committed file of a project. It may neither reach outside of the project nor choose what is run.
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
