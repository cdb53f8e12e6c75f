//! Sanitizes text for its readers: models, terminals, shells, pages and reports.

pub(crate) mod attributes;
pub(crate) mod bytes;
mod characters;
pub mod for_html;
pub mod for_model;
pub mod for_report;
pub mod for_shell;
pub mod for_terminal;
pub mod nfc;
pub mod number;
pub mod slashes;
pub(crate) mod width;
pub(crate) mod words;
