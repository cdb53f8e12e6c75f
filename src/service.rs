//! The service: one process per user that watches the vaults, follows OpenCode servers, and answers
//! for short-lived processes.

mod bridged;
mod check;
mod client;
mod follower;
pub mod instance;
mod protocol;
mod run;
mod status;
mod web;

pub use check::check;
pub use client::{deliver, hook, status};
pub use run::{ServeError, serve};
pub use status::Status;
pub use web::serve_web;
