//! A refusal: why a session was not given its context, and what kind of no that is.

use std::io;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::hosts::opencode::{AddressError, ServerError};
use crate::store::state::StateError;
use crate::workspace::AppError;

/// Why nothing was delivered.
#[derive(Debug, Error)]
pub enum NotDelivered {
    /// A subagent's session.
    #[error(
        "{0} is a child session: it works for one that has the context, and would answer to it"
    )]
    Child(String),
    /// A message would make an undo final.
    #[error(
        "an undo is pending in {0}, which any message makes final; redo it or send a prompt first"
    )]
    Undo(String),
    /// The model is at work.
    #[error(
        "{0} is busy: the model would answer to the context; add --wait to wait until it is idle"
    )]
    Busy(String),
    /// It is there.
    #[error("{0} has its context already")]
    Has(String),
    /// It was under way before anybody looked.
    #[error("{0} was prompted before")]
    UnderWay(String),
    /// Somebody else is at it.
    #[error("another process is giving {0} its context")]
    Taken(String),
    /// Switched off.
    #[error("context is switched off by {0}")]
    Off(String),
    /// There are no notes.
    #[error("there is nothing to say: {0}")]
    Nothing(String),
    /// There may be notes, but they could not be read in time.
    #[error("the notes are not ready: {0}; try again in a moment")]
    Unready(String),
    /// The session names an agent or a model that the server does not have.
    #[error(
        "{session} uses the {kind} {name:?}, which the server does not have; a message would make its next prompt \
         fail: choose another {kind} in the session"
    )]
    Unknown {
        /// The session.
        session: String,
        /// `agent` or `model`.
        kind: &'static str,
        /// Its name.
        name: String,
    },
    /// A mistake in this program.
    #[error("a fault of this program ended it; please report it")]
    Fault,
    /// No server is named anywhere.
    #[error(
        "no server is named; add --server http://127.0.0.1:4096, or list one in `servers` of your config.toml"
    )]
    NoServer,
    /// The system is out of something.
    #[error("cannot wait for the server: {0}")]
    Runtime(io::Error),
    /// That is no address.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// The server did not do it.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// Whether it was given before cannot be known.
    #[error("{0}; without it nothing is delivered, since it might be delivered twice")]
    State(#[from] StateError),
    /// The context could not be made.
    #[error(transparent)]
    App(#[from] AppError),
    /// The service, which was asked to do it, says so.
    #[error("{message}")]
    ByService {
        /// What kind of no it is.
        kind: Refusal,
        /// Whether that passes.
        is_transient: bool,
        /// Why.
        message: String,
    },
}

/// What kind of no a person or a script has to deal with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Refusal {
    /// There is nothing wrong with that.
    Fine,
    /// The session cannot be given anything, or not now.
    No,
    /// What was asked for makes no sense.
    Usage,
    /// Something that is needed is not there.
    Unavailable,
}

impl NotDelivered {
    /// Whether it is worth asking again soon.
    pub fn is_transient(&self) -> bool {
        matches!(
            self,
            NotDelivered::Busy(_)
                | NotDelivered::Taken(_)
                | NotDelivered::Unready(_)
                | NotDelivered::ByService { is_transient: true, .. }
        )
    }

    /// What kind of no it is.
    pub fn kind(&self) -> Refusal {
        match self {
            NotDelivered::ByService { kind, .. } => *kind,
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
            | NotDelivered::Address(_)
            | NotDelivered::Server(ServerError::NoSessionId { .. }) => Refusal::Usage,
            NotDelivered::Server(_)
            | NotDelivered::Unready(_)
            | NotDelivered::Fault
            | NotDelivered::Runtime(_)
            | NotDelivered::State(_)
            | NotDelivered::App(_) => Refusal::Unavailable,
        }
    }
}
