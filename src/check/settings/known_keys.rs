//! Reads a TOML table without its unexpected keys, and reports those.

use std::ops::Range;

use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// An unexpected key, and the expected ones.
pub(super) struct UnexpectedKey {
    pub(super) span: Range<usize>,
    pub(super) key: String,
    pub(super) known: Vec<String>,
}

/// Reads a table. Removes unexpected keys one by one, because only the target type defines which
/// keys are valid.
pub(super) fn read<T: for<'de> Deserialize<'de>>(
    table: &mut DeTable<'_>,
    span: &Range<usize>,
    unexpected: &mut Vec<UnexpectedKey>,
) -> Result<T, toml::de::Error> {
    loop {
        let attempt = Spanned::new(span.clone(), table.clone());
        let error = match T::deserialize(toml::de::Deserializer::from(attempt)) {
            Ok(read) => return Ok(read),
            Err(error) => error,
        };
        let message = error.message();
        // In a table whose keys are an enum, an unexpected key is an unknown variant.
        let is_unexpected =
            ["unknown field `", "unknown variant `"].iter().any(|start| message.starts_with(start));
        let mut names = message.split('`').skip(1).step_by(2).map(str::to_owned);
        let Some((span, key)) = error.span().zip(names.next()).filter(|_| is_unexpected) else {
            return Err(error);
        };
        if !remove(table, &span) {
            return Err(error);
        }
        unexpected.push(UnexpectedKey { span, key, known: names.collect() });
    }
}

/// Removes the key at a position. Returns whether it was found.
fn remove(table: &mut DeTable<'_>, at: &Range<usize>) -> bool {
    let found = table.keys().find(|key| key.span() == *at).cloned();
    match found {
        Some(key) => table.remove(&key).is_some(),
        None => table.iter_mut().any(|(_, value)| remove_from(value.get_mut(), at)),
    }
}

fn remove_from(value: &mut DeValue<'_>, at: &Range<usize>) -> bool {
    match value {
        DeValue::Table(table) => remove(table, at),
        DeValue::Array(items) => items.iter_mut().any(|item| remove_from(item.get_mut(), at)),
        _ => false,
    }
}

/// Calls `found` with the position of each key and of each list item.
pub(super) fn places(
    table: &DeTable<'_>,
    above: &str,
    found: &mut impl FnMut(String, Range<usize>),
) {
    for (key, value) in table {
        let path = format!("{above}{}", key.get_ref());
        found(path.clone(), key.span());
        places_in(value.get_ref(), &path, found);
    }
}

fn places_in(value: &DeValue<'_>, path: &str, found: &mut impl FnMut(String, Range<usize>)) {
    match value {
        DeValue::Table(table) => places(table, &format!("{path}."), found),
        DeValue::Array(items) => {
            for (n, item) in items.iter().enumerate() {
                let path = format!("{path}.{n}");
                found(path.clone(), item.span());
                places_in(item.get_ref(), &path, found);
            }
        }
        _ => {}
    }
}
