//! The service: one process per user that watches the vaults, follows OpenCode's servers, and answers for processes that live only
//! for one question.

mod bridged;
mod check;
mod client;
mod follower;
#[cfg(unix)]
pub mod instance;
mod protocol;
mod run;
mod status;

pub use check::check;
pub use client::{deliver, hook, status};
pub use run::{ServeError, Serving, serve};
pub use status::{ServerStatus, Status};
