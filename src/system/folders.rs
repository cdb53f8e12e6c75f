//! Folders that are created for a file, and removed with it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::system::{atomic_file, directories, permissions, plain_file};

/// The missing folders above a file, outermost first.
pub fn missing(file: &Path) -> Vec<PathBuf> {
    let above = file.ancestors().skip(1);
    let mut missing: Vec<PathBuf> =
        above.take_while(|folder| !folder.exists()).map(Path::to_path_buf).collect();
    missing.reverse();
    missing
}

/// Creates folders, outermost first; all or none.
pub fn make(folders: &[PathBuf]) -> io::Result<()> {
    for (n, folder) in folders.iter().enumerate() {
        if let Err(error) = fs::create_dir(folder) {
            remove(folders[..n].iter().rev());
            return Err(error);
        }
    }
    Ok(())
}

/// Removes folders, innermost first, up to the first that is not empty.
pub fn remove<'a>(folders: impl IntoIterator<Item = &'a PathBuf>) {
    // A folder that is not empty belongs to the user.
    let _ = folders.into_iter().try_for_each(fs::remove_dir);
}

/// Whether a file has exactly this text; `None` if it does not exist.
pub fn has_text(file: &Path, text: &str) -> Option<bool> {
    match plain_file::read(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        read => Some(read.is_ok_and(|bytes| bytes == text.as_bytes())),
    }
}

/// Writes a file in a folder of kgctx's own, which it creates.
pub fn write_own(path: &Path, text: &str) -> io::Result<()> {
    path.parent().map_or(Ok(()), directories::create_private)?;
    atomic_file::write(path, text)
}

/// Removes a folder of kgctx's own with all that is in it, and the folder around it if that is empty then.
pub fn remove_own(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => {
            remove(&folder.parent().map(Path::to_path_buf));
            Ok(())
        }
    }
}

/// Whether a folder is empty or contains only `entry`.
pub fn holds_only(folder: &Path, entry: &Path) -> io::Result<bool> {
    let mut entries = fs::read_dir(folder)?;
    entries.try_fold(true, |only, found| Ok(only && found?.path() == entry))
}

/// Whether files can be created in a folder, or the folder itself if it does not exist yet.
pub fn is_writable(folder: &Path) -> bool {
    let nearest = folder.ancestors().find(|place| fs::symlink_metadata(place).is_ok());
    nearest.is_some_and(permissions::is_writable)
}

pub fn is_folder(path: &Path) -> bool {
    path.is_dir()
}

/// The canonical name of a folder that may not exist yet: resolves links as far as the path exists.
pub fn settled(folder: PathBuf) -> PathBuf {
    let folder = std::path::absolute(&folder).unwrap_or(folder);
    let canonical = folder.ancestors().find_map(|there| {
        let rest = folder.strip_prefix(there).ok()?;
        Some(dunce::canonicalize(there).ok()?.join(rest))
    });
    // Collects components, because joining an empty path adds a slash.
    canonical.map_or(folder, |canonical| canonical.components().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_made_and_removed_all_or_none() {
        let scratch = tempfile::tempdir().unwrap();
        let file = scratch.path().join("a/b/kgctx.ts");
        let absent = missing(&file);
        assert_eq!(absent, [scratch.path().join("a"), scratch.path().join("a/b")]);
        make(&absent).unwrap();
        assert!(missing(&file).is_empty());
        assert!(holds_only(&absent[0], &absent[1]).unwrap());
        fs::write(scratch.path().join("a/other"), "").unwrap();
        assert!(!holds_only(&absent[0], &absent[1]).unwrap());
        remove(absent.iter().rev());
        assert_eq!(missing(&file), absent[1..]);

        let impossible = [scratch.path().join("c"), scratch.path().join("d/e")];
        assert!(make(&impossible).is_err());
        assert!(!impossible[0].exists());
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_has_one_name_before_and_after_it_is_made() {
        let scratch = tempfile::tempdir().unwrap();
        let real = dunce::canonicalize(scratch.path()).unwrap().join("real");
        fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, scratch.path().join("link")).unwrap();
        let named = scratch.path().join("link/opencode");
        let before = settled(named.clone());
        fs::create_dir(&before).unwrap();
        assert_eq!(before, real.join("opencode"));
        assert_eq!(settled(named), before);
    }
}
