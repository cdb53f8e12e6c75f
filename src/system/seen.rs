//! What the system tells of a file: its stamp, and what tells it from another one at the same path.

use std::fs::Metadata;

use crate::core::note::listing::Stamp;
use crate::core::time::Timestamp;

/// Tells a file or folder from another one at the same path.
pub(crate) type FileId = (u64, u64);

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::MetadataExt;

    use super::{FileId, Metadata, Stamp, Timestamp};

    pub(crate) fn stamp(metadata: &Metadata) -> Stamp {
        let nanos =
            |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
        Stamp {
            mtime: Timestamp(nanos(metadata.mtime(), metadata.mtime_nsec())),
            ctime_ns: nanos(metadata.ctime(), metadata.ctime_nsec()),
            size: metadata.len(),
        }
    }

    /// Device and inode.
    pub(crate) fn file_id(metadata: &Metadata) -> FileId {
        (metadata.dev(), metadata.ino())
    }
}

#[cfg(windows)]
mod windows {
    use std::os::windows::fs::MetadataExt;

    use super::{FileId, Metadata, Stamp, Timestamp};

    /// The time between the beginnings of Windows's years and Unix's, in units of 100 ns.
    const UNTIL_1970: i64 = 116_444_736_000_000_000;

    /// Windows tells of no last change that nobody can set. A file that took the place of another one is at least newer.
    pub(crate) fn stamp(metadata: &Metadata) -> Stamp {
        let (mtime, created) = (nanos(metadata.last_write_time()), nanos(metadata.creation_time()));
        Stamp { mtime: Timestamp(mtime), ctime_ns: mtime.max(created), size: metadata.len() }
    }

    /// The time when it was made: the standard library does not tell its number.
    pub(crate) fn file_id(metadata: &Metadata) -> FileId {
        (0, metadata.creation_time())
    }

    fn nanos(time: u64) -> i64 {
        let since_1970 = i64::try_from(time).unwrap_or(i64::MAX).saturating_sub(UNTIL_1970);
        since_1970.saturating_mul(100)
    }
}

#[cfg(unix)]
pub(crate) use unix::{file_id, stamp};
#[cfg(windows)]
pub(crate) use windows::{file_id, stamp};
