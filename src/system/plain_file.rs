//! Opens plain files that somebody else may have put there: never waits for a pipe, never touches a device.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

const NOT_PLAIN: &str = "it is not a regular file";

/// Opens a plain file, or the one to which a link leads.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    // Opening a device can have an effect, so check the type first.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other(NOT_PLAIN));
    }
    // The file can have become a pipe by now; without this flag, opening it would wait for a writer.
    let file = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other(NOT_PLAIN)) }
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
