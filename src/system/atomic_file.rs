//! Writes a file atomically, so that no reader ever sees half of it.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use crate::system::permissions::{self, PRIVATE};

/// Writes a file that the user named, and that only the user can read. The error names the file, and how to fix it.
pub fn save(path: &Path, text: &str) -> Result<(), String> {
    write_private(path, text).map_err(|cause| {
        let way_out = "name a file in an existing folder that you can write to";
        format!("cannot write {}: {cause}; {way_out}", path.display())
    })
}

/// Writes a file, and leaves the error message to the caller.
pub fn write(path: &Path, text: &str) -> io::Result<()> {
    write_as(path, text, 0o666)
}

/// Writes a file that only the user can read, because it quotes notes or handoffs; also over one that others could read.
pub fn write_private(path: &Path, text: &str) -> io::Result<()> {
    write_as(path, text, PRIVATE)
}

fn write_as(path: &Path, text: &str, mode: u32) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(there) if there.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        // Replaces the target of a link, not the link.
        Ok(there) if there.is_file() => dunce::canonicalize(path).and_then(|target| {
            let kept = there.permissions();
            let kept = if mode == PRIVATE { permissions::of_user_alone(kept) } else { kept };
            replace(&target, text, PRIVATE, Some(kept))
        }),
        // Writes to a pipe or a terminal: a file must not replace it.
        Ok(_) => OpenOptions::new()
            .write(true)
            .open(path)
            .and_then(|mut stream| stream.write_all(text.as_bytes())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => replace(path, text, mode, None),
        Err(error) => Err(error),
    }
}

fn replace(
    target: &Path,
    text: &str,
    mode: u32,
    permissions: Option<fs::Permissions>,
) -> io::Result<()> {
    let name = target.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    // Next to the target, because renaming is atomic only within one file system.
    let mut beside = std::ffi::OsString::from(".");
    beside.push(name);
    beside.push(format!(".{}.tmp", std::process::id()));
    let temporary = target.with_file_name(beside);
    // Fails if the file exists: it belongs to another process, or is a link to another place.
    let mut options = OpenOptions::new();
    let options = permissions::for_users(options.write(true).create_new(true), mode);
    let mut file = options.open(&temporary)?;
    let written = file
        .write_all(text.as_bytes())
        .and_then(|()| permissions.map_or(Ok(()), |kept| file.set_permissions(kept)))
        .and_then(|()| fs::rename(&temporary, target));
    if written.is_err() {
        // The first error is the one to report.
        let _ = fs::remove_file(&temporary);
    }
    written
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

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
            save(&path, text).unwrap();
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
            let message = save(&path, "text").unwrap_err();
            assert!(
                message.starts_with(&format!("cannot write {}: ", path.display())),
                "{message}"
            );
        }
        assert_eq!(names(folder.path()), ["file", "folder"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_private_file_is_for_its_user_alone() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let path = folder.path().join("page.html");
        save(&path, "text").unwrap();
        assert_eq!(mode(&path), 0o600);
        for before in [0o600, 0o644, 0o666] {
            fs::set_permissions(&path, fs::Permissions::from_mode(before)).unwrap();
            save(&path, "again").unwrap();
            assert_eq!(mode(&path), 0o600, "{before:o}");
        }
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
