//! What things are and what we decide: values and pure functions. No file, process, environment or clock.

pub mod context;
pub mod diagnosis;
pub mod extract;
pub mod handoff;
pub mod host;
pub mod installation;
pub mod monitor;
pub mod named;
pub mod note;
pub mod project;
pub mod quote;
pub mod relevance;
pub mod replay;
pub mod rotation;
pub mod search;
pub mod secrets;
pub mod session;
pub mod settings;
pub mod source;
pub mod text;
pub mod time;
pub mod time_limits;
pub mod tokens;
pub mod wrap;
