//! Holds a repository's notes, handoffs and static files to the rules that can be judged by their text alone. What a
//! session would be given is judged elsewhere.

pub mod all;
mod checkout;
mod duplicates;
mod handoffs;
mod harm;
mod links;
mod names;
mod orphans;
mod pattern;
mod shares;
mod spans;
mod stale;
pub mod statics;
mod text_file;
mod tree;

use crate::check::finding::{RepositoryFile, Unread};
use crate::check::settings::CheckSettings;
use crate::core::settings::LinkStyle;
use crate::core::time::Timestamp;
use crate::core::tokens::encoding::Encoding;

/// A repository, as the rules see it.
#[derive(Debug, Clone, Copy)]
pub struct RuleInput<'a> {
    /// All files of the repository; those that matter with their text.
    pub files: &'a [RepositoryFile],
    /// What is there beside them: links, other repositories, and what is not checked out.
    pub unread: &'a [Unread],
    /// The folders of notes.
    pub vaults: &'a [CheckedVault],
    /// What `[[links]]` mean.
    pub links: LinkStyle,
    /// What is asked of the repository.
    pub settings: &'a CheckSettings,
    /// The moment that counts as now.
    pub now: Timestamp,
    /// How tokens are counted.
    pub encoding: Encoding,
    /// How many days a handoff is good for that stays for further sessions.
    pub max_age_days: u32,
}

/// A folder of notes inside of the repository.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CheckedVault {
    /// The first part of its notes' addresses.
    pub name: String,
    /// Its path from the top of the repository, without a slash at the end; empty for the top itself.
    pub folder: String,
}

#[cfg(test)]
mod lab;
#[cfg(test)]
mod laws;
