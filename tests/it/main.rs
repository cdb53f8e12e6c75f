//! The program's tests: every module drives the library or the real binary on real files.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say where")]
#![expect(clippy::disallowed_methods, reason = "tests set up the outside world themselves")]
#![expect(clippy::print_stderr, reason = "a skipped test says so")]

mod adoption;
mod answers;
mod broken_index;
mod check;
mod check_links;
mod check_reports;
mod check_rules;
mod claude_code;
mod concurrency;
mod configuration;
mod counting;
mod crash;
mod doctor;
mod faults;
mod fuzz;
mod handoff_commands;
mod handoff_document;
mod handoff_input;
mod handoff_lab;
mod handoff_order;
mod handoff_pickup;
mod handoff_project;
mod handoff_prune;
mod handoff_races;
mod handoff_start;
mod handoff_store;
mod handoff_terminal;
mod handoff_transfer;
mod hook;
mod hostile_text;
mod identity;
mod incremental;
mod injection;
mod install;
mod install_claude;
mod law;
mod maenifold;
mod maenifold_database;
#[path = "../support/maenifold_db.rs"]
mod maenifold_db;
mod maenifold_memory;
mod odd_files;
mod opencode;
mod page;
mod plain_text;
mod secrets;
mod service;
mod snapshot;
mod stability;
mod stand_in;
mod support;
mod texts;
mod tidy;
mod tokens;
#[path = "../support/vault_generator.rs"]
mod vault_generator;
mod watching;
