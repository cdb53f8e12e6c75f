//! Plans for hooks in a host's settings file. Every other byte of the file stays.

use std::io;
use std::path::{Path, PathBuf};

use crate::app::install::{
    InstallError, InstallPlan, Target, UninstallPlan, folders_to_go, remembered, sha256,
};
use crate::core::installation::{Change, Installation, JsonHooks, Scope, Step};
use crate::hosts::json_hooks::{SettingsFile, backup, has_backup};
use crate::system::folders;
use crate::system::process::find;
use crate::workspace::Surroundings;

pub(super) fn plan_install(
    target: &Target<'_>,
    hooks: &'static JsonHooks,
) -> Result<InstallPlan, InstallError> {
    let file = settings_file(target, hooks);
    let found = SettingsFile::read(&file, hooks)?;
    let now = found.clone().map_or_else(|| SettingsFile::empty(&file, hooks), Ok)?;
    let wanted = now.with_hooks(&program(target.surroundings)?)?;
    let mut plan = InstallPlan::new(target, file, wanted.text().to_owned());
    let Some(found) = found else {
        plan.make_file("with kgctx's hooks alone");
        return Ok(plan);
    };
    if wanted == now {
        return Ok(plan);
    }
    let known = remembered(target.state()?.as_ref(), &plan.file)?;
    // The backup is still right if the file is as kgctx left it. Otherwise it must include the
    // changes since then.
    if !known.is_some_and(|known| is_as_left(&found, &known)) {
        let kept = SettingsFile::read_backup(&plan.file, hooks)?;
        let original = found.without_hooks(kept.as_ref())?;
        plan.original = Some(original.text().to_owned());
        let backup = backup(&plan.file);
        plan.changes.push(Change::new(Step::Write, &backup, "the settings as they are"));
    }
    plan.changes.push(Change::new(Step::Edit, &plan.file, "kgctx's hooks; the rest stays"));
    Ok(plan)
}

pub(super) fn plan_uninstall(
    target: &Target<'_>,
    hooks: &'static JsonHooks,
) -> Result<UninstallPlan, InstallError> {
    let state = target.state()?;
    let file = settings_file(target, hooks);
    let known = remembered(state.as_ref(), &file)?;
    let found = SettingsFile::read(&file, hooks)?;
    let kept = match &known {
        Some(_) => SettingsFile::read_backup(&file, hooks)?,
        None => None,
    };
    let mut changes = Vec::new();
    let mut change = |step, path: &Path, remark| changes.push(Change::new(step, path, remark));
    let mut rest = None;
    match (found, &known, kept) {
        (Some(found), Some(known), Some(kept)) if is_as_left(&found, known) => {
            rest = Some(kept);
            change(Step::Restore, &file, "as it was before install");
        }
        (Some(found), known, kept) if !found.our_hooks().is_empty() => {
            let without = found.without_hooks(kept.as_ref())?;
            if without.is_empty() && known.is_some() && kept.is_none() {
                change(Step::Remove, &file, "made by install, nothing else in it");
            } else {
                rest = Some(without);
                change(Step::Edit, &file, "without kgctx's hooks; the rest stays");
            }
        }
        (found, ..) => rest = found,
    }
    if let Some(known) = known {
        if has_backup(&file) {
            change(Step::Remove, &backup(&file), "made by install");
        }
        // Otherwise the file stays, and its folders with it.
        if rest.is_none() {
            changes.extend(folders_to_go(&file, known.folders_made)?);
        }
    }
    let rest = rest.map(|rest| rest.text().to_owned());
    let (searched, files, other_copies) = (file.clone(), vec![file], Vec::new());
    Ok(UninstallPlan { changes, searched, other_copies, rest, files, state })
}

pub(in crate::app) fn settings_file(target: &Target<'_>, hooks: &JsonHooks) -> PathBuf {
    target.folder.join(match target.scope {
        Scope::Global => hooks.user_file,
        Scope::Project => hooks.project_file,
    })
}

fn is_as_left(found: &SettingsFile, known: &Installation) -> bool {
    known.sha256 == sha256(found.text())
}

/// The program in the settings: `kgctx` if the PATH finds this program, else its path.
fn program(surroundings: &Surroundings) -> Result<String, InstallError> {
    let found = find::find("kgctx".as_ref(), &surroundings.environment);
    let this = find::this();
    let is_same = match (&found, &this) {
        (Some(found), Some(this)) => {
            folders::settled(found.clone()) == folders::settled(this.clone())
        }
        _ => false,
    };
    let path = this.filter(|_| !is_same).unwrap_or_else(|| PathBuf::from("kgctx"));
    let not_utf8 = |path: PathBuf| InstallError::Io {
        cause: io::Error::new(io::ErrorKind::InvalidInput, "its name is no text"),
        path,
    };
    path.into_os_string().into_string().map_err(|path| not_utf8(path.into()))
}
