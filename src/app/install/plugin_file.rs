//! Plans for a plugin: one file in a folder from which the host loads it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::slice;

use crate::app::install::{
    InstallError, InstallPlan, InstallResult, Target, UninstallPlan, VERSION, folders_to_go,
    remembered,
};
use crate::core::installation::{Change, Install, Installation, PluginFile, Step};
use crate::hosts::opencode::OpencodePlaces;
use crate::hosts::opencode::plugins::{self, LoadedPlugin};
use crate::hosts::plugin_file::{self, PluginCopy, PluginSlot, candidates};
use crate::system::folders;
use crate::system::process::find;
use crate::workspace::Surroundings;

pub(super) fn plan_install(target: &Target<'_>, plugin: &PluginFile) -> InstallResult<InstallPlan> {
    let file = place(&target.folder, plugin)?;
    let mut plan = InstallPlan::new(target, file.clone(), plugin.text.to_owned());
    let taken = |what| Err(InstallError::Taken { file: file.clone(), what });
    match look(&file, plugin)? {
        PluginSlot::Empty => plan.make_file(&format!("version {VERSION}")),
        PluginSlot::Ours(copy) if copy.is_original => {}
        PluginSlot::Ours(copy) => {
            let known = remembered(target.state()?.as_ref(), &file)?;
            let remark = format!("{} by {VERSION}", described(&copy, known.as_ref()));
            plan.changes.push(Change::new(Step::Replace, &file, remark));
        }
        PluginSlot::Link => return taken("a link, which install does not create"),
        PluginSlot::Foreign => return taken("not from kgctx"),
    }
    plan.other_copies = other_copies(target, plugin, slice::from_ref(&file));
    plan.unfound_program = program(target.surroundings).is_none().then(find::this).flatten();
    Ok(plan)
}

pub(super) fn plan_uninstall(
    target: &Target<'_>,
    plugin: &PluginFile,
) -> InstallResult<UninstallPlan> {
    let state = target.state()?;
    let mut changes = Vec::new();
    let mut files = Vec::new();
    for file in candidates(&target.folder, plugin) {
        let known = remembered(state.as_ref(), &file)?;
        match look(&file, plugin)? {
            PluginSlot::Ours(copy) => {
                let remark = described(&copy, known.as_ref());
                changes.push(Change::new(Step::Remove, &file, remark));
            }
            PluginSlot::Empty if known.is_some() => {}
            _ => continue,
        }
        changes.extend(folders_to_go(&file, known.map_or(0, |known| known.folders_made))?);
        files.push(file);
    }
    let other_copies = other_copies(target, plugin, &files);
    let searched = target.folder.clone();
    let (own_hooks_stay, rest) = (false, None);
    Ok(UninstallPlan { changes, searched, other_copies, own_hooks_stay, rest, files, state })
}

/// The program that the plugin would start.
pub(in crate::app) fn program(surroundings: &Surroundings) -> Option<PathBuf> {
    let environment = &surroundings.environment;
    let name = environment.get("KGCTX_BIN").map_or(OsStr::new("kgctx"), |named| named.as_os_str());
    find::find(name, environment)
}

/// The plugin's path: where it already is, else in the first existing plugin folder, else in the
/// first folder.
fn place(folder: &Path, plugin: &PluginFile) -> InstallResult<PathBuf> {
    let files = candidates(folder, plugin);
    for file in &files {
        if matches!(look(file, plugin)?, PluginSlot::Ours(_)) {
            return Ok(file.clone());
        }
    }
    let has_folder = |file: &&PathBuf| file.parent().is_some_and(folders::is_folder);
    let file = files.iter().find(has_folder).or(files.first());
    Ok(file.cloned().unwrap_or_else(|| folder.join(plugin.file_name)))
}

/// Describes a file of ours that already exists.
fn described(copy: &PluginCopy, known: Option<&Installation>) -> String {
    let is_edited = match known {
        Some(known) => known.sha256 != copy.sha256,
        // Only this version's text is known.
        None => copy.version.as_deref() == Some(VERSION) && !copy.is_original,
    };
    let edited = if is_edited { ", with your edits" } else { "" };
    let version = copy.version.as_ref().map(|version| format!("version {version}"));
    version.unwrap_or_else(|| "no version".to_owned()) + edited
}

fn other_copies(target: &Target<'_>, plugin: &PluginFile, files: &[PathBuf]) -> Vec<String> {
    let other = |found: LoadedPlugin| match found {
        LoadedPlugin::Bridge { file, .. } if !files.contains(&file) => {
            Some(file.display().to_string())
        }
        LoadedPlugin::Package { name, named_in } => {
            Some(format!("{name} in {}", named_in.display()))
        }
        _ => None,
    };
    loaded(target.surroundings, target.install, plugin).into_iter().filter_map(other).collect()
}

/// Everything that the host would load as the plugin here.
pub(in crate::app) fn loaded(
    surroundings: &Surroundings,
    install: &Install,
    plugin: &PluginFile,
) -> Vec<LoadedPlugin> {
    let Surroundings { environment, facts, .. } = surroundings;
    let top = facts.repository.as_ref().map(|repository| repository.checkout.as_path());
    let places = OpencodePlaces { environment, install, folder: &facts.folder, top };
    plugins::find(&places, plugin)
}

fn look(file: &Path, plugin: &PluginFile) -> InstallResult<PluginSlot> {
    plugin_file::look(file, plugin)
        .map_err(|cause| InstallError::Io { path: file.to_path_buf(), cause })
}
