//! Settings files: reads TOML and applies its values.

use std::path::{Path, PathBuf};

use toml::{Table, Value};

use crate::core::settings::{
    ChannelRule, HandoffFile, Origin, Setting, Settings, SettingsFile, VaultSpec,
};
use crate::system::plain_file;
use crate::workspace::settings::vaults::folder_name;
use crate::workspace::settings::{LoadedSettings, SettingsError, wording};

/// Nobody writes more settings than that.
const MAX_BYTES: u64 = 1024 * 1024;
/// The keys that say whether, and which, notes may be sent.
const PERMISSIONS: &[&str] = &["enabled", "default_vaults", "vault"];
/// Those of them that are true or false.
const SWITCHES: &[&str] = &["enabled", "default_vaults"];
/// The same for handoffs, in their section.
const HANDOFF_PERMISSIONS: &[&str] = &["enabled", "inject_on_start"];
/// What people write for `enabled`, or its opposite: the name of its variable, and the words of other programs.
const OFF: &[&str] = &[
    "disabled",
    "disable",
    "is_enabled",
    "kgctx_enabled",
    "session_start_enabled",
    "kgctx_session_start_enabled",
];
/// The sections in which any key is read without an error: that of `kgctx check`, which only that reads, and the windows
/// of models by name.
const FREE_NAMES: &[&str] = &["check", "windows"];
/// A key that is so like another one is a misspelling of it.
const MISSPELT: f64 = 0.93;

/// Reads a file, if it exists. Keeps the valid keys of a file with an error. Closes the settings if the file cannot be
/// read, or not what it says about what may be sent.
pub(super) fn read(
    path: &Path,
    origin: &Origin,
    loaded: &mut LoadedSettings,
) -> Option<SettingsFile> {
    let text = match plain_file::read_text(path, MAX_BYTES) {
        Ok(text) => text?,
        Err(cause) => {
            loaded.close(origin, SettingsError::unreadable(path, &cause));
            return None;
        }
    };
    let error = match toml::from_str(&text) {
        Ok(written) => {
            let has_free_names = FREE_NAMES.iter().any(|section| text.contains(section));
            let table = has_free_names.then(|| toml::from_str(&text).ok()).flatten();
            table.iter().for_each(|table| close_if_misplaced(path, origin, table, loaded));
            return Some(written);
        }
        Err(error) => error,
    };
    let first = invalid(path, &text, &error);
    let Ok(mut table) = toml::from_str::<Table>(&text) else {
        loaded.close(origin, first);
        return None;
    };
    close_if_misplaced(path, origin, &table, loaded);
    let mut unread = Vec::new();
    keep_valid_handoff_keys(&mut table);
    table.retain(|key, value| {
        let alone = Table::from_iter([(key.to_owned(), value.clone())]);
        let Err(error) = alone.try_into::<SettingsFile>() else { return true };
        // Nobody can tell what an unknown switch is to switch.
        let is_switch = value.is_bool() && error.message().starts_with("unknown field");
        let name = meant(key, PERMISSIONS).or(is_switch.then_some("enabled"));
        unread.extend(name.map(|name| (key.to_owned(), name, error)));
        false
    });
    match unread.first() {
        // Its error has a place in the file.
        Some((key, name, of_key)) if key == name && of_key.message() == error.message() => {
            loaded.close(origin, first);
        }
        Some((key, name, of_key)) => {
            loaded.faults.push(first);
            let why = match key == name {
                true => format!("{name}: {}", of_key.message()),
                false => format!("`{key}` is not a setting; write `{name}` if you mean that"),
            };
            loaded.close(origin, SettingsError(format!("{}: {why}", path.display())));
        }
        None => loaded.faults.push(first),
    }
    table.try_into().ok()
}

pub(crate) fn invalid(path: &Path, text: &str, error: &toml::de::Error) -> SettingsError {
    let at = error.span().map_or(0, |span| span.start);
    SettingsError::at(path, text, at, &wording::of(error, text))
}

/// Line and column of a byte; both start at 1, the column counts characters.
pub(crate) fn position(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at.min(text.len())).unwrap_or_default();
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (before.matches('\n').count() + 1, column)
}

/// Removes the invalid keys of the section `[handoff]`. What cannot be read there is not permitted.
fn keep_valid_handoff_keys(table: &mut Table) {
    let mut denied = Vec::new();
    let section = match table.remove("handoff") {
        None => return,
        Some(Value::Table(mut section)) => {
            section.retain(|key, value| {
                let alone = Table::from_iter([(key.to_owned(), value.clone())]);
                let is_valid = alone.try_into::<HandoffFile>().is_ok();
                denied.extend(meant(key, HANDOFF_PERMISSIONS).filter(|_| !is_valid));
                is_valid
            });
            section
        }
        Some(_) => {
            denied.extend(HANDOFF_PERMISSIONS);
            Table::new()
        }
    };
    let denied = denied.into_iter().map(|key| (key.to_owned(), Value::Boolean(false)));
    let section = Table::from_iter(section.into_iter().chain(denied));
    table.insert("handoff".to_owned(), Value::Table(section));
}

/// Closes the settings if a section, however deep, has the key of a permission that stands above all sections. Whatever
/// follows a `[section]` belongs to it, which is easy to forget.
fn close_if_misplaced(path: &Path, origin: &Origin, table: &Table, loaded: &mut LoadedSettings) {
    let below = |(section, value): (&String, &Value)| misplaced(section, value);
    if let Some((section, key, name)) = table.iter().find_map(below) {
        let file = path.display();
        let why = format!(
            "`{key}` is not a setting of [{section}]; write `{name}` above the first section"
        );
        loaded.close(origin, SettingsError(format!("{file}: {why}")));
    }
}

/// The first key of a switch in a section or below it: the section, the key, and the switch.
fn misplaced(section: &str, value: &Value) -> Option<(String, String, &'static str)> {
    // The keys of this section are names of folders, and their values those of channels.
    if section == "channels" {
        let (key, _) = value.as_table()?.iter().find(|(_, value)| value.is_bool())?;
        return Some((section.to_owned(), key.clone(), "enabled"));
    }
    let table = match value {
        Value::Table(table) => table,
        Value::Array(items) => return items.iter().find_map(|item| misplaced(section, item)),
        _ => return None,
    };
    table.iter().find_map(|(key, value)| {
        let is_own = section == "handoff" && meant(key, HANDOFF_PERMISSIONS).is_some();
        let switch = meant(key, SWITCHES).filter(|_| !is_own);
        let here = switch.map(|name| (section.to_owned(), key.clone(), name));
        here.or_else(|| misplaced(&format!("{section}.{key}"), value))
    })
}

/// The permission that a key is, or is a misspelling or another word of.
fn meant(key: &str, permissions: &[&'static str]) -> Option<&'static str> {
    let key = key.to_lowercase();
    let key = if OFF.contains(&key.as_str()) { "enabled" } else { &key };
    let is_meant = |name: &&&str| strsim::jaro_winkler(key, name) >= MISSPELT;
    permissions.iter().find(is_meant).copied()
}

/// Applies the values of a file.
pub(super) fn apply(
    settings: &mut Settings,
    mut written: SettingsFile,
    file: &Path,
    origin: &Origin,
    home: Option<&Path>,
) {
    let resolve = |path: &str| resolve(path, file, home);
    settings.set_from_file(&mut written, origin, &resolve);
    settings.handoff.set_from_file(&mut written.handoff, origin, &resolve);
    settings.monitor.set_from_file(&mut written.monitor, origin, &resolve);
    settings.vaults.extend(written.vaults.into_iter().map(|vault| {
        let path = resolve(&vault.path);
        let name = vault.name.unwrap_or_else(|| folder_name(&path));
        Setting { value: VaultSpec { name, path, is_flat: false }, origin: origin.clone() }
    }));
    settings.channels.extend(written.channels.into_iter().map(|(path, channel)| {
        let path = resolve(&path);
        // Projects have canonical paths, and rules are compared with those.
        let path = dunce::canonicalize(&path).unwrap_or(path);
        Setting { value: ChannelRule { path, channel }, origin: origin.clone() }
    }));
}

/// Resolves a path in `file`: `~/` is the home folder, and a relative path starts at the file's
/// folder.
pub(super) fn resolve(path: &str, file: &Path, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~/").or((path == "~").then_some("")), home) {
        (Some(below_home), Some(home)) => home.join(below_home),
        _ => file.parent().unwrap_or(Path::new("")).join(path),
    }
}
