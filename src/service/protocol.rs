//! What is said on the service's socket: one question, one reply, JSON, ended by closing. Both sides must be of the same
//! version: who meets another one does the work itself.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::app::deliver::http::{Delivered, ServerDelivery};
use crate::app::deliver::{NotDelivered, Refusal};
use crate::hosts::opencode::BridgeReply;
use crate::service::status::Status;
use crate::system::process::identity::Process;

/// This program's version, and so that of the agreement.
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What a process asks of the service.
#[derive(Serialize, Deserialize)]
pub(super) struct Call {
    /// The asking program's version.
    pub(super) version: String,
    /// How long the asking program waits, in milliseconds.
    pub(super) patience_ms: u64,
    /// The environment that counts.
    pub(super) environment: BTreeMap<String, String>,
    /// The process of the host that the question comes from.
    pub(super) host: Option<Process>,
    pub(super) question: Question,
}

/// What can be asked.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Question {
    /// What a bridge in OpenCode asks, as it sent it.
    Hook(String),
    /// That a session of a server is given its context.
    Deliver { server: String, request: ServerDelivery },
    /// How the service is.
    Status,
}

/// What the service says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Reply {
    Hook(BridgeReply),
    Delivered(Box<Delivered>),
    Refused {
        kind: Refusal,
        #[serde(rename = "is_transient")]
        is_transient: bool,
        message: String,
    },
    Status(Status),
    /// The service is of another version.
    Other(String),
}

impl From<Result<Delivered, NotDelivered>> for Reply {
    fn from(done: Result<Delivered, NotDelivered>) -> Reply {
        match done {
            Ok(delivered) => Reply::Delivered(Box::new(delivered)),
            Err(refusal) => Reply::Refused {
                kind: refusal.kind(),
                is_transient: refusal.is_transient(),
                message: refusal.to_string(),
            },
        }
    }
}
