//! The hosts tier: the real OpenCode, Claude Code, Copilot CLI, Amplifier, browser and npm, which `.ci/hosts` installs.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say where")]
#![expect(clippy::disallowed_methods, reason = "tests set up the outside world themselves")]
#![expect(clippy::print_stderr, reason = "a skipped test says so")]

#[path = "../support/lib.rs"]
mod support;

mod amplifier;
mod browser;
mod claude_code;
mod copilot;
mod opencode;
mod release;
mod web;
mod window;
mod wrap;
