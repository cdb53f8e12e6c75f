//! The keys in the head of a document: their names and allowed values. A wrong value is left out and becomes a
//! complaint; the caller decides whether that is a warning or an error.

use std::collections::HashMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::{Map, Value, json};

use crate::core::handoff::{Audience, Consume, Head, Kind, Priority};
use crate::core::named::Named;

/// Keys that hold one text.
pub(super) const TEXTS: [&str; 15] = [
    "id",
    "kind",
    "type",
    "channel",
    "session_id",
    "created_at",
    "expires_at",
    "consume",
    "audience",
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

/// A value that does not fit its key.
pub(super) struct Complaint {
    /// The canonical name of the key.
    pub(super) key: String,
    pub(super) text: String,
}

/// Builds a head from pairs, with a complaint for every value that does not fit.
pub(super) fn head_of(pairs: Vec<(String, Value)>) -> (Head, Vec<Complaint>) {
    let mut fields = Map::new();
    let mut other = Vec::new();
    let mut complaints = Vec::new();
    let is_known = |key: &str| TEXTS.contains(&key) || LISTS.contains(&key);
    let (known, rest): (Vec<_>, Vec<_>) = pairs.into_iter().partition(|(key, _)| is_known(key));
    for (key, value) in known.into_iter().chain(rest) {
        let name = canonical(&key);
        // An alias beside its canonical key counts as an unknown key, so that rewriting the document loses nothing.
        if !is_known(name) || fields.contains_key(name) {
            other.push((key, value));
        } else if let Some(value) = fitting(name, &key, value, &mut complaints) {
            fields.insert(name.to_owned(), value);
        }
    }
    let head = Head::deserialize(Value::Object(fields)).unwrap_or_else(|error| {
        let text = format!("the header cannot be read: {error}");
        complaints.push(Complaint { key: String::new(), text });
        Head::default()
    });
    (Head { other, ..head }, complaints)
}

/// The value of `key` as far as it fits the field `name`.
fn fitting(name: &str, key: &str, value: Value, complaints: &mut Vec<Complaint>) -> Option<Value> {
    let complain = |text: String| Complaint { key: name.to_owned(), text };
    let is_list = LISTS.contains(&name);
    let text = match value {
        Value::Null => return None,
        Value::Array(mut items) if is_list => {
            for (n, item) in items.iter().enumerate().filter(|(_, item)| !item.is_string()) {
                let (number, found) = (n + 1, kind_of(item));
                let text = format!("{key} has {found} as item {number}, not a text");
                complaints.push(complain(text));
            }
            items.retain(Value::is_string);
            return Some(Value::Array(items));
        }
        Value::String(text) if !is_list => {
            if Head::deserialize(&json!({ name: text })).is_ok() {
                return Some(Value::String(text));
            }
            let unknown = |names| format!("{key} is {text:?}, which is unknown; write {names}");
            match name {
                "kind" => unknown(Kind::names()),
                "consume" => unknown(Consume::names()),
                "audience" => unknown(Audience::names()),
                "priority" => unknown(Priority::names()),
                _ => format!(
                    "{key} is {text:?}, which is not a time; write it like 2026-01-31T12:00:00Z"
                ),
            }
        }
        other => {
            let wanted = if is_list { "a list of texts" } else { "a text" };
            format!("{key} is {}, not {wanted}", kind_of(&other))
        }
    };
    complaints.push(complain(text));
    None
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

/// The fields that have a value, by their keys.
pub(super) fn fields(head: &Head) -> Map<String, Value> {
    let Ok(Value::Object(mut fields)) = serde_json::to_value(head) else { return Map::new() };
    fields.retain(|_, value| !value.is_null());
    fields
}

/// A head as JSON: the keys of the front matter, including empty lists.
pub fn to_json(head: &Head) -> Value {
    Value::Object(head.other.iter().cloned().chain(fields(head)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_of_a_head_is_read_and_written() {
        let text = |key: &str| match key {
            "kind" => "task",
            "consume" => "sticky",
            "audience" => "any",
            "priority" => "high",
            "type" => "manual",
            key if key.ends_with("_at") => "2026-01-31T12:00:00Z",
            _ => "some text",
        };
        let texts = TEXTS.map(|key| (key.to_owned(), Value::from(text(key))));
        let lists = LISTS.map(|key| (key.to_owned(), Value::from(vec!["one", "two"])));
        let pairs: Vec<(String, Value)> = texts.into_iter().chain(lists).collect();
        let (head, complaints) = head_of(pairs.clone());
        assert!(complaints.is_empty());
        let written = fields(&head);
        for (key, value) in pairs {
            assert_eq!(written.get(&key), Some(&value), "{key}");
        }
    }
}
