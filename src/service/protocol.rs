//! The messages on the service's socket: one question and one reply as JSON, each ended by closing
//! that direction. Both sides must have the same version; with another version, the caller does the
//! work itself.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::app::deliver::ServiceRefusal;
use crate::app::deliver::http::{Delivered, ServerDelivery};
use crate::hosts::opencode::BridgeReply;
use crate::service::status::Status;
use crate::system::process::identity::Process;

/// The version of the program, and of this protocol.
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A question with its caller's data.
#[derive(Serialize, Deserialize)]
pub(super) struct Call {
    pub(super) version: String,
    /// How long the caller waits.
    pub(super) patience_ms: u64,
    pub(super) environment: BTreeMap<String, String>,
    pub(super) host: Option<Process>,
    pub(super) question: ServiceQuestion,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(windows, expect(clippy::large_enum_variant, reason = "a path is a little larger there"))]
pub(super) enum ServiceQuestion {
    /// A question of the bridge in OpenCode, as sent.
    Hook(String),
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
    /// The service has another version.
    Other(String),
}
