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
use crate::core::text::slashes::with_slashes;
use crate::core::time::Timestamp;
use crate::store::index::KnownFiles;
use crate::system::git;
use crate::system::git::tracked::{self, MOST_INDEX_BYTES, MOST_INDEX_BYTES_SOON, TrackedFile};
use crate::system::git_history::{self, CommitTimes, Compared, pathspecs};
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
        let tracked = is_tracked.unwrap_or_default();
        let mut files = committed(&tracked, &listed.listings, files);
        if let Some(known) = known {
            listed.settle(&mut files, |listing, file| {
                same_content(&workspace.vaults[listing.vault], listing, file, known)
            });
        }
        if files.is_empty() {
            continue;
        }
        let paths = files.keys().map(String::as_str);
        let (same, touched) = paths.partition(|path| {
            let (folder, file) = files[*path];
            let stamp = &listed.listings[folder].files[file].stamp;
            tracked.get(*path).is_some_and(|tracked| tracked.is_same(stamp))
        });
        let times = match commit_times(&tree, &same, &touched, until) {
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
    let mut trees = HashMap::new();
    let mut files: HashMap<PathBuf, HashMap<String, Position>> = HashMap::new();
    for &(folder, file) in positions {
        let listing = &listings[folder];
        let root = &workspace.vaults[listing.vault].root;
        let Some(tree) = working_tree(&mut trees, root, &listing.folder) else { continue };
        let below = root.join(&*listing.folder);
        let path =
            below.strip_prefix(&tree).ok().map(|below| below.join(&*listing.files[file].name));
        if let Some(path) = path.as_deref().and_then(with_slashes) {
            files.entry(tree).or_default().insert(path, (folder, file));
        }
    }
    files
}

/// The working tree that has a folder of a vault: the vault's, or one in it, such as a submodule. Looks into each folder once.
fn working_tree(
    known: &mut HashMap<PathBuf, Option<PathBuf>>,
    root: &Path,
    folder: &str,
) -> Option<PathBuf> {
    let place = root.join(folder);
    if let Some(tree) = known.get(&place) {
        return tree.clone();
    }
    let has_own = || place.join(".git").symlink_metadata().is_ok();
    let tree = match folder.rsplit_once('/').map_or("", |(above, _)| above) {
        above if !folder.is_empty() && !has_own() => working_tree(known, root, above),
        _ => git::working_tree(&place),
    };
    known.insert(place, tree.clone());
    tree
}

/// Those of the files that may be as they were committed.
fn committed(
    tracked: &HashMap<String, TrackedFile>,
    listings: &[FolderListing],
    mut files: HashMap<String, Position>,
) -> HashMap<String, Position> {
    files.retain(|path, &mut (folder, file)| {
        let stamp = &listings[folder].files[file].stamp;
        tracked.get(path).is_some_and(|tracked| tracked.may_be(stamp))
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

/// Which files have uncommitted changes, and the times of the others. Git only looks into those that were touched since it
/// saw them: without the user's filters, it would take a filtered file for a changed one.
fn commit_times(
    tree: &Path,
    same: &HashSet<&str>,
    touched: &HashSet<&str>,
    until: Instant,
) -> Result<(HashSet<String>, CommitTimes), GitError> {
    let Some(git) = GitProgram::find(tree.to_path_buf(), Some(until))? else {
        return Err(GitError::new(&["log"], "git is not installed"));
    };
    // Nothing is committed yet.
    if git.query(&["rev-parse", "--verify", "--quiet", "HEAD"])?.is_none() {
        let all = same.union(touched).map(|&path| path.to_owned()).collect();
        return Ok((all, CommitTimes::none(true)));
    }
    let mut uncommitted = HashSet::new();
    for (paths, compared) in [(same, Compared::Added), (touched, Compared::Content)] {
        if !paths.is_empty() {
            let differing = git_history::differing(&git, compared, "HEAD", &pathspecs(paths))?;
            uncommitted.extend(differing.into_iter().filter(|path| paths.contains(path.as_str())));
        }
    }
    let all = same.union(touched).copied();
    let wanted = all.filter(|path| !uncommitted.contains(*path)).collect();
    let Some(ends) = tracked::ends_of_history(tree) else {
        return Err(GitError::new(&["log"], "its file `shallow` cannot be read"));
    };
    let times = git_history::times(&git, "HEAD", &wanted, &ends)?;
    Ok((uncommitted, times))
}
