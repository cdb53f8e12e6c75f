//! A workspace: the project of a folder with its settings, its vaults and the index over them.

#![expect(clippy::disallowed_methods, reason = "this room is behind the I/O fence")]

pub mod reader;
pub mod refresh;
pub mod settings;
pub mod watch;

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::core::context::receipt::Fault;
use crate::core::note::vault::Vault;
use crate::core::project::identify;
use crate::core::project::{FolderFacts, Project};
use crate::core::settings::{ChannelRule, Setting, Settings, VaultSpec};
use crate::core::source::SourcePreference;
use crate::core::time_limits;
use crate::store::index::{self, Index, IndexError, Store, Unusable};
use crate::store::state::StateError;
use crate::system::atomic_file::WriteError;
use crate::system::directories::{Directories, NoDirectories};
use crate::system::environment::Environment;
use crate::system::git;
use crate::system::maenifold_places::Places;
use crate::system::vault::{self, VaultError};
use crate::system::within::{self, Started};
use crate::workspace::settings::{Loaded, SettingsError, Sources};

/// Where to work, as asked for. What is not sent to the service is skipped.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Request {
    /// The folder; the current one if none is named.
    pub dir: Option<PathBuf>,
    /// Vaults that stand instead of all others.
    pub vaults: Vec<PathBuf>,
    /// Where kgctx keeps its own files, if not where the environment says.
    #[serde(skip)]
    pub home: Option<PathBuf>,
    /// The environment that counts, if not that of this process.
    #[serde(skip)]
    pub environment: Option<Environment>,
    /// What becomes of wrong settings.
    #[serde(skip)]
    pub strictness: Strictness,
    /// Who is asked about maenifold's memory, if not as the settings say.
    pub source: Option<SourcePreference>,
    /// A folder that the project lies in, and that nothing is looked for in or above of.
    #[serde(skip)]
    pub ceiling: Option<PathBuf>,
}

impl Request {
    /// A session's folder, where wrong settings must not keep the session from starting.
    pub fn lenient(dir: PathBuf) -> Request {
        Request { dir: Some(dir), strictness: Strictness::Lenient, ..Request::default() }
    }
}

/// What becomes of wrong settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Strictness {
    /// They are an error: a person can mend them.
    #[default]
    Strict,
    /// What they would replace stands, and a fault tells of them: a session must not suffer.
    Lenient,
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
    /// A vault keeps everybody waiting.
    #[error("the vault {} does not answer; is it on a network?", vault.display())]
    Silent {
        /// The vault.
        vault: PathBuf,
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
    /// The receipts could not be read.
    #[error(transparent)]
    State(#[from] StateError),
    /// maenifold does not answer.
    #[error("maenifold: {0}; without --source the index answers")]
    Maenifold(String),
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// What a request is about, before any setting is read.
pub(crate) struct Surroundings {
    pub(crate) environment: Environment,
    pub(crate) directories: Directories,
    pub(crate) facts: FolderFacts,
    /// The project; its channel is not known yet.
    pub(crate) project: Project,
}

impl Surroundings {
    pub(crate) fn find(request: &Request) -> Result<Surroundings, AppError> {
        let environment = request.environment.clone().unwrap_or_else(Environment::of_process);
        let directories = match &request.home {
            Some(home) => Directories::below(home),
            None => Directories::locate(&environment)?,
        };
        let in_dir = |dir: &Path, cause| AppError::Dir { dir: dir.to_path_buf(), cause };
        let dir = match &request.dir {
            Some(dir) => dir.clone(),
            None => environment.current_dir().map_err(|cause| in_dir(Path::new("."), cause))?,
        };
        let ceiling = request.ceiling.as_deref();
        let facts =
            git::facts_below(ceiling, &dir, &environment).map_err(|cause| in_dir(&dir, cause))?;
        let project = identify::project(&facts, None, &[]);
        Ok(Surroundings { environment, directories, facts, project })
    }

    /// Where the settings of this place are.
    pub(crate) fn sources<'a>(&'a self, request: &'a Request) -> Sources<'a> {
        Sources {
            environment: &self.environment,
            directories: &self.directories,
            notes_root: self.project.notes_root.as_deref(),
            vault_flags: &request.vaults,
            source_flag: request.source,
        }
    }
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
    /// What is wrong with the settings, where that is let pass.
    pub faults: Vec<Fault>,
    /// The environment that counts.
    pub(crate) environment: Environment,
}

impl Place {
    /// Finds out where a request is about.
    pub fn find(request: &Request) -> Result<Place, AppError> {
        let surroundings = Surroundings::find(request)?;
        // The root decides which settings hold, and the settings name the channel: hence two steps.
        let Loaded { settings, faults } = settings::load(surroundings.sources(request));
        let Surroundings { environment, directories, facts, mut project } = surroundings;
        let faults = match request.strictness {
            Strictness::Strict => match faults.into_iter().next() {
                Some(fault) => return Err(fault.into()),
                None => Vec::new(),
            },
            Strictness::Lenient => {
                faults.iter().map(|fault| Fault::new("settings", fault)).collect()
            }
        };
        let rules: Vec<ChannelRule> =
            settings.channels.iter().map(|rule| rule.value.clone()).collect();
        let named = identify::project(&facts, settings.channel.value.as_deref(), &rules);
        (project.channel, project.scope) = (named.channel, named.scope);
        Ok(Place { project, settings, directories, faults, environment })
    }

    /// The same without maenifold's memory, for which somebody else answers.
    pub(crate) fn without_memory(&self) -> Place {
        let mut others = self.clone();
        if let Some(places) = Places::locate(&self.environment) {
            others.settings.vaults.retain(|vault| vault.value.path != places.memory);
        }
        others
    }

    fn without_vault(&self) -> AppError {
        let project = &self.project;
        let name = project.name.as_ref().map(|name| format!("project {name}"));
        AppError::NoVault {
            place: name.unwrap_or_else(|| project.because.clone()),
            config: self.directories.config.join("config.toml").display().to_string(),
        }
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
        if place.settings.vaults.is_empty() {
            return Err(place.without_vault());
        }
        let vaults = open_all(&place.settings.vaults)?;
        Ok(Workspace::over(vaults, place))
    }

    /// Opens those vaults of a place that can be opened, and says what is wrong with the others. With `patience`,
    /// only those that answer within it.
    pub(crate) fn open_reachable(
        place: Place,
        patience: Option<Duration>,
    ) -> (Option<Workspace>, Vec<AppError>) {
        if place.settings.vaults.is_empty() {
            return (None, vec![place.without_vault()]);
        }
        let (vaults, errors) = open_reachable(&place.settings.vaults, patience);
        ((!vaults.is_empty()).then(|| Workspace::over(vaults, place)), errors)
    }

    fn over(vaults: Vec<Vault>, place: Place) -> Workspace {
        let Place { settings, directories, .. } = place;
        Workspace {
            store: Store::new(&directories.cache, &store_key(&settings.vaults, &vaults)),
            fingerprint: index::fingerprint(&vaults, &settings),
            settings,
            vaults,
        }
    }

    /// Finds and opens what a request is about.
    pub fn find(request: &Request) -> Result<Workspace, AppError> {
        Workspace::open(Place::find(request)?)
    }

    /// Finds what a request is about, with maenifold's memory or without, and opens what can be opened of it.
    pub fn find_reachable(request: &Request, has_memory: bool) -> Result<Workspace, AppError> {
        let place = Place::find(request)?;
        let place = if has_memory { place } else { place.without_memory() };
        let (workspace, mut errors) =
            Workspace::open_reachable(place, Some(time_limits::BACKGROUND_VAULT));
        workspace.ok_or_else(|| errors.swap_remove(0))
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
        add(&mut vaults, vault::open(spec)?);
    }
    match conflict(&vaults) {
        Some((_, error)) => Err(error),
        None => Ok(vaults),
    }
}

/// Opens the vaults that can be opened, and says why the others cannot.
fn open_reachable(
    specs: &[Setting<VaultSpec>],
    patience: Option<Duration>,
) -> (Vec<Vault>, Vec<AppError>) {
    let opened: Vec<Result<Vault, AppError>> = match patience {
        None => specs.iter().map(|spec| Ok(vault::open(spec)?)).collect(),
        Some(patience) => open_within(specs, patience),
    };
    let mut vaults = Vec::new();
    let mut errors = Vec::new();
    for vault in opened {
        match vault {
            Ok(vault) => add(&mut vaults, vault),
            Err(error) => errors.push(error),
        }
    }
    while let Some((vault, error)) = conflict(&vaults) {
        vaults.remove(vault);
        errors.push(error);
    }
    (vaults, errors)
}

/// Opens each vault on a thread of its own, so that a folder on a network that does not answer holds up only itself.
fn open_within(specs: &[Setting<VaultSpec>], patience: Duration) -> Vec<Result<Vault, AppError>> {
    let until = Instant::now() + patience;
    let opening: Vec<_> = specs
        .iter()
        .map(|spec| {
            let for_thread = spec.clone();
            (spec, within::start(move || vault::open(&for_thread)))
        })
        .collect();
    let result = |(spec, opening): (&Setting<VaultSpec>, Started<_>)| match opening.by(until) {
        Some(opened) => Ok(opened?),
        None => Err(AppError::Silent { vault: spec.value.path.clone() }),
    };
    opening.into_iter().map(result).collect()
}

/// A folder that is named again has its later name.
fn add(vaults: &mut Vec<Vault>, vault: Vault) {
    vaults.retain(|other| other.root != vault.root);
    vaults.push(vault);
}

/// Finds a vault that cannot stand beside the others, and why.
fn conflict(vaults: &[Vault]) -> Option<(usize, AppError)> {
    for (n, inner) in vaults.iter().enumerate() {
        let outer = vaults
            .iter()
            .find(|outer| inner.root != outer.root && inner.root.starts_with(&outer.root));
        if let Some(outer) = outer {
            let error = AppError::Nested { inner: inner.root.clone(), outer: outer.root.clone() };
            return Some((n, error));
        }
    }
    let plain = vaults.iter().find(|vault| vault.name.is_empty())?;
    for (n, vault) in vaults.iter().enumerate().filter(|(_, vault)| !vault.name.is_empty()) {
        if let Some(folder) = vault::folder_in(plain, &vault.name) {
            let error =
                AppError::Ambiguous { vault: vault.root.clone(), folder, name: vault.name.clone() };
            return Some((n, error));
        }
    }
    None
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
