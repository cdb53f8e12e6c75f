//! The registry of channels: `channels.json` beside the user's configuration, a map of folders to
//! names, either at the top level or under `registry`. Rules of the configuration are added to it.

use std::path::Path;

use serde_json::{Map, Value};

use crate::core::settings::{ChannelRule, Origin, Setting};
use crate::system::directories::Directories;
use crate::system::plain_file;
use crate::workspace::settings::{LoadedSettings, SettingsError};

/// A longer registry is an error.
const MAX_BYTES: u64 = 1024 * 1024;

/// Adds the registry's rules. An invalid registry adds none.
pub(super) fn apply(loaded: &mut LoadedSettings, directories: &Directories) {
    let file = directories.config.join("channels.json");
    let text = match plain_file::read_text(&file, MAX_BYTES) {
        Ok(Some(text)) => text,
        Ok(None) => return,
        Err(cause) => return loaded.faults.push(SettingsError::unreadable(&file, &cause)),
    };
    match rules(&text) {
        Ok(rules) => loaded.settings.channels.extend(
            rules
                .into_iter()
                .map(|value| Setting { value, origin: Origin::UserFile(file.clone()) }),
        ),
        Err(reason) => loaded.faults.push(SettingsError(format!(
            "{}: {reason}; write a JSON object that maps folders to channel names",
            file.display()
        ))),
    }
}

fn rules(text: &str) -> Result<Vec<ChannelRule>, String> {
    let registry: Map<String, Value> =
        serde_json::from_str(text).map_err(|error| error.to_string())?;
    let map = match registry.get("registry") {
        Some(Value::Object(inner)) => inner,
        _ => &registry,
    };
    map.iter()
        .map(|(path, channel)| match channel {
            Value::String(channel) => {
                let path =
                    dunce::canonicalize(path).unwrap_or_else(|_| Path::new(path).to_path_buf());
                Ok(ChannelRule { path, channel: channel.clone() })
            }
            _ => Err(format!("the channel of {path:?} is not text")),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_1_23_a_registry_is_json_of_any_form() {
        // A-1.23: minified, reordered, wrapped or bare.
        let rule =
            |path: &str, channel: &str| ChannelRule { path: path.into(), channel: channel.into() };
        let both = vec![rule("/none/a", "one"), rule("/none/b", "two")];
        for text in [
            r#"{"/none/a":"one","/none/b":"two"}"#,
            "{\n  \"/none/b\": \"two\",\n  \"/none/a\": \"one\"\n}\n",
            r#"{"version":1,"registry":{"/none/b":"two","/none/a":"one"}}"#,
        ] {
            let mut rules = rules(text).unwrap();
            rules.sort_by(|a, b| a.path.cmp(&b.path));
            assert_eq!(rules, both, "{text}");
        }
        for broken in ["", "[]", "{", "{\"/a\":1}", "{\"registry\":{\"/a\":null}}"] {
            assert!(rules(broken).is_err(), "{broken}");
        }
    }
}
