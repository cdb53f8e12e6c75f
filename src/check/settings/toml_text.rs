//! Writes a parsed table as TOML, one key per line.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

pub(super) fn write(table: &DeTable<'_>) -> String {
    table.iter().map(|(key, value)| pair(key, value) + "\n").collect()
}

fn pair(key: &Spanned<toml::de::DeString<'_>>, value: &Spanned<DeValue<'_>>) -> String {
    format!("{} = {}", quoted(key.get_ref()), inline(value.get_ref()))
}

fn inline(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => quoted(text),
        DeValue::Integer(number) => {
            let sign = match number.radix() {
                2 => "0b",
                8 => "0o",
                16 => "0x",
                _ => "",
            };
            format!("{sign}{}", number.as_str())
        }
        DeValue::Float(number) => number.as_str().to_owned(),
        DeValue::Boolean(value) => value.to_string(),
        DeValue::Datetime(moment) => moment.to_string(),
        DeValue::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| inline(item.get_ref())).collect();
            format!("[{}]", items.join(", "))
        }
        DeValue::Table(table) => {
            let pairs: Vec<String> = table.iter().map(|(key, value)| pair(key, value)).collect();
            format!("{{{}}}", pairs.join(", "))
        }
    }
}

/// Quotes a text: TOML has JSON's escapes.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007F")
}
