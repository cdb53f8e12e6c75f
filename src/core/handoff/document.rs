//! A handoff's document: YAML front matter and markdown. Reads the output of every known writer and the input of
//! people; writes a single form.

mod comments;
mod header;
mod input;
mod read;
mod write;

pub use header::to_json;
pub use input::{Incomplete, Input, InputError, check_complete, input};
pub use read::{NotText, Read, read};
pub use write::{exact, write};
pub(crate) use write::{exactly, quote};

#[cfg(test)]
mod input_tests;
#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod tests;
