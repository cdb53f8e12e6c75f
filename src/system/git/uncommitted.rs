//! Finds files with uncommitted changes without a git process: by what git remembers of them, and by their times.
//!
//! A guess by names, sizes and times, not by contents: no file is opened. Files that git does not track are not found,
//! because that takes a walk through all folders.

use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

mod checkout;

use checkout::{Checkout, Look};

use crate::system::git::index_file::{self, Seen};
use crate::system::git::{git_dir, read_bounded};
use crate::system::plain_file;

/// A larger index takes longer to read than a session's start may wait. It has some 20,000 files.
const MOST_INDEX_BYTES: u64 = 2 * 1024 * 1024;
/// The number of files that are looked at.
const MOST_LOOKS: usize = 200;
/// The last entry of a reflog is within so many bytes.
const LAST_ENTRY_BYTES: i64 = 4 * 1024;

/// The files of a working tree that are likely to have uncommitted changes, in order, of those that `is_wanted` accepts by
/// their path from its top. `None` where git's files do not tell.
pub fn uncommitted(checkout: &Path, is_wanted: impl Fn(&str) -> bool) -> Option<Vec<String>> {
    let git_dir = git_dir(checkout)?;
    let bytes = read_bounded(&git_dir.join("index"), MOST_INDEX_BYTES)?;
    let beside = |name: &str| read_bounded(&git_dir.join(name), MOST_INDEX_BYTES);
    let index = index_file::read(&bytes, beside, is_wanted)?;
    let mut tracked = index.files;
    tracked.retain(|(path, seen)| seen.is_compared() && is_below(path));
    if tracked.len() > MOST_LOOKS {
        // Who worked on a file lately is likely to work on it again.
        tracked
            .sort_by(|(a, of_a), (b, of_b)| of_b.seconds.cmp(&of_a.seconds).then_with(|| a.cmp(b)));
        tracked.truncate(MOST_LOOKS);
    }
    let last_commit = if index.may_have_staged { last_entry(&git_dir) } else { None };
    let top = Checkout::open(checkout)?;
    let is_changed = |path: &str, seen: &Seen| {
        let look = top.look(path);
        seen.is_uncommitted() || differs(look, seen, last_commit)
    };
    tracked.retain(|(path, seen)| is_changed(path, seen));
    let mut changed: Vec<String> = tracked.into_iter().map(|(path, _)| path).collect();
    changed.sort();
    // A file with a conflict has an entry for each side.
    changed.dedup();
    Some(changed)
}

/// Whether a path stays below the top: a damaged index could name any file.
fn is_below(path: &str) -> bool {
    !path.starts_with('/') && path.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

/// Whether a file is not as git saw it, or was written after the last commit and may have been added since.
fn differs(look: Look, seen: &Seen, last_commit: Option<i64>) -> bool {
    let Look::There { seconds, nanoseconds, size } = look else { return look == Look::Gone };
    let is_newer = || last_commit.is_some_and(|time| seconds > time);
    // Git has not looked at the file yet.
    if seen.seconds == 0 {
        return is_newer();
    }
    // Some programs write times to the second, the millisecond or the microsecond. Git itself compares seconds.
    let is_exact = !seen.nanoseconds.is_multiple_of(1_000);
    seconds as u32 != seen.seconds
        || is_exact && nanoseconds != seen.nanoseconds
        || size as u32 != seen.size
        || is_newer()
}

/// The time of the last commit, checkout or reset, in seconds. `None` if there is no reflog, or after a clone, which writes
/// its files later than the entry.
fn last_entry(git_dir: &Path) -> Option<i64> {
    let mut file = plain_file::open(&git_dir.join("logs/HEAD")).ok()?;
    if file.seek(SeekFrom::End(-LAST_ENTRY_BYTES)).is_err() {
        file.rewind().ok()?;
    }
    let mut end = Vec::new();
    file.take(LAST_ENTRY_BYTES as u64).read_to_end(&mut end).ok()?;
    let end = String::from_utf8_lossy(&end);
    let (author, message) = end.trim_end().rsplit('\n').next()?.split_once('\t')?;
    let (before, _zone) = author.rsplit_once(' ')?;
    let (_, seconds) = before.rsplit_once(' ')?;
    if message.starts_with("clone:") { None } else { seconds.parse().ok() }
}

#[cfg(unix)]
#[cfg(test)]
mod tests;
