//! A project: what a folder belongs to, distinct from every other project. Reads no repository.

pub mod identify;

use std::path::PathBuf;

use serde::{Serialize, Serializer};

/// What the file system says about a folder, gathered by `adapters::git` and judged by `engine::identify`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderFacts {
    /// The folder, canonical.
    pub folder: PathBuf,
    /// The user's home folder, canonical, if there is one.
    pub home: Option<PathBuf>,
    /// The repository around the folder, if there is one.
    pub repository: Option<RepositoryFacts>,
    /// The nearest folder at or above that holds `kgctx.toml` or `.kgctx`.
    pub marked: Option<PathBuf>,
}

/// A git repository as seen from one of its folders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepositoryFacts {
    /// The top of the working tree that holds the folder; the repository itself where there is none.
    pub checkout: PathBuf,
    /// The main working tree, or the repository's own folder where that is bare.
    pub root: PathBuf,
    /// How checkout and root relate.
    pub layout: Layout,
    /// The branch that is checked out; `None` for a detached HEAD.
    pub branch: Option<String>,
}

/// How a folder's working tree belongs to its repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// The repository's own working tree.
    Main,
    /// A further working tree made with `git worktree add`.
    Worktree,
    /// A working tree of a bare repository.
    BareWorktree,
    /// A repository inside another one.
    Submodule,
    /// Inside a bare repository, outside any working tree.
    Bare,
}

/// The answer to "which project is this?".
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Project {
    /// The project's name for people and for searches; `None` where no project can be told.
    #[serde(rename = "project")]
    pub name: Option<String>,
    /// The folder that represents the project, shared by all its worktrees.
    #[serde(serialize_with = "as_text")]
    pub root: Option<PathBuf>,
    /// A name that no other project on this machine has, fit for a file name.
    pub key: String,
    /// The branch that is checked out.
    pub branch: Option<String>,
    /// The channel that handoffs of this project use.
    pub channel: String,
    /// Who shares handoffs: everybody in the channel where it was named, else this project alone.
    #[serde(skip)]
    pub scope: String,
    /// Why, in one sentence.
    pub because: String,
    #[serde(skip)]
    pub is_outside_of_git: bool,
    /// The folder in which the project's own notes and its `kgctx.toml` lie.
    #[serde(skip)]
    pub notes_root: Option<PathBuf>,
    /// The top of the files that are worked on: a worktree's own, unlike the root.
    #[serde(skip)]
    pub checkout: Option<PathBuf>,
}

/// Writes a path as text even where its bytes are none: a name with a replacement character is better than no answer.
fn as_text<S: Serializer>(path: &Option<PathBuf>, serializer: S) -> Result<S::Ok, S::Error> {
    path.as_ref().map(|path| path.to_string_lossy()).serialize(serializer)
}
