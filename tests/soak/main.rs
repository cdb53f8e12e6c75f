//! The soak tier: the sized tests at full size, and notes of real projects.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say where")]
#![expect(clippy::disallowed_methods, reason = "tests set up the outside world themselves")]
#![expect(clippy::print_stderr, reason = "a skipped test says so")]

#[path = "../sized/lib.rs"]
mod sized;
#[path = "../support/lib.rs"]
mod support;

mod check_links;
mod link_counts;

/// The part of their full size that sized tests have here.
const ONE_IN: usize = 1;
