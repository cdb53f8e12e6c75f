//! All effective settings, in the form that `kgctx config` prints.

use serde::Serialize;
use serde_json::{Value, json};

use crate::core::note::vault;
use crate::core::settings::{Origin, Setting, Settings};

/// What the committed file of a project may do to a setting.
#[derive(Debug, Clone, Copy, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ProjectMay {
    Set,
    /// Lower the user's value, or switch it off.
    Lower,
    #[default]
    Nothing,
}

/// A setting with its value, and its origin in words.
#[derive(Debug, Serialize)]
pub struct ListedSetting {
    pub key: String,
    pub value: Value,
    pub origin: String,
    /// What the setting is for; empty for a vault, a channel, or a setting that belongs to the one before it.
    pub about: &'static str,
    /// The environment variables that set it. The first one that is set counts.
    pub variables: &'static [&'static str],
    pub project: ProjectMay,
}

impl ListedSetting {
    pub(super) fn new(key: &str, value: impl Serialize, origin: &Origin) -> ListedSetting {
        ListedSetting {
            key: key.to_owned(),
            value: json!(value),
            origin: origin.to_string(),
            about: "",
            variables: &[],
            project: ProjectMay::default(),
        }
    }
}

impl Settings {
    /// Every setting in table order, then channels and vaults.
    pub fn list(&self) -> Vec<ListedSetting> {
        let mut list = self.rows();
        list.extend(self.handoff.rows());
        list.extend(self.monitor.rows());
        list.push(ListedSetting::new("channel", &self.channel.value, &self.channel.origin));
        list.extend(self.channels.iter().map(|Setting { value, origin }| {
            let key = format!("channels.{}", value.path.display());
            ListedSetting::new(&key, &value.channel, origin)
        }));
        list.extend(self.vaults.iter().map(|Setting { value, origin }| {
            let key = format!("vault {}", vault::uri(&value.name, ""));
            ListedSetting::new(&key, value.path.to_string_lossy(), origin)
        }));
        list
    }
}
