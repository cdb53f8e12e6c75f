//! Opens a file below a folder without following a link.

use std::fs::File;
use std::path::Path;

use super::Obstacle;

const DIRECTORY: &str = "it is a directory";
const NOT_PLAIN: &str = "it is not a regular file";

/// Opens a file below a folder, name by name, without following links. The path is canonical, so a
/// link in it is new and can lead out.
#[cfg(unix)]
pub(super) fn open_below(folder: &Path, relative: &Path) -> Result<File, Obstacle> {
    use std::ffi::OsStr;

    use rustix::fs::{AtFlags, FileType, Mode, OFlags, fstat, openat, statat};

    let check_plain = |mode| match FileType::from_raw_mode(mode) {
        FileType::RegularFile => Ok(()),
        FileType::Directory => Err(Obstacle::Unreadable(DIRECTORY.to_owned())),
        _ => Err(Obstacle::Unreadable(NOT_PLAIN.to_owned())),
    };
    // The root of the file system has no name.
    let name = relative.file_name().unwrap_or(OsStr::new("."));
    let enter = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut at = rustix::fs::open(folder, enter, Mode::empty())?;
    for parent in relative.parent().into_iter().flatten() {
        at = openat(&at, parent, enter, Mode::empty())?;
    }
    // Opening a device can have an effect, so check the type first.
    check_plain(statat(&at, name, AtFlags::SYMLINK_NOFOLLOW)?.st_mode)?;
    // NONBLOCK, because the file can have become a pipe by now.
    let how =
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = openat(&at, name, how, Mode::empty())?;
    check_plain(fstat(&file)?.st_mode)?;
    Ok(File::from(file))
}

/// The same by whole paths, which is all that the standard library has on Windows. A folder that somebody swaps for a link
/// and back while the file is being opened is not noticed.
#[cfg(not(unix))]
pub(super) fn open_below(folder: &Path, relative: &Path) -> Result<File, Obstacle> {
    use std::fs;

    use crate::system::plain_file;

    let check_folders = || {
        let mut at = folder.to_path_buf();
        for parent in relative.parent().into_iter().flatten() {
            at.push(parent);
            // Of a link it says that it is no folder, wherever it leads.
            if !fs::symlink_metadata(&at)?.is_dir() {
                return Err(Obstacle::Unreadable(NOT_PLAIN.to_owned()));
            }
        }
        Ok(())
    };
    let path = folder.join(relative);
    check_folders()?;
    let kind = fs::symlink_metadata(&path)?;
    if !kind.is_file() {
        let what = if kind.is_dir() { DIRECTORY } else { NOT_PLAIN };
        return Err(Obstacle::Unreadable(what.to_owned()));
    }
    let file = plain_file::open_listed(&path)?;
    check_folders()?;
    Ok(file)
}
