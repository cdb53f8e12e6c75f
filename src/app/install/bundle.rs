//! Plans for a bundle: files of ours in kgctx's own folder, and one item in the host's settings that names it. Every other byte
//! of the settings stays.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::app::install::{
    InstallError, InstallPlan, InstallResult, Target, UninstallPlan, VERSION, folders_to_go,
    remembered, sha256,
};
use crate::core::installation::{Bundle, Change, Installation, Scope, Step};
use crate::hosts::json_hooks::{SettingsFileError, backup, has_backup};
use crate::hosts::yaml_list::YamlSettings;
use crate::store::state::State;
use crate::system::folders;
use crate::system::process::find;
use crate::workspace::Surroundings;

pub(super) fn plan_install(target: &Target<'_>, bundle: &Bundle) -> InstallResult<InstallPlan> {
    let file = settings_file(target, bundle);
    let item = item(target.surroundings, bundle)?;
    let found =
        YamlSettings::read(&file, bundle.list).map_err(|error| add(error, bundle, &item))?;
    refuse_to_hide(target, bundle, found.as_ref(), &item)?;
    let now = found.clone().unwrap_or_else(|| YamlSettings::empty(&file, bundle.list));
    let wanted = now.with_item(&item).map_err(|error| add(error, bundle, &item))?;
    let mut plan = InstallPlan::new(target, file, wanted.text.clone());
    plan.own_folder = Some(own_folder(target.surroundings, bundle));
    for (path, text) in own_files(target.surroundings, bundle)? {
        let step = match folders::has_text(&path, &text) {
            Some(true) => continue,
            Some(false) => Step::Replace,
            None => Step::Write,
        };
        plan.changes.push(Change::new(step, &path, format!("version {VERSION}")));
        plan.own_files.push((path, text));
    }
    let Some(found) = found else {
        plan.make_file("with only kgctx's bundle");
        return Ok(plan);
    };
    let known = remembered(target.state()?.as_ref(), &plan.file)?;
    if wanted == now && known.is_some() {
        return Ok(plan);
    }
    // The backup is still right if the file is as kgctx left it. Otherwise it must include the changes since then.
    if !known.as_ref().is_some_and(|known| is_as_left(&found, known)) {
        let kept = YamlSettings::read_backup(&plan.file, bundle.list)?;
        // Without an earlier installation, an item of kgctx is the user's own.
        let original = match (known, kept) {
            (None, None) => found,
            (_, kept) => found
                .without_item(&item, kept.as_ref())
                .map_err(|error| add(error, bundle, &item))?,
        };
        plan.original = Some(original.text);
        let backup = backup(&plan.file);
        plan.changes.push(Change::new(Step::Write, &backup, "a copy of the settings"));
    }
    if wanted != now {
        plan.changes.push(Change::new(
            Step::Edit,
            &plan.file,
            "kgctx's bundle; the rest is unchanged",
        ));
    }
    Ok(plan)
}

pub(super) fn plan_uninstall(target: &Target<'_>, bundle: &Bundle) -> InstallResult<UninstallPlan> {
    let state = target.state()?;
    let file = settings_file(target, bundle);
    let item = item(target.surroundings, bundle)?;
    let known = remembered(state.as_ref(), &file)?;
    let own = own_folder(target.surroundings, bundle);
    let is_installed = || known.is_some() || folders::is_folder(&own);
    let found = match YamlSettings::read(&file, bundle.list) {
        // Nothing of ours is in it, whatever else is.
        Err(_) if !is_installed() && !YamlSettings::mentions(&file, &item) => None,
        read => read.map_err(|error| take(error, &item))?,
    };
    let kept = match &known {
        Some(_) => YamlSettings::read_backup(&file, bundle.list)?,
        None => None,
    };
    let mut changes = Vec::new();
    let mut change = |step, path: &Path, remark| changes.push(Change::new(step, path, remark));
    let mut rest = None;
    // Who added the item by hand before installing has it in the backup, too, and it would name files that are gone.
    let has_item = |settings: &YamlSettings| settings.items().contains(&&*item);
    match (found, &known, kept) {
        (Some(found), Some(known), Some(kept)) if is_as_left(&found, known) && !has_item(&kept) => {
            rest = Some(kept);
            change(Step::Restore, &file, "as it was before install");
        }
        (Some(found), known, kept) if has_item(&found) => {
            let without = found.without_item(&item, kept.as_ref());
            let without = without.map_err(|error| take(error, &item))?;
            if without.is_empty() && known.is_some() && kept.is_none() {
                change(Step::Remove, &file, "made by install, otherwise empty");
            } else {
                rest = Some(without);
                change(Step::Edit, &file, "without kgctx's bundle; the rest is unchanged");
            }
        }
        (found, ..) => rest = found,
    }
    if let Some(known) = &known {
        if has_backup(&file) {
            change(Step::Remove, &backup(&file), "made by install");
        }
        // Otherwise the file stays, and its folders with it.
        if rest.is_none() {
            changes.extend(folders_to_go(&file, known.folders_made)?);
        }
    }
    // The settings no longer name the files when these go: a host may refuse to start with one that is missing.
    if folders::is_folder(&own) {
        changes.push(match other_user(target, bundle, state.as_ref(), &file, &item) {
            Some(other) => {
                let remark = format!("{} names it, too", other.display());
                Change::new(Step::KeepFolder, &own, remark)
            }
            None => Change::new(Step::RemoveOwn, &own, "kgctx's own"),
        });
    }
    let rest = rest.map(|rest| rest.text);
    let (searched, files, other_copies) = (file.clone(), vec![file], Vec::new());
    Ok(UninstallPlan { changes, searched, other_copies, own_hooks_stay: false, rest, files, state })
}

pub(in crate::app) fn settings_file(target: &Target<'_>, bundle: &Bundle) -> PathBuf {
    target.folder.join(match target.scope {
        Scope::Global => bundle.user_file,
        Scope::Project => bundle.project_file,
    })
}

/// The settings whose lists count in a folder, the closest first. Only the list of the first that has one counts.
pub(in crate::app) fn in_order(
    user: Option<&Path>,
    project: &Path,
    bundle: &Bundle,
) -> Vec<PathBuf> {
    let project = [bundle.project_file, bundle.user_file].map(|file| project.join(file));
    project.into_iter().chain(user.map(|user| user.join(bundle.user_file))).collect()
}

/// The folder of our files.
pub(in crate::app) fn own_folder(surroundings: &Surroundings, bundle: &Bundle) -> PathBuf {
    surroundings.directories.state.join(bundle.folder)
}

/// Our files, those that others name first.
pub(in crate::app) fn own_files(
    surroundings: &Surroundings,
    bundle: &Bundle,
) -> InstallResult<Vec<(PathBuf, String)>> {
    let folder = own_folder(surroundings, bundle);
    let program = text_of(program(surroundings))?;
    let mut words = vec![program.as_str()];
    words.extend(bundle.arguments);
    let file = |(path, text): &(&str, &str)| {
        let text = text.replace("@VERSION@", VERSION);
        let text = text.replace("@COMMAND@", &Value::from(words.clone()).to_string());
        (folder.join(path), text)
    };
    Ok(bundle.files.iter().map(file).collect())
}

/// The item that names our folder. Hosts take the path as it is: nothing is escaped.
pub(in crate::app) fn item(surroundings: &Surroundings, bundle: &Bundle) -> InstallResult<String> {
    Ok(format!("file://{}", text_of(own_folder(surroundings, bundle))?))
}

/// The program in the bundle, by its place: where the PATH finds this program, else where it is.
fn program(surroundings: &Surroundings) -> PathBuf {
    let found = find::find("kgctx".as_ref(), &surroundings.environment);
    let this = find::this();
    let is_this = |found: &PathBuf| {
        this.clone().map(folders::settled) == Some(folders::settled(found.clone()))
    };
    let found = found.filter(is_this).map(|found| std::path::absolute(&found).unwrap_or(found));
    found.or(this.clone()).unwrap_or_else(|| PathBuf::from("kgctx"))
}

fn text_of(path: PathBuf) -> InstallResult<String> {
    path.into_os_string().into_string().map_err(|path| InstallError::Io {
        path: path.into(),
        cause: io::Error::new(io::ErrorKind::InvalidInput, "its name is not UTF-8"),
    })
}

fn is_as_left(found: &YamlSettings, known: &Installation) -> bool {
    known.sha256 == sha256(&found.text)
}

/// A new list in a project's settings would replace the lists of the others.
fn refuse_to_hide(
    target: &Target<'_>,
    bundle: &Bundle,
    found: Option<&YamlSettings>,
    item: &str,
) -> InstallResult<()> {
    if target.scope == Scope::Global || found.is_some_and(YamlSettings::has_list) {
        return Ok(());
    }
    let user = Target::find(target.surroundings, target.host, Scope::Global).ok();
    let user = user.as_ref().map(|user| user.folder.as_path());
    for file in in_order(user, &target.folder, bundle) {
        let Ok(Some(settings)) = YamlSettings::read(&file, bundle.list) else { continue };
        if let Some(other) = settings.items().into_iter().find(|other| *other != item) {
            let (host, other) = (target.host, other.to_owned());
            let own = settings_file(target, bundle);
            return Err(InstallError::Hides { own, file, other, host });
        }
        if settings.has_list() {
            break;
        }
    }
    Ok(())
}

/// Other settings that `install` has changed and that still name our folder.
fn other_user(
    target: &Target<'_>,
    bundle: &Bundle,
    state: Option<&State>,
    file: &Path,
    item: &str,
) -> Option<PathBuf> {
    let installed = state.and_then(|state| state.installed_files().ok()).unwrap_or_default();
    let scopes = [Scope::Global, Scope::Project];
    let here = scopes.iter().filter_map(|scope| {
        Some(settings_file(&Target::find(target.surroundings, target.host, *scope).ok()?, bundle))
    });
    let has_item = |other: &PathBuf| {
        let settings = YamlSettings::read(other, bundle.list).ok().flatten();
        settings.is_some_and(|settings| settings.items().contains(&item))
    };
    let is_settings = |other: &PathBuf| {
        let name = other.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        [bundle.user_file, bundle.project_file].contains(&name)
    };
    let mut others = installed.into_iter().filter(is_settings).chain(here);
    others.find(|other| other != file && has_item(other))
}

fn add(error: SettingsFileError, bundle: &Bundle, item: &str) -> InstallError {
    let [outer, inner] = bundle.list;
    by_hand(error, format!("add to it by hand, below `{outer}:` and `{inner}:`"), item)
}

fn take(error: SettingsFileError, item: &str) -> InstallError {
    by_hand(error, "remove from it by hand".to_owned(), item)
}

/// The settings cannot be edited: says what to do in our place.
fn by_hand(error: SettingsFileError, what_to_do: String, item: &str) -> InstallError {
    match error {
        SettingsFileError::Shape { path, what } => {
            InstallError::ByHand { path, what, what_to_do, item: item.to_owned() }
        }
        other => other.into(),
    }
}
