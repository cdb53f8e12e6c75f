//! The rules. A rule about files is a pure function of `CheckedFiles`, in a file that is named
//! after it: `orphan_note`, `stale_note`. `links` and `handoffs` each hold several rules about the
//! same data. Rules about sessions are `budget` and `unstable_output`. Shared by the rules:
//! `checked_files`, `text_file`, `spans`, `names`, `tree`, `ignored`, `frozen`, `sites`, `roles`,
//! `pattern`, `session_finding`.

pub(crate) mod budget;
mod checked_files;
mod duplicate_note;
mod frozen;
mod giant_note;
mod handoffs;
mod ignored;
mod links;
mod names;
mod orphan_note;
mod pattern;
pub mod roles;
mod secret;
mod session_finding;
mod sites;
mod spans;
mod stale_note;
pub mod static_context;
mod text_file;
pub(crate) mod too_large;
pub(crate) mod tree;
pub(crate) mod unknown_key;
mod unsafe_text;
pub(crate) mod unstable_output;

use rayon::prelude::*;

use crate::check::finding::{Finding, Rule};
use crate::check::repository_file::{RepositoryFile, Unread};
use crate::core::settings::LinkStyle;
use crate::core::time::Timestamp;
use crate::core::tokens::encoding::Encoding;
use checked_files::CheckedFiles;
use roles::Roles;

/// The input of the rules.
#[derive(Debug, Clone, Copy)]
pub struct RuleInput<'a> {
    /// All files of the repository; those that the rules need have their text.
    pub files: &'a [RepositoryFile],
    /// Links, other repositories, and files that are not checked out.
    pub unread: &'a [Unread],
    pub roles: Roles<'a>,
    /// The meaning of `[[links]]`.
    pub links: LinkStyle,
    /// The time that counts as now.
    pub now: Timestamp,
    pub encoding: Encoding,
    /// The age limit in days of a sticky handoff.
    pub max_age_days: u32,
}

/// A folder of notes in the repository.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CheckedVault {
    /// The first part of the notes' addresses.
    pub name: String,
    /// The path from the top of the repository, without a final slash; empty for the top.
    pub folder: String,
    pub style: LinkStyle,
    /// Whether only the notes directly in its folder belong to it.
    pub is_flat: bool,
}

/// The findings of all rules about files, sorted by path, line, column and rule. Skips rules that
/// are off.
pub fn find_all(input: &RuleInput<'_>) -> Vec<Finding> {
    let checked = CheckedFiles::new(input);
    let mut findings = Vec::new();
    for rule in Rule::ALL.into_iter().filter(|rule| input.roles.settings.is_on(*rule)) {
        let problems = match rule {
            Rule::DanglingLink => links::dangling(&checked),
            Rule::AmbiguousLink => links::ambiguous(&checked),
            Rule::OrphanNote => orphan_note::find(&checked),
            Rule::GiantNote => giant_note::find(&checked),
            Rule::DuplicateNote => duplicate_note::find(&checked),
            Rule::StaleNote => stale_note::find(&checked),
            Rule::HandoffInvalid => handoffs::invalid(&checked),
            Rule::HandoffMissingFile => handoffs::missing_files(&checked),
            Rule::HandoffExpired => handoffs::expired(&checked),
            Rule::Secret => checked.files.par_iter().flat_map_iter(secret::find).collect(),
            Rule::UnsafeText => checked.files.par_iter().flat_map_iter(unsafe_text::find).collect(),
            Rule::StaticContext => static_context::find(&checked),
            // About sessions and settings, not about files.
            Rule::BudgetTotal
            | Rule::BudgetPart
            | Rule::BudgetGrowth
            | Rule::UnstableOutput
            | Rule::ConfigUnknownKey => continue,
        };
        let severity = input.roles.settings.severity(rule);
        findings.extend(problems.into_iter().map(|problem| problem.finding(rule, severity)));
    }
    findings.sort_by(|a, b| (&a.spot, a.rule).cmp(&(&b.spot, b.rule)));
    findings
}

#[cfg(test)]
mod tests;
