//! What must be on the disk before something else is done.

use std::fs::File;
use std::io;
use std::path::Path;

/// Waits until a file is on the disk.
pub(crate) fn sync_file(path: &Path) -> io::Result<()> {
    // Windows does this only for who may write the file.
    File::options().read(true).write(cfg!(windows)).open(path)?.sync_all()
}

/// Waits until the names in a folder are on the disk. Windows has no call for that.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    if cfg!(windows) { Ok(()) } else { File::open(path)?.sync_all() }
}
