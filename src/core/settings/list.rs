//! All effective settings, in the form that `kgctx config` prints.

use serde::Serialize;
use serde_json::{Value, json};

use crate::core::note::vault;
use crate::core::settings::{Origin, Setting, Settings};

/// A setting with its value, and its origin in words.
#[derive(Debug, Serialize)]
pub struct ListedSetting {
    pub key: String,
    pub value: Value,
    pub origin: String,
}

impl ListedSetting {
    pub(super) fn new<T: Serialize>(key: &str, setting: &Setting<T>) -> ListedSetting {
        ListedSetting::of(key.to_owned(), json!(setting.value), &setting.origin)
    }

    fn of(key: String, value: Value, origin: &Origin) -> ListedSetting {
        ListedSetting { key, value, origin: origin.to_string() }
    }
}

impl Settings {
    /// Every setting in table order, then channels and vaults.
    pub fn list(&self) -> Vec<ListedSetting> {
        let mut list = self.rows();
        list.extend(self.handoff.rows());
        list.push(ListedSetting::new("channel", &self.channel));
        list.extend(self.channels.iter().map(|rule| {
            let key = format!("channels.{}", rule.value.path.display());
            ListedSetting::of(key, json!(rule.value.channel), &rule.origin)
        }));
        list.extend(self.vaults.iter().map(|vault| {
            let key = format!("vault {}", vault::uri(&vault.value.name, ""));
            ListedSetting::of(key, json!(vault.value.path.to_string_lossy()), &vault.origin)
        }));
        list
    }
}
