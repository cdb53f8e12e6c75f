//! What the system tells of a checkout's files, as git compares them.

use std::path::Path;

#[cfg(unix)]
pub(super) use at::Checkout;
#[cfg(not(unix))]
pub(super) use by_path::Checkout;

/// A file, as it is now.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// When it was last written, and its size.
    There {
        seconds: i64,
        nanoseconds: u32,
        size: u64,
    },
    Gone,
    Unknown,
}

/// Reading by name saves the system from resolving the whole path of each file.
#[cfg(unix)]
mod at {
    use std::os::fd::OwnedFd;

    use rustix::fs::{AtFlags, Mode, OFlags, statat};
    use rustix::io::Errno;

    use super::{Look, Path};

    pub(in super::super) struct Checkout(OwnedFd);

    impl Checkout {
        pub(in super::super) fn open(top: &Path) -> Option<Checkout> {
            let how = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            rustix::fs::open(top, how, Mode::empty()).ok().map(Checkout)
        }

        pub(in super::super) fn look(&self, path: &str) -> Look {
            match statat(&self.0, path, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => Look::There {
                    seconds: stat.st_mtime,
                    nanoseconds: stat.st_mtime_nsec as u32,
                    size: stat.st_size as u64,
                },
                Err(Errno::NOENT | Errno::NOTDIR) => Look::Gone,
                Err(_) => Look::Unknown,
            }
        }
    }
}

#[cfg(not(unix))]
mod by_path {
    use std::path::PathBuf;
    use std::{fs, io};

    use super::{Look, Path};
    use crate::system::seen;

    pub(in super::super) struct Checkout(PathBuf);

    impl Checkout {
        pub(in super::super) fn open(top: &Path) -> Option<Checkout> {
            top.is_dir().then(|| Checkout(top.to_path_buf()))
        }

        pub(in super::super) fn look(&self, path: &str) -> Look {
            const SECOND: i64 = 1_000_000_000;
            match fs::symlink_metadata(self.0.join(path)) {
                Ok(found) => {
                    let mtime = seen::stamp(&found).mtime.0;
                    let (seconds, nanoseconds) =
                        (mtime.div_euclid(SECOND), mtime.rem_euclid(SECOND));
                    Look::There { seconds, nanoseconds: nanoseconds as u32, size: found.len() }
                }
                Err(error) => match error.kind() {
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Look::Gone,
                    _ => Look::Unknown,
                },
            }
        }
    }
}
