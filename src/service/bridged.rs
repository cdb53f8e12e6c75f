//! Folders and sessions with a bridge. The service leaves them to the bridge, because only a bridge
//! can hold back a prompt.

use std::collections::HashSet;
use std::sync::Mutex;

/// Above this number, all are forgotten and learned again.
const MAX_REMEMBERED: usize = 10_000;

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

    pub(super) fn knows(&self, name: &str) -> bool {
        self.names.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).contains(name)
    }
}
