//! The baseline: the agreed contexts, in a committed file. One entry per line and sorted, so that a
//! reviewer can read its diff.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::check::CheckError;
use crate::check::growth::{Before, SessionBefore};
use crate::check::report::{EntryName, SessionReport, StaticFile};
use crate::check::repository::Repository;
use crate::core::context::candidate::Part;
use crate::core::context::receipt::PartUse;

const VERSION: u32 = 1;
/// Larger files are not read.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

pub(crate) struct Baseline {
    pub(crate) path: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Written {
    version: u32,
    sessions: BTreeMap<String, WrittenSession>,
    static_files: BTreeMap<String, usize>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenSession {
    tokens: usize,
    /// Sorted by name, like all keys.
    parts: BTreeMap<String, usize>,
    shown: BTreeMap<String, Vec<String>>,
}

impl Baseline {
    pub(crate) fn new(repository: &Repository) -> Baseline {
        Baseline { path: repository.file.settings.baseline.clone() }
    }

    /// Reads the agreed contexts; `None` without a baseline.
    pub(crate) fn read(&self, repository: &Repository) -> Result<Option<Before>, CheckError> {
        // The target of a link is not part of the repository, and may exist on one machine only.
        let is_plain = repository.tree.may_write(&self.path).is_ok();
        let bytes = is_plain.then(|| repository.tree.read(&self.path, MAX_BYTES)).flatten();
        let Some(bytes) = bytes else { return Ok(None) };
        let wrong = |reason: String| CheckError::Baseline { path: self.path.clone(), reason };
        let written: Written =
            serde_json::from_slice(&bytes).map_err(|error| wrong(error.to_string()))?;
        if written.version != VERSION {
            return Err(wrong(format!("it is of version {}, not {VERSION}", written.version)));
        }
        let part = |name: &str| {
            let part = Part::ALL.into_iter().find(|part| part.name() == name);
            part.ok_or_else(|| wrong(format!("{name:?} is no part of a context")))
        };
        let mut before = Before { static_files: written.static_files, ..Before::default() };
        for (name, WrittenSession { tokens, parts, shown }) in written.sessions {
            let parts =
                parts.iter().map(|(name, &tokens)| Ok(PartUse { name: part(name)?, tokens }));
            let mut parts: Vec<PartUse> = parts.collect::<Result<_, CheckError>>()?;
            parts.sort_by_key(|part| part.name);
            let mut entries = Vec::new();
            for (of_part, names) in shown {
                let part = part(&of_part)?;
                entries.extend(names.into_iter().map(|name| EntryName { part, name }));
            }
            entries.sort();
            before.sessions.insert(name, SessionBefore { tokens, parts, shown: entries });
        }
        Ok(Some(before))
    }

    /// Writes the current contexts. Returns whether the file changed.
    pub(crate) fn write(
        &self,
        repository: &Repository,
        sessions: &[SessionReport],
        static_files: &[StaticFile],
    ) -> Result<bool, CheckError> {
        let session = |session: &SessionReport| {
            let parts = session.parts.iter().map(|part| (part.name.name().to_owned(), part.tokens));
            let mut shown: BTreeMap<String, Vec<String>> = BTreeMap::new();
            for EntryName { part, name } in &session.shown {
                shown.entry(part.name().to_owned()).or_default().push(name.clone());
            }
            shown.values_mut().for_each(|names| names.sort());
            let tokens = session.used.tokens;
            (session.name.clone(), WrittenSession { tokens, parts: parts.collect(), shown })
        };
        let static_files = static_files.iter();
        let written = Written {
            version: VERSION,
            sessions: sessions.iter().map(session).collect(),
            static_files: static_files.map(|file| (file.path.clone(), file.tokens)).collect(),
        };
        let wrong = |reason: String| CheckError::Baseline { path: self.path.clone(), reason };
        let text = serde_json::to_string_pretty(&written);
        let text = text.map_err(|error| wrong(error.to_string()))? + "\n";
        if repository.tree.read(&self.path, MAX_BYTES).is_some_and(|old| old == text.as_bytes()) {
            return Ok(false);
        }
        self.may_write(repository)?;
        repository.tree.write(&self.path, &text)?;
        Ok(true)
    }

    /// Whether the baseline may be written: it must not replace another file.
    pub(crate) fn may_write(&self, repository: &Repository) -> Result<(), CheckError> {
        let tree = &repository.tree;
        tree.may_write(&self.path)?;
        let is_ours = || tree.read(&self.path, MAX_BYTES).is_some_and(|old| is_baseline(&old));
        if tree.exists(&self.path) && !is_ours() {
            let reason = "what is there is no baseline; delete it, or set `baseline` in [check] to another file";
            return Err(CheckError::refused(&self.path, reason));
        }
        Ok(())
    }
}

/// Whether this is a baseline of any version.
fn is_baseline(bytes: &[u8]) -> bool {
    let value: Result<serde_json::Value, _> = serde_json::from_slice(bytes);
    value.is_ok_and(|value| value["version"].is_u64() && value["sessions"].is_object())
}
