//! An open folder: reading stamps by name saves the system from resolving the whole path of each
//! file.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode, OFlags};

use crate::core::note::listing::Stamp;
use crate::core::time::Timestamp;

pub(super) struct OpenFolder(OwnedFd);

impl OpenFolder {
    pub(super) fn open(path: &Path) -> io::Result<OpenFolder> {
        let how = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(OpenFolder(rustix::fs::open(path, how, Mode::empty())?))
    }

    /// The stamp of a file; `None` if it is not a regular file.
    pub(super) fn stamp(&self, name: &str) -> Option<Stamp> {
        let stat = rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        let nanos =
            |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
        let is_file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
        is_file.then(|| Stamp {
            mtime: Timestamp(nanos(stat.st_mtime, stat.st_mtime_nsec as i64)),
            ctime_ns: nanos(stat.st_ctime, stat.st_ctime_nsec as i64),
            size: stat.st_size as u64,
        })
    }
}
