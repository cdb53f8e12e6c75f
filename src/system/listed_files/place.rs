//! Where listed files may lie: the project, and what the user allowed beside it. A file is opened so that nobody can
//! lead the way out of there, neither by its name nor by a link, even one that is put there at the last moment.

use std::fs::{self, File};
use std::io;
use std::path::{Component, Path, PathBuf};

use super::secret_name::is_secret;

/// No path is longer.
const MAX_PATH_BYTES: usize = 4_096;

const OUTSIDE: &str = "it lies outside of the project";
const SECRET: &str = "its name says that it is secret";

/// Why a listed file cannot be opened.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Obstacle {
    /// Nothing is there.
    Missing,
    /// It may not be listed.
    Refused(&'static str),
    /// It is there, and is no file or cannot be read.
    Unreadable(String),
}

impl From<io::Error> for Obstacle {
    fn from(error: io::Error) -> Obstacle {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Obstacle::Missing,
            kind => Obstacle::Unreadable(kind.to_string()),
        }
    }
}

/// A plain file, about to be read.
pub(super) struct Opened {
    pub(super) file: File,
    /// How many bytes it has.
    pub(super) total: u64,
}

/// The folders in which listed files may lie.
pub(super) struct Place {
    root: PathBuf,
    /// As the system names them, the project first.
    folders: Vec<PathBuf>,
    /// As they may be written.
    spellings: Vec<PathBuf>,
}

impl Place {
    pub(super) fn new(root: &Path, allowed: &[PathBuf]) -> Place {
        let given: Vec<PathBuf> = std::iter::once(root.to_path_buf())
            .chain(allowed.iter().map(|path| root.join(path)))
            .collect();
        // One that is not there holds no file.
        let folders: Vec<PathBuf> =
            given.iter().filter_map(|folder| fs::canonicalize(folder).ok()).collect();
        let root = fs::canonicalize(root).unwrap_or_else(|_| root.to_path_buf());
        let spellings = given.iter().chain(&folders).filter_map(|folder| normal(folder)).collect();
        Place { root, folders, spellings }
    }

    /// Opens a plain file by the path that a handoff lists.
    pub(super) fn open(&self, listed: &str) -> Result<Opened, Obstacle> {
        if listed.is_empty() {
            return Err(Obstacle::Refused("it has no name"));
        }
        if listed.contains('\0') {
            return Err(Obstacle::Refused("its name holds a NUL character"));
        }
        if listed.len() >= MAX_PATH_BYTES {
            return Err(Obstacle::Refused("its name is too long"));
        }
        let wanted = self.root.join(listed);
        // By its spelling first: of a file outside it is not even told whether it is there.
        let spelt = normal(&wanted).ok_or(Obstacle::Refused(OUTSIDE))?;
        let below = |folders: &[PathBuf], path: &Path| {
            let folder = folders.iter().find(|folder| path.starts_with(folder)).cloned();
            folder.and_then(|folder| {
                let relative = path.strip_prefix(&folder).ok()?.to_path_buf();
                Some((folder, relative))
            })
        };
        let (_, relative) = below(&self.spellings, &spelt).ok_or(Obstacle::Refused(OUTSIDE))?;
        if is_secret(&relative) || is_secret(Path::new(spelt.file_name().unwrap_or_default())) {
            return Err(Obstacle::Refused(SECRET));
        }
        let real = fs::canonicalize(&wanted)?;
        let (folder, relative) = below(&self.folders, &real).ok_or(Obstacle::Refused(OUTSIDE))?;
        if is_secret(&relative) || is_secret(Path::new(real.file_name().unwrap_or_default())) {
            return Err(Obstacle::Refused(SECRET));
        }
        if relative.as_os_str().is_empty() {
            // The user may have allowed a single file.
            let name = folder.file_name().map(PathBuf::from).unwrap_or_default();
            return open_below(folder.parent().unwrap_or(&folder), &name);
        }
        open_below(&folder, &relative)
    }
}

/// A path without `.` and `..`, by its spelling alone; `None` where `..` leads out of everything.
fn normal(path: &Path) -> Option<PathBuf> {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if normal.file_name().is_none() => return None,
            Component::ParentDir => {
                normal.pop();
            }
            part => normal.push(part),
        }
    }
    Some(normal)
}

fn no_plain_file(is_folder: bool) -> Obstacle {
    let what = if is_folder { "it is a directory" } else { "it is no plain file" };
    Obstacle::Unreadable(what.to_owned())
}

fn plain(file: File) -> Result<Opened, Obstacle> {
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(no_plain_file(metadata.is_dir()));
    }
    Ok(Opened { file, total: metadata.len() })
}

/// Opens a file below a folder, one name after the other and following no link: there was none when this path was made,
/// and one that is there now was put there to lead elsewhere.
#[cfg(unix)]
fn open_below(folder: &Path, relative: &Path) -> Result<Opened, Obstacle> {
    use rustix::fs::{AtFlags, FileType, Mode, OFlags};
    let enter = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let failed = |error: rustix::io::Errno| Obstacle::from(io::Error::from(error));
    let mut at = rustix::fs::open(folder, enter, Mode::empty()).map_err(failed)?;
    let (parents, name) = (relative.parent().into_iter().flatten(), relative.file_name());
    for parent in parents {
        at = rustix::fs::openat(&at, parent, enter, Mode::empty()).map_err(failed)?;
    }
    let name = name.ok_or_else(|| no_plain_file(true))?;
    // Opening a device can do something by itself, so that it is looked at first.
    let stat = rustix::fs::statat(&at, name, AtFlags::SYMLINK_NOFOLLOW).map_err(failed)?;
    let kind = FileType::from_raw_mode(stat.st_mode);
    if kind != FileType::RegularFile {
        return Err(no_plain_file(kind == FileType::Directory));
    }
    // And should it have become a pipe by now, nobody waits for its writer.
    let how =
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    plain(File::from(rustix::fs::openat(&at, name, how, Mode::empty()).map_err(failed)?))
}

#[cfg(not(unix))]
fn open_below(folder: &Path, relative: &Path) -> Result<Opened, Obstacle> {
    let path = folder.join(relative);
    if fs::metadata(&path)?.is_dir() {
        return Err(no_plain_file(true));
    }
    let file = File::open(&path)?;
    if fs::canonicalize(&path)? != path {
        return Err(Obstacle::Refused(OUTSIDE));
    }
    plain(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_judged_by_its_spelling_first() {
        #[track_caller]
        fn check(path: &str, expect: Option<&str>) {
            assert_eq!(normal(Path::new(path)).as_deref(), expect.map(Path::new));
        }
        check("/a/./b/../c", Some("/a/c"));
        check("/a/../..", None);
        check("a/..", Some(""));
        check("../a", None);
    }

    #[cfg(unix)]
    #[test]
    fn p_3_15_a_link_that_is_put_there_at_the_last_moment_leads_nowhere() {
        // P-3.15: what `open` checked is a folder no more when it is entered.
        let scratch = tempfile::tempdir().unwrap();
        let outside = scratch.path().join("outside");
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("file"), "secret").unwrap();
        let root = scratch.path().join("root");
        fs::create_dir(&root).unwrap();
        std::os::unix::fs::symlink(&outside, root.join("folder")).unwrap();
        std::os::unix::fs::symlink(outside.join("file"), root.join("file")).unwrap();
        assert!(open_below(&root, Path::new("folder/file")).is_err());
        assert!(open_below(&root, Path::new("file")).is_err());
        fs::write(root.join("plain"), "text").unwrap();
        assert_eq!(open_below(&root, Path::new("plain")).map(|opened| opened.total).ok(), Some(4));
    }
}
