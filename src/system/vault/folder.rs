//! An open folder: reading stamps by name saves the system from resolving the whole path of each
//! file.

use std::io;
use std::path::Path;

use crate::core::note::listing::Stamp;
#[cfg(unix)]
use crate::core::time::Timestamp;

#[cfg(unix)]
pub(super) struct Folder(std::os::fd::OwnedFd);

#[cfg(unix)]
impl Folder {
    pub(super) fn open(path: &Path) -> io::Result<Folder> {
        use rustix::fs::{Mode, OFlags};
        let how = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Folder(rustix::fs::open(path, how, Mode::empty())?))
    }

    /// The stamp of a file; `None` if it is not a regular file.
    pub(super) fn stamp(&self, name: &str) -> Option<Stamp> {
        use rustix::fs::{AtFlags, FileType};
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

#[cfg(not(unix))]
pub(super) struct Folder(std::path::PathBuf);

#[cfg(not(unix))]
impl Folder {
    pub(super) fn open(path: &Path) -> io::Result<Folder> {
        Ok(Folder(path.to_path_buf()))
    }

    pub(super) fn stamp(&self, name: &str) -> Option<Stamp> {
        let metadata = std::fs::symlink_metadata(self.0.join(name)).ok()?;
        metadata.is_file().then(|| super::stamp(&metadata))
    }
}
