//! A temporary folder that only the user can enter. Dropping it removes the folder; the next one of its kind removes those
//! of killed processes.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::system::directories::create_new_private;
use crate::system::process::identity::Process;

/// Locked while the folder is in use.
const LOCK: &str = "lock";

#[derive(Debug)]
pub(crate) struct TempFolder {
    pub(crate) path: PathBuf,
    /// Held while the folder is in use.
    lock: Option<File>,
}

impl TempFolder {
    /// Creates a folder. Its name begins with `prefix`, and this process's id follows.
    pub(crate) fn new(prefix: &'static str) -> io::Result<TempFolder> {
        static SWEPT: Mutex<BTreeSet<&str>> = Mutex::new(BTreeSet::new());
        let temporary = dunce::canonicalize(std::env::temp_dir())?;
        if SWEPT.lock().is_ok_and(|mut swept| swept.insert(prefix)) {
            sweep(&temporary, prefix);
        }
        let path = create_new_private(&temporary, prefix)?;
        let lock = File::create(path.join(LOCK))?;
        let _ = lock.try_lock();
        let folder = TempFolder { path, lock: Some(lock) };
        // Stops the search for ignore rules, which could otherwise reach a repository around this
        // folder.
        fs::create_dir(folder.path.join(".git"))?;
        Ok(folder)
    }
}

impl Drop for TempFolder {
    fn drop(&mut self) {
        // Windows keeps the folder of an open file.
        self.lock = None;
        // The system's own cleanup removes the rest.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Removes the folders of killed processes.
fn sweep(temporary: &Path, prefix: &str) {
    for entry in fs::read_dir(temporary).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let numbers = name.to_str().and_then(|name| name.strip_prefix(prefix)?.split_once('-'));
        let Some((pid, number)) = numbers else { continue };
        let (Ok(pid), Ok(_)) = (pid.parse(), number.parse::<u32>()) else { continue };
        if Process::of_number(pid).is_gone() && is_unused(&entry.path()) {
            // Fails for a folder of another user.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Whether the folder is unused. The process id can come from another container and mean nothing
/// here, but the lock is valid.
fn is_unused(folder: &Path) -> bool {
    let is_folder = fs::symlink_metadata(folder).is_ok_and(|metadata| metadata.is_dir());
    let lock = folder.join(LOCK);
    if !is_folder || fs::symlink_metadata(&lock).is_ok_and(|metadata| !metadata.is_file()) {
        return false;
    }
    match File::open(lock) {
        Ok(lock) => lock.try_lock().is_ok(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}
