//! Dates notes: a file that is as it was committed was written when it was committed, whenever git wrote it to the disk.
//!
//! Only files that are about to be read are looked at, and git is run only for those whose content is not known: after a
//! clone, or when a branch with other notes is checked out. What git does not say in time stays unknown.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::{Listed, Patience};
use crate::core::note::listing::{FolderListing, ListedFile, Written};
use crate::core::note::vault::Vault;
use crate::core::time::Timestamp;
use crate::store::index::KnownFiles;
use crate::system::git;
use crate::system::git::tracked::{self, MOST_INDEX_BYTES, MOST_INDEX_BYTES_SOON};
use crate::system::git_history::{self, CommitTimes, pathspecs};
use crate::system::git_program::{GitError, GitProgram};
use crate::system::vault;
use crate::workspace::Workspace;

/// Positions of a folder, and of a file in it.
type Position = (usize, usize);

/// Dates the files at these positions. `known` are the files of the index, unless all are to be looked up. If git is late, a
/// caller that does not wait leaves the time open; one that waits stores it as unknown, so that git is not asked again.
pub(super) fn date(
    workspace: &Workspace,
    listed: &mut Listed<'_>,
    positions: &[Position],
    known: Option<&KnownFiles>,
    patience: Patience,
) {
    let until = Instant::now() + patience.for_git();
    let most_bytes = if patience.has_time() { MOST_INDEX_BYTES } else { MOST_INDEX_BYTES_SOON };
    for (tree, mut files) in by_working_tree(workspace, &listed.listings, positions) {
        if let Some(known) = known {
            listed.settle(&mut files, |listing, file| unchanged(listing, file, known));
        }
        let is_tracked = tracked::tracked(&tree, most_bytes, |path| files.contains_key(path));
        if is_tracked.is_none() && !patience.has_time() {
            for &(folder, file) in files.values() {
                listed.listings[folder].files[file].written = Written::OPEN;
            }
            continue;
        }
        let mut files = committed(&is_tracked.unwrap_or_default(), &listed.listings, files);
        if let Some(known) = known {
            listed.settle(&mut files, |listing, file| {
                same_content(&workspace.vaults[listing.vault], listing, file, known)
            });
        }
        if files.is_empty() {
            continue;
        }
        let paths: HashSet<&str> = files.keys().map(String::as_str).collect();
        let times = match commit_times(&tree, &paths, until) {
            Err(GitError::Late { .. }) => Ok((HashSet::new(), CommitTimes::none(false))),
            times => times,
        };
        let failed = match &times {
            // Git is not installed, or does not answer: it will not answer next time, either.
            Err(error) => Some(error.to_string()),
            Ok((_, CommitTimes { is_complete: false, .. })) if patience.has_time() => {
                Some(format!("it takes more than {} s", patience.for_git().as_secs()))
            }
            Ok(_) => None,
        };
        listed.git_failure = listed.git_failure.take().or(failed);
        for (path, &(folder, file)) in &files {
            let file = &mut listed.listings[folder].files[file];
            let time = match &times {
                Ok((uncommitted, _)) if uncommitted.contains(path) => Some(file.stamp.mtime),
                Ok((_, CommitTimes { found, is_complete })) => {
                    let is_open = !is_complete && !patience.has_time();
                    let unknown = (!is_open).then_some(Timestamp::UNKNOWN);
                    // What was there before its commit is older: an old vault comes under git with one commit.
                    let time = found.get(path).map(|&time| time.min(file.stamp.mtime));
                    time.or(unknown)
                }
                Err(_) => Some(Timestamp::UNKNOWN),
            };
            file.written = time.map_or(Written::OPEN, Written::at);
        }
    }
    let mut files = listed.listings.iter().flat_map(|listing| &listing.files);
    listed.has_undated = files.any(|file| file.written == Written::OPEN);
}

impl Listed<'_> {
    /// Dates those of the files that are known to the index, and removes them.
    fn settle(
        &mut self,
        files: &mut HashMap<String, Position>,
        known_time: impl Fn(&FolderListing, &ListedFile) -> Option<Timestamp>,
    ) {
        files.retain(|_, &mut (folder, file)| {
            let listing = &mut self.listings[folder];
            let time = known_time(listing, &listing.files[file]);
            let file = &mut listing.files[file];
            if let Some(time) = time {
                file.written = Written::at(time.min(file.stamp.mtime));
            }
            time.is_none()
        });
    }
}

/// The files in each working tree, by their paths from its top.
fn by_working_tree(
    workspace: &Workspace,
    listings: &[FolderListing],
    positions: &[Position],
) -> HashMap<PathBuf, HashMap<String, Position>> {
    let trees: Vec<Option<(PathBuf, String)>> = workspace
        .vaults
        .iter()
        .map(|vault| {
            let tree = git::working_tree(&vault.root)?;
            let below = vault.root.strip_prefix(&tree).ok()?.to_str()?.to_owned();
            Some((tree, below))
        })
        .collect();
    let mut files: HashMap<PathBuf, HashMap<String, Position>> = HashMap::new();
    for &(folder, file) in positions {
        let listing = &listings[folder];
        if let Some((tree, below)) = &trees[listing.vault] {
            let parts = [below.as_str(), &listing.folder, &listing.files[file].name];
            let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            files.entry(tree.clone()).or_default().insert(parts.join("/"), (folder, file));
        }
    }
    files
}

/// Those of the files that may be as they were committed.
fn committed(
    tracked: &HashMap<String, u32>,
    listings: &[FolderListing],
    mut files: HashMap<String, Position>,
) -> HashMap<String, Position> {
    files.retain(|path, &mut (folder, file)| {
        let size = listings[folder].files[file].stamp.size;
        tracked.get(path).is_some_and(|&seen| seen == size as u32)
    });
    files
}

/// The time of a file that is as it was when the index was written.
fn unchanged(listing: &FolderListing, file: &ListedFile, known: &KnownFiles) -> Option<Timestamp> {
    let known = known.find(listing.vault, &listing.folder, &file.name)?;
    (known.stamp == Some(file.stamp)).then_some(known.time)
}

/// The time of a file whose content is as it was when the index was written.
fn same_content(
    vault: &Vault,
    listing: &FolderListing,
    file: &ListedFile,
    known: &KnownFiles,
) -> Option<Timestamp> {
    let known = known.find(listing.vault, &listing.folder, &file.name)?;
    let (bytes, _) = vault::read(vault, &listing.folder, file).ok()?;
    blake3::hash(&bytes).as_bytes().starts_with(&known.hash).then_some(known.time)
}

/// Which files have uncommitted changes, and the times of the others.
fn commit_times(
    tree: &Path,
    paths: &HashSet<&str>,
    until: Instant,
) -> Result<(HashSet<String>, CommitTimes), GitError> {
    let Some(git) = GitProgram::find(tree.to_path_buf(), Some(until))? else {
        return Err(GitError::new(&["log"], "git is not installed"));
    };
    // Nothing is committed yet.
    if git.query(&["rev-parse", "--verify", "--quiet", "HEAD"])?.is_none() {
        let all = paths.iter().map(|&path| path.to_owned()).collect();
        return Ok((all, CommitTimes::none(true)));
    }
    let uncommitted = git_history::differing(&git, "HEAD", &pathspecs(paths))?;
    let wanted = paths.iter().copied().filter(|path| !uncommitted.contains(*path)).collect();
    let Some(ends) = tracked::ends_of_history(tree) else {
        return Err(GitError::new(&["log"], "its file `shallow` cannot be read"));
    };
    let times = git_history::times(&git, "HEAD", &wanted, &ends)?;
    Ok((uncommitted, times))
}
