//! Asks git about a working tree: when files were changed, and what they contained.

use std::collections::{HashMap, HashSet};

use super::working_tree::{History, WorkingTree};
use crate::check::CheckError;
use crate::core::time::Timestamp;
use crate::system::git_history;
use crate::system::git_program::{BlobAnswer, GitError};

impl From<GitError> for CheckError {
    fn from(error: GitError) -> CheckError {
        match &error {
            GitError::Foreign(_) => CheckError::Wrong(error.to_string()),
            GitError::Failed { .. } | GitError::Late { .. } => {
                CheckError::Failed(error.to_string())
            }
        }
    }
}

impl WorkingTree {
    /// The output without the last line break; `None` if git fails.
    pub(super) fn query(&self, arguments: &[&str]) -> Result<Option<String>, CheckError> {
        Ok(self.git.query(arguments)?)
    }

    /// The output of a command that must not fail.
    pub(super) fn output(&self, arguments: &[&str]) -> Result<Vec<u8>, CheckError> {
        Ok(self.git.output(arguments)?)
    }

    /// The times of the last changes to files, up to a commit. Reads the history once, and only
    /// until it has seen all of the files.
    pub(crate) fn times(
        &self,
        commit: &str,
        wanted: &HashSet<&str>,
    ) -> Result<HashMap<String, Timestamp>, CheckError> {
        if self.history != History::Commits {
            return Ok(HashMap::new());
        }
        Ok(git_history::times(&self.git, commit, wanted, &HashSet::new())?.found)
    }

    /// Reads blobs with one process; `None` for a blob that is too large.
    pub(crate) fn blobs(
        &self,
        blobs: &[&str],
        max_bytes: u64,
    ) -> Result<Vec<Option<Vec<u8>>>, CheckError> {
        if blobs.is_empty() {
            return Ok(Vec::new());
        }
        let answers = self.git.blobs(max_bytes)?.read_all(blobs)?;
        let contents = answers.into_iter().map(|answer| match answer {
            BlobAnswer::Content { bytes, is_whole } => Ok(is_whole.then_some(bytes)),
            BlobAnswer::Missing => {
                let message = "this clone is partial and lacks files of the revision to compare with; run `git diff \
                    REV...HEAD > /dev/null` with that revision to fetch them";
                Err(CheckError::Failed(message.to_owned()))
            }
        });
        contents.collect()
    }
}
