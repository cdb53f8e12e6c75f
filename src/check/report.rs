//! The result of a check: the value that the formats in `reports` render.

use serde::{Deserialize, Serialize};

use crate::check::finding::{Finding, Severity};
use crate::check::settings::Limits;
use crate::core::context::budget::{Budget, Size};
use crate::core::context::candidate::Part;
use crate::core::context::receipt::PartUse;
use crate::core::host::Host;
use crate::core::secrets::mask_in;
use crate::core::time::Timestamp;

/// The context of a session.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SessionReport {
    pub name: String,
    pub host: Host,
    pub budget: Budget,
    pub used: Size,
    /// The tokens that the context would have without limits.
    pub wanted: usize,
    pub parts: Vec<PartUse>,
    /// The agreed limits for the whole context and for single parts.
    pub limits: Limits,
    /// The shown entries, in order.
    pub shown: Vec<EntryName>,
    /// The entries that do not fit.
    pub omitted: Vec<EntryName>,
    /// The difference from the base or baseline, if there is one.
    pub growth: Option<Growth>,
}

/// An entry of a context.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct EntryName {
    pub part: Part,
    /// A concept, a note's address, or a file.
    pub name: String,
}

/// How a session's context differs from the base or baseline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Growth {
    pub tokens_before: usize,
    pub parts_before: Vec<PartUse>,
    pub added: Vec<EntryName>,
    /// Entries that are no longer in the notes.
    pub removed: Vec<EntryName>,
    /// Entries that were displaced by others.
    pub pushed_out: Vec<EntryName>,
}

/// A file that hosts read on their own at every start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StaticFile {
    /// The path from the top of the repository.
    pub path: String,
    /// The tokens of the file and of the files that it imports.
    pub tokens: usize,
    pub limit: Option<usize>,
    /// The tokens in the base or baseline.
    pub tokens_before: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckReport {
    pub project: String,
    /// The time that counts as now.
    pub now: Timestamp,
    /// The base of the comparison: a revision as given, or the baseline's path.
    pub base: Option<String>,
    pub notes: usize,
    pub sessions: Vec<SessionReport>,
    pub static_files: Vec<StaticFile>,
    /// Sorted by path, line, column and rule.
    pub findings: Vec<Finding>,
    /// Remarks about the check itself, with hints: no notes, no git, a shallow clone.
    pub remarks: Vec<String>,
}

impl CheckReport {
    /// The number of findings of a severity.
    pub fn n(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|finding| finding.severity == severity).count()
    }

    pub(crate) fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(|finding| finding.severity).max()
    }

    pub fn fails(&self) -> bool {
        self.worst() == Some(Severity::Error)
    }

    /// Masks secrets in names: the name of a file or session can be one.
    pub(crate) fn mask_secrets(&mut self) {
        for finding in &mut self.findings {
            mask_in(&mut finding.spot.path);
            mask_in(&mut finding.message);
            mask_in(&mut finding.hint);
            finding.session.iter_mut().for_each(mask_in);
        }
        for session in &mut self.sessions {
            mask_in(&mut session.name);
            let growth = session.growth.iter_mut();
            let changed = growth.flat_map(|growth| {
                [&mut growth.added, &mut growth.removed, &mut growth.pushed_out]
            });
            let entries = [&mut session.shown, &mut session.omitted].into_iter().chain(changed);
            entries.flatten().for_each(|entry| mask_in(&mut entry.name));
        }
        self.static_files.iter_mut().for_each(|file| mask_in(&mut file.path));
        self.remarks.iter_mut().for_each(mask_in);
    }
}

/// The number of tokens of one part.
pub(crate) fn part_tokens(parts: &[PartUse], name: Part) -> usize {
    parts.iter().filter(|part| part.name == name).map(|part| part.tokens).sum()
}
