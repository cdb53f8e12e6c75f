//! kgctx: the part of a project's knowledge graph that a coding session needs, from plain markdown notes.
//!
//! ```text
//! cli ─► service ─► check ─► app ─► hosts ───┐                     an arrow means "may name", also further down;
//!                             └───► sources ─┴─► workspace ─► store ─► system ─► core     nothing points back up
//! ```
//!
//! `ARCHITECTURE.md` holds the map, the invariants and the glossary; `tests/it/tidy.rs` holds the rule above.

#![cfg_attr(unix, forbid(unsafe_code))]

#[cfg(not(any(unix, windows)))]
compile_error!("kgctx supports Unix systems and Windows only");

pub mod core;

pub mod system;

pub mod store;

pub mod workspace;

pub mod sources;

pub mod hosts;

pub mod app;

pub mod check;

pub mod replay;

pub mod service;

pub mod cli;
