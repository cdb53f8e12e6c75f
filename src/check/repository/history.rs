//! The history of a working tree: the times of changes, and the files of a commit.

use std::collections::{HashMap, HashSet};

use super::error::RepositoryError;
use super::git::{Git, texts};
use super::working_tree::{History, WorkingTree};
use crate::core::time::Timestamp;

/// A file of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TreeFile {
    /// From the top of the repository.
    pub(crate) path: String,
    blob: String,
}

impl WorkingTree {
    fn git_with_commits(&self) -> Option<&Git> {
        self.git.as_ref().filter(|_| self.history == History::Commits)
    }

    /// The times of the last changes to the `wanted` files, in the history of a commit or of
    /// `HEAD`.
    pub(crate) fn times(
        &self,
        commit: Option<&str>,
        wanted: &HashSet<&str>,
    ) -> Result<HashMap<String, Timestamp>, RepositoryError> {
        match self.git_with_commits() {
            Some(git) => git.times(commit.unwrap_or("HEAD"), wanted),
            None => Ok(HashMap::new()),
        }
    }

    /// The files that differ from a commit, or from `HEAD`.
    pub(crate) fn changed_since(
        &self,
        commit: Option<&str>,
    ) -> Result<HashSet<String>, RepositoryError> {
        let Some(git) = self.git_with_commits() else { return Ok(HashSet::new()) };
        let commit = commit.unwrap_or("HEAD");
        let names = ["diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-textconv"];
        let output = git.output(&[&names[..], &["--ignore-submodules", commit, "--"]].concat())?;
        Ok(texts(&output).map(str::to_owned).collect())
    }

    /// The old and new paths of files that were renamed since a commit.
    pub(crate) fn renamed_since(
        &self,
        commit: &str,
    ) -> Result<HashMap<String, String>, RepositoryError> {
        let Some(git) = &self.git else { return Ok(HashMap::new()) };
        let moves = ["diff", "--name-status", "-z", "--find-renames", "-l1000", "--diff-filter=R"];
        let how = ["--no-ext-diff", "--no-textconv", "--ignore-submodules", commit, "--"];
        let output = git.output(&[&moves[..], &how].concat())?;
        let words: Vec<&[u8]> = output.split(|&byte| byte == 0).collect();
        // Three fields each: similarity, old name, new name.
        let renamed = words.as_chunks::<3>().0.iter().filter_map(|[_, old, new]| {
            let name = |name: &[u8]| Some(std::str::from_utf8(name).ok()?.to_owned());
            Some((name(old)?, name(new)?))
        });
        Ok(renamed.collect())
    }

    /// The commit to compare with, as for a pull request: the merge base. Without one, it is the
    /// revision itself, and the second value is false.
    pub(crate) fn base(&self, revision: &str) -> Result<(String, bool), RepositoryError> {
        let Some(git) = self.git_with_commits() else {
            let why = match self.history {
                History::NoRepository => "this folder is in none",
                History::NoProgram => "git is not installed",
                History::NoCommit | History::Commits => "there is no commit yet",
            };
            return Err(RepositoryError::NoHistory { why });
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
        let commit = git.query(&question)?.ok_or_else(unknown)?;
        match git.query(&["merge-base", &commit, "HEAD"])?.filter(|output| !output.is_empty()) {
            Some(common) => Ok((common, true)),
            None if self.is_shallow => {
                Err(RepositoryError::NoMergeBase { revision: revision.to_owned() })
            }
            None => Ok((commit, false)),
        }
    }

    /// The regular files of a commit, sorted.
    pub(crate) fn tree(&self, commit: &str) -> Result<Vec<TreeFile>, RepositoryError> {
        let Some(git) = &self.git else { return Ok(Vec::new()) };
        let output = git.output(&["ls-tree", "-r", "-z", "--full-tree", commit])?;
        let file = |line: &str| {
            let (about, path) = line.split_once('\t')?;
            let mut about = about.split(' ');
            let is_plain = about.next()?.starts_with("100");
            let blob = about.nth(1)?.to_owned();
            is_plain.then(|| TreeFile { path: path.to_owned(), blob })
        };
        let mut files: Vec<TreeFile> = texts(&output).filter_map(file).collect();
        files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        Ok(files)
    }

    /// Reads files of a commit one by one. Skips files that are too large.
    pub(crate) fn read_tree(
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
