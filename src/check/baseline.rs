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

/// Reads the agreed contexts; `None` without a baseline.
pub(crate) fn read(repository: &Repository) -> Result<Option<Before>, CheckError> {
    let path = &repository.file.settings.baseline;
    // The target of a link is not part of the repository, and may exist on one machine only.
    let is_plain = repository.tree.may_write(path).is_ok();
    let bytes = is_plain.then(|| repository.tree.read(path, MAX_BYTES)).flatten();
    let parsed = bytes.map(|bytes| parse(&bytes)).transpose();
    parsed.map_err(|reason| {
        let way_out = "delete it, and run `kgctx check --update-baseline` to write a new one";
        CheckError::Wrong(format!("{path}: {reason}; {way_out}"))
    })
}

fn parse(bytes: &[u8]) -> Result<Before, String> {
    let written: Written = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    if written.version != VERSION {
        return Err(format!("it has version {}, not {VERSION}", written.version));
    }
    let part = |name: &str| {
        let part = Part::ALL.into_iter().find(|part| part.name() == name);
        part.ok_or_else(|| format!("{name:?} is not a part of a context"))
    };
    let session = |(name, session): (String, WrittenSession)| {
        let mut before = SessionBefore { tokens: session.tokens, ..SessionBefore::default() };
        for (name, tokens) in session.parts {
            before.parts.push(PartUse { name: part(&name)?, tokens });
        }
        before.parts.sort_by_key(|part| part.name);
        for (of_part, names) in session.shown {
            let part = part(&of_part)?;
            before.shown.extend(names.into_iter().map(|name| EntryName { part, name }));
        }
        before.shown.sort();
        Ok((name, before))
    };
    let sessions = written.sessions.into_iter().map(session).collect::<Result<_, String>>()?;
    Ok(Before { sessions, static_files: written.static_files })
}

/// Writes the current contexts. Returns whether the file changed.
pub(crate) fn write(
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
    let path = &repository.file.settings.baseline;
    let text = serde_json::to_string_pretty(&written);
    let text =
        text.map_err(|error| CheckError::Failed(format!("cannot write {path}: {error}")))? + "\n";
    if repository.tree.read(path, MAX_BYTES).is_some_and(|old| old == text.as_bytes()) {
        return Ok(false);
    }
    may_write(repository)?;
    repository.tree.write(path, &text)?;
    Ok(true)
}

/// Whether the baseline may be written: it must not replace another file.
pub(crate) fn may_write(repository: &Repository) -> Result<(), CheckError> {
    let (tree, path) = (&repository.tree, &repository.file.settings.baseline);
    tree.may_write(path)?;
    let is_ours = || tree.read(path, MAX_BYTES).is_some_and(|old| is_baseline(&old));
    if tree.exists(path) && !is_ours() {
        let reason = "the existing file is not a baseline; delete it, or set `baseline` in [check] to another file";
        return Err(CheckError::refused(path, reason));
    }
    Ok(())
}

/// Whether this is a baseline of any version.
fn is_baseline(bytes: &[u8]) -> bool {
    let value: Result<serde_json::Value, _> = serde_json::from_slice(bytes);
    value.is_ok_and(|value| value["version"].is_u64() && value["sessions"].is_object())
}
