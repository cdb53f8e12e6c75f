//! The rules about a repository's files.

use crate::domain::check::RepositoryFile;
use crate::domain::check_settings::CheckSettings;
use crate::domain::encoding::Encoding;
use crate::domain::settings::LinkStyle;
use crate::domain::time::Timestamp;

/// What the rules look at.
#[derive(Debug, Clone, Copy)]
pub struct RuleInput<'a> {
    /// All files of the repository; those that were read have their text.
    pub files: &'a [RepositoryFile],
    /// Where notes are.
    pub vaults: &'a [CheckedVault],
    /// How links become concepts.
    pub links: LinkStyle,
    /// What the repository asks for.
    pub settings: &'a CheckSettings,
    /// The moment that counts as now.
    pub now: Timestamp,
    /// How tokens are counted.
    pub encoding: Encoding,
    /// How many days a handoff is good for that stays for further sessions.
    pub max_age_days: u32,
}

/// A folder of notes in the repository.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CheckedVault {
    /// The first part of its notes' addresses.
    pub name: String,
    /// Its path from the top of the repository, without a final slash.
    pub folder: String,
}

/// What breaks a rule.
pub mod rules {
    use super::RuleInput;
    use crate::domain::check::Finding;

    /// All that breaks a rule about files.
    pub fn all(_: &RuleInput<'_>) -> Vec<Finding> {
        Vec::new()
    }
}

/// What hosts read by themselves.
pub mod statics {
    use super::RuleInput;
    use crate::domain::check::StaticFile;
    use crate::engine::tokens::count;

    /// The files that hosts read by themselves.
    pub fn files(input: &RuleInput<'_>) -> Vec<StaticFile> {
        let is_static = |path: &str| path == "AGENTS.md" || path.ends_with("/AGENTS.md");
        let files = input.files.iter().filter(|file| is_static(&file.path));
        files
            .filter_map(|file| {
                let tokens = count(input.encoding, file.text.as_ref()?);
                let (limit, tokens_before) = (None, None);
                Some(StaticFile { path: file.path.clone(), tokens, limit, tokens_before })
            })
            .collect()
    }
}
