//! A stage: a folder of its own in which a repository's notes stand as a session would find them, with nothing of the user's
//! in reach. It is gone when it is dropped.

use std::fs::{self, File, FileTimes};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use crate::adapters::directories::create_new_private;
use crate::domain::time::Timestamp;

/// A folder that is gone when this is dropped.
#[derive(Debug)]
pub struct Stage {
    folder: PathBuf,
    project: PathBuf,
}

impl Stage {
    /// Makes an empty stage for a project of that name.
    pub fn new(project: &str) -> io::Result<Stage> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let temporary = fs::canonicalize(std::env::temp_dir())?;
        let folder = loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let folder = temporary.join(format!("kgctx-check-{}-{number}", std::process::id()));
            match create_new_private(&folder) {
                Ok(()) => break folder,
                // It was left by a process that was ended, or is somebody's trap.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        };
        let stage = Stage { project: folder.join(project), folder };
        fs::create_dir(&stage.project)?;
        Ok(stage)
    }

    /// The top of the project.
    pub fn project(&self) -> &Path {
        &self.project
    }

    /// Where kgctx may keep its own files.
    pub fn home(&self) -> PathBuf {
        self.folder.join("home")
    }

    /// Whether there is such a folder in the project.
    pub fn has_folder(&self, path: &str) -> bool {
        self.project.join(path).is_dir()
    }

    /// Makes a folder in the project.
    pub fn make_folder(&self, path: &str) -> io::Result<()> {
        fs::create_dir_all(self.project.join(path))
    }

    /// Makes a repository of the project, with a branch checked out.
    pub fn check_out(&self, branch: &str) -> io::Result<()> {
        let git = self.project.join(".git");
        fs::create_dir_all(&git)?;
        fs::write(git.join("HEAD"), format!("ref: refs/heads/{branch}\n"))
    }

    /// Writes a file in a folder that is there, as if at that time.
    pub fn write(&self, path: &str, bytes: &[u8], at: Timestamp) -> io::Result<()> {
        let mut file = File::create(self.project.join(path))?;
        file.write_all(bytes)?;
        file.set_times(times(at))
    }

    /// Makes a file look as if it was written at that time.
    pub fn date(&self, path: &str, at: Timestamp) -> io::Result<()> {
        File::options().write(true).open(self.project.join(path))?.set_times(times(at))
    }

    /// Removes a file.
    pub fn remove(&self, path: &str) -> io::Result<()> {
        fs::remove_file(self.project.join(path))
    }

    /// What is said of files here, with their paths as they are in the repository.
    pub fn unstaged(&self, text: &str) -> String {
        let project = self.project.display().to_string();
        let home = self.home().display().to_string();
        text.replace(&format!("{project}/"), "").replace(&project, ".").replace(&home, "~")
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // Whoever cleans temporary folders gets what cannot be removed here.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn times(at: Timestamp) -> FileTimes {
    let distance = Duration::from_nanos(at.0.unsigned_abs());
    let at = if at.0 < 0 {
        SystemTime::UNIX_EPOCH.checked_sub(distance)
    } else {
        SystemTime::UNIX_EPOCH.checked_add(distance)
    };
    FileTimes::new().set_modified(at.unwrap_or(SystemTime::UNIX_EPOCH))
}
