//! How the service is.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use crate::core::time::Timestamp;

/// How the service is, for people and scripts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// Its version.
    pub version: String,
    /// Its process.
    pub pid: u32,
    /// Since when it runs.
    pub since: Timestamp,
    /// How many sets of vaults it watches.
    pub watched: usize,
    /// How many questions it has answered.
    pub answered: u64,
    /// The servers that it follows.
    pub servers: Vec<ServerStatus>,
    /// Where its log is.
    pub log: String,
}

/// How a server is followed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerStatus {
    /// Its address.
    pub address: String,
    /// Whether its events are being heard.
    pub connected: bool,
    /// How many sessions were given their context.
    pub delivered: u64,
    /// What went wrong last.
    pub error: Option<String>,
}

/// What is counted while the service runs.
#[derive(Debug, Default)]
pub(super) struct Counts {
    answered: AtomicU64,
    servers: Mutex<BTreeMap<String, ServerStatus>>,
}

impl Counts {
    pub(super) fn answered(&self) -> u64 {
        self.answered.load(Ordering::Relaxed)
    }

    pub(super) fn count_answer(&self) {
        self.answered.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes something about a server.
    pub(super) fn note(&self, address: &str, note: impl FnOnce(&mut ServerStatus)) {
        let mut servers = self.servers.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let status = servers.entry(address.to_owned()).or_default();
        status.address = address.to_owned();
        note(status);
    }

    pub(super) fn servers(&self) -> Vec<ServerStatus> {
        let servers = self.servers.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        servers.values().cloned().collect()
    }
}
