//! The files of a repository as a check sees them: those that it reads, and what it cannot read.

use crate::core::time::Timestamp;

/// A file of the repository as it is checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepositoryFile {
    /// Its path from the top of the repository, `/` between parts.
    pub path: String,
    /// What it holds, if it was read: notes, handoffs, static context and settings are.
    pub text: Option<String>,
    /// When it was last changed: the time of its last commit, or now if it is changed since.
    pub modified: Timestamp,
}

/// What is in the repository, and cannot be read as a file of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unread {
    /// A file that is not checked out.
    File(String),
    /// A folder that is another repository: whatever is said to be in there may be.
    Repository(String),
    /// A symbolic link, and what it says, if that is known.
    Link {
        /// Its path from the top.
        path: String,
        /// Where it leads, from its folder.
        target: Option<String>,
    },
}

impl Unread {
    /// Its path from the top.
    pub fn path(&self) -> &str {
        match self {
            Unread::File(path) | Unread::Repository(path) | Unread::Link { path, .. } => path,
        }
    }
}
