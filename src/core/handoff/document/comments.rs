//! The header of HTML comments that an earlier handoff tool wrote: `<!-- HANDOFF-ID: … -->` and so on.

use serde_json::Value;

/// Splits a text into the comments, under our key names, and the rest; `None` if the first comment is not an id.
pub(super) fn split(text: &str) -> Option<(Vec<(String, Value)>, &str)> {
    let mut pairs: Vec<(String, Value)> = Vec::new();
    let mut rest = text;
    for line in text.split_inclusive('\n') {
        let Some((key, value)) = pair(line) else { break };
        rest = &rest[line.len()..];
        if !pairs.iter().any(|(earlier, _)| *earlier == key) {
            pairs.push((key, value));
        }
    }
    (pairs.first()?.0 == "id").then_some((pairs, rest))
}

fn pair(line: &str) -> Option<(String, Value)> {
    let (name, value) =
        line.trim_end().strip_prefix("<!--")?.strip_suffix("-->")?.trim().split_once(':')?;
    let is_name = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
    if name.is_empty() || !name.chars().all(is_name) {
        return None;
    }
    let key = match name {
        "HANDOFF-ID" => "id".to_owned(),
        "SESSION" => "session_id".to_owned(),
        "CREATED" => "created_at".to_owned(),
        _ => name.to_ascii_lowercase().replace('-', "_"),
    };
    Some((key, Value::from(value.trim())))
}
