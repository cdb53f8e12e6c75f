//! Opens plain files that somebody else may have put there: never waits for a pipe, never touches a device.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

const NOT_PLAIN: &str = "it is not a regular file";

/// Opens a plain file, or the one to which a link leads.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    // Opening a device can have an effect, so check the type first.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other(NOT_PLAIN));
    }
    // The file can have become a pipe by now; without this flag, opening it would wait for a writer.
    let file = open_without_waiting(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other(NOT_PLAIN)) }
}

#[cfg(unix)]
fn open_without_waiting(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path)
}

/// Windows has its pipes in a place of their own.
#[cfg(not(unix))]
fn open_without_waiting(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Opens a file that was listed as a regular one. Does not follow a link or block on a pipe that
/// has replaced it.
#[cfg(unix)]
pub(crate) fn open_listed(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    File::options().read(true).custom_flags(flags).open(path)
}

#[cfg(windows)]
pub(crate) fn open_listed(path: &Path) -> io::Result<File> {
    use std::os::windows::fs::{MetadataExt, OpenOptionsExt};
    const FILE_ATTRIBUTE_REPARSE_POINT: u32 = 0x400;
    const FILE_FLAG_OPEN_REPARSE_POINT: u32 = 0x0020_0000;
    let file = File::options().read(true).custom_flags(FILE_FLAG_OPEN_REPARSE_POINT).open(path)?;
    let found = file.metadata()?;
    if found.is_symlink() {
        return Err(io::Error::other(NOT_PLAIN));
    }
    // Files that a cloud keeps, or that are stored compactly, are marked, too, and lead nowhere else.
    let is_kept_elsewhere = found.file_attributes() & FILE_ATTRIBUTE_REPARSE_POINT != 0;
    if is_kept_elsewhere { File::open(path) } else { Ok(file) }
}

/// Reads a plain file, or the one to which a link leads.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a text of at most `limit` bytes; `None` if there is no file.
pub(crate) fn read_text(path: &Path, limit: u64) -> io::Result<Option<String>> {
    let mut bytes = Vec::new();
    match open(path) {
        Ok(file) => file.take(limit + 1).read_to_end(&mut bytes)?,
        Err(error) if is_absent(&error) && !leads_nowhere(path) => return Ok(None),
        Err(error) => return Err(error),
    };
    if bytes.len() as u64 > limit {
        return Err(io::Error::other(format!("it has more than {limit} bytes")));
    }
    String::from_utf8(bytes).map(Some).map_err(|_| io::Error::other("it is not UTF-8 text"))
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// Whether a link on the way to this path has no target: then somebody wanted a file to be there.
fn leads_nowhere(path: &Path) -> bool {
    let nearest = path.ancestors().find(|place| fs::symlink_metadata(place).is_ok());
    nearest.is_some_and(|place| fs::metadata(place).is_err())
}
