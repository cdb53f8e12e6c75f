//! An installation: how kgctx is installed into a host, and what that changes in the host's folders.

use std::path::{Path, PathBuf};

/// How kgctx is installed into a host: the host's folders, and the files that go there.
#[derive(Debug)]
pub struct Install {
    /// The environment variable that names the user's folder for the host, if there is one.
    pub variable: Option<&'static str>,
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
    /// Files of ours in kgctx's own folder, which the host's settings name.
    Bundle(Bundle),
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
    /// The events of the monitor, which are only added on request.
    pub monitor_events: &'static [&'static str],
    /// The events of a rotation, which are only added on request, too.
    pub rotation_events: &'static [&'static str],
    /// The arguments of kgctx.
    pub arguments: &'static [&'static str],
    /// The host's time limit for the hook.
    pub timeout_seconds: u32,
    /// The first version of the host that reads the separate arguments of a hook; earlier ones run the bare program.
    pub exec_since: [u64; 3],
}

/// What is installed on request alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Parts {
    /// The hook that tells an agent how full its context is.
    pub monitor: bool,
    /// The hook at the end of a turn, by which a session can go on in a fresh context.
    pub rotation: bool,
    /// The status line, which tells kgctx the window.
    pub status_line: bool,
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

/// Files of ours in kgctx's own folder, and one item in a list of the host's YAML settings that names it.
#[derive(Debug)]
pub struct Bundle {
    /// The settings file in the user's folder; in a project's folder, the one that is committed.
    pub user_file: &'static str,
    /// The settings file in a project's folder that is not committed.
    pub project_file: &'static str,
    /// The keys that lead to the list. Of several settings with such a list, only that of the closest counts.
    pub list: [&'static str; 2],
    /// The folder of our files, below that of kgctx's state.
    pub folder: &'static str,
    /// Our files with their texts, which have `@VERSION@` and `@COMMAND@` for what an installation fills in. A file that
    /// names others comes after them.
    pub files: &'static [(&'static str, &'static str)],
    /// The arguments of kgctx.
    pub arguments: &'static [&'static str],
    /// The environment variable that lets the host start with a file of a bundle missing.
    pub lenient: &'static str,
    /// What must be in the host's environment of Python, and since which version all works.
    pub package: (&'static str, [u64; 3]),
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
    /// A folder of kgctx's own is removed, with all that is in it.
    RemoveOwn,
    /// A folder that was created for the bridge stays.
    KeepFolder,
}

impl Change {
    pub fn new(step: Step, path: &Path, remark: impl Into<String>) -> Change {
        Change { step, path: path.to_path_buf(), remark: remark.into() }
    }
}
