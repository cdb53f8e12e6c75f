//! All rules about files, one after the other.

use super::checkout::Checkout;
use super::links::Leads;
use super::{RuleInput, duplicates, handoffs, harm, links, orphans, shares, stale, statics};
use crate::check::finding::{Finding, Rule, Severity};

/// Holds a repository's files to the rules. What breaks one is told in the order of path, line, column and rule; rules that
/// are off are not looked at.
pub fn all(input: &RuleInput<'_>) -> Vec<Finding> {
    let checkout = Checkout::new(input);
    let leads = Leads::new(&checkout);
    let is_on = |rule: &Rule| input.settings.severity(*rule) != Severity::Off;
    let mut findings: Vec<Finding> = Rule::ALL
        .into_iter()
        .filter(is_on)
        .flat_map(|rule| match rule {
            Rule::DanglingLink => links::dangling(&checkout, &leads),
            Rule::AmbiguousLink => links::ambiguous(&checkout, &leads),
            Rule::OrphanNote => orphans::find(&checkout, &leads),
            Rule::GiantNote => shares::giants(&checkout),
            Rule::DuplicateNote => duplicates::find(&checkout),
            Rule::StaleNote => stale::find(&checkout),
            Rule::HandoffInvalid => handoffs::invalid(&checkout),
            Rule::HandoffMissingFile => handoffs::missing_files(&checkout),
            Rule::HandoffExpired => handoffs::expired(&checkout),
            Rule::Secret => harm::secrets(&checkout),
            Rule::UnsafeText => harm::unsafe_text(&checkout),
            Rule::StaticContext => statics::too_large(&checkout),
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
