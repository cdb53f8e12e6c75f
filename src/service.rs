//! The service: one process per user that watches the vaults, follows OpenCode servers, and answers
//! for short-lived processes.

#[cfg(unix)]
mod bridged;
mod check;
mod client;
#[cfg(unix)]
mod follower;
#[cfg(unix)]
pub mod instance;
#[cfg(not(unix))]
mod nowhere;
#[cfg(not(unix))]
use nowhere as instance;
mod protocol;
#[cfg(unix)]
mod run;
mod serving;
mod status;
mod web;

pub use check::check;
pub use client::{deliver, hook, status};
#[cfg(not(unix))]
pub use nowhere::serve;
#[cfg(unix)]
pub use run::serve;
pub use serving::{ServeError, Serving};
pub use status::Status;
pub use web::serve_web;
