//! Writes a document. Every text is quoted, so that no value can be taken for something else than a text.

use std::fmt::Write;

use serde_json::Value;

use super::header;
use crate::core::handoff::Document;
use crate::core::time::Timestamp;

/// Writes a document: what is read from it is what it was, to the byte.
pub fn write(document: &Document) -> String {
    let mut text = String::from("---\n");
    for (key, value) in header::texts(&document.head) {
        let _ = writeln!(text, "{key}: {}", quote(&value));
    }
    for (key, items) in header::lists(&document.head) {
        if !items.is_empty() {
            let _ = writeln!(text, "{key}:");
        }
        for item in items {
            let _ = writeln!(text, "  - {}", quote(item));
        }
    }
    for (key, value) in &document.head.other {
        let _ = writeln!(text, "{}: {}", quote(key), flow(value));
    }
    text.push_str("---\n");
    text.push_str(&document.body);
    text
}

/// A point in time, to the nanosecond where it has one: of two handoffs within a second, one is newer.
pub fn exact(time: Timestamp) -> String {
    match jiff::Timestamp::from_nanosecond(i128::from(time.0)) {
        Ok(instant) => instant.to_string(),
        Err(_) => time.to_string(),
    }
}

/// A text between double quotes, as YAML reads it back from one line.
pub(crate) fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            // YAML calls these line breaks, or does not allow them as they are.
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
