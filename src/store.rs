//! kgctx's own data: the index, the state and the documents of handoffs.

#![expect(clippy::disallowed_methods, reason = "this room is behind the I/O fence")]

pub mod handoff_files;
pub mod index;
pub mod state;
pub mod unsaved_receipts;
