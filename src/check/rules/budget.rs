//! **budget-total**, **budget-part** and **budget-growth**: the sizes of contexts, and how much
//! they grow.

use std::collections::HashSet;

use crate::check::contexts::session::SessionContext;
use crate::check::facts::SnapshotFacts;
use crate::check::finding::{Finding, Rule, Spot};
use crate::check::report::{EntryName, Growth};
use crate::check::rules::session_finding::{CheckedSession, SessionFinding, first_of, merge};
use crate::check::rules::text_file::name_shown;
use crate::core::context::candidate::Part;
use crate::core::text::number::thousands;

pub(crate) fn find(facts: &SnapshotFacts<'_>, contexts: &[SessionContext]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for session in CheckedSession::all(facts, contexts) {
        findings.extend(session.total());
        findings.extend(session.room());
        findings.extend(session.parts());
        findings.extend(session.growth());
    }
    merge(findings)
}

impl CheckedSession<'_> {
    fn total(&self) -> Option<SessionFinding> {
        let report = &self.context.report;
        let (used, limit) = (report.used.tokens, report.limits.total?);
        let message = format!("the context has {}", more_than(used, limit)?);
        let hint = "shorten or split the notes that it shows, or raise `total` in [check.budget]";
        let spot = self.spot(&self.limit_keys("total"));
        Some(self.finding(spot, Rule::BudgetTotal, used - limit, message, hint))
    }

    /// A budget without room for any content, or for the whole handoff.
    fn room(&self) -> Option<SessionFinding> {
        let report = &self.context.report;
        let kept = self.context.kept;
        let mut room = format!("a budget of {} tokens", thousands(report.budget.tokens + kept));
        if kept > 0 {
            room.push_str(&format!(", {} of them for the first prompt,", thousands(kept)));
        }
        if let Some(chars) = report.budget.chars {
            room.push_str(&format!(" and {} characters", thousands(chars)));
        }
        let message = if self.context.is_shut_out {
            let wanted = thousands(report.wanted);
            format!("{room} has no room for any of the {wanted} wanted tokens")
        } else {
            let cut = self.context.cut.as_ref()?;
            let (shown, wanted) = (thousands(cut.shown), thousands(cut.wanted));
            let what = match cut.shown {
                0 => "no room for".to_owned(),
                _ => format!("room for {shown} of the {wanted} tokens of"),
            };
            format!("{room} has {what} the handoff {}", name_shown(&cut.handoff))
        };
        let hint = "raise the session's `budget` or `token_limit`, or shorten the handoff";
        let keys = [format!("check.session.{}.budget", self.n), "token_limit".to_owned()];
        let excess = report.wanted.saturating_sub(report.budget.tokens);
        Some(self.finding(self.spot(&keys), Rule::BudgetTotal, excess, message, hint))
    }

    fn parts(&self) -> Vec<SessionFinding> {
        let report = &self.context.report;
        let findings = report.parts.iter().filter_map(|part| {
            let (name, limit) = (part.name.name(), *report.limits.parts.get(&part.name)?);
            let message = format!("the part {name} has {}", more_than(part.tokens, limit)?);
            let hint = match part.name {
                Part::Handoff => "shorten the handoff",
                Part::Files => "list fewer files in the handoff",
                _ => "shorten the first sentences of the notes that it shows",
            };
            let hint = format!("{hint}, or raise `{name}` in [check.budget]");
            let spot = self.spot(&self.limit_keys(name));
            Some(self.finding(spot, Rule::BudgetPart, part.tokens - limit, message, hint))
        });
        findings.collect()
    }

    fn growth(&self) -> Option<SessionFinding> {
        let report = &self.context.report;
        let Growth { added, pushed_out, tokens_before, .. } = report.growth.as_ref()?;
        let limit = self.facts.roles.settings.growth_tokens;
        let grown = report.used.tokens.saturating_sub(*tokens_before);
        if grown <= limit {
            return None;
        }
        let (more, agreed) = (thousands(grown), thousands(limit));
        let mut message = format!("the context grows by {more} tokens, and the limit is {agreed}");
        for (what, entries) in [("added", added), ("pushed out", pushed_out)] {
            if !entries.is_empty() {
                message.push_str(&format!("; {what}: {}", names(entries)));
            }
        }
        let hint = match self.facts.base {
            Some(_) => "shorten what is new, or raise `growth_tokens` in [check]",
            None => {
                "shorten what is new, raise `growth_tokens` in [check], or accept it with `kgctx check \
                --update-baseline`"
            }
        };
        // Points to the changed file, because the change may not touch the settings.
        let spot = self.facts.most_grown().map(Spot::top_of);
        Some(self.finding(spot, Rule::BudgetGrowth, grown - limit, message, hint))
    }

    /// The keys that can set a limit, the host's own first.
    fn limit_keys(&self, name: &str) -> [String; 2] {
        let host = self.spec.host;
        [format!("check.budget.{host}.{name}"), format!("check.budget.{name}")]
    }
}

fn more_than(tokens: usize, limit: usize) -> Option<String> {
    let more = tokens.checked_sub(limit).filter(|more| *more > 0)?;
    let (tokens, more, limit) = (thousands(tokens), thousands(more), thousands(limit));
    Some(format!("{tokens} tokens, {more} more than the limit of {limit}"))
}

/// The first names, and the number of the others. Names a concept once even if two parts have it.
fn names(entries: &[EntryName]) -> String {
    let mut seen = HashSet::new();
    let names = entries.iter().map(|entry| name_shown(&entry.name));
    first_of(&names.filter(|name| seen.insert(name.clone())).collect::<Vec<_>>())
}
