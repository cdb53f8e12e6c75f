//! A handoff that another program keeps in a file of its own, before anybody has read what stands in it.

use std::path::PathBuf;

use crate::core::time::Timestamp;

/// A handoff's file, as it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignHandoff {
    /// The session that left it, by the name of its folder.
    pub session: String,
    /// Where it lies.
    pub path: PathBuf,
    /// What stands in it.
    pub bytes: Vec<u8>,
    /// When the file was last written.
    pub modified: Timestamp,
}
