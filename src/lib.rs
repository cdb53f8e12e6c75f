//! kgctx: the part of a project's knowledge graph that a coding session needs, from plain markdown notes.
//!
//! One direction, one type per arrow:
//!
//! ```text
//! folder ─► Project ─► Settings ─► Vault* ─► FolderListing* ─► Reading* ─► Index ─► Answer ─► text | JSON
//! ```
//!
//! ```text
//! cli ──► service ──► app ──► engine ───┐      an arrow means "may name"; nothing points back up
//!            │         └────► adapters ─┴─► domain
//!            └──────────────► adapters
//! ```
//!
//! `ARCHITECTURE.md` holds the map, the invariants and the glossary; `tests/it/tidy.rs` holds the rule above.

pub mod domain;

pub mod engine;

pub mod adapters;

pub mod app;

#[cfg(unix)]
pub mod service;

pub mod cli;
