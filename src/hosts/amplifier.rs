//! Amplifier: the folders that hold its handoffs, and its hook. Does not interpret a handoff's
//! text.

mod hook;
pub mod transcript;

pub use hook::Amplifier;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::core::handoff::foreign::{ForeignHandoff, LeftOut, WhyLeftOut};
use crate::hosts::handoff_stores::{self, HandoffStore};
use crate::hosts::is_absent;
use crate::system::atomic_file;
use crate::system::directories;
use crate::system::environment::Environment;
use crate::system::plain_file;

const FILE: &str = "handoff.md";
/// The project name for a folder without a name.
const NO_NAME: &str = "unknown";
/// The longest file name that common file systems allow.
const MAX_NAME_BYTES: usize = 255;

/// The folder that holds Amplifier's projects.
pub fn projects_folder(environment: &Environment) -> Option<PathBuf> {
    projects_folders(environment).into_iter().next()
}

/// The folder that variables name, and the one in which Amplifier's command line keeps its sessions whatever they say.
pub(super) fn projects_folders(environment: &Environment) -> Vec<PathBuf> {
    let named = environment
        .path("AMPLIFIER_PROJECTS_DIR")
        .or_else(|| Some(environment.path("AMPLIFIER_HOME")?.join("projects")));
    let usual = environment.home().map(|home| home.join(".amplifier/projects"));
    let mut folders: Vec<PathBuf> = [named, usual].into_iter().flatten().collect();
    folders.dedup_by_key(|folder| resolved(folder));
    folders
}

/// The project name that Amplifier uses for its own handoffs: the last part of the folder's path.
pub fn slug(dir: &Path) -> String {
    base_name(&resolved(dir)).unwrap_or_else(|| NO_NAME.to_owned())
}

/// The project name that Amplifier's command line uses: the whole path.
fn path_slug(dir: &Path) -> String {
    let path = resolved(dir).to_string_lossy().replace(['/', '\\'], "-").replace(':', "");
    if path.starts_with('-') { path } else { format!("-{path}") }
}

/// Resolves links; returns the path unchanged if that fails.
fn resolved(dir: &Path) -> PathBuf {
    dunce::canonicalize(dir).unwrap_or_else(|_| dir.to_path_buf())
}

fn base_name(dir: &Path) -> Option<String> {
    dir.file_name().map(|name| name.to_string_lossy().into_owned())
}

/// Finds a project's handoffs in all folders and layouts of Amplifier's, in no defined order. Creates no folder.
pub(super) fn look(folders: &[PathBuf], roots: &[PathBuf]) -> HandoffStore {
    let mut store = HandoffStore::default();
    for projects in folders.iter().filter(|folder| folder.is_dir()) {
        store.folders.push(projects.clone());
        Layouts { projects, folders, roots }.find(&mut store);
    }
    store
}

/// A folder of projects, read for one of them.
struct Layouts<'a> {
    projects: &'a Path,
    /// All folders that can hold the sessions of Amplifier's command line.
    folders: &'a [PathBuf],
    roots: &'a [PathBuf],
}

impl Layouts<'_> {
    fn find(&self, store: &mut HandoffStore) {
        for root in self.roots {
            self.sessions(&path_slug(root), store, |_| true);
            let name = base_name(&resolved(root)).filter(|name| name != NO_NAME);
            if let Some(name) = name {
                // Projects of the same name share this folder.
                self.sessions(&name, store, |session| !self.is_of_namesake(&name, session));
            }
        }
        // The hook of Amplifier that writes handoffs knows no project. The command line knows its sessions.
        let slugs: Vec<String> = self.roots.iter().map(|root| path_slug(root)).collect();
        self.sessions(NO_NAME, store, |session| {
            slugs.iter().any(|slug| self.has_session(slug, session))
        });
    }

    fn has_session(&self, slug: &str, session: &str) -> bool {
        self.folders
            .iter()
            .any(|projects| projects.join(slug).join("sessions").join(session).is_dir())
    }

    /// Whether the command line knows the session in another project whose folder has the same name.
    fn is_of_namesake(&self, name: &str, session: &str) -> bool {
        let ours: Vec<String> = self.roots.iter().map(|root| path_slug(root)).collect();
        let ending = format!("-{name}");
        let entries = self.folders.iter().flat_map(fs::read_dir).flatten().flatten();
        let slugs = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let mut others = slugs.filter(|slug| slug.ends_with(&ending) && !ours.contains(slug));
        !ours.iter().any(|slug| self.has_session(slug, session))
            && others.any(|slug| self.has_session(&slug, session))
    }

    /// Takes the handoffs of a folder's sessions, as far as they are this project's.
    fn sessions(&self, slug: &str, store: &mut HandoffStore, is_ours: impl Fn(&str) -> bool) {
        let sessions = self.projects.join(slug).join("sessions");
        let mut folders: Vec<PathBuf> = match fs::read_dir(&sessions) {
            Ok(entries) => entries.flatten().map(|entry| entry.path()).collect(),
            Err(error) => {
                if !is_absent(&error) {
                    store.failed.push(format!("{} cannot be read: {error}", sessions.display()));
                }
                return;
            }
        };
        folders.sort();
        for folder in folders {
            let (path, session) = (folder.join(FILE), base_name(&folder).unwrap_or_default());
            match handoff_stores::read(self.projects, &path) {
                Ok(None) => {}
                Ok(Some(_)) if !is_ours(&session) => {
                    let why = WhyLeftOut::OtherProject;
                    store.left_out.push(LeftOut { source_id: session, why });
                }
                Ok(Some((bytes, modified))) => {
                    let name = Some(session);
                    store.waiting.push(ForeignHandoff { name, path, bytes, modified });
                }
                Err(_) if !is_ours(&session) => {}
                Err(error) => store.failed.push(error),
            }
        }
    }
}

/// Writes a handoff atomically to the path where Amplifier looks for it, and returns that path. Never replaces one that
/// has another text.
pub fn export(projects: &Path, slug: &str, session: &str, text: &str) -> io::Result<PathBuf> {
    if let Some(name) = [slug, session].into_iter().find(|name| !is_one_name(name)) {
        let why = format!("{name:?} is not the name of a single folder");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    let folder = projects.join(slug).join("sessions").join(session);
    let path = folder.join(FILE);
    let refused = |why: &str| {
        io::Error::new(io::ErrorKind::AlreadyExists, format!("{} is {why}", path.display()))
    };
    match fs::symlink_metadata(&path) {
        // A link can point outside Amplifier's folder, so it is never written through.
        Ok(there) if !there.is_file() => return Err(refused("not a regular file")),
        Ok(_) if plain_file::read(&path)? == text.as_bytes() => return Ok(path),
        Ok(_) => return Err(refused("already there, with other content")),
        Err(error) if is_absent(&error) => directories::create_private(&folder)?,
        Err(error) => return Err(error),
    }
    atomic_file::write_private(&path, text)?;
    Ok(path)
}

/// Whether a name is a single path component on every operating system.
fn is_one_name(name: &str) -> bool {
    let is_special = ["", ".", ".."].contains(&name) || name.contains(['/', '\\', ':', '\0']);
    !is_special && name.len() <= MAX_NAME_BYTES
}

#[cfg(unix)]
#[cfg(test)]
mod tests;
