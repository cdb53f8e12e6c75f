//! The rules. A rule about files is a pure function of `CheckedFiles`, in a file of its own that is named after it:
//! `orphan_note`, `stale_note`. `links` and `handoffs` each hold the rules that read the same thing. Rules about sessions
//! are `budget` and `unstable_output`. What the rules share: `checked_files`, `text_file`, `spans`, `names`, `tree`, `roles`,
//! `pattern`, `session_finding`.

pub(crate) mod budget;
mod checked_files;
mod duplicate_note;
mod giant_note;
mod handoffs;
mod links;
mod names;
mod orphan_note;
mod pattern;
pub(crate) mod roles;
mod secret;
mod session_finding;
mod spans;
mod stale_note;
pub mod static_context;
mod text_file;
pub(crate) mod too_large;
mod tree;
pub(crate) mod unknown_key;
mod unsafe_text;
pub(crate) mod unstable_output;

use crate::check::finding::{Finding, Rule};
use crate::check::repository_file::{RepositoryFile, Unread};
use crate::check::settings::CheckSettings;
use crate::core::settings::LinkStyle;
use crate::core::time::Timestamp;
use crate::core::tokens::encoding::Encoding;
use checked_files::CheckedFiles;
use links::ResolvedLinks;
use roles::Roles;

/// A repository, as the rules see it.
#[derive(Debug, Clone, Copy)]
pub struct RuleInput<'a> {
    /// All files of the repository; those that matter with their text.
    pub files: &'a [RepositoryFile],
    /// Links, other repositories, and what is not checked out.
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

impl<'a> RuleInput<'a> {
    fn roles(&self) -> Roles<'a> {
        Roles { settings: self.settings, vaults: self.vaults }
    }
}

/// A folder of notes inside of the repository.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CheckedVault {
    /// The first part of its notes' addresses.
    pub name: String,
    /// Its path from the top of the repository, without a slash at the end; empty for the top itself.
    pub folder: String,
}

/// Findings of all rules about files, in the order of path, line, column and rule. Skips rules that are off.
pub fn find_all(input: &RuleInput<'_>) -> Vec<Finding> {
    let checked = CheckedFiles::new(input);
    let links = ResolvedLinks::new(&checked);
    let mut findings: Vec<Finding> = Rule::ALL
        .into_iter()
        .filter(|rule| input.settings.is_on(*rule))
        .flat_map(|rule| match rule {
            Rule::DanglingLink => links::dangling(&checked, &links),
            Rule::AmbiguousLink => links::ambiguous(&checked, &links),
            Rule::OrphanNote => orphan_note::find(&checked, &links),
            Rule::GiantNote => giant_note::giants(&checked),
            Rule::DuplicateNote => duplicate_note::find(&checked),
            Rule::StaleNote => stale_note::find(&checked),
            Rule::HandoffInvalid => handoffs::invalid(&checked),
            Rule::HandoffMissingFile => handoffs::missing_files(&checked),
            Rule::HandoffExpired => handoffs::expired(&checked),
            Rule::Secret => secret::find(&checked),
            Rule::UnsafeText => unsafe_text::find(&checked),
            Rule::StaticContext => static_context::too_large(&checked),
            // About sessions and settings, not about files.
            Rule::BudgetTotal
            | Rule::BudgetPart
            | Rule::BudgetGrowth
            | Rule::UnstableOutput
            | Rule::ConfigUnknownKey => Vec::new(),
        })
        .collect();
    findings.sort_by(|a, b| (&a.spot, a.rule).cmp(&(&b.spot, b.rule)));
    findings
}

#[cfg(test)]
mod tests;
