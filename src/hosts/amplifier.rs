//! Amplifier: the folders that hold its handoffs, and its hook. Does not interpret a handoff's
//! text.

mod hook;

pub use hook::Amplifier;

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::core::handoff::foreign::ForeignHandoff;
use crate::core::time::Timestamp;
use crate::hosts::is_absent;
use crate::system::atomic_file;
use crate::system::directories;
use crate::system::environment::Environment;
use crate::system::plain_file;

const FILE: &str = "handoff.md";
/// The project name for a folder without a name.
const NO_NAME: &str = "unknown";
/// Larger files are not read.
const MAX_BYTES: u64 = 4 << 20;
/// The longest file name that common file systems allow.
const MAX_NAME_BYTES: usize = 255;

/// The folder that holds Amplifier's projects.
pub fn projects_folder(environment: &Environment) -> Option<PathBuf> {
    environment
        .path("AMPLIFIER_PROJECTS_DIR")
        .or_else(|| Some(environment.path("AMPLIFIER_HOME")?.join("projects")))
        .or_else(|| Some(environment.home()?.join(".amplifier/projects")))
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
    fs::canonicalize(dir).unwrap_or_else(|_| dir.to_path_buf())
}

fn base_name(dir: &Path) -> Option<String> {
    dir.file_name().map(|name| name.to_string_lossy().into_owned())
}

/// Finds a project's handoffs in both of Amplifier's layouts, in no defined order, and warns about
/// unreadable files. Creates no folder.
pub fn find(projects: &Path, project_root: &Path) -> (Vec<ForeignHandoff>, Vec<String>) {
    let mut found = Vec::new();
    let mut warnings = Vec::new();
    // Skips a folder without a name: `unknown` can hold the handoffs of any project.
    let short = base_name(&resolved(project_root));
    for slug in short.into_iter().chain([path_slug(project_root)]) {
        let sessions = projects.join(slug).join("sessions");
        let mut folders: Vec<PathBuf> = match fs::read_dir(&sessions) {
            Ok(entries) => entries.flatten().map(|entry| entry.path()).collect(),
            Err(error) => {
                if !is_absent(&error) {
                    warnings.push(format!("{} cannot be read: {error}", sessions.display()));
                }
                continue;
            }
        };
        folders.sort();
        for folder in folders {
            let path = folder.join(FILE);
            match read(&path) {
                Ok(Some((bytes, modified))) => {
                    let session = base_name(&folder).unwrap_or_default();
                    found.push(ForeignHandoff { session, path, bytes, modified });
                }
                Ok(None) => {}
                Err(error) => warnings.push(format!("{} cannot be read: {error}", path.display())),
            }
        }
    }
    (found, warnings)
}

/// Reads a handoff; `None` if the session has none.
fn read(path: &Path) -> io::Result<Option<(Vec<u8>, Timestamp)>> {
    let file = match plain_file::open(path) {
        Ok(file) => file,
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => return Err(error),
    };
    let metadata = file.metadata()?;
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(io::Error::other("it is larger than 4 MiB"));
    }
    let since_1970 = metadata.modified()?.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let nanos = i64::try_from(since_1970.as_nanos()).unwrap_or(i64::MAX);
    Ok(Some((bytes, Timestamp(nanos))))
}

/// Writes a handoff atomically to the path where Amplifier looks for it, and returns that path. Never replaces one that
/// has another text.
pub fn export(projects: &Path, slug: &str, session: &str, text: &str) -> io::Result<PathBuf> {
    if let Some(name) = [slug, session].into_iter().find(|name| !is_one_name(name)) {
        let why = format!("{name:?} is no name of a single folder");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    let folder = projects.join(slug).join("sessions").join(session);
    let path = folder.join(FILE);
    let refused = |why: &str| {
        io::Error::new(io::ErrorKind::AlreadyExists, format!("{} is {why}", path.display()))
    };
    match fs::symlink_metadata(&path) {
        // A link can point outside Amplifier's folder, so it is never written through.
        Ok(there) if !there.is_file() => return Err(refused("no plain file")),
        Ok(_) if fs::read(&path)? == text.as_bytes() => return Ok(path),
        Ok(_) => return Err(refused("there already, and says something else")),
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

#[cfg(test)]
mod tests;
