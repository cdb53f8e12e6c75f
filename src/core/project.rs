//! A project: the unit to which a folder belongs, distinct from every other project. Reads no repository.

pub mod identify;

use std::path::PathBuf;

use serde::{Serialize, Serializer};

/// Facts about a folder from the file system; `system::git` collects them, [`identify`] evaluates them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderFacts {
    /// The canonical path.
    pub folder: PathBuf,
    /// The canonical path of the user's home folder, if there is one.
    pub home: Option<PathBuf>,
    /// The repository around the folder, if there is one.
    pub repository: Option<RepositoryFacts>,
    /// The nearest folder, this one or a parent, that contains `kgctx.toml` or `.kgctx`.
    pub marked: Option<PathBuf>,
}

/// A git repository as seen from one of its folders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepositoryFacts {
    /// The top of the working tree that contains the folder; the repository itself if there is no working tree.
    pub checkout: PathBuf,
    /// The main working tree, or the repository's own folder if it is bare.
    pub root: PathBuf,
    pub layout: Layout,
    /// The branch that is checked out; `None` for a detached HEAD.
    pub branch: Option<String>,
}

/// How a folder's working tree relates to its repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// The repository's own working tree.
    Main,
    /// A further working tree, made with `git worktree add`.
    Worktree,
    /// A working tree of a bare repository.
    BareWorktree,
    /// A repository inside another one.
    Submodule,
    /// Inside a bare repository, outside any working tree.
    Bare,
    /// A folder whose `.git` points to a repository that does not know it: not a part of that repository.
    Stray,
}

/// The answer to "which project is this?".
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Project {
    /// The name for people and for searches; `None` outside any project.
    #[serde(rename = "project")]
    pub name: Option<String>,
    /// The folder that represents the project; all its worktrees share it.
    #[serde(serialize_with = "as_text")]
    pub root: Option<PathBuf>,
    /// A name that is unique on this machine and safe as a file name.
    pub key: String,
    /// The branch that is checked out.
    pub branch: Option<String>,
    /// The channel for the handoffs of this project.
    pub channel: String,
    /// The scope of the handoffs: a channel that was named explicitly or by a rule, otherwise this project alone.
    #[serde(skip)]
    pub scope: String,
    /// The reason for the answer, in one sentence.
    pub because: String,
    #[serde(skip)]
    pub is_outside_of_git: bool,
    /// The folder with the project's own notes and its `kgctx.toml`: in a worktree its own folder, unlike `root`.
    #[serde(skip)]
    pub notes_root: Option<PathBuf>,
    /// The top of the working files: a worktree's own folder, unlike `root`.
    #[serde(skip)]
    pub checkout: Option<PathBuf>,
}

/// Writes a path as text even if it is not UTF-8: a name with a replacement character is better than no answer.
fn as_text<S: Serializer>(path: &Option<PathBuf>, serializer: S) -> Result<S::Ok, S::Error> {
    path.as_ref().map(|path| path.to_string_lossy()).serialize(serializer)
}
