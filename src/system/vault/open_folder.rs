//! An open folder, which tells the stamps of its files.

use std::io;
use std::path::Path;

use crate::core::note::listing::Stamp;

#[cfg(unix)]
pub(super) use at::OpenFolder;
#[cfg(not(unix))]
pub(super) use by_path::OpenFolder;

/// Reading stamps by name saves the system from resolving the whole path of each file.
#[cfg(unix)]
mod at {
    use std::os::fd::OwnedFd;

    use rustix::fs::{AtFlags, FileType, Mode, OFlags};

    use super::{Path, Stamp, io};
    use crate::core::time::Timestamp;

    pub(in super::super) struct OpenFolder(OwnedFd);

    impl OpenFolder {
        pub(in super::super) fn open(path: &Path) -> io::Result<OpenFolder> {
            let how = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            Ok(OpenFolder(rustix::fs::open(path, how, Mode::empty())?))
        }

        /// The stamp of a file; `None` if it is not a regular file.
        pub(in super::super) fn stamp(&self, name: &str) -> Option<Stamp> {
            let stat = rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
            let nanos = |seconds: i64, rest: i64| {
                seconds.saturating_mul(1_000_000_000).saturating_add(rest)
            };
            let is_file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
            is_file.then(|| Stamp {
                mtime: Timestamp(nanos(stat.st_mtime, stat.st_mtime_nsec as i64)),
                ctime_ns: nanos(stat.st_ctime, stat.st_ctime_nsec as i64),
                size: stat.st_size as u64,
            })
        }
    }
}

#[cfg(not(unix))]
mod by_path {
    use std::fs;
    use std::path::PathBuf;

    use super::{Path, Stamp, io};
    use crate::system::seen;

    pub(in super::super) struct OpenFolder(PathBuf);

    impl OpenFolder {
        pub(in super::super) fn open(path: &Path) -> io::Result<OpenFolder> {
            match fs::metadata(path)?.is_dir() {
                true => Ok(OpenFolder(path.to_path_buf())),
                false => Err(io::ErrorKind::NotADirectory.into()),
            }
        }

        /// The stamp of a file; `None` if it is not a regular file.
        pub(in super::super) fn stamp(&self, name: &str) -> Option<Stamp> {
            let found = fs::symlink_metadata(self.0.join(name)).ok()?;
            found.is_file().then(|| seen::stamp(&found))
        }
    }
}
