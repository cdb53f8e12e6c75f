//! `kgctx inject` and `kgctx explain`: content, failures, masked secrets, and the HTML page.

mod command;
mod failures;
mod notes;
mod page;
mod secrets;
