//! A vault in a temporary folder, with an empty project and a home for kgctx's own files beside it. Notes have the times
//! that they are given.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::core::time::Timestamp;
use crate::system::temp_folder::TempFolder;

#[derive(Debug)]
pub(crate) struct TempVault {
    folder: TempFolder,
    pub(crate) root: PathBuf,
    pub(crate) project: PathBuf,
}

impl TempVault {
    /// Creates an empty vault and a project of that name.
    pub(crate) fn new(prefix: &'static str, project: &str) -> io::Result<TempVault> {
        let folder = TempFolder::new(prefix)?;
        let root = folder.path.join("vault");
        fs::create_dir(&root)?;
        let project = folder.path.join("project").join(project);
        fs::create_dir_all(&project)?;
        Ok(TempVault { folder, root, project })
    }

    /// The folder around everything.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder.path
    }

    /// The folder for kgctx's own files.
    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path.join("home")
    }

    /// Writes a note as if at that time.
    pub(crate) fn write(&self, path: &str, text: &str, at: Timestamp) -> io::Result<()> {
        let path = self.root.join(path);
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        let mut file = File::create(path)?;
        file.write_all(text.as_bytes())?;
        let since = Duration::from_secs(at.seconds().unsigned_abs());
        let at = match at.seconds() {
            0.. => SystemTime::UNIX_EPOCH + since,
            _ => SystemTime::UNIX_EPOCH - since,
        };
        file.set_modified(at)
    }

    /// Removes a note, and folders that it leaves empty: a note can come in the place of a folder.
    pub(crate) fn remove(&self, path: &str) -> io::Result<()> {
        let path = self.root.join(path);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        for folder in path.ancestors().skip(1).take_while(|folder| *folder != self.root) {
            if fs::remove_dir(folder).is_err() {
                break;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_have_their_times_and_leave_nothing() {
        let vault = TempVault::new("kgctx-test-", "atlas").unwrap();
        let folder = vault.folder().to_path_buf();
        vault.write("a.md/b.md", "text", Timestamp::from_seconds(1_000)).unwrap();
        let modified = fs::metadata(vault.root.join("a.md/b.md")).unwrap().modified().unwrap();
        assert_eq!(modified, SystemTime::UNIX_EPOCH + Duration::from_secs(1_000));
        vault.remove("a.md/b.md").unwrap();
        vault.remove("never/there.md").unwrap();
        vault.write("a.md", "text", Timestamp::from_seconds(-5)).unwrap();
        assert_eq!(fs::read_to_string(vault.root.join("a.md")).unwrap(), "text");
        drop(vault);
        assert!(!folder.exists());
    }
}
