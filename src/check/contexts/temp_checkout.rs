//! A stage: a folder of its own in which a repository's settings stand as a session would find them, with nothing of the user's
//! in reach. It is gone when it is dropped.

#![expect(clippy::disallowed_methods, reason = "this room is behind the I/O fence")]

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::system::directories::create_new_private;
use crate::system::process::identity::Process;

/// What the names of stages begin with; the number of their process follows.
const PREFIX: &str = "kgctx-check-";
/// The file that is locked while a stage is needed.
const LOCK: &str = "lock";

/// A folder that is gone when this is dropped.
#[derive(Debug)]
pub(crate) struct TempCheckout {
    folder: PathBuf,
    project: PathBuf,
    /// Held as long as the stage is needed.
    _lock: File,
}

impl TempCheckout {
    /// Makes an empty stage for a project of that name.
    pub(crate) fn new(project: &str) -> io::Result<TempCheckout> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        static SWEEP: Once = Once::new();
        let temporary = fs::canonicalize(std::env::temp_dir())?;
        SWEEP.call_once(|| sweep(&temporary));
        let folder = loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let folder = temporary.join(format!("{PREFIX}{}-{number}", std::process::id()));
            match create_new_private(&folder) {
                Ok(()) => break folder,
                // It was left by a process that was ended, or is somebody's trap.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        };
        let lock = File::create(folder.join(LOCK))?;
        let _ = lock.try_lock();
        let stage = TempCheckout { project: folder.join(project), folder, _lock: lock };
        fs::create_dir(&stage.project)?;
        // Who looks for rules of what to ignore stops here, and does not climb into a repository around this folder.
        fs::create_dir(stage.folder.join(".git"))?;
        Ok(stage)
    }

    /// The folder around the project: nothing in it or above it is the project's.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The top of the project.
    pub(crate) fn project(&self) -> &Path {
        &self.project
    }

    /// Where kgctx may keep its own files.
    pub(crate) fn home(&self) -> PathBuf {
        self.folder.join("home")
    }

    /// Whether there is such a folder in the project.
    pub(crate) fn has_folder(&self, path: &str) -> bool {
        self.project.join(path).is_dir()
    }

    /// Makes a folder in the project.
    pub(crate) fn make_folder(&self, path: &str) -> io::Result<()> {
        fs::create_dir_all(self.project.join(path))
    }

    /// Makes a repository of the project, with a branch checked out.
    pub(crate) fn check_out(&self, branch: &str) -> io::Result<()> {
        let git = self.project.join(".git");
        fs::create_dir_all(&git)?;
        fs::write(git.join("HEAD"), format!("ref: refs/heads/{branch}\n"))
    }

    /// Writes a file in a folder that is there.
    pub(crate) fn write(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        fs::write(self.project.join(path), bytes)
    }

    /// Removes a file.
    pub(crate) fn remove(&self, path: &str) -> io::Result<()> {
        fs::remove_file(self.project.join(path))
    }

    /// What is said of files here, with their paths as they are in the repository.
    pub(crate) fn unstaged(&self, text: &str) -> String {
        let project = self.project.display().to_string();
        let home = self.home().display().to_string();
        text.replace(&format!("{project}/"), "").replace(&project, ".").replace(&home, "~")
    }
}

impl Drop for TempCheckout {
    fn drop(&mut self) {
        // Whoever cleans temporary folders gets what cannot be removed here.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Removes what processes left that were ended before they could.
fn sweep(temporary: &Path) {
    for entry in fs::read_dir(temporary).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let numbers = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.split_once('-'));
        let Some((pid, number)) = numbers else { continue };
        let (Ok(pid), Ok(_)) = (pid.parse(), number.parse::<u32>()) else { continue };
        if Process::of_number(pid).is_gone() && is_left(&entry.path()) {
            // What belongs to somebody else stays, and is theirs to sweep.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Whether a folder is one that nobody uses: a process in another container has a number of its own, and still its lock.
fn is_left(folder: &Path) -> bool {
    let is_folder = fs::symlink_metadata(folder).is_ok_and(|there| there.is_dir());
    let lock = folder.join(LOCK);
    if !is_folder || fs::symlink_metadata(&lock).is_ok_and(|there| !there.is_file()) {
        return false;
    }
    match File::open(lock) {
        Ok(lock) => lock.try_lock().is_ok(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}
