//! A refusal: why a session did not get its context, and what a person or a script can do.

use std::io;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::hosts::opencode::{AddressError, ServerError};
use crate::store::state::StateError;
use crate::workspace::AppError;

#[derive(Debug, Error)]
pub enum NotDelivered {
    #[error("{0} is a child session: its parent has the context")]
    Child(String),
    #[error(
        "an undo is pending in {0}, and any message would make it final; redo it or send a prompt first"
    )]
    Undo(String),
    #[error(
        "{0} is busy, and the model would answer the context; add --wait to wait until it is idle"
    )]
    Busy(String),
    #[error("{0} already has its context")]
    Has(String),
    #[error("{0} already had a prompt")]
    UnderWay(String),
    #[error("another process is giving {0} its context")]
    Taken(String),
    #[error("context is switched off by {0}")]
    Off(String),
    /// It is unknown which notes may be sent.
    #[error("no context is sent, because the settings cannot be read: {0}")]
    Closed(String),
    #[error("there is nothing to deliver: {0}")]
    Nothing(String),
    /// There may be notes, but reading them took too long.
    #[error("the notes are not ready: {0}; try again in a moment")]
    Unready(String),
    /// The session uses an agent or a model that the server does not have.
    #[error(
        "{session} uses the {kind} {name:?}, which the server does not have, so a message would make its next prompt \
        fail; choose another {kind} in the session"
    )]
    Unknown { session: String, kind: &'static str, name: String },
    #[error("kgctx crashed; please report it")]
    Fault,
    #[error(
        "no server is set; add --server http://127.0.0.1:4096, or list one in `servers` in your config.toml"
    )]
    NoServer,
    #[error("cannot wait for the server: {0}")]
    Runtime(io::Error),
    #[error(transparent)]
    Address(#[from] AddressError),
    #[error(transparent)]
    Server(#[from] ServerError),
    #[error("{0}; kgctx delivers nothing without it, because it might deliver twice")]
    State(#[from] StateError),
    #[error(transparent)]
    App(#[from] AppError),
    #[error("{}", .0.message)]
    ByService(ServiceRefusal),
}

/// A refusal of the service, as sent over the socket.
#[derive(Debug, Serialize, Deserialize)]
pub struct ServiceRefusal {
    kind: Refusal,
    is_transient: bool,
    message: String,
}

impl From<NotDelivered> for ServiceRefusal {
    fn from(refusal: NotDelivered) -> ServiceRefusal {
        let (kind, is_transient) = (refusal.kind(), refusal.is_transient());
        ServiceRefusal { kind, is_transient, message: refusal.to_string() }
    }
}

/// The kind of a refusal, which determines the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Refusal {
    /// Not an error: contexts are switched off.
    Fine,
    /// The session cannot get a context, at least not now.
    No,
    Usage,
    /// A requirement is missing.
    Unavailable,
}

impl NotDelivered {
    /// Whether a retry can succeed soon.
    pub fn is_transient(&self) -> bool {
        matches!(
            self,
            NotDelivered::Busy(_)
                | NotDelivered::Taken(_)
                | NotDelivered::Unready(_)
                | NotDelivered::ByService(ServiceRefusal { is_transient: true, .. })
        )
    }

    pub fn kind(&self) -> Refusal {
        match self {
            NotDelivered::ByService(refusal) => refusal.kind,
            NotDelivered::Off(_) => Refusal::Fine,
            NotDelivered::Child(_)
            | NotDelivered::Undo(_)
            | NotDelivered::Busy(_)
            | NotDelivered::Has(_)
            | NotDelivered::UnderWay(_)
            | NotDelivered::Taken(_)
            | NotDelivered::Nothing(_)
            | NotDelivered::Unknown { .. }
            | NotDelivered::Server(ServerError::NotFound { .. }) => Refusal::No,
            NotDelivered::NoServer
            | NotDelivered::Closed(_)
            | NotDelivered::Address(_)
            | NotDelivered::Server(ServerError::NoSessionId { .. }) => Refusal::Usage,
            _ => Refusal::Unavailable,
        }
    }
}
