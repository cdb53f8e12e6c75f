//! Reads `kgctx.toml` for a check, with the position of every key. Reports unknown keys and skips
//! them.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use toml::de::DeTable;

use super::known_keys;
use super::raw::WithCheck;
use super::toml_text;
use crate::check::finding::Spot;
use crate::check::settings::CheckSettings;
use crate::core::settings::SettingsFile;
use crate::workspace::settings::{SettingsError, invalid, nearest, position};

/// The content of `kgctx.toml`, for a check.
#[derive(Debug, Clone, Default)]
pub struct CheckFile {
    pub settings: CheckSettings,
    /// The position of each key: `token_limit`, `check.budget.total`, `check.session.0`.
    pub places: BTreeMap<String, Spot>,
    pub unknown: Vec<UnknownKey>,
    /// The file without unknown keys and without `[check]`.
    pub without_unknown: String,
    pub has_check: bool,
    /// The paths of the vaults that it names.
    pub vaults: Vec<String>,
}

/// A key that has no effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownKey {
    pub key: String,
    pub spot: Spot,
    /// The keys that are valid at this position.
    pub known: Vec<String>,
    /// The known key that may be meant.
    pub nearest: Option<String>,
}

/// Reads `kgctx.toml`. An invalid value is an error with its position.
pub fn read(path: &str, text: &str) -> Result<CheckFile, SettingsError> {
    let wrong = |error: toml::de::Error| invalid(Path::new(path), text, &error);
    let whole = DeTable::parse(text).map_err(wrong)?;
    let span = whole.span();
    let mut table = whole.into_inner();
    let mut unknown = Vec::new();
    let mut unexpected = |at, key: String, known: Vec<String>| {
        let nearest = nearest(&key, &known);
        unknown.push(UnknownKey { spot: spot(path, text, at), key, known, nearest });
    };
    let others = known_keys::read::<SettingsFile>(&mut table, &span, &mut unexpected);
    let vaults = others.map_err(wrong)?.vaults.into_iter().map(|vault| vault.path).collect();
    let raw = known_keys::read::<WithCheck>(&mut table, &span, &mut unexpected);
    let raw = raw.map_err(wrong)?.check;
    unknown.sort_by(|a: &UnknownKey, b| a.spot.cmp(&b.spot));
    let mut places = BTreeMap::new();
    let mut add = |key, span| {
        places.insert(key, spot(path, text, span));
    };
    for (key, value) in &table {
        known_keys::places(key.get_ref().to_string(), key.span(), value.get_ref(), &mut add);
    }
    let settings = raw
        .settings()
        .map_err(|(span, message)| SettingsError::at(path.as_ref(), text, span.start, &message))?;
    let has_check = places.contains_key("check");
    let others = table.into_iter().filter(|(key, _)| key.get_ref() != "check").collect();
    let without_unknown = toml_text::write(&others);
    Ok(CheckFile { settings, places, unknown, without_unknown, has_check, vaults })
}

fn spot(path: &str, text: &str, span: Range<usize>) -> Spot {
    let (line, column) = position(text, span.start);
    let shown = text.get(span).unwrap_or_default().lines().next().unwrap_or_default();
    Spot { path: path.to_owned(), line, column, length: shown.chars().count() }
}

#[cfg(test)]
mod tests;
