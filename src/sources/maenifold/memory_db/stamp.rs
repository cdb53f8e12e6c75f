//! A stamp: what tells states of the database apart without opening it.

use std::fs::{self, Metadata};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What the file and its log look like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    file: Seen,
    log: Option<Seen>,
}

impl Stamp {
    /// What is there now; `None` where nothing is.
    pub fn of(database: &Path) -> Option<Stamp> {
        let mut log = database.to_path_buf().into_os_string();
        log.push("-wal");
        Some(Stamp { file: Seen::of(database)?, log: Seen::of(Path::new(&log)) })
    }

    /// Whether nothing was changed for so long.
    pub(super) fn is_older_than(&self, age: Duration) -> bool {
        let newest =
            self.log.as_ref().map_or(self.file.changed, |log| log.changed.max(self.file.changed));
        SystemTime::now().duration_since(newest).is_ok_and(|passed| passed > age)
    }
}

/// What one file looks like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seen {
    bytes: u64,
    written: SystemTime,
    /// When anything about it was changed: that time cannot be set.
    changed: SystemTime,
    /// Which file it is; 0 where the system does not say.
    number: u64,
}

impl Seen {
    /// A file as it is now; `None` where there is none.
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
