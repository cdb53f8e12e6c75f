//! What becomes of a service that is started: it listens, or an error says why it does not.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::hosts::opencode::AddressError;
use crate::workspace::AppError;

#[derive(Debug, Error)]
pub enum ServeError {
    #[error("kgctx serve is already running; `kgctx serve --status` shows more")]
    Running,
    #[error(
        "kgctx serve does not work on Windows yet; nothing needs it: hooks do their work themselves, and `kgctx serve --web` \
        shows the page"
    )]
    NotHere,
    #[error("cannot use {}: {cause}; check its permissions, and that its path is shorter than 100 characters", path.display())]
    File { path: PathBuf, cause: io::Error },
    #[error(transparent)]
    App(#[from] AppError),
    #[error(transparent)]
    Address(#[from] AddressError),
    #[error(
        "cannot listen on 127.0.0.1:{port}: {cause}; give another --port, or none for any that is free"
    )]
    Port { port: u16, cause: io::Error },
    #[error("the service cannot run: {0}")]
    Io(#[from] io::Error),
    #[error("cannot write the log {}: {cause}", path.display())]
    Log { path: PathBuf, cause: io::Error },
}

#[derive(Debug, Clone)]
pub struct Serving {
    pub socket: PathBuf,
    pub log: PathBuf,
    /// The addresses that it follows.
    pub servers: Vec<String>,
}
