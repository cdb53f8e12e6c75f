//! The keys in the head of a document: their names and allowed values. A wrong value is left out and becomes a
//! complaint; the caller decides whether that is a warning or an error.

use std::collections::HashMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::{Map, Value};
use thiserror::Error;

use super::write::exact;
use crate::core::handoff::{Consume, Head, Kind, Occasion, Priority};
use crate::core::named::Named;
use crate::core::time::Timestamp;

/// Keys that hold one text.
pub(super) const TEXTS: [&str; 14] = [
    "id",
    "kind",
    "type",
    "channel",
    "session_id",
    "created_at",
    "expires_at",
    "consume",
    "priority",
    "goal",
    "next_step",
    "git_ref",
    "working_dir",
    "source_id",
];
/// Keys that hold a list of texts.
pub(super) const LISTS: [&str; 4] = ["tags", "specs", "files", "files_changed"];
/// Key names of earlier writers.
const ALIASES: [(&str, &str); 4] = [
    ("branch", "git_ref"),
    ("working_directory", "working_dir"),
    ("agent_session_id", "session_id"),
    ("timestamp", "created_at"),
];

/// The canonical name of a key.
pub(super) fn canonical(key: &str) -> &str {
    ALIASES.iter().find(|(alias, _)| *alias == key).map_or(key, |(_, name)| name)
}

/// A value that does not fit its key.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Complaint {
    #[error("{key} is {found}, where {wanted} belongs")]
    Type { key: String, found: &'static str, wanted: &'static str },
    /// The value is not one of the fixed names.
    #[error("{key} is {found:?}, which is unknown; write {wanted}")]
    Name { key: &'static str, found: String, wanted: &'static str },
    #[error("{key} is {found:?}, which is no time; write it like 2026-01-31T12:00:00Z")]
    Time { key: String, found: String },
    #[error("{key} has {found} as item {number}, where a text belongs")]
    Item { key: String, number: usize, found: &'static str },
}

/// The pairs of a map, in document order. The last value of a repeated key wins, in the place of the first.
#[derive(Default)]
pub(super) struct Entries {
    pub(super) pairs: Vec<(String, Value)>,
    /// The first key that occurs twice.
    pub(super) repeated: Option<String>,
}

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Entries, D::Error> {
        struct EntriesVisitor;

        impl<'de> Visitor<'de> for EntriesVisitor {
            type Value = Entries;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("keys and their values")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries, A::Error> {
                let mut entries = Entries::default();
                let mut places = HashMap::new();
                while let Some((key, value)) = map.next_entry::<String, Value>()? {
                    if let Some(&place) = places.get(&key) {
                        let pair: &mut (String, Value) = &mut entries.pairs[place];
                        pair.1 = value;
                        entries.repeated.get_or_insert(key);
                        continue;
                    }
                    places.insert(key.clone(), entries.pairs.len());
                    entries.pairs.push((key, value));
                }
                Ok(entries)
            }
        }

        deserializer.deserialize_map(EntriesVisitor)
    }
}

/// Builds a head from pairs, with a complaint for every value that does not fit.
pub(super) fn head_of(pairs: Vec<(String, Value)>) -> (Head, Vec<Complaint>) {
    let mut head = Head::default();
    let mut complaints = Vec::new();
    let is_known = |key: &str| TEXTS.contains(&key) || LISTS.contains(&key);
    let (known, rest): (Vec<_>, Vec<_>) = pairs.into_iter().partition(|(key, _)| is_known(key));
    for (key, value) in known {
        set(&mut head, &key, &key, value, &mut complaints);
    }
    for (key, value) in rest {
        let name = canonical(&key);
        // An alias beside its canonical key counts as an unknown key, so that rewriting the document loses nothing.
        if name == key || is_set(&head, name) {
            head.other.push((key, value));
        } else {
            set(&mut head, name, &key, value, &mut complaints);
        }
    }
    (head, complaints)
}

fn is_set(head: &Head, name: &str) -> bool {
    texts(head).iter().any(|(key, _)| *key == name)
}

/// Sets the field `name` from the value of `key`.
fn set(head: &mut Head, name: &str, key: &str, value: Value, complaints: &mut Vec<Complaint>) {
    if LISTS.contains(&name) {
        let items = list(key, value, complaints);
        match name {
            "tags" => head.tags = items,
            "specs" => head.specs = items,
            "files" => head.files = items,
            _ => head.files_changed = items,
        }
        return;
    }
    let text = match value {
        Value::Null => return,
        Value::String(text) => text,
        other => {
            let (key, found) = (key.to_owned(), kind_of(&other));
            complaints.push(Complaint::Type { key, found, wanted: "a text" });
            return;
        }
    };
    let mut unknown = |key, found, wanted| complaints.push(Complaint::Name { key, found, wanted });
    match name {
        "id" => head.id = Some(text),
        "type" => head.occasion = Some(Occasion::from(text)),
        "channel" => head.channel = Some(text),
        "session_id" => head.session_id = Some(text),
        "goal" => head.goal = Some(text),
        "next_step" => head.next_step = Some(text),
        "git_ref" => head.git_ref = Some(text),
        "working_dir" => head.working_dir = Some(text),
        "source_id" => head.source_id = Some(text),
        "kind" => match Kind::parse(&text) {
            Some(kind) => head.kind = kind,
            None => unknown("kind", text, "session or task"),
        },
        "consume" => match Consume::parse(&text) {
            Some(consume) => head.consume = Some(consume),
            None => unknown("consume", text, "once or sticky"),
        },
        "priority" => match Priority::parse(&text) {
            Some(priority) => head.priority = priority,
            None => unknown("priority", text, "high, medium or low"),
        },
        _ => {
            let time = Timestamp::parse(&text);
            if time.is_none() {
                complaints.push(Complaint::Time { key: key.to_owned(), found: text });
            } else if name == "created_at" {
                head.created_at = time;
            } else {
                head.expires_at = time;
            }
        }
    }
}

fn list(key: &str, value: Value, complaints: &mut Vec<Complaint>) -> Vec<String> {
    let items = match value {
        Value::Null => return Vec::new(),
        Value::Array(items) => items,
        other => {
            let (key, found) = (key.to_owned(), kind_of(&other));
            complaints.push(Complaint::Type { key, found, wanted: "a list of texts" });
            return Vec::new();
        }
    };
    let mut texts = Vec::with_capacity(items.len());
    for (n, item) in items.into_iter().enumerate() {
        match item {
            Value::String(text) => texts.push(text),
            other => complaints.push(Complaint::Item {
                key: key.to_owned(),
                number: n + 1,
                found: kind_of(&other),
            }),
        }
    }
    texts
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "a yes or no",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a map",
    }
}

/// The text fields that are present, with their keys, in written order.
pub(super) fn texts(head: &Head) -> Vec<(&'static str, String)> {
    let written = [
        head.id.clone(),
        Some(head.kind.to_string()),
        head.occasion.as_ref().map(ToString::to_string),
        head.channel.clone(),
        head.session_id.clone(),
        head.created_at.map(exact),
        head.expires_at.map(exact),
        head.consume.map(|consume| consume.to_string()),
        Some(head.priority.to_string()),
        head.goal.clone(),
        head.next_step.clone(),
        head.git_ref.clone(),
        head.working_dir.clone(),
        head.source_id.clone(),
    ];
    TEXTS.into_iter().zip(written).filter_map(|(key, text)| Some((key, text?))).collect()
}

/// The list fields with their keys, in written order.
pub(super) fn lists(head: &Head) -> [(&'static str, &[String]); 4] {
    let [tags, specs, files, changed] = LISTS;
    [(tags, &head.tags), (specs, &head.specs), (files, &head.files), (changed, &head.files_changed)]
}

/// A head as JSON: the keys of the front matter, including empty lists.
pub fn to_json(head: &Head) -> Value {
    let mut json: Map<String, Value> = head.other.iter().cloned().collect();
    for (key, text) in texts(head) {
        json.insert(key.to_owned(), Value::from(text));
    }
    for (key, items) in lists(head) {
        json.insert(key.to_owned(), Value::from(items));
    }
    Value::Object(json)
}
