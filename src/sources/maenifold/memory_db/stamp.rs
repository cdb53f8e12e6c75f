//! A stamp: identifies a state of the database without opening it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::core::note::listing;
use crate::system::clock;
use crate::system::seen::{self, FileId};

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
        // Programs cannot set the ctime.
        let newest = self.log.iter().chain([&self.file]).map(|seen| seen.stamp.ctime_ns).max();
        let passed = clock::now().0.saturating_sub(newest.unwrap_or_default());
        i128::from(passed) > age.as_nanos() as i128
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
    stamp: listing::Stamp,
    id: FileId,
}

impl Seen {
    /// The current metadata; `None` if there is no file.
    pub(super) fn of(file: &Path) -> Option<Seen> {
        let there = fs::metadata(file).ok()?;
        Some(Seen { stamp: seen::stamp(&there), id: seen::file_id(&there) })
    }
}
