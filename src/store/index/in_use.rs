//! Which file is the index in use: `index.db` leads to it. On Unix that is a symbolic link. On Windows links need a right that few
//! users have: there it is a file with the name of the other.

#[cfg(not(unix))]
pub(super) use by_name::{database, name, swap};
#[cfg(unix)]
pub(super) use link::{database, name, swap};

#[cfg(unix)]
mod link {
    use std::ffi::{OsStr, OsString};
    use std::os::unix::fs::symlink;
    use std::path::{Path, PathBuf};
    use std::{fs, io};

    /// What SQLite opens. It follows the link itself.
    pub(in crate::store::index) fn database(index: &Path) -> PathBuf {
        index.to_path_buf()
    }

    /// The name of the file in use.
    pub(in crate::store::index) fn name(index: &Path) -> Option<OsString> {
        fs::read_link(index).ok()?.file_name().map(OsStr::to_owned)
    }

    /// Lets the index lead to another file beside it, at one instant.
    pub(in crate::store::index) fn swap(index: &Path, name: &OsStr) -> io::Result<()> {
        let link = index.with_file_name(format!("{}.link", name.to_string_lossy()));
        symlink(name, &link)?;
        fs::rename(&link, index)
    }
}

#[cfg(any(not(unix), test))]
mod by_name {
    use std::ffi::{OsStr, OsString};
    use std::io::Write;
    use std::path::{Path, PathBuf};
    use std::{fs, io};

    use crate::store::index::store::is_ours;

    /// What SQLite opens. Without a name of ours in it, the file itself, which is then no index.
    pub(in crate::store::index) fn database(index: &Path) -> PathBuf {
        name(index).map_or_else(|| index.to_path_buf(), |name| index.with_file_name(name))
    }

    /// The name of the file in use.
    pub(in crate::store::index) fn name(index: &Path) -> Option<OsString> {
        let name = fs::read_to_string(index).ok()?;
        let is_name = is_ours(OsStr::new(&name)) && !name.contains(['/', '\\']);
        is_name.then(|| name.into())
    }

    /// Lets the index lead to another file beside it, at one instant.
    pub(in crate::store::index) fn swap(index: &Path, name: &OsStr) -> io::Result<()> {
        let new = index.with_file_name(format!("{}.link", name.to_string_lossy()));
        let mut file = fs::File::create(&new)?;
        file.write_all(name.as_encoded_bytes())?;
        // After a power cut there is either name, never half of one.
        file.sync_all()?;
        drop(file);
        fs::rename(&new, index)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::ffi::{OsStr, OsString};
    use std::path::{Path, PathBuf};
    use std::{fs, io};

    use super::{by_name, link};

    type Swap = fn(&Path, &OsStr) -> io::Result<()>;
    type Way = (Swap, fn(&Path) -> Option<OsString>, fn(&Path) -> PathBuf);
    const WAYS: [Way; 2] = [
        (link::swap, link::name, link::database),
        (by_name::swap, by_name::name, by_name::database),
    ];

    /// Both ways lead to a file, are swapped, and leave nothing behind.
    #[test]
    fn an_index_leads_to_the_file_in_use() {
        for (swap, name, database) in WAYS {
            let folder = tempfile::tempdir().unwrap();
            let index = folder.path().join("index.db");
            assert_eq!(name(&index), None);
            for file in ["index-1.db", "index-2.db"] {
                fs::write(folder.path().join(file), file).unwrap();
                swap(&index, OsStr::new(file)).unwrap();
                assert_eq!(name(&index).unwrap(), file);
                assert_eq!(fs::read_to_string(database(&index)).unwrap(), file);
            }
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
        }
    }

    #[test]
    fn a_name_that_is_not_ours_leads_nowhere() {
        let folder = tempfile::tempdir().unwrap();
        let index = folder.path().join("index.db");
        for text in
            ["", "state.db", "index-/../../state.db", "index-\\..\\state.db", "SQLite format 3\0"]
        {
            fs::write(&index, text).unwrap();
            assert_eq!(by_name::name(&index), None, "{text:?}");
            assert_eq!(by_name::database(&index), index, "{text:?}");
        }
    }
}
