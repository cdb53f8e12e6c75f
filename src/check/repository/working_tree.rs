//! A repository as it is checked out: which files it has, what they hold, when they were changed, and the same for a
//! revision. `git` itself is asked, without anybody's configuration; where there is none, the folder alone is looked through.

#![expect(clippy::disallowed_methods, reason = "this room is behind the I/O fence")]

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::git::Git;
use super::walk;
use crate::check::repository_file::Unread;
use crate::check::settings::is_project_name;
use crate::core::time::Timestamp;
use crate::system::atomic_file;
use crate::system::vault;

/// Why a repository cannot be checked.
#[derive(Debug, Error)]
pub enum RepositoryError {
    /// The folder is not there.
    #[error("cannot use the folder {}: {cause}", dir.display())]
    Dir {
        /// The folder.
        dir: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// git refuses to work here.
    #[error(
        "git does not trust this folder, which belongs to somebody else; if you do, run `git config --global --add safe.directory {}`",
        top.display()
    )]
    NotTrusted {
        /// The folder.
        top: PathBuf,
    },
    /// git failed.
    #[error("git {command} failed: {said}")]
    Git {
        /// What it was asked.
        command: String,
        /// What it said.
        said: String,
    },
    /// There is nothing to compare with.
    #[error("--base needs a git repository with at least one commit, and {why}")]
    NoHistory {
        /// Why there is none.
        why: &'static str,
    },
    /// Both have nothing in common that is known here.
    #[error(
        "this clone is shallow, and does not have the commit at which {revision:?} and HEAD parted; fetch the whole history: \
         `git fetch --unshallow`, in GitHub's checkout `fetch-depth: 0`, in GitLab `GIT_DEPTH: \"0\"`"
    )]
    NoMergeBase {
        /// As it was given.
        revision: String,
    },
    /// Files of a revision are missing.
    #[error(
        "this clone is partial, and does not have all files of the revision that is compared with; \
         `git diff REV...HEAD > /dev/null`, with that revision, fetches them"
    )]
    Partial,
    /// There is no such revision.
    #[error("{revision:?} is no commit that this clone knows; {way_out}")]
    UnknownRevision {
        /// As it was given.
        revision: String,
        /// What to do.
        way_out: &'static str,
    },
}

/// What is known about the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum History {
    /// There are commits.
    Commits,
    /// There is a repository without a commit.
    NoCommit,
    /// There is no repository.
    NoRepository,
    /// There is a repository, and no `git` to ask.
    NoProgram,
}

/// A working tree.
#[derive(Debug)]
pub struct WorkingTree {
    /// Its top.
    pub top: PathBuf,
    /// What is known about its history.
    pub history: History,
    /// Whether some of the history is missing.
    pub is_shallow: bool,
    /// When the newest commit was made.
    pub newest: Option<Timestamp>,
    /// The name of the repository that it came from.
    pub origin: Option<String>,
    git: Option<Git>,
}

/// The files of a working tree.
#[derive(Debug, Default)]
pub struct Listing {
    /// All of them, in order.
    pub paths: Vec<String>,
    /// Those that were never added.
    pub untracked: HashSet<String>,
    /// What is there beside them: links, other repositories, and what is not checked out.
    pub unread: Vec<Unread>,
}

/// A file of a revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeFile {
    /// Its path from the top.
    pub path: String,
    /// The name of what it holds.
    blob: String,
}

impl WorkingTree {
    /// Finds out about the working tree with its top at `top`, which has a repository or not.
    pub fn find(top: &Path, has_repository: bool) -> Result<WorkingTree, RepositoryError> {
        let mut checkout = WorkingTree {
            top: top.to_path_buf(),
            history: History::NoRepository,
            is_shallow: false,
            newest: None,
            origin: None,
            git: None,
        };
        if !has_repository {
            return Ok(checkout);
        }
        let Some(git) = Git::at(top)? else {
            checkout.history = History::NoProgram;
            return Ok(checkout);
        };
        let origin = git.ask(&["config", "--local", "--get", "remote.origin.url"])?;
        checkout.origin = origin.and_then(|url| name_in(url.trim()));
        let shallow = git.ask(&["rev-parse", "--is-shallow-repository"])?;
        checkout.is_shallow = shallow.is_some_and(|said| said.trim() == "true");
        let newest = git.ask(&["log", "-1", "--format=%ct", "HEAD", "--"])?;
        checkout.newest =
            newest.and_then(|said| said.trim().parse().ok()).map(Timestamp::from_seconds);
        checkout.history = match checkout.newest {
            Some(_) => History::Commits,
            None => History::NoCommit,
        };
        checkout.git = Some(git);
        Ok(checkout)
    }

    /// The plain files of the working tree that are not ignored. Links are none.
    pub fn files(&self) -> Result<Listing, RepositoryError> {
        let Some(git) = &self.git else {
            let (mut paths, links) = walk::files(&self.top);
            paths.sort_unstable();
            let unread = links.into_iter().map(|path| self.link(path)).collect();
            return Ok(Listing { paths, unread, ..Listing::default() });
        };
        // Not `--exclude-standard`: what one user ignores everywhere is no matter of the repository. What this clone alone ignores
        // is never committed, and seen by nobody else.
        let own =
            git.ask(&["rev-parse", "--path-format=absolute", "--git-path", "info/exclude"])?;
        let own = own.map(|path| path.trim_end_matches('\n').to_owned());
        let own = own.filter(|path| Path::new(path).is_file());
        let own = own.map(|path| format!("--exclude-from={path}"));
        let list = ["ls-files", "-z", "-t", "-s", "--cached", "--others"];
        let rules = ["--exclude-per-directory=.gitignore"].into_iter().chain(own.as_deref());
        let said = git.tell(&list.into_iter().chain(rules).collect::<Vec<_>>())?;
        let mut listing = Listing::default();
        for (tag, rest) in texts(&said).filter_map(|line| line.split_once(' ')) {
            let is_untracked = tag == "?";
            let (mode, path) = match rest.split_once('\t') {
                Some((about, path)) if !is_untracked => (about.split(' ').next(), path),
                _ => (None, rest),
            };
            let there = fs::symlink_metadata(self.top.join(path)).ok();
            // In a repository of its own nobody looks: it may not be checked out at all.
            let is_nested = is_untracked && path.ends_with('/');
            if mode == Some("160000") || is_nested {
                let path = path.trim_end_matches('/').to_owned();
                listing.unread.push(Unread::Repository(path));
            } else if there.as_ref().is_some_and(fs::Metadata::is_file) {
                if is_untracked {
                    listing.untracked.insert(path.to_owned());
                }
                listing.paths.push(path.to_owned());
            } else if there.as_ref().is_some_and(fs::Metadata::is_symlink) {
                listing.unread.push(self.link(path.to_owned()));
            } else if tag == "S" && there.is_none() {
                let path = path.to_owned();
                listing.unread.push(match mode {
                    Some("120000") => Unread::Link { path, target: None },
                    _ => Unread::File(path),
                });
            }
        }
        listing.paths.sort_unstable();
        // One that is being merged is listed once per side.
        listing.paths.dedup();
        listing.unread.sort_unstable_by(|a, b| a.path().cmp(b.path()));
        listing.unread.dedup();
        Ok(listing)
    }

    fn link(&self, path: String) -> Unread {
        let target = fs::read_link(self.top.join(&path)).ok();
        let target = target.and_then(|target| Some(target.to_str()?.to_owned()));
        Unread::Link { path, target }
    }

    /// Which of `wanted` were last changed when, as far as the history of a commit says; `HEAD` without one.
    pub fn times(
        &self,
        commit: Option<&str>,
        wanted: &HashSet<&str>,
    ) -> Result<HashMap<String, Timestamp>, RepositoryError> {
        match &self.git {
            Some(git) if self.history == History::Commits => {
                git.times(commit.unwrap_or("HEAD"), wanted)
            }
            _ => Ok(HashMap::new()),
        }
    }

    /// The files that are different in the working tree from a commit; `HEAD` without one.
    pub fn changed_since(&self, commit: Option<&str>) -> Result<HashSet<String>, RepositoryError> {
        let Some(git) = self.git.as_ref().filter(|_| self.history == History::Commits) else {
            return Ok(HashSet::new());
        };
        let commit = commit.unwrap_or("HEAD");
        let names = ["diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-textconv"];
        let said = git.tell(&[&names[..], &["--ignore-submodules", commit, "--"]].concat())?;
        Ok(texts(&said).map(str::to_owned).collect())
    }

    /// The files that were moved since a commit: what they were called, and what they are called now.
    pub fn renamed_since(&self, commit: &str) -> Result<HashMap<String, String>, RepositoryError> {
        let Some(git) = &self.git else { return Ok(HashMap::new()) };
        let moves = ["diff", "--name-status", "-z", "--find-renames", "-l1000", "--diff-filter=R"];
        let how = ["--no-ext-diff", "--no-textconv", "--ignore-submodules", commit, "--"];
        let said = git.tell(&[&moves[..], &how].concat())?;
        let words: Vec<&[u8]> = said.split(|&byte| byte == 0).collect();
        // Each is three words: how alike they are, the old name, the new name.
        let renamed = words.as_chunks::<3>().0.iter().filter_map(|[_, old, new]| {
            let name = |name: &[u8]| Some(std::str::from_utf8(name).ok()?.to_owned());
            Some((name(old)?, name(new)?))
        });
        Ok(renamed.collect())
    }

    /// What a file holds; `None` for one that is too large, or no plain file any more.
    pub fn read(&self, path: &str, max_bytes: u64) -> Option<Vec<u8>> {
        let file = vault::open_file(&self.top.join(path)).ok()?;
        let there = file.metadata().ok()?;
        if !there.is_file() || there.len() > max_bytes {
            return None;
        }
        let mut bytes = Vec::with_capacity(usize::try_from(there.len()).ok()?);
        file.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes).ok()?;
        (bytes.len() as u64 <= max_bytes).then_some(bytes)
    }

    /// Whether there is anything under this name, of whatever kind.
    pub fn is_taken(&self, path: &str) -> bool {
        fs::symlink_metadata(self.top.join(path)).is_ok()
    }

    /// Whether a file may be written there: a repository that somebody else made must not lead out of itself by a link, nor
    /// into git's own files.
    pub fn may_write(&self, path: &str) -> io::Result<()> {
        let refuse = |what: &str| Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        let mut place = self.top.clone();
        let mut parts = path.split('/').peekable();
        while let Some(part) = parts.next() {
            if part.eq_ignore_ascii_case(".git") {
                return refuse("it lies in git's own folder");
            }
            if matches!(part, "" | "." | "..") {
                return refuse("it is no plain path inside of the repository");
            }
            place.push(part);
            let is_last = parts.peek().is_none();
            match fs::symlink_metadata(&place) {
                Ok(there) if there.is_symlink() => {
                    return refuse("a symbolic link is in its way, and none is followed");
                }
                Ok(there) if is_last && !there.is_file() => return refuse("it is no plain file"),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Writes a file, all of it or nothing, with the folders above it.
    pub fn write(&self, path: &str, text: &str) -> io::Result<()> {
        self.may_write(path)?;
        let path = self.top.join(path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        atomic_file::put(&path, text)
    }

    /// The commit that a change is compared with, as a pull request is: where its branch left that revision; the revision
    /// itself where both have nothing in common, and whether they have.
    pub fn base(&self, revision: &str) -> Result<(String, bool), RepositoryError> {
        let git = match (&self.git, self.history) {
            (Some(git), History::Commits) => git,
            (_, history) => return Err(RepositoryError::NoHistory { why: why_none(history) }),
        };
        let unknown = || RepositoryError::UnknownRevision {
            revision: revision.to_owned(),
            way_out: if self.is_shallow {
                "the clone is shallow: fetch the revision, in GitHub's checkout with `fetch-depth: 0`"
            } else {
                "fetch it, or name a branch, a tag or a commit that `git log` shows"
            },
        };
        if revision.starts_with('-') {
            return Err(unknown());
        }
        let name = format!("{revision}^{{commit}}");
        let question = ["rev-parse", "--verify", "--quiet", "--end-of-options", &name];
        let commit = git.ask(&question)?.ok_or_else(unknown)?.trim().to_owned();
        let common = git.ask(&["merge-base", &commit, "HEAD"])?;
        let common = common.map(|said| said.trim().to_owned()).filter(|said| !said.is_empty());
        match common {
            Some(common) => Ok((common, true)),
            None if self.is_shallow => {
                Err(RepositoryError::NoMergeBase { revision: revision.to_owned() })
            }
            None => Ok((commit, false)),
        }
    }

    /// The plain files of a commit, in order.
    pub fn tree(&self, commit: &str) -> Result<Vec<TreeFile>, RepositoryError> {
        let Some(git) = &self.git else { return Ok(Vec::new()) };
        let said = git.tell(&["ls-tree", "-r", "-z", "--full-tree", commit])?;
        let file = |line: &str| {
            let (about, path) = line.split_once('\t')?;
            let mut about = about.split(' ');
            let is_plain = about.next()?.starts_with("100");
            let blob = about.nth(1)?.to_owned();
            is_plain.then(|| TreeFile { path: path.to_owned(), blob })
        };
        let mut files: Vec<TreeFile> = texts(&said).filter_map(file).collect();
        files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        Ok(files)
    }

    /// Reads files of a revision, one after the other; those that are too large are passed over.
    pub fn read_tree(
        &self,
        files: &[&TreeFile],
        max_bytes: u64,
        take: impl FnMut(usize, Vec<u8>),
    ) -> Result<(), RepositoryError> {
        let Some(git) = self.git.as_ref().filter(|_| !files.is_empty()) else { return Ok(()) };
        let blobs: Vec<&str> = files.iter().map(|file| file.blob.as_str()).collect();
        git.blobs(&blobs, max_bytes, take)
    }
}

/// The texts between zeros. A name that is no text is none that an address could have.
pub(super) fn texts(said: &[u8]) -> impl Iterator<Item = &str> {
    said.split(|&byte| byte == 0)
        .filter_map(|name| std::str::from_utf8(name).ok())
        .filter(|name| !name.is_empty())
}

fn why_none(history: History) -> &'static str {
    match history {
        History::Commits => "",
        History::NoCommit => "there is no commit yet",
        History::NoRepository => "this folder is in none",
        History::NoProgram => "git is not installed",
    }
}

/// The repository's name in an address: `git@host:team/atlas.git` is `atlas`.
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
