//! The files of a repository: those that a check reads, and those that it cannot read.

use crate::core::time::Timestamp;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepositoryFile {
    /// The path from the top of the repository, with `/` as separator.
    pub path: String,
    /// The content, if it was read: notes, handoffs, static context and settings are read.
    pub text: Option<String>,
    /// The time of the last commit that changed it, or now if it has uncommitted changes.
    pub modified: Timestamp,
}

/// A path that a check cannot read as a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unread {
    /// A file that is not checked out.
    File(String),
    /// A folder that is another repository. Any path in it may exist.
    Repository(String),
    /// A symbolic link and its target, if the target is known.
    Link {
        path: String,
        /// Relative to the link's folder.
        target: Option<String>,
    },
}

impl Unread {
    /// The path from the top of the repository.
    pub fn path(&self) -> &str {
        match self {
            Unread::File(path) | Unread::Repository(path) | Unread::Link { path, .. } => path,
        }
    }
}
