//! Plans for hooks in a host's settings file. Every other byte of the file stays.

use std::io;
use std::path::{Path, PathBuf};

use crate::app::install::{
    InstallError, InstallPlan, InstallResult, Target, UninstallPlan, folders_to_go, remembered,
    sha256,
};
use crate::core::installation::{Change, Installation, JsonHooks, Parts, Scope, Step};
use crate::core::text::slashes::with_slashes;
use crate::hosts::json_hooks::{SettingsFile, backup, has_backup};
use crate::system::folders;
use crate::system::process::find;
use crate::workspace::Surroundings;

pub(super) fn plan_install(
    target: &Target<'_>,
    hooks: &'static JsonHooks,
    parts: Parts,
) -> InstallResult<InstallPlan> {
    let file = settings_file(target, hooks);
    let found = SettingsFile::read(&file, hooks)?;
    let now = found.clone().map_or_else(|| SettingsFile::empty(&file, hooks), Ok)?;
    let wanted = now.with_hooks(&program(target.surroundings)?, parts)?;
    let mut plan = InstallPlan::new(target, file, wanted.text.clone());
    let Some(found) = found else {
        plan.make_file("with only kgctx's hooks");
        return Ok(plan);
    };
    let known = remembered(target.state()?.as_ref(), &plan.file)?;
    if wanted == now && known.is_some() {
        return Ok(plan);
    }
    // The backup is still right if the file is as kgctx left it. Otherwise it must include the
    // changes since then.
    if !known.as_ref().is_some_and(|known| is_as_left(&found, known)) {
        let kept = SettingsFile::read_backup(&plan.file, hooks)?;
        // Without an earlier installation, hooks of kgctx are the user's own.
        let original = match (known, kept) {
            (None, None) => found,
            (_, kept) => found.without_hooks(kept.as_ref())?,
        };
        plan.original = Some(original.text);
        let backup = backup(&plan.file);
        plan.changes.push(Change::new(Step::Write, &backup, "a copy of the settings"));
    }
    if wanted != now {
        plan.changes.push(Change::new(
            Step::Edit,
            &plan.file,
            "kgctx's hooks; the rest is unchanged",
        ));
    }
    Ok(plan)
}

pub(super) fn plan_uninstall(
    target: &Target<'_>,
    hooks: &'static JsonHooks,
) -> InstallResult<UninstallPlan> {
    let state = target.state()?;
    let file = settings_file(target, hooks);
    let known = remembered(state.as_ref(), &file)?;
    let found = SettingsFile::read(&file, hooks)?;
    let kept = SettingsFile::read_backup(&file, hooks)?;
    let kept = match (&known, &found) {
        (Some(_), _) => kept,
        // The record can be lost. A backup that leads to this file is from our installation.
        (None, Some(found)) => kept.filter(|kept| is_made_of(target, kept, found)),
        (None, None) => None,
    };
    let is_installed = known.is_some() || kept.is_some();
    let is_restored = |found: &SettingsFile| match &known {
        Some(known) => is_as_left(found, known),
        None => true,
    };
    let mut changes = Vec::new();
    let mut change = |step, path: &Path, remark| changes.push(Change::new(step, path, remark));
    let mut rest = None;
    match (found, &known, kept) {
        (Some(found), _, Some(kept)) if is_restored(&found) => {
            rest = Some(kept);
            change(Step::Restore, &file, "as it was before install");
        }
        (Some(found), known, kept) if found.is_ours() => {
            let without = found.without_hooks(kept.as_ref())?;
            if without.is_empty() && known.is_some() && kept.is_none() {
                change(Step::Remove, &file, "made by install, otherwise empty");
            } else {
                rest = Some(without);
                change(Step::Edit, &file, "without kgctx's hooks; the rest is unchanged");
            }
        }
        (found, ..) => rest = found,
    }
    if is_installed && has_backup(&file) {
        change(Step::Remove, &backup(&file), "made by install");
    }
    if let Some(known) = known {
        // Otherwise the file stays, and its folders with it.
        if rest.is_none() {
            changes.extend(folders_to_go(&file, known.folders_made)?);
        }
    }
    let own_hooks_stay = rest.as_ref().is_some_and(|rest| !rest.our_hooks().is_empty());
    let rest = rest.map(|rest| rest.text);
    let (searched, files, other_copies) = (file.clone(), vec![file], Vec::new());
    Ok(UninstallPlan { changes, searched, other_copies, own_hooks_stay, rest, files, state })
}

pub(in crate::app) fn settings_file(target: &Target<'_>, hooks: &JsonHooks) -> PathBuf {
    target.folder.join(match target.scope {
        Scope::Global => hooks.user_file,
        Scope::Project => hooks.project_file,
    })
}

/// Whether an installation makes this file of the backup.
fn is_made_of(target: &Target<'_>, kept: &SettingsFile, found: &SettingsFile) -> bool {
    let parts = Parts {
        monitor: found.has_monitor(),
        rotation: found.has_rotation(),
        status_line: found.has_status_line(),
    };
    let made = |program: &str| kept.with_hooks(program, parts).map(|made| made.text == found.text);
    let programs = found.our_hooks().into_iter().map(|hook| hook.program);
    programs.chain(program(target.surroundings)).any(|program| made(&program).unwrap_or(false))
}

fn is_as_left(found: &SettingsFile, known: &Installation) -> bool {
    known.sha256 == sha256(&found.text)
}

/// The program in the settings: `kgctx` if the PATH finds this program, else its path.
fn program(surroundings: &Surroundings) -> InstallResult<String> {
    let found = find::find("kgctx".as_ref(), &surroundings.environment).map(folders::settled);
    let is_other = |this: &PathBuf| found != Some(folders::settled(this.clone()));
    let path = find::this().filter(is_other).unwrap_or_else(|| PathBuf::from("kgctx"));
    // Hosts run hooks in a shell, which takes a backslash for something else.
    with_slashes(&path).ok_or_else(|| {
        let cause = io::Error::new(io::ErrorKind::InvalidInput, "its name is not UTF-8");
        InstallError::Io { path, cause }
    })
}
