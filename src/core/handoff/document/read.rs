//! Reads a document of any writer. Refuses only bytes that are not UTF-8; any other mistake is a warning, and the
//! body is kept.

use std::collections::{HashMap, HashSet};
use std::fmt;

use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;
use serde_saphyr::options::{DuplicateKeyPolicy, MergeKeyPolicy, NonFiniteFloatPolicy};
use thiserror::Error;

use super::comments;
use super::header::{self, Entries};
use crate::core::handoff::tool::Tool;
use crate::core::handoff::{Document, Head};
use crate::core::note::front_matter;

/// Longer front matter is not read: no session writes that much.
const MAX_YAML_BYTES: usize = 256 << 10;

/// A document, as far as it could be read.
#[derive(Debug, Clone, PartialEq)]
pub struct Read {
    pub document: Document,
    pub warnings: Vec<String>,
    /// The keys of the values that could not be read.
    pub unread: Vec<String>,
    /// Whether there is no readable head, so that the whole text is the body.
    pub is_raw: bool,
    /// Which other program wrote it, if that can be told.
    pub tool: Option<Tool>,
    /// Whether it says for whom it is.
    pub has_kind: bool,
}

impl Read {
    /// Whether the body is blank, whatever the head says.
    pub fn is_empty(&self) -> bool {
        self.document.body.trim().is_empty()
    }
}

/// Bytes that are not UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("not UTF-8 text (byte {at})")]
pub struct NotText {
    /// The offset of the first invalid byte.
    pub at: usize,
}

pub fn read(bytes: &[u8]) -> Result<Read, NotText> {
    let text = std::str::from_utf8(bytes).map_err(|error| NotText { at: error.valid_up_to() })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let raw = |warnings| {
        let document = Document { head: Head::default(), body: text.to_owned() };
        let unread = Vec::new();
        Read { document, warnings, unread, is_raw: true, tool: None, has_kind: false }
    };
    let with_head = |pairs: Vec<(String, Value)>, body: &str, tool: Option<Tool>| {
        let has_kind = pairs.iter().any(|(key, _)| key == "kind");
        let (head, complaints) = header::head_of(pairs);
        let document = Document { head, body: body.to_owned() };
        let (unread, warnings) =
            complaints.into_iter().map(|complaint| (complaint.key, complaint.text)).unzip();
        Read { document, warnings, unread, is_raw: false, tool, has_kind }
    };
    Ok(match front_matter::split(text) {
        (Some(yaml), body) => match pairs(yaml) {
            Ok(pairs) => {
                let keys: Vec<&str> = pairs.iter().map(|(key, _)| key.as_str()).collect();
                let tool = Tool::of_keys(&keys);
                with_head(pairs, body, tool)
            }
            Err(error) => raw(vec![format!("the front matter cannot be read: {error}")]),
        },
        (None, _) if is_opened(text) => {
            raw(vec!["the front matter does not end: it has no second line ---".to_owned()])
        }
        (None, _) => match comments::split(text) {
            Some((pairs, body)) => with_head(pairs, body, Some(Tool::ClaudeAutoHandoff)),
            None => raw(Vec::new()),
        },
    })
}

/// Whether the first line opens front matter.
pub(super) fn is_opened(text: &str) -> bool {
    text.lines().next().is_some_and(|line| line.trim_end() == "---")
}

/// Reads YAML into pairs. A value that looks like a number or a boolean stays the text as written if its key holds a
/// text (`0123`, `12e4567`) or if rewriting it would change it (`1.10`).
fn pairs(yaml: &str) -> Result<Vec<(String, Value)>, YamlError> {
    let mut pairs = entries(yaml)?.pairs;
    let is_plain = |value: &Value| match value {
        Value::Number(_) | Value::Bool(_) => true,
        // A non-finite number, as the parser returns it.
        Value::String(text) => matches!(text.as_str(), ".inf" | "-.inf" | ".nan"),
        _ => false,
    };
    let plain: HashSet<String> = pairs
        .iter()
        .filter(|(key, value)| is_plain(value) && !header::LISTS.contains(&key.as_str()))
        .map(|(key, _)| key.clone())
        .collect();
    if plain.is_empty() {
        return Ok(pairs);
    }
    let mut written = with_budget(yaml, |yaml, options| {
        serde_saphyr::with_deserializer_from_str_with_options(yaml, options, |deserializer| {
            deserializer.deserialize_map(AsWritten(&plain))
        })
    })
    // Fails if a key occurs twice, once with a list; the number then stays a number and becomes a complaint.
    .unwrap_or_default();
    for (key, value) in &mut pairs {
        let Some(text) = written.remove(key.as_str()) else { continue };
        let rewritten = value.to_string();
        if header::TEXTS.contains(&header::canonical(key)) || rewritten != text {
            *value = Value::from(text);
        }
    }
    Ok(pairs)
}

#[derive(Debug, Error)]
pub(super) enum YamlError {
    #[error("it is longer than 256 KiB")]
    TooLong,
    #[error("{0}")]
    Broken(String),
}

/// Reads YAML without the correction of numbers that [`pairs`] makes.
pub(super) fn entries(yaml: &str) -> Result<Entries, YamlError> {
    let entries: Option<Entries> = with_budget(yaml, serde_saphyr::from_str_with_options)?;
    Ok(entries.unwrap_or_default())
}

fn with_budget<'y, T>(
    yaml: &'y str,
    parse: impl FnOnce(&'y str, serde_saphyr::Options) -> Result<T, serde_saphyr::Error>,
) -> Result<T, YamlError> {
    if yaml.len() > MAX_YAML_BYTES {
        return Err(YamlError::TooLong);
    }
    let options = serde_saphyr::options! {
        duplicate_keys: DuplicateKeyPolicy::LastWins,
        // `<<` is an ordinary key: one document is never assembled from parts.
        merge_keys: MergeKeyPolicy::AsOrdinary,
        non_finite_float_policy: NonFiniteFloatPolicy::AsString,
        strict_booleans: true,
        with_snippet: false,
        // Enough for any document within the byte limit; stops alias bombs.
        budget: serde_saphyr::budget! {
            max_events: 400_000,
            max_nodes: 200_000,
            max_aliases: 100,
            simple_key_max_lookahead: MAX_YAML_BYTES,
        },
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: 100 },
    };
    parse(yaml, options).map_err(|error| {
        let message = error.to_string();
        YamlError::Broken(message.lines().next().unwrap_or_default().to_owned())
    })
}

/// Reads the values of these keys as written.
struct AsWritten<'k>(&'k HashSet<String>);

impl<'de> Visitor<'de> for AsWritten<'_> {
    type Value = HashMap<String, String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("keys and their values")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut texts = HashMap::new();
        while let Some(key) = map.next_key::<String>()? {
            if !self.0.contains(&key) {
                map.next_value::<IgnoredAny>()?;
            } else if let Some(text) = map.next_value::<Option<String>>()? {
                texts.insert(key, text);
            }
        }
        Ok(texts)
    }
}
