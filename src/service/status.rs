//! The status of the service.

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

#[cfg(unix)]
impl Status {
    /// The status of a server, which begins with the first call. Servers are in the order of their
    /// addresses.
    pub(super) fn server(&mut self, address: &str) -> &mut ServerStatus {
        let known = self.servers.binary_search_by(|server| server.address.as_str().cmp(address));
        let place = known.unwrap_or_else(|place| {
            let new = ServerStatus { address: address.to_owned(), ..ServerStatus::default() };
            self.servers.insert(place, new);
            place
        });
        &mut self.servers[place]
    }
}
