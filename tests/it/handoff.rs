//! Handoffs: the `kgctx handoff` commands, the store, and what a session start is given.

mod commands;
mod create;
mod document;
mod kills;
mod order;
mod pickup;
mod prune;
mod start;
mod store;
mod terminal;
mod transfer;
