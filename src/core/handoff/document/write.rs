//! Writes a document. Quotes every text, so that YAML cannot read it as another type.

use std::fmt::Write;

use serde::{Serialize, Serializer};
use serde_json::Value;

use super::header;
use crate::core::handoff::Document;
use crate::core::time::Timestamp;

/// Writes a document. Reading the result gives the same document, byte for byte.
pub fn write(document: &Document) -> String {
    let mut text = String::from("---\n");
    let fields = header::fields(&document.head);
    for key in header::TEXTS.iter().chain(&header::LISTS) {
        match fields.get(*key) {
            Some(Value::Array(items)) if !items.is_empty() => {
                let _ = writeln!(text, "{key}:");
                for item in items {
                    let _ = writeln!(text, "  - {}", flow(item));
                }
            }
            Some(Value::String(value)) => drop(writeln!(text, "{key}: {}", quote(value))),
            _ => {}
        }
    }
    for (key, value) in &document.head.other {
        let _ = writeln!(text, "{}: {}", quote(key), flow(value));
    }
    text.push_str("---\n");
    text.push_str(&document.body);
    text
}

/// A time with its fraction of a second: it orders handoffs of the same second.
pub fn exact(time: Timestamp) -> String {
    match jiff::Timestamp::from_nanosecond(i128::from(time.0)) {
        Ok(instant) => instant.to_string(),
        Err(_) => time.to_string(),
    }
}

/// Serializes a time, if there is one, with its fraction of a second.
pub(crate) fn exactly<S: Serializer>(time: &Option<Timestamp>, to: S) -> Result<S::Ok, S::Error> {
    time.map(exact).serialize(to)
}

/// A text in double quotes that YAML reads back from one line.
pub(crate) fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            // YAML treats these as line breaks, or forbids them unescaped.
            _ if c.is_control()
                || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}') =>
            {
                let _ = write!(quoted, "\\u{:04x}", u32::from(c));
            }
            _ => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Any value, on one line.
fn flow(value: &Value) -> String {
    match value {
        Value::String(text) => quote(text),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", "))
        }
        Value::Object(map) => {
            let pairs = map.iter().map(|(key, value)| format!("{}: {}", quote(key), flow(value)));
            format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}
