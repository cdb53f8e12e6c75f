//! The folders that may contain listed files: the project, and those that the user allowed. Neither
//! a name nor a link leads out of them, not even a link that appears while a file is being opened.

use std::fs::File;
use std::io;
use std::path::{Component, Path, PathBuf};

use super::open_below::open_below;
use super::secret_name::is_secret;

/// The system's limit.
const MAX_PATH_BYTES: usize = 4_096;

const OUTSIDE: &str = "it is outside the project";
const SECRET: &str = "its name marks it as secret";

/// Why a listed file cannot be opened.
#[derive(Debug, PartialEq, Eq)]
pub enum Obstacle {
    Missing,
    Refused(&'static str),
    /// It exists, but is not a regular file or cannot be read.
    Unreadable(String),
}

impl<E: Into<io::Error>> From<E> for Obstacle {
    fn from(error: E) -> Obstacle {
        match error.into().kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Obstacle::Missing,
            kind => Obstacle::Unreadable(kind.to_string()),
        }
    }
}

pub(super) struct Sandbox {
    root: PathBuf,
    /// Canonical paths, the project first.
    folders: Vec<PathBuf>,
    /// The same folders as users and handoffs can spell them.
    spellings: Vec<PathBuf>,
}

impl Sandbox {
    pub(super) fn new(root: &Path, allowed: &[PathBuf]) -> Sandbox {
        let given: Vec<PathBuf> = std::iter::once(root.to_path_buf())
            .chain(allowed.iter().map(|path| root.join(path)))
            .collect();
        // A missing folder contains no file.
        let folders: Vec<PathBuf> =
            given.iter().filter_map(|folder| dunce::canonicalize(folder).ok()).collect();
        let root = dunce::canonicalize(root).unwrap_or_else(|_| root.to_path_buf());
        let spellings = given.iter().chain(&folders).filter_map(|folder| normal(folder)).collect();
        Sandbox { root, folders, spellings }
    }

    /// Opens a regular file by the path that a handoff lists.
    pub(super) fn open(&self, listed: &str) -> Result<File, Obstacle> {
        let bad_name = match listed {
            "" => Some("it has no name"),
            name if name.contains('\0') => Some("its name contains a NUL character"),
            name if name.len() >= MAX_PATH_BYTES => Some("its name is too long"),
            name if cfg!(windows) && has_stream(name) => Some("its name contains a colon"),
            _ => None,
        };
        if let Some(why) = bad_name {
            return Err(Obstacle::Refused(why));
        }
        let wanted = self.root.join(listed);
        // Checks the spelling first, so that nothing reveals whether a file outside exists.
        let spelt = normal(&wanted).ok_or(Obstacle::Refused(OUTSIDE))?;
        admitted(&self.spellings, &spelt)?;
        let real = dunce::canonicalize(&wanted)?;
        let (folder, relative) = admitted(&self.folders, &real)?;
        if relative.as_os_str().is_empty() {
            // The user can allow a single file.
            let name = folder.file_name().map(PathBuf::from).unwrap_or_default();
            return open_below(folder.parent().unwrap_or(folder), &name);
        }
        open_below(folder, relative)
    }
}

/// Whether a path names more than a disk before a colon: on Windows another stream of a file, which can be the file itself.
fn has_stream(listed: &str) -> bool {
    listed.char_indices().any(|(at, c)| c == ':' && at != 1)
}

/// Splits a path into its allowed folder and the rest. Rejects paths outside, and secret names.
fn admitted<'a>(folders: &'a [PathBuf], path: &'a Path) -> Result<(&'a Path, &'a Path), Obstacle> {
    let below = |folder: &'a PathBuf| Some((folder.as_path(), path.strip_prefix(folder).ok()?));
    let (folder, relative) = folders.iter().find_map(below).ok_or(Obstacle::Refused(OUTSIDE))?;
    if is_secret(relative) || is_secret(Path::new(path.file_name().unwrap_or_default())) {
        return Err(Obstacle::Refused(SECRET));
    }
    Ok((folder, relative))
}

/// Resolves `.` and `..` by spelling alone; `None` if `..` leads above the start.
pub(super) fn normal(path: &Path) -> Option<PathBuf> {
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

    #[test]
    fn what_stands_behind_a_colon_is_no_disk() {
        for (listed, expect) in [
            ("a/b.md", false),
            (r"C:\a", false),
            ("C:/a:b", true),
            (".env::$DATA", true),
            ("a/b:c", true),
        ] {
            assert_eq!(has_stream(listed), expect, "{listed}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn p_3_15_a_link_that_is_put_there_at_the_last_moment_leads_nowhere() {
        use std::fs;
        // P-3.15: the path that `open` checked is no longer a folder when it is entered.
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
        assert_eq!(
            open_below(&root, Path::new("plain")).and_then(|file| Ok(file.metadata()?.len())),
            Ok(4)
        );
    }
}
