//! The history of a working tree: the differences from a commit, and its files.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::working_tree::{History, WorkingTree};
use crate::check::CheckError;
use crate::system::git_history::{self, Compared, pathspecs};
use crate::system::git_program::texts;

impl WorkingTree {
    /// The files that differ from a commit; none without a history.
    pub(crate) fn changed_since(&self, commit: &str) -> Result<HashSet<String>, CheckError> {
        self.differing(commit, &[])
    }

    /// Those of the files that differ from the newest commit. The answer may have others, too. Git reads every file whose
    /// time tells nothing, as after a clone, so it is asked about few.
    pub(crate) fn uncommitted(&self, files: &HashSet<&str>) -> Result<HashSet<String>, CheckError> {
        match files.is_empty() {
            true => Ok(HashSet::new()),
            false => self.differing("HEAD", &pathspecs(files)),
        }
    }

    fn differing(&self, commit: &str, places: &[String]) -> Result<HashSet<String>, CheckError> {
        if self.history != History::Commits {
            return Ok(HashSet::new());
        }
        Ok(git_history::differing(&self.git, Compared::Content, commit, places)?)
    }

    /// The old and new paths of files that were renamed since a commit.
    pub(crate) fn renamed_since(
        &self,
        commit: &str,
    ) -> Result<HashMap<String, String>, CheckError> {
        let moves = ["diff", "--name-status", "-z", "--find-renames", "-l1000", "--diff-filter=R"];
        let how = ["--no-ext-diff", "--no-textconv", "--ignore-submodules", commit, "--"];
        let output = self.output(&[&moves[..], &how].concat())?;
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
    pub(crate) fn base(&self, revision: &str) -> Result<(String, bool), CheckError> {
        let why_not = match self.history {
            History::NoRepository => Some("this folder is not in one"),
            History::NoProgram => Some("git is not installed"),
            History::NoCommit => Some("there is no commit yet"),
            History::Commits => None,
        };
        if let Some(why) = why_not {
            return Err(CheckError::Wrong(format!(
                "--base needs a git repository with at least one commit, and {why}"
            )));
        }
        let unknown = || {
            let way_out = if self.is_shallow {
                "the clone is shallow: fetch the revision, in GitHub's checkout with `fetch-depth: 0`"
            } else {
                "fetch it, or name a branch, a tag or a commit that `git log` shows"
            };
            let message = format!("this clone has no commit {revision:?}; {way_out}");
            CheckError::Wrong(message)
        };
        if revision.starts_with('-') {
            return Err(unknown());
        }
        let name = format!("{revision}^{{commit}}");
        let question = ["rev-parse", "--verify", "--quiet", "--end-of-options", &name];
        let commit = self.query(&question)?.ok_or_else(unknown)?;
        match self.query(&["merge-base", &commit, "HEAD"])?.filter(|output| !output.is_empty()) {
            Some(common) => Ok((common, true)),
            None if self.is_shallow => Err(CheckError::Wrong(format!(
                "this clone is shallow and lacks the merge base of {revision:?} and HEAD; fetch the whole history: \
                `git fetch --unshallow`, in GitHub's checkout `fetch-depth: 0`, in GitLab `GIT_DEPTH: \"0\"`"
            ))),
            None => Ok((commit, false)),
        }
    }

    /// The regular files of a commit: their paths from the top, and their blobs.
    pub(crate) fn files_of(&self, commit: &str) -> Result<BTreeMap<String, String>, CheckError> {
        let output = self.output(&["ls-tree", "-r", "-z", "--full-tree", commit])?;
        let file = |line: &str| {
            let (about, path) = line.split_once('\t')?;
            let mut about = about.split(' ');
            let is_plain = about.next()?.starts_with("100");
            let blob = about.nth(1)?.to_owned();
            is_plain.then(|| (path.to_owned(), blob))
        };
        Ok(texts(&output).filter_map(file).collect())
    }
}
