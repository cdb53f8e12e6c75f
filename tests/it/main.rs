//! The fast tier: the library and the real binary on real files. Needs nothing but Rust and git.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say where")]
#![expect(clippy::disallowed_methods, reason = "tests set up the outside world themselves")]
#![expect(clippy::print_stderr, reason = "a skipped test says so")]

#[path = "../sized/lib.rs"]
mod sized;
#[path = "../support/lib.rs"]
mod support;

mod check;
mod delivery;
mod docs;
mod folding;
mod handoff;
mod index;
mod init;
mod inject;
mod install;
mod maenifold;
mod monitor;
mod progress;
mod release;
mod replay;
mod rotation;
mod tidy;
mod web;
mod workspace;
mod wrap;

/// The part of their full size that sized tests have here.
const ONE_IN: usize = 10;
