//! The vaults: those in the settings, the default ones, or those that replace all others.

use std::path::{Component, Path, PathBuf};

use crate::core::note::vault::holds;
use crate::core::settings::{Origin, Setting, VaultSpec};
use crate::core::text::slashes::with_slashes;
use crate::system::folders;
use crate::system::maenifold_places::Places;
use crate::system::note_places::{self, NotePlaces};
use crate::system::signed_folders;
use crate::workspace::Surroundings;
use crate::workspace::settings::{LoadedSettings, SettingsError};

/// The name of the vault that is a project, or has the notes at its top.
pub(crate) const TOP: &str = "root";

/// Adds the default vaults, or replaces all by those of `--vault` or `KGCTX_VAULTS`.
pub(super) fn complete(
    loaded: &mut LoadedSettings,
    surroundings: &Surroundings,
    flags: &[PathBuf],
) {
    let vaults = &mut loaded.settings.vaults;
    if !flags.is_empty() {
        *vaults = replacing(flags, &Origin::Flag("--vault"));
    } else if let Some(listed) = surroundings.environment.get("KGCTX_VAULTS") {
        let listed: Vec<PathBuf> = std::env::split_paths(listed).collect();
        *vaults = replacing(&listed, &Origin::Environment("KGCTX_VAULTS"));
    } else if loaded.settings.default_vaults.value {
        let defaults = default_vaults(surroundings, vaults);
        vaults.splice(0..0, defaults);
    }
    remove_bad_names(loaded);
}

/// Whether a path stays in a folder; resolves links as far as the path exists.
pub(super) fn lies_inside(path: &Path, root: &Path) -> bool {
    let place = folders::settled(path.to_path_buf());
    place.starts_with(root) && !place.components().any(|part| part == Component::ParentDir)
}

/// maenifold's memory and the project's own notes, if they exist: `.kgctx/memory`, `docs`, and other usual places. They
/// give way to the vaults of the settings.
fn default_vaults(
    surroundings: &Surroundings,
    configured: &[Setting<VaultSpec>],
) -> Vec<Setting<VaultSpec>> {
    let mut vaults: Vec<Setting<VaultSpec>> = Vec::new();
    let mut add = |name: &str, path: PathBuf, origin: Origin| {
        let value = VaultSpec { name: name.to_owned(), path, is_flat: false };
        vaults.push(Setting { value, origin });
    };
    let maenifold = Places::locate(&surroundings.environment);
    let memory = maenifold.filter(|places| places.memory.is_dir()).map(|places| {
        add("", places.memory.clone(), places.origin);
        places.memory
    });
    let signed = match &surroundings.project.notes_root {
        Some(top) => signed_vaults(top, memory.as_deref(), configured),
        None => Vec::new(),
    };
    for (name, other_name, folder) in
        [("project", "project-notes", ".kgctx/memory"), ("docs", "project-docs", "docs")]
    {
        let Some(root) = &surroundings.project.notes_root else { continue };
        let path = root.join(folder);
        if configured.iter().any(|vault| is_in(&path, vault))
            || signed.iter().any(|vault| holds(&vault.path, &path))
        {
            continue;
        }
        // Does not follow a link out of the project: a cloned repository must not choose which
        // other notes are read.
        if path.is_dir() && lies_inside(&path, root) {
            let is_taken = memory.as_ref().is_some_and(|memory| memory.join(name).exists())
                || configured.iter().any(|vault| vault.value.name == name);
            add(if is_taken { other_name } else { name }, path, Origin::Default);
        }
    }
    let is_signed = !signed.is_empty();
    vaults.extend(signed.into_iter().map(|value| Setting { value, origin: Origin::Default }));
    if let Some(top) = &surroundings.project.notes_root {
        let others: Vec<VaultSpec> =
            vaults.iter().chain(configured).map(|vault| vault.value.clone()).collect();
        // Where a person has named folders of the project, or its program for notes has, no other ones are guessed. Nor
        // outside of a repository, where a project is whatever folder a session is in.
        let is_told = configured.iter().any(|vault| {
            let vault = folders::settled(vault.value.path.clone());
            vault.starts_with(top) || top.starts_with(&vault)
        });
        let is_guessed = !is_told && !is_signed && !surroundings.project.is_outside_of_git;
        let usual = usual_places(top, memory.as_deref(), others, is_guessed).into_iter();
        vaults.extend(usual.map(|value| Setting { value, origin: Origin::Default }));
    }
    vaults
}

/// The vaults of the program for notes whose signs are at a project's top, unless the settings name folders in them.
fn signed_vaults(
    top: &Path,
    memory: Option<&Path>,
    configured: &[Setting<VaultSpec>],
) -> Vec<VaultSpec> {
    let named = |path: PathBuf| {
        let below = with_slashes(path.strip_prefix(top).ok()?)?;
        let name = if below.is_empty() { TOP.to_owned() } else { below };
        let is_free = is_path_of_names(&name)
            && !configured.iter().any(|vault| vault.value.name == name)
            && !memory.is_some_and(|memory| {
                memory.join(&name).exists() || holds(&path, memory) || holds(memory, &path)
            });
        let is_shared = configured.iter().any(|vault| {
            is_in(&path, vault) || holds(&path, &folders::settled(vault.value.path.clone()))
        });
        (is_free && !is_shared).then_some(VaultSpec { name, path, is_flat: false })
    };
    signed_folders::at_top(top).into_iter().filter_map(named).collect()
}

/// Whether a vault has the notes of a folder.
fn is_in(folder: &Path, vault: &Setting<VaultSpec>) -> bool {
    holds(&folders::settled(vault.value.path.clone()), folder)
}

/// The usual places of notes in a project that share no note with the other vaults, each with a name of its own; if
/// `is_guessed`, also the folders where most of its markdown is.
fn usual_places(
    top: &Path,
    memory: Option<&Path>,
    mut others: Vec<VaultSpec>,
    is_guessed: bool,
) -> Vec<VaultSpec> {
    let NotePlaces { mut folders, has_notes_at_top } = note_places::find(top);
    if is_guessed {
        let own = others.iter().map(|other| (other.path.clone(), other.is_flat));
        let known = own.filter(|(path, _)| path.starts_with(top));
        let known = known.chain(folders.iter().map(|folder| (top.join(folder), false)));
        let known: Vec<(PathBuf, bool)> = known.chain([(top.to_path_buf(), true)]).collect();
        folders.extend(note_places::elsewhere(top, &known));
    }
    let folders = folders.iter().map(|folder| (folder.clone(), top.join(folder), false));
    let at_top = has_notes_at_top.then(|| (TOP.to_owned(), top.to_path_buf(), true));
    let n_others = others.len();
    for (base, path, is_flat) in folders.chain(at_top) {
        let is_shared = others[..n_others].iter().any(|other| {
            let other = folders::settled(other.path.clone());
            holds(&other, &path) || !is_flat && holds(&path, &other)
        });
        let is_free = |name: &String| {
            !others.iter().any(|other| other.name == *name)
                && !memory.is_some_and(|memory| memory.join(name).exists())
        };
        let name = [base.clone(), format!("project-{base}")].into_iter().find(is_free);
        if let Some(name) = name.filter(|name| is_path_of_names(name) && !is_shared) {
            others.push(VaultSpec { name, path, is_flat });
        }
    }
    others.split_off(n_others)
}

fn is_path_of_names(name: &str) -> bool {
    name.split('/').all(|part| !part.is_empty() && part.chars().all(may_be_in_name))
}

/// Names the vaults that replace all others: the first has plain addresses, each other one has its
/// folder's name, with a number if that is taken.
fn replacing(paths: &[PathBuf], origin: &Origin) -> Vec<Setting<VaultSpec>> {
    let mut vaults: Vec<Setting<VaultSpec>> = Vec::new();
    for path in paths {
        let base: String = folder_name(path).chars().filter(|&c| may_be_in_name(c)).collect();
        let numbered = (2..).map(|n| format!("{base}{n}"));
        let is_free = |name: &String| !vaults.iter().any(|vault| vault.value.name == *name);
        let name = if vaults.is_empty() {
            String::new()
        } else {
            let plain = [base.clone()].into_iter().filter(|name| !name.is_empty());
            plain.chain(numbered).find(is_free).unwrap_or_default()
        };
        let value = VaultSpec { name, path: path.clone(), is_flat: false };
        vaults.push(Setting { value, origin: origin.clone() });
    }
    vaults
}

pub(crate) fn may_be_in_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ' ')
}

pub(super) fn folder_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Leaves out vaults whose notes could not be addressed.
fn remove_bad_names(loaded: &mut LoadedSettings) {
    let mut kept: Vec<Setting<VaultSpec>> = Vec::new();
    for vault in loaded.settings.vaults.drain(..) {
        let VaultSpec { name, path, .. } = &vault.value;
        let path = path.display();
        // Only a usual place in a package has a name of several parts.
        let is_good = name.chars().all(may_be_in_name)
            || vault.origin == Origin::Default && is_path_of_names(name);
        let wrong = if !is_good || matches!(name.as_str(), "." | "..") {
            let allowed = "use letters, digits, spaces, `-`, `_` and `.`";
            format!("{name:?} (for {path}) is not a valid vault name; {allowed}")
        } else if let Some(first) = kept.iter().find(|other| other.value.name == *name) {
            let first = first.value.path.display();
            let both = format!("{first} and {path}; give one of them another name");
            format!("two vaults have the name {name:?}: {both}")
        } else {
            kept.push(vault);
            continue;
        };
        loaded.left_out.push(SettingsError(wrong));
    }
    loaded.settings.vaults = kept;
}
