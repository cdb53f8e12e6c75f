//! What a check found and what sessions would be given: the value that the formats in `reports` render.

use serde::{Deserialize, Serialize};

use crate::check::finding::{Finding, Severity};
use crate::check::settings::Limits;
use crate::core::context::budget::{Budget, Size};
use crate::core::context::candidate::Part;
use crate::core::context::receipt::PartUse;
use crate::core::host::Host;
use crate::core::secrets;
use crate::core::time::Timestamp;

/// What a session would be given.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SessionReport {
    /// What it is called.
    pub name: String,
    /// In which host.
    pub host: Host,
    /// How much room there is.
    pub budget: Budget,
    /// How much is used.
    pub used: Size,
    /// How many tokens it would take without limits.
    pub wanted: usize,
    /// What each part takes up.
    pub parts: Vec<PartUse>,
    /// How much was agreed on for all of it, and for single parts.
    pub limits: Limits,
    /// The entries that are shown, by part and name, in order.
    pub shown: Vec<EntryName>,
    /// The entries for which there is no room.
    pub omitted: Vec<EntryName>,
    /// What is different from before, if there is a before.
    pub growth: Option<Growth>,
}

/// An entry of a context, known by its part and name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct EntryName {
    /// Its part.
    pub part: Part,
    /// What it is called there: a concept, a note's address, a file.
    pub name: String,
}

/// How a session's context differs from that of the base.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Growth {
    /// Tokens of the base.
    pub tokens_before: usize,
    /// Tokens of each part of the base.
    pub parts_before: Vec<PartUse>,
    /// Entries that are new.
    pub added: Vec<EntryName>,
    /// Entries that are gone from the notes.
    pub removed: Vec<EntryName>,
    /// Entries that are gone because others took their room.
    pub pushed_out: Vec<EntryName>,
}

/// A file that hosts read by themselves at every start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StaticFile {
    /// Its path from the top of the repository.
    pub path: String,
    /// How many tokens it has, with the files that it imports.
    pub tokens: usize,
    /// How many it may have, if there is a limit.
    pub limit: Option<usize>,
    /// How many it had, if there is a base.
    pub tokens_before: Option<usize>,
}

/// All that a check found.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckReport {
    /// The project's name.
    pub project: String,
    /// The moment that counts as now.
    pub now: Timestamp,
    /// What it is compared with: a revision as it was given, or the baseline's file.
    pub base: Option<String>,
    pub notes: usize,
    /// The sessions.
    pub sessions: Vec<SessionReport>,
    /// What hosts read by themselves.
    pub static_files: Vec<StaticFile>,
    /// What breaks a rule, in the order of path, line, column and rule.
    pub findings: Vec<Finding>,
    /// What a reader should know about the check itself, and the way out: no notes, no git, a shallow clone.
    pub remarks: Vec<String>,
}

impl CheckReport {
    /// How many findings there are of a severity.
    pub fn n(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|finding| finding.severity == severity).count()
    }

    /// Whether the check fails.
    pub fn fails(&self) -> bool {
        self.n(Severity::Error) > 0
    }

    /// Masks secrets in names: files and sessions can be called by one.
    pub(crate) fn mask_secrets(&mut self) {
        for finding in &mut self.findings {
            mask(&mut finding.spot.path);
            mask(&mut finding.message);
            mask(&mut finding.hint);
            finding.session.iter_mut().for_each(mask);
        }
        for session in &mut self.sessions {
            mask(&mut session.name);
            let growth = session.growth.iter_mut();
            let changed = growth.flat_map(|growth| {
                [&mut growth.added, &mut growth.removed, &mut growth.pushed_out]
            });
            let entries = [&mut session.shown, &mut session.omitted].into_iter().chain(changed);
            entries.flatten().for_each(|entry| mask(&mut entry.name));
        }
        self.static_files.iter_mut().for_each(|file| mask(&mut file.path));
        self.remarks.iter_mut().for_each(mask);
    }
}

fn mask(text: &mut String) {
    if let std::borrow::Cow::Owned(masked) = secrets::mask(text) {
        *text = masked;
    }
}

/// How many tokens a part of a context takes.
pub(crate) fn part_tokens(parts: &[PartUse], name: Part) -> usize {
    parts.iter().filter(|part| part.name == name).map(|part| part.tokens).sum()
}
