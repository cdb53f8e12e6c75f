//! Why a repository cannot be checked.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

#[derive(Debug, Error)]
pub enum RepositoryError {
    #[error("cannot use the folder {}: {cause}", dir.display())]
    Dir { dir: PathBuf, cause: io::Error },
    #[error(
        "git does not trust this folder, which belongs to somebody else; if you do, run `git config --global --add safe.directory {}`",
        top.display()
    )]
    NotTrusted { top: PathBuf },
    #[error("git {command} failed: {message}")]
    Git { command: String, message: String },
    #[error("--base needs a git repository with at least one commit, and {why}")]
    NoHistory { why: &'static str },
    #[error(
        "this clone is shallow, and does not have the commit at which {revision:?} and HEAD parted; fetch the whole history: \
         `git fetch --unshallow`, in GitHub's checkout `fetch-depth: 0`, in GitLab `GIT_DEPTH: \"0\"`"
    )]
    NoMergeBase { revision: String },
    #[error(
        "this clone is partial, and does not have all files of the revision that is compared with; \
         `git diff REV...HEAD > /dev/null`, with that revision, fetches them"
    )]
    Partial,
    #[error("{revision:?} is no commit that this clone knows; {way_out}")]
    UnknownRevision { revision: String, way_out: &'static str },
}
