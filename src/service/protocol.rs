//! The messages on the service's socket: one question, one reply, as JSON, ended by closing. Both sides must be of the same version;
//! a caller that meets another one does the work itself.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::app::deliver::ServiceRefusal;
use crate::app::deliver::http::{Delivered, ServerDelivery};
use crate::hosts::opencode::BridgeReply;
use crate::service::status::Status;
use crate::system::process::identity::Process;

/// The version of the program, and of this protocol.
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What a process asks of the service.
#[derive(Serialize, Deserialize)]
pub(super) struct Call {
    pub(super) version: String,
    /// How long the caller waits.
    pub(super) patience_ms: u64,
    /// The caller's environment.
    pub(super) environment: BTreeMap<String, String>,
    /// The host's process.
    pub(super) host: Option<Process>,
    pub(super) question: Question,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Question {
    /// A question of the bridge inside of OpenCode, as it sent it.
    Hook(String),
    /// Deliver to a session of a server.
    Deliver {
        server: String,
        request: ServerDelivery,
    },
    Status,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Reply {
    Hook(BridgeReply),
    Delivered(Result<Box<Delivered>, ServiceRefusal>),
    Status(Status),
    /// The service is of another version.
    Other(String),
}
