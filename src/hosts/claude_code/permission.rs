//! Whether Claude Code runs hooks at all: its switches, and its trust in a folder.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::core::installation::Install;
use crate::hosts::config_folder;
use crate::system::environment::Environment;
use crate::system::plain_file;

/// The settings of an organisation, which count before all others.
const MANAGED: [&str; 2] = [
    "/etc/claude-code/managed-settings.json",
    "/Library/Application Support/ClaudeCode/managed-settings.json",
];

const DISABLE_ALL: &str = "disableAllHooks";
const MANAGED_ONLY: &str = "allowManagedHooksOnly";

/// A setting that keeps Claude Code from running our hooks.
#[derive(Debug, PartialEq, Eq)]
pub struct OffSwitch {
    pub name: &'static str,
    pub file: PathBuf,
}

/// Finds the setting that switches hooks off. `files` are the settings files that apply, the one that counts first comes
/// first.
pub fn off_switch(files: &[PathBuf]) -> Option<OffSwitch> {
    let managed = MANAGED.iter().map(PathBuf::from);
    let off = |(file, name): (PathBuf, &'static str)| {
        is_on(&file, name)?.then_some(OffSwitch { name, file })
    };
    let by_organisation =
        managed.flat_map(|file| [DISABLE_ALL, MANAGED_ONLY].map(|name| (file.clone(), name)));
    by_organisation.filter_map(off).next().or_else(|| {
        let set = |file: &PathBuf| Some((is_on(file, DISABLE_ALL)?, file.clone()));
        let (is_off, file) = files.iter().find_map(set)?;
        is_off.then_some(OffSwitch { name: DISABLE_ALL, file })
    })
}

/// Finds a switch that is neither true nor false. Claude Code then ignores the whole file, and the hooks in it.
pub fn invalid_switch(file: &Path) -> Option<&'static str> {
    let settings = read(file)?;
    let is_invalid = |name: &&str| !matches!(settings[*name], Value::Null | Value::Bool(_));
    [DISABLE_ALL, MANAGED_ONLY].into_iter().find(is_invalid)
}

/// Whether a switch is on; `None` if the file does not set it, or is ignored.
fn is_on(file: &Path, name: &str) -> Option<bool> {
    let is_on = read(file)?[name].as_bool()?;
    invalid_switch(file).is_none().then_some(is_on)
}

/// Whether the user trusts one of the folders, or a folder around it; `None` if Claude Code was never started.
pub fn is_trusted(install: &Install, environment: &Environment, folders: &[&Path]) -> Option<bool> {
    if environment.get("CLAUDE_CODE_SANDBOXED").is_some() {
        return Some(true);
    }
    let accounts = match config_folder::named(install, environment) {
        Some(_) => config_folder::global(install, environment)?,
        None => environment.home()?.to_path_buf(),
    };
    let account = read(&accounts.join(".claude.json"))?;
    let is_accepted = |folder: &Path| {
        folder.to_str().is_some_and(|folder| {
            account["projects"][folder]["hasTrustDialogAccepted"] == Value::Bool(true)
        })
    };
    Some(folders.iter().flat_map(|folder| folder.ancestors()).any(is_accepted))
}

/// Reads a file; `None` if it does not exist or is not JSON.
fn read(file: &Path) -> Option<Value> {
    let text = String::from_utf8(plain_file::read(file).ok()?).ok()?;
    serde_json::from_str(text.trim_start_matches('\u{feff}')).ok()
}
