//! An installation: a bridge that was put into a host's folders, and what putting it there or taking it out changes.

use std::path::PathBuf;

/// What is remembered of a bridge that was put somewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installation {
    /// Its version.
    pub version: String,
    /// The fingerprint of its file as it was written.
    pub sha256: Vec<u8>,
    /// How many of the folders above it were made for it, innermost first.
    pub folders_made: u32,
}

/// For whom a bridge is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Every project of the user.
    Global,
    /// One project, in one working tree of it.
    Project,
}

/// One thing that installing or removing does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// A folder is made.
    MakeFolder(PathBuf),
    /// A file is written where there was none.
    WriteFile(PathBuf),
    /// A file of ours is replaced.
    ReplaceFile(OldFile),
    /// A file of ours is removed.
    RemoveFile(OldFile),
    /// A folder that was made for it is removed.
    RemoveFolder(PathBuf),
    /// A folder that was made for it stays, since it holds something else now.
    KeepFolder(PathBuf),
    /// A host's settings file is made, with our hooks alone.
    MakeSettings(PathBuf),
    /// A host's settings file is kept beside it, as it is.
    BackUpSettings(PathBuf),
    /// Our hooks are put into a host's settings file.
    AddHooks(PathBuf),
    /// Our hooks are taken out of a host's settings file.
    RemoveHooks(PathBuf),
    /// A host's settings file is restored, byte for byte.
    RestoreSettings(PathBuf),
    /// A host's settings file that was made for our hooks is removed.
    RemoveSettings(PathBuf),
    /// What was kept beside a host's settings file is removed.
    RemoveBackup(PathBuf),
}

/// A file of ours as it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OldFile {
    /// The file.
    pub path: PathBuf,
    /// Its version, if it says one.
    pub version: Option<String>,
    /// Whether somebody has edited it, as far as that can be told.
    pub is_edited: bool,
}
