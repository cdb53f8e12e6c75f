//! The places where other programs keep their handoffs: found and read, never written.

mod claude_auto_handoff;
mod spx;

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::core::handoff::foreign::{ForeignHandoff, LeftOut};
use crate::core::handoff::tool::Tool;
use crate::core::project::Project;
use crate::core::time::Timestamp;
use crate::hosts::{amplifier, is_absent};
use crate::store::handoff_files::MAX_BYTES;
use crate::system::environment::Environment;
use crate::system::plain_file;

/// What another program keeps for a project.
#[derive(Debug, Default)]
pub struct HandoffStore {
    /// The folders that are there.
    pub folders: Vec<PathBuf>,
    /// What it would give to a session, in no defined order.
    pub waiting: Vec<ForeignHandoff>,
    pub left_out: Vec<LeftOut>,
    /// What should be there and cannot be read, with reasons.
    pub failed: Vec<String>,
    /// What cannot be read and seems to be another project's.
    pub remarks: Vec<String>,
}

/// Looks into the store of a program for what it keeps for a project. Creates no folder.
pub fn look(
    tool: Tool,
    project: &Project,
    environment: &Environment,
    now: Timestamp,
) -> HandoffStore {
    let places = places(tool, project, environment);
    match tool {
        Tool::Spx => spx::look(&places),
        Tool::ClaudeAutoHandoff => claude_auto_handoff::look(&places, project, environment, now),
        Tool::Amplifier => amplifier::look(&places, &roots(project)),
    }
}

/// Where a program keeps its handoffs, whether it is there or not.
pub fn places(tool: Tool, project: &Project, environment: &Environment) -> Vec<PathBuf> {
    match tool {
        Tool::Spx => spx::places(&roots(project)),
        Tool::ClaudeAutoHandoff => claude_auto_handoff::places(environment),
        Tool::Amplifier => amplifier::projects_folders(environment),
    }
}

/// The folders that stand for a project: its own, and that of the worktree.
fn roots(project: &Project) -> Vec<PathBuf> {
    let mut roots: Vec<PathBuf> =
        [&project.root, &project.checkout].into_iter().flatten().cloned().collect();
    roots.dedup();
    roots
}

/// Reads a file of a store; `None` if there is none. The error names the file.
pub(super) fn read(store: &Path, path: &Path) -> Result<Option<(Vec<u8>, Timestamp)>, String> {
    let failed = |why: String| format!("{} cannot be read: {why}", path.display());
    if fs::symlink_metadata(path).is_err_and(|error| is_absent(&error)) {
        return Ok(None);
    }
    let inside = || Ok((dunce::canonicalize(store)?, dunce::canonicalize(path)?));
    let (store, target) = inside().map_err(|error: io::Error| failed(error.to_string()))?;
    // Whoever wrote the store must not choose which of the user's other files is read.
    if !target.starts_with(store) {
        let why = format!(
            "it is a link to {}, out of the store; if you mean that file, name it directly",
            target.display()
        );
        return Err(failed(why));
    }
    let bytes = plain_file::open(&target).and_then(|file| {
        let modified = file.metadata()?.modified()?;
        let mut bytes = Vec::new();
        file.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
        Ok((bytes, modified))
    });
    let (bytes, modified) = bytes.map_err(|error| failed(error.to_string()))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(failed(format!("it has more than {MAX_BYTES} bytes")));
    }
    let since_1970 = modified.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let nanos = i64::try_from(since_1970.as_nanos()).unwrap_or(i64::MAX);
    Ok(Some((bytes, Timestamp(nanos))))
}

/// The names in a folder that end like this, without that ending, sorted; empty if there is no folder.
fn names(folder: &Path, ending: &str) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if is_absent(&error) => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let name = |entry: io::Result<fs::DirEntry>| {
        let name = entry.ok()?.file_name();
        let name = name.to_str()?.strip_suffix(ending)?;
        (!name.is_empty() && !name.starts_with('.')).then(|| name.to_owned())
    };
    let mut names: Vec<String> = entries.filter_map(name).collect();
    names.sort();
    Ok(names)
}

#[cfg(unix)]
#[cfg(test)]
mod tests;
