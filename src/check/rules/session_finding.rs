//! Findings about sessions: their positions, and how findings with the same cause are merged.

use crate::check::contexts::session::SessionContext;
use crate::check::facts::SnapshotFacts;
use crate::check::finding::{Finding, Rule, Severity, Spot};
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

pub(crate) struct SessionFinding {
    /// The message does not name the session yet.
    finding: Finding,
    session: String,
    /// The tokens above the limit.
    excess: usize,
}

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
        let session = format!("check.session.{}", self.n);
        let places = &self.facts.repository.file.places;
        let set = keys.iter().chain([&session]).find_map(|key| places.get(key)).cloned();
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
        let finding = Finding {
            rule,
            severity: Severity::Error,
            excerpt: self.facts.repository.excerpt(&spot),
            spot,
            message,
            hint: hint.into(),
            session: None,
        };
        SessionFinding { finding, session: self.spec.name.clone(), excess }
    }
}

/// Merges findings with the same rule, spot and hint: one change fixes them all.
pub(crate) fn merge(findings: Vec<SessionFinding>) -> Vec<Finding> {
    let mut groups: Vec<Vec<SessionFinding>> = Vec::new();
    for SessionFinding { finding, session, excess } in findings {
        let is_same = |group: &&mut Vec<SessionFinding>| {
            let first = &group[0].finding;
            (first.rule, &first.spot, &first.hint) == (finding.rule, &finding.spot, &finding.hint)
        };
        let group = groups.iter_mut().find(is_same);
        let finding = SessionFinding { finding, session, excess };
        match group {
            Some(group) => group.push(finding),
            None => groups.push(vec![finding]),
        }
    }
    groups.into_iter().filter_map(merge_group).collect()
}

/// The worst finding of a group, with the names of all of its sessions.
fn merge_group(group: Vec<SessionFinding>) -> Option<Finding> {
    let names: Vec<String> = group.iter().map(|found| name_shown(&found.session)).collect();
    let first = group.first()?.finding.message.clone();
    let is_same = group.iter().all(|found| found.finding.message == first);
    let worst = group.into_iter().rev().max_by_key(|found| found.excess)?;
    let SessionFinding { mut finding, session, .. } = worst;
    finding.message = match &names[..] {
        [name] => format!("in the session {name}, {}", finding.message),
        names => {
            let most =
                if is_same { String::new() } else { format!(" most in {},", name_shown(&session)) };
            format!("in the sessions {},{most} {}", enumerated(names), finding.message)
        }
    };
    finding.session = Some(session).filter(|_| names.len() == 1);
    Some(finding)
}

/// `a, b and c`; for a long list the first names and the number of the others.
fn enumerated(names: &[String]) -> String {
    match names {
        [names @ .., last] if names.len() < MAX_NAMES => format!("{} and {last}", names.join(", ")),
        names => {
            let more = names.len().saturating_sub(MAX_NAMES);
            format!("{} and {more} more", names[..names.len() - more].join(", "))
        }
    }
}
