//! A temporary checkout: a private folder with a repository's settings as its sessions would find
//! them. Dropping it removes the folder.

#![expect(clippy::disallowed_methods, reason = "this module is behind the I/O fence")]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::check::CheckError;
use crate::system::temp_folder::TempFolder;

/// The prefix of folder names; the process id follows.
const PREFIX: &str = "kgctx-check-";

#[derive(Debug)]
pub(crate) struct TempCheckout {
    /// The folder around the project. Nothing in it or above it belongs to the project.
    folder: TempFolder,
    pub(crate) project: PathBuf,
}

impl TempCheckout {
    /// Creates an empty checkout for a project of that name.
    pub(crate) fn new(project: &str) -> Result<TempCheckout, CheckError> {
        TempCheckout::create(project).map_err(failed)
    }

    fn create(project: &str) -> io::Result<TempCheckout> {
        let folder = TempFolder::new(PREFIX)?;
        let checkout = TempCheckout { project: folder.path.join(project), folder };
        fs::create_dir(&checkout.project)?;
        Ok(checkout)
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder.path
    }

    /// The folder for kgctx's own files.
    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path.join("home")
    }

    pub(crate) fn has_folder(&self, path: &str) -> bool {
        self.project.join(path).is_dir()
    }

    pub(crate) fn make_folder(&self, folder: &str) -> Result<(), CheckError> {
        fs::create_dir_all(self.project.join(folder)).map_err(failed)
    }

    /// Turns the project into a repository with this branch checked out.
    pub(crate) fn check_out(&self, branch: &str) -> Result<(), CheckError> {
        let git = self.project.join(".git");
        let head = format!("ref: refs/heads/{branch}\n");
        fs::create_dir_all(&git).and_then(|()| fs::write(git.join("HEAD"), head)).map_err(failed)
    }

    /// Writes a file, and makes its folder if need be.
    pub(crate) fn write(&self, path: &str, bytes: &[u8]) -> Result<(), CheckError> {
        let file = self.project.join(path);
        let written = match fs::write(&file, bytes) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let folder = file.parent().map_or(Ok(()), fs::create_dir_all);
                folder.and_then(|()| fs::write(&file, bytes))
            }
            written => written,
        };
        written.map_err(failed)
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

fn failed(cause: io::Error) -> CheckError {
    CheckError::not_written("a temporary folder", &cause)
}
