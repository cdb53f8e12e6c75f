//! Amplifier: its folders of handoffs, and what its hook says. Does not judge what a handoff says.

mod hook;

pub use hook::Amplifier;

use std::fs::{self, OpenOptions};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use crate::core::handoff::foreign::ForeignHandoff;
use crate::core::time::Timestamp;
use crate::system::atomic_file;
use crate::system::directories;
use crate::system::environment::Environment;

/// The name of a handoff in its session's folder.
const FILE: &str = "handoff.md";
/// A project's name where its folder has none.
const NO_NAME: &str = "unknown";
/// A larger file is no handoff.
const MAX_BYTES: u64 = 4 << 20;
/// No name in a file system is longer.
const MAX_NAME_BYTES: usize = 255;

/// What becomes of a handoff that is there already, and says something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// It stays, and the new one is refused.
    Keep,
    /// It is replaced.
    Replace,
}

/// The folder in which Amplifier keeps its projects.
pub fn projects_folder(environment: &Environment) -> Option<PathBuf> {
    environment
        .path("AMPLIFIER_PROJECTS_DIR")
        .or_else(|| Some(environment.path("AMPLIFIER_HOME")?.join("projects")))
        .or_else(|| Some(environment.home()?.join(".amplifier/projects")))
}

/// The name under which Amplifier's own handoffs of a folder are kept: the folder's, without those above it.
pub fn slug(dir: &Path) -> String {
    base_name(&resolved(dir)).unwrap_or_else(|| NO_NAME.to_owned())
}

/// The name under which Amplifier's command line keeps a folder's sessions: all of its path.
fn path_slug(dir: &Path) -> String {
    let path = resolved(dir).to_string_lossy().replace(['/', '\\'], "-").replace(':', "");
    if path.starts_with('-') { path } else { format!("-{path}") }
}

/// A folder without links; the path as it is where there is none.
fn resolved(dir: &Path) -> PathBuf {
    fs::canonicalize(dir).unwrap_or_else(|_| dir.to_path_buf())
}

fn base_name(dir: &Path) -> Option<String> {
    dir.file_name().map(|name| name.to_string_lossy().into_owned())
}

/// Finds the handoffs of a project in both of Amplifier's layouts, in no order that means anything, and says what could
/// not be read. Makes no folder.
pub fn find(projects: &Path, project_root: &Path) -> (Vec<ForeignHandoff>, Vec<String>) {
    let mut found = Vec::new();
    let mut warnings = Vec::new();
    // A folder without a name is not looked for: handoffs of any project can be under `unknown`.
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

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Reads a handoff; `None` where a session left none.
fn read(path: &Path) -> io::Result<Option<(Vec<u8>, Timestamp)>> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => {}
        Ok(_) => return Err(io::Error::other("it is no plain file")),
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => return Err(error),
    }
    let mut options = OpenOptions::new();
    options.read(true);
    // Should it have become a pipe by now, nobody waits for its writer.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    let file = options.open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is no plain file"));
    }
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(io::Error::other("it is larger than 4 MiB"));
    }
    let since_1970 = metadata.modified()?.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let nanos = i64::try_from(since_1970.as_nanos()).unwrap_or(i64::MAX);
    Ok(Some((bytes, Timestamp(nanos))))
}

/// Writes a handoff to where Amplifier looks for it, all of it or nothing, and returns where that is.
pub fn export(
    projects: &Path,
    slug: &str,
    session: &str,
    text: &str,
    existing: Existing,
) -> io::Result<PathBuf> {
    for name in [slug, session] {
        if !is_one_name(name) {
            let why = format!("{name:?} is no name of a single folder");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
    }
    let folder = projects.join(slug).join("sessions").join(session);
    let path = folder.join(FILE);
    match fs::symlink_metadata(&path) {
        // Where a link leads is not ours to write to.
        Ok(there) if !there.is_file() => {
            let why = format!("{} is no plain file", path.display());
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, why));
        }
        Ok(_) if fs::read(&path)? == text.as_bytes() => return Ok(path),
        Ok(_) if existing == Existing::Keep => {
            let why = format!("{} is there already, and says something else", path.display());
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, why));
        }
        Ok(_) => {}
        Err(error) if is_absent(&error) => directories::create_private(&folder)?,
        Err(error) => return Err(error),
    }
    atomic_file::write(&path, text)?;
    Ok(path)
}

/// Whether a name leads to one folder below and nowhere else, on any system.
fn is_one_name(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None))
        && name.len() <= MAX_NAME_BYTES
        && !name.contains(['/', '\\', ':', '\0'])
}

#[cfg(test)]
mod tests;
