//! An installation: how kgctx is installed into a host, and what that changes in the host's folders.

use std::path::{Path, PathBuf};

/// How kgctx is installed into a host: the host's folders, and the files that go there.
#[derive(Debug)]
pub struct Install {
    /// The environment variable that names the user's folder for the host.
    pub variable: &'static str,
    /// The folder if the variable is not set.
    pub folder: UserFolder,
    /// The host's folder at the top of a project.
    pub project_folder: &'static str,
    pub kind: InstallKind,
}

/// A folder of the user.
#[derive(Debug)]
pub enum UserFolder {
    /// Below the home folder.
    InHome(&'static str),
    /// Below the folder of configurations.
    InConfig(&'static str),
}

/// The kind of files that are installed.
#[derive(Debug)]
pub enum InstallKind {
    /// Hooks in a settings file of the host, which kgctx edits.
    JsonHooks(JsonHooks),
    /// A file of ours that the host loads.
    PluginFile(PluginFile),
}

/// Hooks in a JSON settings file.
#[derive(Debug, PartialEq, Eq)]
pub struct JsonHooks {
    /// The settings file in the user's folder.
    pub user_file: &'static str,
    /// The settings file in a project's folder, one that is not committed.
    pub project_file: &'static str,
    /// The events at which kgctx runs.
    pub events: &'static [&'static str],
    /// The arguments of kgctx.
    pub arguments: &'static [&'static str],
    /// The host's time limit for the hook.
    pub timeout_seconds: u32,
}

#[derive(Debug)]
pub struct PluginFile {
    pub file_name: &'static str,
    /// The folders in which the host looks for plugins, below its own. A new plugin goes into the first.
    pub folders: &'static [&'static str],
    /// The text of this version.
    pub text: &'static str,
    /// The beginning of the text in every version, which identifies our file.
    pub head: &'static str,
    /// The environment variable that keeps the host from loading any plugin.
    pub off_switch: &'static str,
    /// What the host does at its next start; printed after an installation.
    pub first_start: &'static str,
}

/// The stored record of an installed bridge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installation {
    pub version: String,
    /// The SHA-256 of its file as written.
    pub sha256: Vec<u8>,
    /// The number of parent folders that were created for it, innermost first.
    pub folders_made: u32,
}

/// Where a bridge applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Every project of the user.
    Global,
    /// One working tree of one project.
    Project,
}

/// One step of an installation or a removal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub step: Step,
    pub path: PathBuf,
    /// What is there or comes there, for people.
    pub remark: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    MakeFolder,
    /// A file is written where none existed.
    Write,
    /// A file of ours is replaced.
    Replace,
    /// Our hooks are added to a host's settings file, or removed from it.
    Edit,
    /// A host's settings file is restored, byte for byte.
    Restore,
    Remove,
    RemoveFolder,
    /// A folder that was created for the bridge stays.
    KeepFolder,
}

impl Change {
    pub fn new(step: Step, path: &Path, remark: impl Into<String>) -> Change {
        Change { step, path: path.to_path_buf(), remark: remark.into() }
    }
}
