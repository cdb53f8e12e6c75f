//! Names vaults in a settings file, and takes them out again.

use std::path::{Path, PathBuf};

use crate::core::note::vault::holds;
use crate::core::settings::{Origin, Setting, VaultSpec};
use crate::core::text::slashes::with_slashes;
use crate::system::folders;
use crate::system::maenifold_places::Places;
use crate::workspace::vault_entries::VaultEntries;
use crate::workspace::{AppError, Place, Request, Surroundings, because, may_be_in_name};

/// Whose settings name a vault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamedIn {
    /// The user's `config.toml`: for all projects.
    User,
    /// The project's `kgctx.toml`: for everyone with the project.
    Project,
}

/// What became of a vault that was to be named.
#[derive(Debug, PartialEq, Eq)]
pub enum Added {
    /// It was written into this file. `path` is the folder, which may lie in the project around.
    Written { file: PathBuf, path: PathBuf, is_in_project: bool },
    /// It was a vault before.
    Already { path: PathBuf, because: String },
}

/// A vault that a file named before. `path` is the folder.
#[derive(Debug, PartialEq, Eq)]
pub struct Removed {
    pub file: PathBuf,
    pub path: PathBuf,
}

/// Where a change of the settings happens.
struct Scene {
    place: Place,
    entries: VaultEntries,
    /// The folder that relative paths start from.
    standing: PathBuf,
    /// The user's home folder, canonical.
    home: Option<PathBuf>,
    /// The project's top, for its own file.
    top: Option<PathBuf>,
}

impl Scene {
    fn find(request: &Request, named_in: NamedIn) -> Result<Scene, AppError> {
        // What is wrong elsewhere in the settings must not keep anybody from mending them.
        let mut request = Request { vaults: Vec::new(), is_lenient: true, ..request.clone() };
        let environment = Surroundings::find(&request)?.environment;
        // The files are to be changed, whatever replaces their vaults now.
        request.environment = Some(environment.with("KGCTX_VAULTS", ""));
        let facts = Surroundings::find(&request)?.facts;
        let place = Place::find(&request)?;
        let user_file = place.directories.config.join("config.toml");
        let (file, top) = match (named_in, &place.project.notes_root) {
            (NamedIn::User, _) => (user_file, None),
            (NamedIn::Project, Some(top)) => (top.join("kgctx.toml"), Some(top.clone())),
            (NamedIn::Project, None) => {
                let because = &place.project.because;
                let out = "go into a project's folder, or leave out --project";
                return Err(wrong(format!("there is no project here: {because}; {out}")));
            }
        };
        // A stranger's link must not lead the pen to another file.
        if top.as_ref().is_some_and(|top| !folders::settled(file.clone()).starts_with(top)) {
            let file = file.display();
            let out = "make it a plain file";
            return Err(wrong(format!("{file} is a link that leads out of the project; {out}")));
        }
        let entries = VaultEntries::read(&file)?;
        Ok(Scene { place, entries, standing: facts.folder, home: facts.home, top })
    }

    /// The folder that an entry of the file names.
    fn resolved(&self, written: &str) -> PathBuf {
        let below_home = written.strip_prefix("~/").filter(|_| self.top.is_none());
        let base = self.entries.file.parent().unwrap_or(Path::new(""));
        folders::settled(match (below_home, &self.home) {
            (Some(below), Some(home)) => home.join(below),
            _ => base.join(written),
        })
    }

    /// The entry of the file that names a folder.
    fn position(&self, folder: &Path) -> Option<usize> {
        self.entries.paths.iter().position(|written| self.resolved(written) == folder)
    }

    /// Why a folder cannot be a vault of this file.
    fn objection(&self, folder: &Path) -> Option<String> {
        let shown = folder.display();
        if !folders::is_folder(folder) {
            return Some(format!("{shown} is not a folder; create it, or choose another one"));
        }
        let is_everything = folder.parent().is_none()
            || self.home.as_ref().is_some_and(|home| home.starts_with(folder));
        if is_everything {
            let out = "choose the folder in it that has the notes";
            return Some(format!("{shown} contains all your files, not only notes; {out}"));
        }
        let outside = self.top.as_ref().filter(|top| !folder.starts_with(top));
        if let Some(top) = outside {
            let why = "and a project may only name its own folders; leave out --project";
            return Some(format!("{shown} is outside the project {}, {why}", top.display()));
        }
        self.place.settings.vaults.iter().find_map(|spec| {
            let other = folders::settled(spec.value.path.clone());
            let (shown_other, why) = (other.display(), because(spec));
            // maenifold's memory does not give way.
            let gives_way = spec.origin == Origin::Default && !spec.value.name.is_empty();
            if other == folder || spec.value.is_flat {
                None
            } else if holds(&other, folder) {
                let out = "kgctx already reads its notes";
                Some(format!("{shown} is in the vault {shown_other} ({why}); {out}"))
            } else if holds(folder, &other) && !gives_way {
                let out = match &spec.origin {
                    Origin::Default => "choose a folder that does not contain it",
                    _ => "remove that one first, with `kgctx vault remove`",
                };
                Some(format!("the vault {shown_other} ({why}) is in {shown}; {out}"))
            } else {
                None
            }
        })
    }

    /// The name for a new vault: the wanted one if it can be had, else its folder's, with a number if that is taken.
    fn name(&self, wanted: Option<&str>, folder: &Path) -> Result<String, AppError> {
        let memory = Places::locate(&self.place.environment).map(|places| places.memory);
        // Defaults give way.
        let named = |spec: &&Setting<VaultSpec>| spec.origin != Origin::Default;
        let is_free = |name: &String| {
            let mut others = self.place.settings.vaults.iter().filter(named);
            !others.any(|other| other.value.name == *name)
                && !memory.as_ref().is_some_and(|memory| folders::is_folder(&memory.join(name)))
        };
        if let Some(name) = wanted.map(str::to_owned) {
            if name.is_empty() || matches!(&*name, "." | "..") || !name.chars().all(may_be_in_name)
            {
                let out = "use letters, digits, spaces, `-`, `_` and `.`";
                return Err(wrong(format!("{name:?} is not a valid name for a vault; {out}")));
            }
            let taken = format!("another vault is called {name:?}; choose another name");
            return if is_free(&name) { Ok(name) } else { Err(wrong(taken)) };
        }
        let base = folder.file_name().unwrap_or_default().to_string_lossy();
        let base: String = base.chars().filter(|c| may_be_in_name(*c)).collect();
        let base = if base.trim_matches('.').is_empty() { "notes".to_owned() } else { base };
        let numbered = (2..).map(|n| format!("{base}-{n}"));
        Ok([base.clone()].into_iter().chain(numbered).find(is_free).unwrap_or(base))
    }

    /// A folder as it is written into the file: short, and the same on every machine where that is possible.
    fn written(&self, folder: &Path) -> Result<String, AppError> {
        let path = match (&self.top, &self.home) {
            (Some(top), _) => match folder.strip_prefix(top) {
                Ok(below) if below.as_os_str().is_empty() => Some(".".to_owned()),
                below => below.ok().and_then(with_slashes),
            },
            (None, home) => {
                let below = home.as_ref().and_then(|home| folder.strip_prefix(home).ok());
                below
                    .and_then(|below| Some(format!("~/{}", with_slashes(below)?)))
                    .or_else(|| folder.to_str().map(str::to_owned))
            }
        };
        let out = "rename it, because settings are UTF-8 text";
        path.ok_or_else(|| wrong(format!("{} is not UTF-8; {out}", folder.display())))
    }
}

fn wrong(message: String) -> AppError {
    AppError::Place(message)
}

/// Names a folder as a vault. Changes nothing if it is one already.
pub fn add(
    request: &Request,
    folder: &Path,
    name: Option<&str>,
    named_in: NamedIn,
) -> Result<Added, AppError> {
    let scene = Scene::find(request, named_in)?;
    let path = folders::settled(scene.standing.join(folder));
    let is_it = |spec: &&Setting<VaultSpec>| {
        // A usual place of one project may be meant for all of them.
        let counts = spec.origin != Origin::Default || named_in == NamedIn::Project;
        counts && !spec.value.is_flat && folders::settled(spec.value.path.clone()) == path
    };
    if let Some(spec) = scene.place.settings.vaults.iter().find(is_it) {
        return Ok(Added::Already { path, because: because(spec) });
    }
    if let Some(objection) = scene.objection(&path) {
        return Err(wrong(objection));
    }
    let name = scene.name(name, &path)?;
    let is_plain = path.file_name().is_some_and(|plain| plain == name.as_str());
    let written = scene.written(&path)?;
    scene.entries.add(&written, (!is_plain).then_some(name.as_str()))?;
    let project = scene.place.project.notes_root.as_ref();
    let is_in_project = project.is_some_and(|top| path.starts_with(top));
    Ok(Added::Written { file: scene.entries.file, path, is_in_project })
}

/// Removes a vault from a settings file.
pub fn remove(request: &Request, folder: &Path, named_in: NamedIn) -> Result<Removed, AppError> {
    let scene = Scene::find(request, named_in)?;
    let path = folders::settled(scene.standing.join(folder));
    let as_written = || scene.entries.paths.iter().position(|path| Path::new(path) == folder);
    if let Some(n) = scene.position(&path).or_else(as_written) {
        scene.entries.remove(n)?;
        return Ok(Removed { file: scene.entries.file, path });
    }
    let shown = path.display();
    let specs = scene.place.settings.vaults.iter();
    let spec = specs.rev().find(|spec| folders::settled(spec.value.path.clone()) == path);
    Err(wrong(match spec {
        Some(Setting { origin: Origin::ProjectFile(file), .. }) => {
            format!("{shown} is named in {}; add --project", file.display())
        }
        Some(Setting { origin: Origin::UserFile(file), .. }) => {
            format!("{shown} is named in {}; leave out --project", file.display())
        }
        Some(spec) => format!(
            "{shown} is {}, and no file names it; default_vaults = false leaves out all of these",
            because(spec)
        ),
        None => format!(
            "{shown} is not a vault of {}; `kgctx vault list` shows all",
            scene.entries.file.display()
        ),
    }))
}
