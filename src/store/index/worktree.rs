//! The store of a worktree: it follows the store of the repository's own working tree, and does not outlive its worktree.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::system::{directories, path_bytes};

/// The file in a store that names the worktree.
const FILE: &str = "worktree";

/// What a worktree's store is made from.
#[derive(Debug, Clone)]
pub(super) struct Worktree {
    /// The top of the worktree.
    pub(super) top: PathBuf,
    /// The store of the repository's own working tree.
    pub(super) main: PathBuf,
}

impl Worktree {
    /// Marks a new store as this worktree's. Removes the stores of worktrees that are gone: agents make one per task.
    pub(super) fn settle(&self, store: &Path) -> io::Result<()> {
        let stores = store.parent().and_then(|stores| fs::read_dir(stores).ok());
        for other in stores.into_iter().flatten().flatten().map(|entry| entry.path()) {
            if let Ok(top) = fs::read(other.join(FILE))
                && !path_bytes::path(top).exists()
            {
                // Another process may be removing it; the next new store tries again.
                let _ = fs::remove_dir_all(other);
            }
        }
        let file = store.join(FILE);
        directories::private_file(&file)?;
        fs::write(file, path_bytes::bytes(&self.top))
    }
}
