//! The working tree of a repository: its properties, and how to read and write its files. `listing`
//! lists its files, `history` reads its commits. Runs `git` without the user's configuration;
//! without git, uses only the folder.

#![expect(clippy::disallowed_methods, reason = "this module is behind the I/O fence")]

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::check::CheckError;
use crate::check::settings::is_project_name;
use crate::core::time::Timestamp;
use crate::system::atomic_file;
use crate::system::git_program::GitProgram;
use crate::system::plain_file;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum History {
    Commits,
    NoCommit,
    #[default]
    NoRepository,
    /// A repository, but `git` is not installed.
    NoProgram,
}

#[derive(Debug, Default)]
pub(crate) struct WorkingTree {
    pub(crate) top: PathBuf,
    pub(crate) history: History,
    /// Whether the clone lacks a part of the history.
    pub(crate) is_shallow: bool,
    /// The time of the newest commit.
    pub(crate) newest: Option<Timestamp>,
    /// The name of the origin's repository.
    pub(crate) origin: Option<String>,
    pub(super) git: GitProgram,
}

impl WorkingTree {
    /// Reads the properties of the working tree at `top`.
    pub(crate) fn find(top: &Path, has_repository: bool) -> Result<WorkingTree, CheckError> {
        let mut tree = WorkingTree { top: top.to_path_buf(), ..WorkingTree::default() };
        if !has_repository {
            return Ok(tree);
        }
        let Some(git) = GitProgram::find(top.to_path_buf(), None)? else {
            return Ok(WorkingTree { history: History::NoProgram, ..tree });
        };
        tree.git = git;
        let origin = tree.query(&["config", "--local", "--get", "remote.origin.url"])?;
        tree.origin = origin.and_then(|url| name_in(url.trim()));
        let shallow = tree.query(&["rev-parse", "--is-shallow-repository"])?;
        tree.is_shallow = shallow.as_deref() == Some("true");
        let newest = tree.query(&["log", "-1", "--format=%ct", "HEAD", "--"])?;
        tree.newest = newest.and_then(|time| time.parse().ok()).map(Timestamp::from_seconds);
        let has_commit = tree.newest.is_some();
        tree.history = if has_commit { History::Commits } else { History::NoCommit };
        Ok(tree)
    }

    /// Whether git can be asked.
    pub(super) fn has_git(&self) -> bool {
        matches!(self.history, History::Commits | History::NoCommit)
    }

    /// Reads a file; `None` if it is too large or not a regular file.
    pub(crate) fn read(&self, path: &str, max_bytes: u64) -> Option<Vec<u8>> {
        let file = plain_file::open_listed(&self.top.join(path)).ok()?;
        let metadata = file.metadata().ok()?;
        if !metadata.is_file() || metadata.len() > max_bytes {
            return None;
        }
        let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).ok()?);
        file.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes).ok()?;
        (bytes.len() as u64 <= max_bytes).then_some(bytes)
    }

    /// Whether the path exists, even as a broken link.
    pub(crate) fn exists(&self, path: &str) -> bool {
        fs::symlink_metadata(self.top.join(path)).is_ok()
    }

    /// Whether a file may be written: the path must not leave the repository through a link, nor
    /// reach git's own files, because the repository may not be trusted.
    pub(crate) fn may_write(&self, path: &str) -> Result<(), CheckError> {
        let refuse = |reason: &str| Err(CheckError::refused(path, reason));
        let mut place = self.top.clone();
        let mut parts = path.split('/').peekable();
        while let Some(part) = parts.next() {
            if part.eq_ignore_ascii_case(".git") {
                return refuse("it is in git's own folder");
            }
            if matches!(part, "" | "." | "..") {
                return refuse("it is not a plain path inside the repository");
            }
            place.push(part);
            let is_last = parts.peek().is_none();
            match fs::symlink_metadata(&place) {
                Ok(metadata) if metadata.is_symlink() => {
                    return refuse("a symbolic link is in its path, and kgctx follows none");
                }
                Ok(metadata) if is_last && !metadata.is_file() => {
                    return refuse("it is not a regular file");
                }
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
                Err(cause) => return Err(CheckError::not_written(path, &cause)),
            }
        }
        Ok(())
    }

    /// Writes a file atomically, and creates its parent folders.
    pub(crate) fn write(&self, path: &str, text: &str) -> Result<(), CheckError> {
        self.may_write(path)?;
        let file = self.top.join(path);
        let folder = file.parent().map_or(Ok(()), fs::create_dir_all);
        let written = folder.and_then(|()| atomic_file::write(&file, text));
        written.map_err(|cause| CheckError::not_written(path, &cause))
    }
}

/// The repository's name in a URL: `git@host:team/atlas.git` gives `atlas`.
fn name_in(url: &str) -> Option<String> {
    let path = url.trim_end_matches('/');
    let name = path.rsplit(['/', ':', '\\']).next()?;
    let name = name.strip_suffix(".git").unwrap_or(name);
    is_project_name(name).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_has_the_name_at_the_end_of_its_address() {
        for (url, name) in [
            ("https://example.com/team/atlas.git", Some("atlas")),
            ("git@example.com:team/atlas.git", Some("atlas")),
            ("git@example.com:atlas", Some("atlas")),
            ("/srv/git/atlas.git/", Some("atlas")),
            ("..", None),
            ("https://example.com/.git", None),
            ("", None),
        ] {
            assert_eq!(name_in(url).as_deref(), name, "{url}");
        }
    }
}
