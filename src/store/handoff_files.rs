//! The documents of handoffs: one file each, below the state's folder. Written once and atomically,
//! and never changed.

use std::fs::{self, File};
use std::io::{self, Read as _, Write};
use std::path::{Path, PathBuf};

use crate::core::handoff::HandoffId;
use crate::core::handoff::document::{self, Read};
use crate::core::handoff::life::{Actor, HandoffEvent};
use crate::store::state::{Result, State};
use crate::system::breakpoint;
use crate::system::directories::{self, Directories};
use crate::system::{durable, permissions, plain_file};

/// The longest document.
pub const MAX_BYTES: u64 = 1024 * 1024;
/// The folder of all documents, below the state's.
const FOLDER: &str = "handoffs";

/// The scopes that have documents, sorted.
pub fn scopes(directories: &Directories) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(directories.state.join(FOLDER)) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let name = |entry: io::Result<fs::DirEntry>| {
        let entry = entry.ok().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))?;
        entry.file_name().into_string().ok()
    };
    let mut scopes: Vec<String> = entries.filter_map(name).collect();
    scopes.sort();
    Ok(scopes)
}

#[derive(Debug, Clone)]
pub struct HandoffFiles {
    folder: PathBuf,
}

impl HandoffFiles {
    pub fn new(directories: &Directories, scope: &str) -> HandoffFiles {
        HandoffFiles { folder: directories.state.join(FOLDER).join(scope) }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn path(&self, id: &HandoffId) -> PathBuf {
        self.folder.join(format!("{id}.md"))
    }

    /// Whether the path exists, even as a link.
    pub fn is_there(&self, id: &HandoffId) -> bool {
        fs::symlink_metadata(self.path(id)).is_ok()
    }

    /// Writes a document atomically and durably, and never over another one.
    pub fn write(&self, id: &HandoffId, text: &str) -> io::Result<()> {
        directories::create_private(&self.folder)?;
        let temporary = self.temporary(id);
        let mut options = File::options();
        let private = permissions::private(options.write(true).create_new(true)).open(&temporary);
        let written = private.and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.sync_all()
        });
        breakpoint::reach("create:written");
        // A link instead of a rename, because a link never replaces a file.
        let linked = written.and_then(|()| fs::hard_link(&temporary, self.path(id)));
        breakpoint::reach("create:linked");
        // If this fails, the file is removed with its draft.
        let _ = fs::remove_file(&temporary);
        linked?;
        durable::sync_folder(&self.folder)
    }

    /// Finishes the drafts of writers that have ended: a draft with a document becomes a handoff,
    /// any other is forgotten.
    pub fn finish_drafts(&self, state: &mut State, scope: &str, actor: &Actor) -> Result<()> {
        for id in state.orphaned_drafts(scope, actor.now_ms)? {
            let _ = fs::remove_file(self.temporary(&id));
            let event = match self.is_there(&id) {
                true => HandoffEvent::Written,
                false => HandoffEvent::Abandoned,
            };
            state.change_handoff(&id, event, actor)?;
        }
        Ok(())
    }

    /// Reads a document. Rejects anything but a regular file of a sensible size.
    pub fn read(&self, id: &HandoffId) -> io::Result<Vec<u8>> {
        let file = plain_file::open_listed(&self.path(id))?;
        let there = file.metadata()?;
        if !there.is_file() {
            return Err(io::Error::other("it is not a regular file"));
        }
        if there.len() > MAX_BYTES {
            return Err(io::Error::other(format!("it is longer than {MAX_BYTES} bytes")));
        }
        let mut bytes = Vec::new();
        file.take(MAX_BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Reads and parses a document that a session can get; otherwise says what is wrong with it.
    pub fn read_usable(&self, id: &HandoffId) -> Result<Read, String> {
        let bytes = self.read(id).map_err(|error| format!("cannot be read: {error}"))?;
        let read = document::read(&bytes).map_err(|error| format!("is {error}"))?;
        if read.is_empty() { Err("is empty".to_owned()) } else { Ok(read) }
    }

    /// Removes a document. A missing one is not an error.
    pub fn remove(&self, id: &HandoffId) -> io::Result<()> {
        match fs::remove_file(self.path(id)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// All documents; empty if the folder does not exist.
    pub fn all(&self) -> io::Result<Vec<HandoffId>> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let id = |entry: io::Result<fs::DirEntry>| {
            let name = entry.ok()?.file_name();
            HandoffId::parse(name.to_str()?.strip_suffix(".md")?).ok()
        };
        let mut ids: Vec<HandoffId> = entries.filter_map(id).collect();
        ids.sort();
        Ok(ids)
    }

    fn temporary(&self, id: &HandoffId) -> PathBuf {
        self.folder.join(format!(".{id}.tmp"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files() -> (tempfile::TempDir, HandoffFiles) {
        let home = tempfile::tempdir().unwrap();
        let files = HandoffFiles::new(&Directories::below(home.path()), "p-12345678");
        (home, files)
    }

    #[test]
    fn a_document_is_written_once_and_read_as_it_is() {
        let (_home, files) = files();
        let id = HandoffId::parse("HO-20260131-120000-a").unwrap();
        assert!(files.all().unwrap().is_empty());
        files.write(&id, "text\r\n").unwrap();
        assert!(files.write(&id, "other").is_err(), "A-1.2: none is ever overwritten");
        assert_eq!(files.read(&id).unwrap(), b"text\r\n");
        assert_eq!(files.all().unwrap(), std::slice::from_ref(&id));
        assert_eq!(fs::read_dir(&files.folder).unwrap().count(), 1, "nothing is left behind");
        files.remove(&id).unwrap();
        files.remove(&id).unwrap();
        assert!(!files.is_there(&id));
    }

    #[cfg(unix)]
    #[test]
    fn nothing_but_a_plain_file_is_read() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let (home, files) = files();
        let id = HandoffId::parse("HO-20260131-120000-a").unwrap();
        files.write(&id, "text").unwrap();
        let mode = |path: PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(files.path(&id)), mode(files.folder.clone())), (0o600, 0o700));
        files.remove(&id).unwrap();
        fs::write(home.path().join("secret"), "secret").unwrap();
        symlink(home.path().join("secret"), files.path(&id)).unwrap();
        assert!(files.read(&id).is_err());
        fs::remove_file(files.path(&id)).unwrap();
        fs::create_dir(files.path(&id)).unwrap();
        assert!(files.read(&id).is_err());
    }
}
