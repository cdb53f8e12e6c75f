//! A repository's requirements for its own context: the `[check]` section of its `kgctx.toml`, with
//! defaults. `file` reads it from text.

pub mod file;
mod known_keys;
mod raw;
pub(crate) mod toml_text;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::check::finding::{Rule, Severity};
use crate::core::context::candidate::Part;
use crate::core::host::Host;
use crate::core::time::Timestamp;

#[derive(Debug, Clone, PartialEq)]
pub struct CheckSettings {
    /// The project's name; the default is that of the origin, else that of the folder.
    pub project: Option<String>,
    /// The baseline's path from the top of the repository.
    pub baseline: String,
    /// Handoff folders, from the top of the repository.
    pub handoffs: Vec<String>,
    /// Severities that differ from the default.
    pub severities: BTreeMap<Rule, Severity>,
    /// Limits for the parts of a context, in all hosts.
    pub limits: Limits,
    /// Limits for the parts of a context in one host: they override those for all hosts.
    pub host_limits: BTreeMap<Host, Limits>,
    /// The tokens that a change may add to a session's context.
    pub growth_tokens: usize,
    /// Patterns for the files that hosts read on their own, from the top of the repository, with
    /// the most tokens that each may have.
    pub static_limits: Vec<(String, usize)>,
    /// The share of all notes' tokens that one note may have, in percent.
    pub giant_percent: usize,
    /// The sessions; the default is one per host at the top of the repository.
    pub sessions: Vec<SessionSpec>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionSpec {
    pub name: String,
    /// The folder where it starts, from the top of the repository; empty for the top.
    pub dir: String,
    pub host: Host,
    /// The most tokens of its context, if not `token_limit`.
    pub budget: Option<usize>,
    /// The time when it starts, if not that of the check.
    pub now: Option<Timestamp>,
    pub branch: Option<String>,
}

/// Limits for a context, in tokens.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Limits {
    /// For all parts together.
    pub total: Option<usize>,
    pub parts: BTreeMap<Part, usize>,
}

impl Default for CheckSettings {
    fn default() -> CheckSettings {
        CheckSettings {
            project: None,
            baseline: ".kgctx/check.json".to_owned(),
            handoffs: vec![".kgctx/handoffs".to_owned()],
            severities: BTreeMap::new(),
            limits: Limits::default(),
            host_limits: BTreeMap::new(),
            growth_tokens: 200,
            static_limits: Host::own_files()
                .into_iter()
                .filter_map(|file| Some((file.pattern.to_owned(), file.max_tokens?)))
                .collect(),
            giant_percent: 25,
            sessions: Vec::new(),
        }
    }
}

impl CheckSettings {
    pub fn severity(&self, rule: Rule) -> Severity {
        self.severities.get(&rule).copied().unwrap_or_else(|| rule.default_severity())
    }

    pub fn is_on(&self, rule: Rule) -> bool {
        self.severity(rule) != Severity::Off
    }

    pub fn limits_in(&self, host: Host) -> Limits {
        let mut limits = self.limits.clone();
        if let Some(of_host) = self.host_limits.get(&host) {
            limits.total = of_host.total.or(limits.total);
            limits.parts.extend(&of_host.parts);
        }
        limits
    }
}

/// Whether a text is usable as the name of a project and its folder.
pub fn is_project_name(text: &str) -> bool {
    let is_odd = |c: char| matches!(c, '/' | '\\') || c.is_control();
    !text.trim().is_empty() && !matches!(text, "." | ".." | ".git") && !text.contains(is_odd)
}
