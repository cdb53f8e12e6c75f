//! A temporary checkout: a private folder with a repository's settings as its sessions would find
//! them. Dropping it removes the folder.

#![expect(clippy::disallowed_methods, reason = "this module is behind the I/O fence")]

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Once;

use crate::check::CheckError;
use crate::system::directories::create_new_private;
use crate::system::process::identity::Process;

/// The prefix of folder names; the process id follows.
const PREFIX: &str = "kgctx-check-";
/// Locked while the folder is in use.
const LOCK: &str = "lock";

#[derive(Debug)]
pub(crate) struct TempCheckout {
    /// The folder around the project. Nothing in it or above it belongs to the project.
    pub(crate) folder: PathBuf,
    pub(crate) project: PathBuf,
    /// Held while the folder is in use.
    _lock: File,
}

impl TempCheckout {
    /// Creates an empty checkout for a project of that name.
    pub(crate) fn new(project: &str) -> Result<TempCheckout, CheckError> {
        TempCheckout::create(project).map_err(failed)
    }

    fn create(project: &str) -> io::Result<TempCheckout> {
        static SWEEP: Once = Once::new();
        let temporary = fs::canonicalize(std::env::temp_dir())?;
        SWEEP.call_once(|| sweep(&temporary));
        let folder = create_new_private(&temporary, PREFIX)?;
        let lock = File::create(folder.join(LOCK))?;
        let _ = lock.try_lock();
        let checkout = TempCheckout { project: folder.join(project), folder, _lock: lock };
        fs::create_dir(&checkout.project)?;
        // Stops the search for ignore rules, which could otherwise reach a repository around this
        // folder.
        fs::create_dir(checkout.folder.join(".git"))?;
        Ok(checkout)
    }

    /// The folder for kgctx's own files.
    pub(crate) fn home(&self) -> PathBuf {
        self.folder.join("home")
    }

    pub(crate) fn has_folder(&self, path: &str) -> bool {
        self.project.join(path).is_dir()
    }

    pub(crate) fn make_folder_of(&self, file: &str) -> Result<(), CheckError> {
        let Some((folder, _)) = file.rsplit_once('/') else { return Ok(()) };
        fs::create_dir_all(self.project.join(folder)).map_err(failed)
    }

    /// Turns the project into a repository with this branch checked out.
    pub(crate) fn check_out(&self, branch: &str) -> Result<(), CheckError> {
        let git = self.project.join(".git");
        let head = format!("ref: refs/heads/{branch}\n");
        fs::create_dir_all(&git).and_then(|()| fs::write(git.join("HEAD"), head)).map_err(failed)
    }

    pub(crate) fn write(&self, path: &str, bytes: &[u8]) -> Result<(), CheckError> {
        fs::write(self.project.join(path), bytes).map_err(failed)
    }

    /// Removes a file. It can be missing: files that are too large were never written.
    pub(crate) fn remove(&self, path: &str) -> Result<(), CheckError> {
        match fs::remove_file(self.project.join(path)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(error)),
            _ => Ok(()),
        }
    }

    /// Replaces paths of the checkout in a message with those of the repository.
    pub(crate) fn as_in_repository(&self, message: &str) -> String {
        let project = self.project.display().to_string();
        let home = self.home().display().to_string();
        message.replace(&format!("{project}/"), "").replace(&project, ".").replace(&home, "~")
    }
}

impl Drop for TempCheckout {
    fn drop(&mut self) {
        // The system's own cleanup removes the rest.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn failed(cause: io::Error) -> CheckError {
    CheckError::not_written("a temporary folder", &cause)
}

/// Removes the folders of killed processes.
fn sweep(temporary: &Path) {
    for entry in fs::read_dir(temporary).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let numbers = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.split_once('-'));
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
