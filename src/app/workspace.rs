//! A workspace: the project of a folder with its settings, its vaults and the index over them.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::adapters::directories::{Directories, NoDirectories};
use crate::adapters::environment::Environment;
use crate::adapters::git;
use crate::adapters::index::{self, Index, IndexError, Store, Unusable};
use crate::adapters::settings::{self, SettingsError, Sources};
use crate::adapters::vault::{self, VaultError};
use crate::domain::project::Project;
use crate::domain::settings::{ChannelRule, Setting, Settings, VaultSpec};
use crate::domain::vault::Vault;
use crate::engine::identify;

/// Where to work, as asked for.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The folder; the current one if none is named.
    pub dir: Option<PathBuf>,
    /// Vaults that stand instead of all others.
    pub vaults: Vec<PathBuf>,
    /// Where kgctx keeps its own files, if not where the environment says.
    pub home: Option<PathBuf>,
}

/// Why an answer could not be given.
#[derive(Debug, Error)]
pub enum AppError {
    /// The folder that was named is not there.
    #[error("cannot use the folder {}: {cause}", dir.display())]
    Dir {
        /// The folder.
        dir: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// There is nowhere to keep files.
    #[error(transparent)]
    Directories(#[from] NoDirectories),
    /// A setting is wrong.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// A vault cannot be used.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// One vault lies in another.
    #[error("the vault {} lies in the vault {}; name only one of them", inner.display(), outer.display())]
    Nested {
        /// The one below.
        inner: PathBuf,
        /// The one above.
        outer: PathBuf,
    },
    /// Two notes would have one address.
    #[error(
        "notes of the vault {} would have the addresses of {}; give the vault another name than {name:?}",
        vault.display(), folder.display()
    )]
    Ambiguous {
        /// The vault with the name.
        vault: PathBuf,
        /// The folder of that name in the vault with plain addresses.
        folder: PathBuf,
        /// The name.
        name: String,
    },
    /// There is nothing to be indexed.
    #[error(
        "no vault found for {place}: there is no ~/maenifold/memory, no .kgctx/memory and no docs; \
         make one with `mkdir -p .kgctx/memory`, name one with --vault, or list one in {config}"
    )]
    NoVault {
        /// The project or folder.
        place: String,
        /// The user's configuration file.
        config: String,
    },
    /// The index could not be written or read.
    #[error(transparent)]
    Index(#[from] IndexError),
}

/// A folder's project and settings, whether or not it has any notes.
#[derive(Debug, Clone)]
pub struct Place {
    /// The project.
    pub project: Project,
    /// The settings in force.
    pub settings: Settings,
    /// kgctx's own folders.
    pub directories: Directories,
}

impl Place {
    /// Finds out where a request is about.
    pub fn find(request: &Request) -> Result<Place, AppError> {
        let environment = Environment::of_process();
        let directories = match &request.home {
            Some(home) => Directories::below(home),
            None => Directories::locate(&environment)?,
        };
        let in_dir = |dir: &Path, cause| AppError::Dir { dir: dir.to_path_buf(), cause };
        let dir = match &request.dir {
            Some(dir) => dir.clone(),
            None => environment.current_dir().map_err(|cause| in_dir(Path::new("."), cause))?,
        };
        let facts = git::facts(&dir, &environment).map_err(|cause| in_dir(&dir, cause))?;
        // The root decides which settings hold, and the settings name the channel: hence two steps.
        let mut project = identify::project(&facts, None, &[]);
        let settings = settings::load(Sources {
            environment: &environment,
            directories: &directories,
            notes_root: project.notes_root.as_deref(),
            vault_flags: &request.vaults,
        })?;
        let rules: Vec<ChannelRule> =
            settings.channels.iter().map(|rule| rule.value.clone()).collect();
        project.channel =
            identify::project(&facts, settings.channel.value.as_deref(), &rules).channel;
        Ok(Place { project, settings, directories })
    }
}

/// A place with notes.
#[derive(Debug, Clone)]
pub struct Workspace {
    /// The settings in force.
    pub settings: Settings,
    /// The vaults, all of which exist.
    pub vaults: Vec<Vault>,
    pub(crate) store: Store,
    pub(crate) fingerprint: String,
}

impl Workspace {
    /// Opens the vaults of a place.
    pub fn open(place: Place) -> Result<Workspace, AppError> {
        let Place { project, settings, directories } = place;
        if settings.vaults.is_empty() {
            return Err(AppError::NoVault {
                place: project
                    .name
                    .map_or_else(|| project.because.clone(), |name| format!("project {name}")),
                config: directories.config.join("config.toml").display().to_string(),
            });
        }
        let vaults = open_all(&settings.vaults)?;
        Ok(Workspace {
            store: Store::new(&directories.cache, &store_key(&settings.vaults, &vaults)),
            fingerprint: index::fingerprint(&vaults, &settings),
            settings,
            vaults,
        })
    }

    /// Finds and opens what a request is about.
    pub fn find(request: &Request) -> Result<Workspace, AppError> {
        Workspace::open(Place::find(request)?)
    }

    /// Opens the index as it is, however old.
    pub fn last_index(&self) -> Result<Index, Unusable> {
        self.store.open(&self.fingerprint)
    }

    /// Where the index is kept.
    pub fn index_path(&self) -> PathBuf {
        self.store.path()
    }
}

/// Opens vaults and makes sure that every note is in one of them only, under one address only.
fn open_all(specs: &[Setting<VaultSpec>]) -> Result<Vec<Vault>, AppError> {
    let mut vaults: Vec<Vault> = Vec::new();
    for spec in specs {
        let vault = vault::open(spec)?;
        // A folder that is named again has its later name.
        vaults.retain(|other| other.root != vault.root);
        vaults.push(vault);
    }
    for inner in &vaults {
        let outer = vaults
            .iter()
            .find(|outer| inner.root != outer.root && inner.root.starts_with(&outer.root));
        if let Some(outer) = outer {
            return Err(AppError::Nested { inner: inner.root.clone(), outer: outer.root.clone() });
        }
    }
    if let Some(plain) = vaults.iter().find(|vault| vault.name.is_empty()) {
        for vault in vaults.iter().filter(|vault| !vault.name.is_empty()) {
            if let Some(folder) = vault::folder_in(plain, &vault.name) {
                return Err(AppError::Ambiguous {
                    vault: vault.root.clone(),
                    folder,
                    name: vault.name.clone(),
                });
            }
        }
    }
    Ok(vaults)
}

/// One index per set of vaults: readable, and never shared by two sets.
fn store_key(specs: &[Setting<VaultSpec>], vaults: &[Vault]) -> String {
    let mut set = Vec::new();
    for vault in vaults {
        set.extend_from_slice(vault.name.as_bytes());
        set.push(0);
        set.extend_from_slice(vault.root.as_os_str().as_encoded_bytes());
        set.push(0);
    }
    let first = specs.first().and_then(|spec| spec.value.path.file_name()).unwrap_or_default();
    format!("{}-{}", identify::slug(&first.to_string_lossy()), identify::short_hash(&set))
}
