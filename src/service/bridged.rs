//! Folders and sessions with a bridge. The service leaves them to it, because only a bridge can hold a prompt back.

use std::collections::HashSet;
use std::sync::Mutex;

/// Beyond this, all are forgotten and learned again.
const MAX_REMEMBERED: usize = 10_000;

/// Folders and sessions that a bridge has asked about.
#[derive(Debug, Default)]
pub(super) struct Bridged {
    names: Mutex<HashSet<String>>,
}

impl Bridged {
    pub(super) fn remember(&self, session: String, folder: String) {
        let mut names = self.names.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if names.len() > MAX_REMEMBERED {
            names.clear();
        }
        names.insert(session);
        names.insert(folder);
    }

    /// Whether a bridge has asked about this session or folder.
    pub(super) fn knows(&self, name: &str) -> bool {
        self.names.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).contains(name)
    }
}
