//! Rules about committed handoffs: all markdown files below the handoff folders, except a README.
//!
//! **handoff-invalid**: the front matter follows `schema/json/handoff.schema.json`. It parses, no
//! key is repeated, `kind`, `type`, `priority` and `consume` have known values, times are times,
//! lists are lists of strings, `id` has kgctx's format and equals the file's name, a task has a
//! goal and a next step, and there is text below the front matter.
//!
//! **handoff-missing-file**: the files in `specs` and `files` exist, relative to the top of the
//! repository or to the folder that holds `.kgctx`.
//!
//! **handoff-expired**: a handoff for the next session is not too old at the time of the check. The
//! limit is `expires_at`, else the lifetime of its type (`auto`, `rotation`: 2 hours; `end`: 7
//! days), and `max_age_days` for sticky handoffs. Its age counts from `created_at`,
//! else from the last change of the file.

use std::collections::HashMap;
use std::ops::Range;

use super::checked_files::{CheckedFile, CheckedFiles, Problem};
use super::text_file;
use super::tree;
use crate::core::handoff::document::{self, InputError};
use crate::core::handoff::expiry::too_old_at;
use crate::core::handoff::{Document, HandoffId, Kind, Occasion};
use crate::core::time::Timespan;

/// Alternative names of keys.
const ALIASES: [(&str, &str); 2] =
    [("created_at", "timestamp"), ("session_id", "agent_session_id")];
/// The default hint for an invalid front matter.
const MEND: &str = "fix it as docs/handoffs.md describes";

struct CheckedHandoff<'c> {
    file: &'c CheckedFile<'c>,
    document: Document,
    warnings: Vec<String>,
}

fn handoffs<'c>(checked: &'c CheckedFiles<'_>) -> impl Iterator<Item = CheckedHandoff<'c>> {
    let handoffs = checked.files.iter().filter(|file| file.is_handoff);
    handoffs.filter_map(|file| {
        let text = file.text;
        if is_json(text) {
            let document = document::input(text).map(|input| input.document).unwrap_or_default();
            return Some(CheckedHandoff { file, document, warnings: Vec::new() });
        }
        let read = document::read(text.as_bytes()).ok()?;
        Some(CheckedHandoff { file, document: read.document, warnings: read.warnings })
    })
}

fn is_json(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').trim_start().starts_with('{')
}

/// Finds handoffs whose head does not follow the schema.
pub(super) fn invalid<'c>(checked: &'c CheckedFiles<'_>) -> Vec<Problem<'c>> {
    let mut problems = Vec::new();
    let mut first_with: HashMap<String, &str> = HashMap::new();
    for handoff in handoffs(checked) {
        let file = handoff.file;
        problems.extend(handoff.warnings.iter().map(|text| warning(file, text)));
        let unreadable = unreadable(file);
        let can_be_read = !unreadable.as_ref().is_some_and(|(_, is_fatal)| *is_fatal);
        problems.extend(unreadable.map(|(problem, _)| problem));
        if can_be_read {
            problems.extend(handoff.wrong_occasion());
            problems.extend(handoff.wrong_id(&mut first_with));
            problems.extend(handoff.incomplete());
            problems.extend(handoff.empty());
        }
    }
    problems
}

/// A warning of the parser, at the key or the line that it names.
fn warning<'c>(file: &'c CheckedFile<'_>, text: &str) -> Problem<'c> {
    let (message, hint) = split(file, text);
    let key = text.split(' ').next().unwrap_or_default();
    let place = file.key(key).or_else(|| place_in(file, text));
    file.problem(place.unwrap_or_default(), message, hint)
}

/// Why `kgctx handoff import` would reject the file, and whether the other checks are pointless.
fn unreadable<'c>(file: &'c CheckedFile<'_>) -> Option<(Problem<'c>, bool)> {
    let error = document::input(file.text).err()?;
    let (message, hint) = split(file, &error.to_string());
    let is_fatal = match error {
        // The parser already warned about these.
        InputError::Yaml(_) | InputError::Unclosed => return None,
        InputError::Value(_) if !is_json(file.text) => return None,
        InputError::Repeated(_) | InputError::Path { .. } => false,
        _ => true,
    };
    let key = message.split(' ').next().unwrap_or_default();
    let place = if is_fatal { 0..0 } else { key_place(file, key) };
    Some((file.problem(place, message, hint), is_fatal))
}

impl<'c> CheckedHandoff<'c> {
    fn at_key(&self, key: &str, message: String, hint: &str) -> Problem<'c> {
        self.file.problem(key_place(self.file, key), message, hint)
    }

    fn wrong_occasion(&self) -> Option<Problem<'c>> {
        let Some(Occasion::Other(name)) = &self.document.head.occasion else { return None };
        let message = format!("type is {:?}, which is unknown", self.file.shown_text(name));
        Some(self.at_key("type", message, "write manual, bye, end, auto or rotation"))
    }

    fn wrong_id(&self, first_with: &mut HashMap<String, &'c str>) -> Option<Problem<'c>> {
        let (file, id) = (self.file, self.document.head.id.as_ref()?);
        let first = first_with.get(id).copied();
        first_with.entry(id.clone()).or_insert(file.path);
        let shown = file.shown_text(id);
        if HandoffId::parse(id).is_err() {
            let message = format!("{shown:?} is not the id of a handoff");
            let hint =
                "ids look like HO-20260131-120000-c74cc080; leave it out, and kgctx creates one";
            Some(self.at_key("id", message, hint))
        } else if HandoffId::parse(file.stem()).is_ok_and(|name| name.as_str() != id) {
            let message = format!("the id is {shown}, but the file has another name");
            Some(self.at_key("id", message, "rename the file to its id"))
        } else {
            let message = format!("{} has the same id, {shown}", text_file::shown(first?));
            let hint = "remove it: an import creates a new one";
            Some(self.at_key("id", message, hint))
        }
    }

    fn incomplete(&self) -> Option<Problem<'c>> {
        let incomplete = document::check_complete(&self.document.head).err()?;
        let message = format!("a task needs {}", incomplete.missing.join(" and "));
        let hint =
            "name the goal and the next step: the session that picks it up knows nothing else";
        Some(self.at_key("kind", message, hint))
    }

    fn empty(&self) -> Option<Problem<'c>> {
        let is_empty = self.document.body.trim().is_empty() && self.warnings.is_empty();
        let message = "there is no text below the header";
        let hint = "write down what the next session should know";
        is_empty.then(|| self.file.problem(0..0, message, hint))
    }
}

/// Finds listed files that do not exist.
pub(super) fn missing_files<'c>(checked: &'c CheckedFiles<'_>) -> Vec<Problem<'c>> {
    let mut problems = Vec::new();
    for CheckedHandoff { file, document: Document { head, .. }, .. } in handoffs(checked) {
        let home = file.path.split("/.kgctx/").next().filter(|home| *home != file.path);
        let specs = head.specs.iter().map(|path| ("specs", path));
        for (key, path) in specs.chain(head.files.iter().map(|path| ("files", path))) {
            let exists = |folder: &str| {
                tree::joined(folder, path).is_some_and(|path| checked.tree.has(&path))
            };
            let is_outside = path.starts_with(['/', '~']);
            if !is_outside && (exists("") || home.is_some_and(exists)) {
                continue;
            }
            let message = format!("{} is not in the repository", file.shown_text(path));
            let way_out = "fix the path, or remove it from the list";
            let hint = text_file::hint(checked.tree.ending_with(tree::name_of(path)), way_out);
            problems.push(file.problem(listed_at(file, key, path), message, hint));
        }
    }
    problems
}

/// Finds handoffs that are too old for any session.
pub(super) fn expired<'c>(checked: &'c CheckedFiles<'_>) -> Vec<Problem<'c>> {
    let mut problems = Vec::new();
    let max_age = Timespan::from_hours(checked.input.max_age_days.saturating_mul(24));
    for CheckedHandoff { file, document: Document { head, .. }, .. } in handoffs(checked) {
        let created = head.created_at.unwrap_or(file.modified);
        let expires = head.expires_at.or_else(|| head.end_of_lifetime(created));
        let too_old_at = too_old_at(created, expires, head.consume(), max_age);
        let Some(at) = too_old_at.filter(|at| *at < checked.input.now) else { continue };
        if head.kind == Kind::Task {
            continue;
        }
        let keys = if head.expires_at == Some(at) { "expires_at" } else { "created_at" };
        let message = format!("this handoff expired on {at}: no session gets it");
        let hint = "remove it, or write a new one";
        problems.push(file.problem(key_place(file, keys), message, hint));
    }
    problems
}

/// The position of a key, by any of its names; else the start of the file.
fn key_place(file: &CheckedFile<'_>, key: &str) -> Range<usize> {
    let alias =
        || ALIASES.iter().find(|(name, _)| *name == key).and_then(|(_, alias)| file.key(alias));
    let in_json = || {
        let quoted = format!("\"{key}\"");
        let at = file.text.find(&quoted).filter(|_| is_json(file.text))?;
        Some(at + 1..at + 1 + key.len())
    };
    file.key(key).or_else(alias).or_else(in_json).unwrap_or_default()
}

/// The position of a path in its list; else that of the list's key.
fn listed_at(file: &CheckedFile<'_>, key: &str, path: &str) -> Range<usize> {
    let place = key_place(file, key);
    let text = file.text;
    let is_whole = |at: usize| {
        let is_part =
            |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || "/._-".contains(c));
        let end = at + path.len();
        !is_part(text[..at].chars().next_back()) && !is_part(text[end..].chars().next())
    };
    let offsets = text[place.end..].match_indices(path).map(|(at, _)| place.end + at);
    let found = offsets.into_iter().find(|&at| !path.is_empty() && is_whole(at));
    found.map_or(place, |at| at..at + path.len())
}

/// The line that a YAML parser names, counted from the first line of the front matter.
fn place_in(file: &CheckedFile<'_>, message: &str) -> Option<Range<usize>> {
    let (_, behind) = message.rsplit_once("line ")?;
    let digits: String = behind.chars().take_while(char::is_ascii_digit).collect();
    let line: usize = digits.parse().ok()?;
    let n_lines = file.text[..file.spans.body].lines().count();
    // The fence comes before. An unclosed value is reported at the end, so the last line is the
    // limit.
    let line = line.min(n_lines.checked_sub(2)?);
    let start: usize = file.text.split_inclusive('\n').take(line).map(str::len).sum();
    Some(start..start)
}

/// Splits a message into the problem and the hint.
fn split(file: &CheckedFile<'_>, message: &str) -> (String, String) {
    let (message, hint) = match message.rsplit_once("; ") {
        Some((message, hint)) => (message, hint),
        None => (message, MEND),
    };
    (file.shown_text(message), file.shown_text(hint))
}

#[cfg(test)]
mod tests;
