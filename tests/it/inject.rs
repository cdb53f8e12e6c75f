//! `kgctx inject` and `kgctx explain`: content, budget, failures, and the HTML page.

mod budget;
mod command;
mod failures;
mod page;
mod reproducible;
