//! An installation: how kgctx gets into a host, and what that changes in the host's folders.

use std::path::PathBuf;

/// How kgctx gets into a host: where the host looks, and what is put there.
#[derive(Debug)]
pub struct Install {
    /// The variable that names the user's folder for the host.
    pub variable: &'static str,
    /// That folder where the variable is not set.
    pub folder: UserFolder,
    /// The host's folder at the top of a project.
    pub project_folder: &'static str,
    pub kind: InstallKind,
}

/// A folder of the user's.
#[derive(Debug)]
pub enum UserFolder {
    /// Below the home folder.
    InHome(&'static str),
    /// Below the folder of configurations.
    InConfig(&'static str),
}

/// What is put into a host.
#[derive(Debug)]
pub enum InstallKind {
    /// Hooks in a settings file of the host, which is edited.
    JsonHooks(JsonHooks),
    /// A file of ours that the host loads.
    PluginFile(PluginFile),
}

/// Hooks in a JSON settings file.
#[derive(Debug, PartialEq, Eq)]
pub struct JsonHooks {
    /// The settings file in the user's folder.
    pub user_file: &'static str,
    /// The settings file in a project's folder: one that is not committed.
    pub project_file: &'static str,
    /// The events at which kgctx runs.
    pub events: &'static [&'static str],
    /// What kgctx is called with.
    pub arguments: &'static [&'static str],
    /// How long the host waits at most.
    pub timeout_seconds: u32,
}

/// A plugin.
#[derive(Debug)]
pub struct PluginFile {
    pub file_name: &'static str,
    /// The folders that the host looks into, below its own. A new plugin goes into the first.
    pub folders: &'static [&'static str],
    /// This version's text.
    pub text: &'static str,
    /// How the text of every version begins, which tells our file from others.
    pub head: &'static str,
    /// The variable that keeps the host from loading any plugin.
    pub off_switch: &'static str,
    /// What the host's next start does, as people are told after an installation.
    pub first_start: &'static str,
}

/// What is remembered of a bridge that was put somewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installation {
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
    pub path: PathBuf,
    /// Its version, if it says one.
    pub version: Option<String>,
    /// Whether somebody has edited it, as far as that can be told.
    pub is_edited: bool,
}
