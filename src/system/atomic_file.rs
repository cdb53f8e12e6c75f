//! A file that the user asked for by name. Knows nothing of what stands in it.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use thiserror::Error;

/// A file that could not be written.
#[derive(Debug, Error)]
#[error("cannot write {}: {cause}; name a file in a folder that is there and that you may write to", path.display())]
pub struct DocumentError {
    /// The file, as it was named.
    path: PathBuf,
    /// What the system said.
    cause: io::Error,
}

/// Writes a file, all of it or nothing: whoever has it open in a browser never sees half a page.
pub fn write(path: &Path, text: &str) -> Result<(), DocumentError> {
    put(path, text).map_err(|cause| DocumentError { path: path.to_path_buf(), cause })
}

/// Writes a file, all of it or nothing, and leaves it to the caller to say what went wrong.
pub fn put(path: &Path, text: &str) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(there) if there.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        // Through a link, so that the file changes and not the link.
        Ok(there) if there.is_file() => fs::canonicalize(path)
            .and_then(|target| replace(&target, text, Some(there.permissions()))),
        // A pipe or a terminal takes the text, and is not to be replaced by a file.
        Ok(_) => OpenOptions::new()
            .write(true)
            .open(path)
            .and_then(|mut stream| stream.write_all(text.as_bytes())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => replace(path, text, None),
        Err(error) => Err(error),
    }
}

fn replace(target: &Path, text: &str, permissions: Option<fs::Permissions>) -> io::Result<()> {
    let name = target.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    // Beside the target: only within one file system is renaming one step.
    let mut beside = std::ffi::OsString::from(".");
    beside.push(name);
    beside.push(format!(".{}.tmp", std::process::id()));
    let temporary = target.with_file_name(beside);
    // A file of that name is somebody else's, and may be a link to anywhere.
    let mut file = OpenOptions::new().write(true).create_new(true).open(&temporary)?;
    let written = file
        .write_all(text.as_bytes())
        .and_then(|()| permissions.map_or(Ok(()), |kept| file.set_permissions(kept)))
        .and_then(|()| fs::rename(&temporary, target));
    if written.is_err() {
        // What is to be told is why it could not be written.
        let _ = fs::remove_file(&temporary);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_made_and_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("page.html");
        for text in ["long enough to leave something behind", "short"] {
            write(&path, text).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        assert_eq!(names(folder.path()), ["page.html"]);
    }

    #[test]
    fn what_cannot_be_written_is_named_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("file"), "").unwrap();
        fs::create_dir(folder.path().join("folder")).unwrap();
        for wrong in ["", "folder", "missing/page.html", "file/page.html", "missing/.."] {
            let path = if wrong.is_empty() { PathBuf::new() } else { folder.path().join(wrong) };
            let message = write(&path, "text").unwrap_err().to_string();
            assert!(
                message.starts_with(&format!("cannot write {}: ", path.display())),
                "{message}"
            );
        }
        assert_eq!(names(folder.path()), ["file", "folder"]);
    }

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_stay() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        symlink("file", &link).unwrap();
        write(&link, "new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(names(folder.path()), ["file", "link"]);
    }
}
