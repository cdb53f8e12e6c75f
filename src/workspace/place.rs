//! A place: the project of a folder with its settings, and the request that names it.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::core::context::receipt::{Fault, FaultSource};
use crate::core::project::identify;
use crate::core::project::{FolderFacts, Project};
use crate::core::settings::{ChannelRule, Settings};
use crate::core::source::SourcePreference;
use crate::system::directories::Directories;
use crate::system::environment::Environment;
use crate::system::git;
use crate::system::maenifold_places::Places;
use crate::workspace::AppError;
use crate::workspace::settings::{self, Loaded, Sources};

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

/// A folder's project and settings, with notes or without.
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
                faults.iter().map(|fault| Fault::new(FaultSource::Settings, fault)).collect()
            }
        };
        let rules: Vec<ChannelRule> =
            settings.channels.iter().map(|rule| rule.value.clone()).collect();
        let named = identify::project(&facts, settings.channel.value.as_deref(), &rules);
        (project.channel, project.scope) = (named.channel, named.scope);
        Ok(Place { project, settings, directories, faults, environment })
    }

    /// The same without maenifold's memory, about which another source answers.
    pub(crate) fn without_memory(&self) -> Place {
        let mut others = self.clone();
        if let Some(places) = Places::locate(&self.environment) {
            others.settings.vaults.retain(|vault| vault.value.path != places.memory);
        }
        others
    }

    pub(super) fn without_vault(&self) -> AppError {
        let project = &self.project;
        let name = project.name.as_ref().map(|name| format!("project {name}"));
        AppError::NoVault {
            place: name.unwrap_or_else(|| project.because.clone()),
            config: self.directories.config.join("config.toml").display().to_string(),
        }
    }
}
