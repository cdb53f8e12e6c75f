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
use crate::system::vault::Styles;
use crate::workspace::AppError;
use crate::workspace::settings::{self, LoadedSettings, SettingsError};

/// Where to work. Fields that are not sent to the service are skipped.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Request {
    /// The folder; by default the current one.
    pub dir: Option<PathBuf>,
    /// Vaults that replace all others.
    pub vaults: Vec<PathBuf>,
    /// The folder for kgctx's own files, if not the one from the environment.
    #[serde(skip)]
    pub home: Option<PathBuf>,
    /// The environment, if not that of this process.
    #[serde(skip)]
    pub environment: Option<Environment>,
    /// Whether invalid settings are ignored and reported as faults, because a session must not suffer. Otherwise they
    /// are an error: a person can fix them.
    #[serde(skip)]
    pub is_lenient: bool,
    /// The source for maenifold's memory, if not the one in the settings.
    pub source: Option<SourcePreference>,
    /// A folder around the project. Nothing in it or above it is searched.
    #[serde(skip)]
    pub ceiling: Option<PathBuf>,
}

impl Request {
    /// A session's folder. Invalid settings must not prevent the session from starting.
    pub fn lenient(dir: PathBuf) -> Request {
        Request { dir: Some(dir), is_lenient: true, ..Request::default() }
    }
}

/// The folder and project of a request, before any setting is read.
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
            None => Directories::locate(&environment).map_err(|why| AppError::Place(why.into()))?,
        };
        let in_dir = |dir: &Path, cause| {
            AppError::Place(format!("cannot use the folder {}: {cause}", dir.display()))
        };
        let dir = match &request.dir {
            Some(dir) => dir.clone(),
            None => environment.current_dir().map_err(|cause| in_dir(Path::new("."), cause))?,
        };
        let ceiling = request.ceiling.as_deref();
        let facts = git::facts(ceiling, &dir, &environment).map_err(|cause| in_dir(&dir, cause))?;
        let project = identify::project(&facts, None, &[]);
        Ok(Surroundings { environment, directories, facts, project })
    }
}

/// A folder's project and settings, with or without notes.
#[derive(Debug, Clone)]
pub struct Place {
    pub project: Project,
    pub settings: Settings,
    pub directories: Directories,
    /// The invalid settings that were ignored.
    pub faults: Vec<Fault>,
    /// What the project asks for beyond what the user allows.
    pub remarks: Vec<Fault>,
    /// Why no session gets anything, if it cannot be read what may be sent.
    pub closed: Option<String>,
    pub(crate) environment: Environment,
}

impl Place {
    pub fn find(request: &Request) -> Result<Place, AppError> {
        let (place, mut left_out) = Place::find_rest(request)?;
        match request.is_lenient || left_out.is_empty() {
            true => Ok(place),
            false => Err(left_out.swap_remove(0).into()),
        }
    }

    /// The same without the vaults whose names do not fit, and why they are left out.
    pub(crate) fn find_rest(request: &Request) -> Result<(Place, Vec<SettingsError>), AppError> {
        let surroundings = Surroundings::find(request)?;
        // Two steps, because the root decides which settings apply, and the settings name the
        // channel.
        let LoadedSettings { settings, mut faults, left_out, remarks, closed } =
            settings::load(&surroundings, request);
        if !request.is_lenient && !faults.is_empty() {
            return Err(faults.swap_remove(0).into());
        }
        let faults = faults.iter().chain(&left_out);
        let faults = faults.map(|fault| Fault::new(FaultSource::Settings, fault)).collect();
        let remarks =
            remarks.iter().map(|remark| Fault::new(FaultSource::Settings, remark)).collect();
        let rules: Vec<ChannelRule> =
            settings.channels.iter().map(|rule| rule.value.clone()).collect();
        let Surroundings { environment, directories, facts, .. } = surroundings;
        let project = identify::project(&facts, settings.channel.value.as_deref(), &rules);
        let closed = closed.map(|(_, reason)| reason);
        let place = Place { project, settings, directories, faults, remarks, closed, environment };
        Ok((place, left_out))
    }

    /// The same place without maenifold's memory, for which another source answers.
    pub(crate) fn without_memory(&self) -> Place {
        let mut others = self.clone();
        if let Some(places) = Places::locate(&self.environment) {
            others.settings.vaults.retain(|vault| vault.value.path != places.memory);
        }
        others
    }

    /// How the styles of this place's vaults are told.
    pub(crate) fn styles(&self) -> Styles {
        Styles {
            preferred: self.settings.links.value.style(),
            memory: Places::locate(&self.environment).map(|places| places.memory),
            top: self.project.notes_root.clone(),
        }
    }

    pub(super) fn without_vault(&self) -> AppError {
        let name = self.project.name.as_ref().map(|name| format!("project {name}"));
        AppError::Place(format!(
            "no folder of notes found for {}: neither ~/maenifold/memory, nor docs, adr or another usual place in the \
             project; write markdown into docs, or name a folder with `kgctx vault add FOLDER` or --vault",
            name.as_ref().unwrap_or(&self.project.because),
        ))
    }
}
