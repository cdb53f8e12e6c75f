//! Findings about sessions: their positions, and how findings with the same cause are merged.

use crate::check::contexts::session::SessionContext;
use crate::check::facts::SnapshotFacts;
use crate::check::finding::{Finding, Rule, Spot};
use crate::check::grouped::grouped;
use crate::check::repository::SETTINGS;
use crate::check::rules::text_file::name_shown;
use crate::check::settings::SessionSpec;

/// The number of sessions that a message names.
const MAX_NAMES: usize = 5;

pub(crate) struct CheckedSession<'a> {
    pub(crate) facts: &'a SnapshotFacts<'a>,
    pub(crate) spec: &'a SessionSpec,
    pub(crate) context: &'a SessionContext,
    /// The session's position in the settings.
    pub(crate) n: usize,
}

/// A finding whose message does not name its session yet, and the tokens above the limit.
pub(crate) type SessionFinding = (Finding, usize);

impl<'a> CheckedSession<'a> {
    pub(crate) fn all(
        facts: &'a SnapshotFacts<'a>,
        contexts: &'a [SessionContext],
    ) -> impl Iterator<Item = CheckedSession<'a>> {
        let sessions = facts.repository.sessions.iter().zip(contexts).enumerate();
        sessions.map(move |(n, (spec, context))| CheckedSession { facts, spec, context, n })
    }

    /// The position of the first key that is set, else that of the session, else the file that grew
    /// most.
    pub(crate) fn spot(&self, keys: &[String]) -> Option<Spot> {
        let repository = self.facts.repository;
        let session = || repository.spot(&[format!("check.session.{}", self.n)]);
        let set = repository.spot(keys).or_else(session).cloned();
        set.or_else(|| self.facts.most_grown().map(Spot::top_of))
    }

    pub(crate) fn finding(
        &self,
        spot: Option<Spot>,
        rule: Rule,
        excess: usize,
        message: String,
        hint: impl Into<String>,
    ) -> SessionFinding {
        let spot = spot.unwrap_or_else(|| Spot::top_of(SETTINGS));
        let excerpt = self.facts.repository.excerpt(&spot);
        let session = Some(self.spec.name.clone());
        (Finding { excerpt, session, ..Finding::new(rule, spot, message, hint) }, excess)
    }
}

/// Merges findings with the same rule, spot and hint: one change fixes them all.
pub(crate) fn merge(findings: Vec<SessionFinding>) -> Vec<Finding> {
    let key = |Finding { rule, spot, hint, .. }: &Finding| (*rule, spot.clone(), hint.clone());
    let groups = grouped(findings.into_iter().map(|found| (key(&found.0), found)));
    groups.into_iter().filter_map(|(_, group)| merge_group(group)).collect()
}

/// The worst finding of a group, with the names of all of its sessions.
fn merge_group(group: Vec<SessionFinding>) -> Option<Finding> {
    let name = |finding: &Finding| name_shown(finding.session.as_deref().unwrap_or_default());
    let names: Vec<String> = group.iter().map(|(finding, _)| name(finding)).collect();
    let is_same = group.iter().all(|(finding, _)| finding.message == group[0].0.message);
    let (mut finding, _) = group.into_iter().rev().max_by_key(|(_, excess)| *excess)?;
    finding.message = match &names[..] {
        [name] => format!("in the session {name}, {}", finding.message),
        names => {
            let most = if is_same { "" } else { &format!(" most in {},", name(&finding)) };
            format!("in the sessions {},{most} {}", enumerated(names), finding.message)
        }
    };
    finding.session = finding.session.filter(|_| names.len() == 1);
    Some(finding)
}

/// `a, b and c`; for a long list the first names and the number of the others.
fn enumerated(names: &[String]) -> String {
    match names {
        [names @ .., last] if names.len() < MAX_NAMES => format!("{} and {last}", names.join(", ")),
        names => first_of(names),
    }
}

/// The first names, and how many more there are.
pub(crate) fn first_of(names: &[String]) -> String {
    let (shown, others) = names.split_at(names.len().min(MAX_NAMES));
    let shown = shown.join(", ");
    if others.is_empty() { shown } else { format!("{shown} and {} more", others.len()) }
}
