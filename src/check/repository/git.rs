//! Asks git about a working tree: when files were changed, and what they contained.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::working_tree::{History, WorkingTree};
use crate::check::CheckError;
use crate::core::time::Timestamp;
use crate::system::git_program::{BlobAnswer, GitError};

/// Starts the line with a commit's time: no path starts with this byte.
const COMMIT: char = '\u{1}';
/// Git compares every path of a commit with every pathspec: with more than this, it reads whole
/// folders, or all.
const MAX_PATHSPECS: usize = 100;

impl From<GitError> for CheckError {
    fn from(error: GitError) -> CheckError {
        match &error {
            GitError::Foreign(_) => CheckError::Wrong(error.to_string()),
            GitError::Failed { .. } => CheckError::Failed(error.to_string()),
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
        let mut times = HashMap::with_capacity(wanted.len());
        if wanted.is_empty() || self.history != History::Commits {
            return Ok(times);
        }
        let log = ["log", "-c", "-z", "--format=%x01%ct", "--name-only", "--no-renames"];
        let places = pathspecs(wanted);
        let places = places.iter().map(String::as_str);
        // With paths, git leaves out branches that had no effect on them, unless told otherwise.
        let arguments = log.into_iter().chain(["--full-history", commit, "--"]).chain(places);
        let arguments: Vec<&str> = arguments.collect();
        let mut at = Timestamp::from_seconds(0);
        self.git.each_part(&arguments, |entry| {
            let entry = entry.strip_prefix(b"\n").unwrap_or(entry);
            let Ok(text) = std::str::from_utf8(entry) else { return true };
            if let Some(seconds) = text.strip_prefix(COMMIT) {
                at = Timestamp::from_seconds(seconds.parse().unwrap_or_default());
            } else if wanted.contains(text) {
                times.entry(text.to_owned()).or_insert(at);
            }
            times.len() < wanted.len()
        })?;
        Ok(times)
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
                let message = "this clone is partial, and does not have all files of the revision that is compared with; \
                     `git diff REV...HEAD > /dev/null`, with that revision, fetches them";
                Err(CheckError::Failed(message.to_owned()))
            }
        });
        contents.collect()
    }
}

/// The paths to which git can limit its answer: these files, else the folders at the top that have
/// them; none if there are too many, or one is at the top.
fn pathspecs(files: &HashSet<&str>) -> Vec<String> {
    let folders = || files.iter().map(|path| path.split_once('/').map(|(folder, _)| folder));
    let places: BTreeSet<&str> = if files.len() <= MAX_PATHSPECS {
        files.iter().copied().collect()
    } else {
        folders().collect::<Option<_>>().unwrap_or_default()
    };
    let is_few = places.len() <= MAX_PATHSPECS;
    places.iter().filter(|_| is_few).map(|path| format!(":(literal){path}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_is_asked_about_few_paths() {
        let ask = |paths: &[String]| pathspecs(&paths.iter().map(String::as_str).collect());
        let notes = |n: usize, folder: &str| -> Vec<String> {
            (0..n).map(|n| format!("{folder}/{n}.md")).collect()
        };
        assert_eq!(ask(&["docs/*.md".to_owned()]), [":(literal)docs/*.md"]);
        assert_eq!(ask(&notes(MAX_PATHSPECS, "docs")).len(), MAX_PATHSPECS);
        assert_eq!(ask(&notes(MAX_PATHSPECS + 1, "docs")), [":(literal)docs"]);
        let at_top = [notes(MAX_PATHSPECS, "docs"), vec!["README.md".to_owned()]].concat();
        assert_eq!(ask(&at_top), [""; 0]);
        let far: Vec<String> = (0..=MAX_PATHSPECS).map(|n| format!("{n}/a.md")).collect();
        assert_eq!(ask(&far), [""; 0]);
    }
}
