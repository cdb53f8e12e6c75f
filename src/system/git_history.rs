//! The history of a repository: when the last commits changed files, and which files have uncommitted changes.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::core::time::Timestamp;
use crate::system::git_program::{GitError, GitProgram, texts};

/// Starts the line with a commit's time: no path starts with this byte.
const COMMIT: char = '\u{1}';
/// Git compares every path of a commit with every pathspec: with more than this, it reads whole
/// folders, or all.
const MAX_PATHSPECS: usize = 100;
/// With so many wanted files, a folder is asked about as a whole.
const FOLDED: usize = 4;

/// When the last commits changed files.
pub(crate) struct CommitTimes {
    pub(crate) found: HashMap<String, Timestamp>,
    /// Whether the history was read as far as it goes; otherwise the time was over.
    pub(crate) is_complete: bool,
}

impl CommitTimes {
    /// Those of a history that was not read.
    pub(crate) fn none(is_complete: bool) -> CommitTimes {
        CommitTimes { found: HashMap::new(), is_complete }
    }
}

/// The times of the last changes to files, up to a commit. Reads the history once, and only until it has seen all of the
/// files, or the time is over. `ends` are commits whose parents a shallow clone lacks. They seem to change every file: the
/// times of those are unknown.
pub(crate) fn times(
    git: &GitProgram,
    commit: &str,
    wanted: &HashSet<&str>,
    ends: &HashSet<String>,
) -> Result<CommitTimes, GitError> {
    let mut found = HashMap::with_capacity(wanted.len());
    if wanted.is_empty() {
        return Ok(CommitTimes { found, is_complete: true });
    }
    let log = ["log", "-c", "-z", "--format=%x01%ct %H", "--name-only", "--no-renames"];
    let places = folded_pathspecs(wanted);
    let places = places.iter().map(String::as_str);
    // With paths, git leaves out branches that had no effect on them, unless told otherwise.
    let arguments = log.into_iter().chain(["--full-history", commit, "--"]).chain(places);
    let arguments: Vec<&str> = arguments.collect();
    let mut at = Timestamp::UNKNOWN;
    let is_complete = git.each_part(&arguments, |entry| {
        let entry = entry.strip_prefix(b"\n").unwrap_or(entry);
        let Ok(text) = std::str::from_utf8(entry) else { return true };
        if let Some((seconds, commit)) =
            text.strip_prefix(COMMIT).and_then(|commit| commit.split_once(' '))
        {
            let is_end = ends.contains(commit);
            let seconds = seconds.parse().ok().filter(|_| !is_end).map(Timestamp::from_seconds);
            at = seconds.unwrap_or(Timestamp::UNKNOWN);
        } else if wanted.contains(text) {
            found.entry(text.to_owned()).or_insert(at);
        }
        found.len() < wanted.len()
    })?;
    Ok(CommitTimes { found, is_complete })
}

/// What is compared with a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compared {
    /// The files. Git reads every file whose time tells nothing.
    Content,
    /// What was added for the next commit.
    Added,
}

/// The files that differ from a commit, at or below some places; without places, all.
pub(crate) fn differing(
    git: &GitProgram,
    compared: Compared,
    commit: &str,
    places: &[String],
) -> Result<HashSet<String>, GitError> {
    let names = ["diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-textconv"];
    let added = (compared == Compared::Added).then_some("--cached");
    let names = names.into_iter().chain(added).chain(["--ignore-submodules", commit, "--"]);
    let question: Vec<&str> = names.chain(places.iter().map(String::as_str)).collect();
    let output = git.output(&question)?;
    Ok(texts(&output).map(str::to_owned).collect())
}

/// The paths to which git can limit its answer: these files, else what has them at the top; none if there is too much.
pub(crate) fn pathspecs(files: &HashSet<&str>) -> Vec<String> {
    let mut places: BTreeSet<&str> = files.iter().copied().collect();
    if places.len() > MAX_PATHSPECS {
        places = places.iter().filter_map(|path| path.split('/').next()).collect();
    }
    let is_few = places.len() <= MAX_PATHSPECS;
    places.iter().filter(|_| is_few).map(|path| format!(":(literal){path}")).collect()
}

/// The same, with folders in place of the files of which they have many: for every commit, git compares each name in
/// the folders above with each pathspec.
fn folded_pathspecs(files: &HashSet<&str>) -> Vec<String> {
    fn folder_of(file: &str) -> Option<&str> {
        Some(file.rsplit_once('/')?.0)
    }
    let mut sizes: HashMap<&str, usize> = HashMap::new();
    for folder in files.iter().filter_map(|file| folder_of(file)) {
        *sizes.entry(folder).or_default() += 1;
    }
    let folded = files.iter().map(|file| {
        let folder = folder_of(file).filter(|folder| sizes[folder] >= FOLDED);
        folder.unwrap_or(file)
    });
    pathspecs(&folded.collect())
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
        assert_eq!(ask(&at_top), [":(literal)README.md", ":(literal)docs"]);
        let far: Vec<String> = (0..=MAX_PATHSPECS).map(|n| format!("{n}/a.md")).collect();
        assert_eq!(ask(&far), [""; 0]);
    }
    #[test]
    fn a_folder_of_many_files_is_one_path() {
        let files = [
            "a.md",
            "b.md",
            "c.md",
            "d.md",
            "docs/a.md",
            "docs/b.md",
            "docs/c.md",
            "docs/d.md",
            "x/a.md",
        ];
        let places = folded_pathspecs(&files.into_iter().collect());
        let expect = ["a.md", "b.md", "c.md", "d.md", "docs", "x/a.md"];
        assert_eq!(places, expect.map(|path| format!(":(literal){path}")));
        let few: HashSet<&str> = files.into_iter().filter(|file| *file != "docs/d.md").collect();
        assert!(folded_pathspecs(&few).contains(&":(literal)docs/a.md".to_owned()));
    }
}
