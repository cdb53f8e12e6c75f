//! Settings files: reads TOML and applies its values.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::core::settings::{ChannelRule, Origin, Setting, Settings, SettingsFile, VaultSpec};
use crate::workspace::settings::SettingsError;
use crate::workspace::settings::vaults::folder_name;

/// Reads a file, if it exists. Keeps the valid keys of a file with an error.
pub(super) fn read(path: &Path, faults: &mut Vec<SettingsError>) -> Option<SettingsFile> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(cause) => {
            let is_there = !matches!(cause.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory);
            faults.extend(is_there.then(|| SettingsError::unreadable(path, &cause)));
            return None;
        }
    };
    match toml::from_str(&text) {
        Ok(raw) => Some(raw),
        Err(error) => {
            faults.push(invalid(path, &text, &error));
            read_valid_keys(&text)
        }
    }
}

pub(crate) fn invalid(path: &Path, text: &str, error: &toml::de::Error) -> SettingsError {
    let at = error.span().map_or(0, |span| span.start);
    SettingsError::at(path, text, at, error.message().trim())
}

/// Line and column of a byte; both start at 1, the column counts characters.
pub(crate) fn position(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at.min(text.len())).unwrap_or_default();
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (before.matches('\n').count() + 1, column)
}

/// Reads the keys of a file that are valid on their own; `None` if the file is not TOML.
fn read_valid_keys(text: &str) -> Option<SettingsFile> {
    let mut table: toml::Table = toml::from_str(text).ok()?;
    table.retain(|key, value| {
        let alone = toml::Table::from_iter([(key.to_owned(), value.clone())]);
        alone.try_into::<SettingsFile>().is_ok()
    });
    table.try_into().ok()
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
    settings.vaults.extend(written.vaults.into_iter().map(|vault| {
        let path = resolve(&vault.path);
        let name = vault.name.unwrap_or_else(|| folder_name(&path));
        Setting { value: VaultSpec { name, path, is_flat: false }, origin: origin.clone() }
    }));
    settings.channels.extend(written.channels.into_iter().map(|(path, channel)| {
        let path = resolve(&path);
        // Projects have canonical paths, and rules are compared with those.
        let path = fs::canonicalize(&path).unwrap_or(path);
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
