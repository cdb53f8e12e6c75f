//! The status of the service.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;

use serde::{Deserialize, Serialize};

use crate::core::time::Timestamp;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    pub version: String,
    pub pid: u32,
    pub since: Timestamp,
    /// The number of watched sets of vaults.
    pub watched: usize,
    pub answered: u64,
    pub servers: Vec<ServerStatus>,
    pub log: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerStatus {
    pub address: String,
    pub connected: bool,
    /// The number of sessions that got their context.
    pub delivered: u64,
    pub error: Option<String>,
}

/// Counters of a running service.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) answered: AtomicU64,
    servers: Mutex<BTreeMap<String, ServerStatus>>,
}

impl Counts {
    /// Updates the status of a server.
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
