//! Handoffs: the `kgctx handoff` commands, the store, and what a session start is given.

mod adopt;
mod audience;
mod commands;
mod create;
mod document;
mod import;
mod kills;
mod order;
mod pickup;
mod prune;
mod repair;
mod rest;
mod start;
mod store;
mod terminal;
mod transfer;
