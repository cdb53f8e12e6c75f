//! Which files of a working tree may be as they were committed, by git's own files: no git process, and no look at a file.

use std::collections::HashMap;
use std::collections::HashSet;
use std::path::Path;

use crate::core::note::listing::Stamp;
use crate::system::git::index_file::{self, Seen};
use crate::system::git::{MOST_TEXT_BYTES, git_dir, read_bounded, read_text};
use crate::system::plain_file;

/// A larger index takes too long to read. It has some 600,000 files.
pub const MOST_INDEX_BYTES: u64 = 64 * 1024 * 1024;
/// The same for callers that cannot wait: some 150,000 files, by estimate.
pub const MOST_INDEX_BYTES_SOON: u64 = 16 * 1024 * 1024;

/// A tracked file as git last saw it.
#[derive(Debug)]
pub struct TrackedFile(Seen);

impl TrackedFile {
    /// Whether a file may have the content that git saw: it has the last 32 bits of its size.
    pub fn may_be(&self, stamp: &Stamp) -> bool {
        self.0.size == stamp.size as u32
    }

    /// Whether a file has the content that git saw, by its size and its time. In times without nanoseconds, two edits are one.
    pub fn is_same(&self, stamp: &Stamp) -> bool {
        let Seen { seconds, nanoseconds, .. } = self.0;
        let (of_file, rest) =
            (stamp.mtime.0.div_euclid(1_000_000_000), stamp.mtime.0.rem_euclid(1_000_000_000));
        let is_exact = !nanoseconds.is_multiple_of(1_000);
        self.may_be(stamp) && is_exact && (of_file as u32, rest as u32) == (seconds, nanoseconds)
    }
}

/// The wanted files that git tracks. `None` if git's files cannot be read, or have more bytes.
pub fn tracked(
    checkout: &Path,
    most_bytes: u64,
    is_wanted: impl Fn(&str) -> bool,
) -> Option<HashMap<String, TrackedFile>> {
    let git_dir = git_dir(checkout)?;
    // Nothing was added yet.
    if git_dir.join("index").symlink_metadata().is_err() {
        return Some(HashMap::new());
    }
    let read = |name: &str| read_bounded(&git_dir.join(name), most_bytes);
    let index = index_file::read(&read("index")?, read, is_wanted)?;
    let files = index.files.into_iter();
    let files = files.filter(|(_, seen)| seen.is_compared() && !seen.is_uncommitted());
    Some(files.map(|(path, seen)| (path, TrackedFile(seen))).collect())
}

/// The commits whose parents a shallow clone lacks. `None` if git's files cannot be read.
pub fn ends_of_history(checkout: &Path) -> Option<HashSet<String>> {
    let git_dir = git_dir(checkout)?;
    let common = read_text(&git_dir.join("commondir")).unwrap_or_default();
    let ends = git_dir.join(common.trim()).join("shallow");
    let ends = plain_file::read_text(&ends, MOST_TEXT_BYTES).ok()?.unwrap_or_default();
    Some(ends.lines().map(str::to_owned).collect())
}
