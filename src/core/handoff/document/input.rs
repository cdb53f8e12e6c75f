//! A document from the keyboard or a pipe: a JSON header and markdown, YAML front matter and markdown, or only
//! markdown. Strict, because the author is present to correct it.

use thiserror::Error;

use super::header::{self, Entries};
use super::read::{YamlError, entries, is_opened, read};
use super::write::write;
use crate::core::handoff::{Document, Head, Kind};
use crate::core::note::front_matter;

/// Keys that only kgctx sets.
const OWN: [&str; 3] = ["id", "created_at", "session_id"];

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Input {
    /// The document, without the keys that only kgctx sets.
    pub document: Document,
    /// The keys that were removed because only kgctx sets them, as written.
    pub ignored: Vec<String>,
}

/// Why a text is not accepted as a handoff.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum InputError {
    #[error(
        "the handoff is empty; write markdown, optionally with a JSON header or YAML front matter"
    )]
    Empty,
    /// The text begins with `{`, but is not valid JSON.
    #[error(
        "the JSON header cannot be read: {0}; write one object, like {{\"goal\": \"…\"}}, and the text below it"
    )]
    Json(String),
    /// Text follows the JSON header on the same line.
    #[error("the text starts on the line where the JSON header ends; start it on the next line")]
    SameLine,
    #[error(
        "the front matter cannot be read: {0}; write `key: \"value\"` lines between two lines ---"
    )]
    Yaml(String),
    #[error("the front matter does not end; write a line --- after its last key")]
    Unclosed,
    /// A key occurs twice, perhaps under two names.
    #[error("{0} appears twice, or under two names; write it once")]
    Repeated(String),
    /// A value does not fit its key.
    #[error("{0}")]
    Value(String),
    #[error("{key} names {found}; write a path inside the project")]
    Path { key: &'static str, found: &'static str },
    #[error("the header is too large; it may have 256 KiB, and maps and lists 60 levels deep")]
    TooLarge,
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("a task needs {}: the session that picks it up knows nothing else", .missing.join(" and "))]
pub struct Incomplete {
    /// The keys without text.
    pub missing: Vec<&'static str>,
}

/// Reads a document from the keyboard or a pipe.
pub fn input(text: &str) -> Result<Input, InputError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let from_first = text.trim_start();
    if from_first.is_empty() {
        return Err(InputError::Empty);
    }
    let (entries, body) = if from_first.starts_with('{') {
        json(from_first)?
    } else if is_opened(from_first) {
        yaml(from_first)?
    } else {
        (Entries::default(), text)
    };
    if let Some(key) = repeated(&entries) {
        return Err(InputError::Repeated(key.to_owned()));
    }
    let is_own = |key: &str| OWN.contains(&header::canonical(key)) || key == "expires_at";
    let (own, pairs): (Vec<_>, Vec<_>) =
        entries.pairs.into_iter().partition(|(key, _)| is_own(key));
    let (head, complaints) = header::head_of(pairs);
    if let Some(complaint) = complaints.into_iter().next() {
        return Err(InputError::Value(complaint.text));
    }
    check_paths(&head)?;
    let document = Document { head, body: body.to_owned() };
    // Every accepted document must be readable later; reading it back applies the limits of the reader.
    if !read(write(&document).as_bytes()).is_ok_and(|read| read.document == document) {
        return Err(InputError::TooLarge);
    }
    Ok(Input { document, ignored: own.into_iter().map(|(key, _)| key).collect() })
}

fn json(text: &str) -> Result<(Entries, &str), InputError> {
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<Entries>();
    let entries = stream.next().ok_or(InputError::Empty)?;
    let entries = entries.map_err(|error| InputError::Json(error.to_string()))?;
    let rest = &text[stream.byte_offset()..];
    let (same_line, body) = rest.split_once('\n').unwrap_or((rest, ""));
    if same_line.trim().is_empty() { Ok((entries, body)) } else { Err(InputError::SameLine) }
}

fn yaml(text: &str) -> Result<(Entries, &str), InputError> {
    let (Some(yaml), body) = front_matter::split(text) else { return Err(InputError::Unclosed) };
    let entries = entries(yaml).map_err(|error| match error {
        YamlError::TooLong => InputError::TooLarge,
        YamlError::Broken(why) => InputError::Yaml(why),
    })?;
    Ok((entries, body))
}

/// The key that occurs twice, under one name or two.
fn repeated(entries: &Entries) -> Option<&str> {
    let keys = || entries.pairs.iter().map(|(key, _)| key.as_str());
    let is_second = |key: &&str| match header::canonical(key) {
        name if name == *key => false,
        name => keys().any(|other| other == name),
    };
    entries.repeated.as_deref().or_else(|| keys().find(is_second))
}

fn check_paths(head: &Head) -> Result<(), InputError> {
    let lists =
        [("specs", &head.specs), ("files", &head.files), ("files_changed", &head.files_changed)];
    let listed =
        lists.into_iter().flat_map(|(key, paths)| paths.iter().map(move |path| (key, path)));
    for (key, path) in listed.chain(head.working_dir.iter().map(|path| ("working_dir", path))) {
        if path.contains('\0') {
            return Err(InputError::Path { key, found: "a file with a NUL character" });
        }
        if path.trim().is_empty() {
            return Err(InputError::Path { key, found: "a file without a name" });
        }
    }
    Ok(())
}

/// Checks that a task has a goal and a next step.
pub fn check_complete(head: &Head) -> Result<(), Incomplete> {
    let has_text =
        |text: &Option<String>| text.as_ref().is_some_and(|text| !text.trim().is_empty());
    let wanted = [("goal", has_text(&head.goal)), ("next_step", has_text(&head.next_step))];
    let missing: Vec<_> = wanted.iter().filter(|(_, there)| !there).map(|(key, _)| *key).collect();
    if head.kind == Kind::Task && !missing.is_empty() {
        return Err(Incomplete { missing });
    }
    Ok(())
}
