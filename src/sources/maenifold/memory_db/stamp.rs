//! A stamp: identifies a state of the database without opening it.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The metadata of the file and its log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    file: Seen,
    log: Option<Seen>,
}

impl Stamp {
    /// The current stamp; `None` if there is no database.
    pub fn of(database: &Path) -> Option<Stamp> {
        Some(Stamp { file: Seen::of(database)?, log: Seen::of(&beside(database, "-wal")) })
    }

    /// Whether the last change is longer ago than `age`.
    pub(super) fn is_older_than(&self, age: Duration) -> bool {
        let newest =
            self.log.as_ref().map_or(self.file.changed, |log| log.changed.max(self.file.changed));
        SystemTime::now().duration_since(newest).is_ok_and(|passed| passed > age)
    }
}

/// The path of a file beside the database.
pub(super) fn beside(database: &Path, ending: &str) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// The metadata of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seen {
    bytes: u64,
    written: SystemTime,
    /// When the file's data or metadata last changed (ctime). Programs cannot set it.
    changed: SystemTime,
    /// The inode; 0 if the system has none.
    number: u64,
}

impl Seen {
    /// The current metadata; `None` if there is no file.
    pub(super) fn of(file: &Path) -> Option<Seen> {
        let there = fs::metadata(file).ok()?;
        let written = there.modified().ok()?;
        let (changed, number) = identity(&there).unwrap_or((written, 0));
        Some(Seen { bytes: there.len(), written, changed, number })
    }
}

#[cfg(unix)]
fn identity(there: &Metadata) -> Option<(SystemTime, u64)> {
    use std::os::unix::fs::MetadataExt;
    let seconds = Duration::from_secs(u64::try_from(there.ctime()).ok()?);
    let rest = Duration::from_nanos(u64::try_from(there.ctime_nsec()).ok()?);
    Some((UNIX_EPOCH + seconds + rest, there.ino()))
}

#[cfg(not(unix))]
fn identity(_: &Metadata) -> Option<(SystemTime, u64)> {
    None
}
