//! A handoff's document: YAML front matter and markdown. Reads what any of the known writers left, writes one form only,
//! and takes what people write by hand.

mod comments;
mod header;
mod input;
mod read;
mod write;

pub use header::{Complaint, to_json};
pub use input::{Incomplete, Input, InputError, check_complete, input};
pub use read::{NotText, Read, read};
pub(crate) use write::quote;
pub use write::{exact, write};

#[cfg(test)]
mod input_tests;
#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod tests;
