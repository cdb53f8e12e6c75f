//! Reads a TOML table without its unexpected keys, and reports those.

use std::ops::Range;

use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Reads a table. Removes unexpected keys one by one, because only the target type defines which
/// keys are valid. Calls `unexpected` with the position of each, its name, and the valid ones.
pub(super) fn read<T: for<'de> Deserialize<'de>>(
    table: &mut DeTable<'_>,
    span: &Range<usize>,
    unexpected: &mut impl FnMut(Range<usize>, String, Vec<String>),
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
        match error.span().zip(names.next()) {
            Some((span, key)) if is_unexpected && remove(table, &span) => {
                unexpected(span, key, names.collect());
            }
            _ => return Err(error),
        }
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

/// Calls `found` with the path and the position of a key, and of each key and list item below it.
pub(super) fn places(
    path: String,
    span: Range<usize>,
    value: &DeValue<'_>,
    found: &mut impl FnMut(String, Range<usize>),
) {
    match value {
        DeValue::Table(table) => table.iter().for_each(|(key, value)| {
            places(format!("{path}.{}", key.get_ref()), key.span(), value.get_ref(), found);
        }),
        DeValue::Array(items) => items.iter().enumerate().for_each(|(n, item)| {
            places(format!("{path}.{n}"), item.span(), item.get_ref(), found);
        }),
        _ => {}
    }
    found(path, span);
}
