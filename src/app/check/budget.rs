//! The rules about what sessions are given: how much, how much more than before, and always the same. And the one about
//! settings, because it is found where they are read.

use super::ground::{Ground, SETTINGS};
use super::is_on;
use super::scene::Scene;
use super::session::Played;
use crate::domain::candidate::Part;
use crate::domain::check::{EntryName, Finding, Growth, Rule, SessionSpec, Severity, Spot};
use crate::domain::check_settings::host_name;
use crate::domain::number::thousands;

/// How many names stand in a message.
const NAMED: usize = 5;

/// Keys that do nothing.
pub(super) fn unknown_keys(ground: &Ground) -> Vec<Finding> {
    let finding = |unknown: &crate::adapters::settings::check::UnknownKey| Finding {
        rule: Rule::ConfigUnknownKey,
        severity: Severity::Error,
        excerpt: ground.excerpt(&unknown.spot),
        spot: unknown.spot.clone(),
        message: format!("kgctx knows no key `{}` here", shown(&unknown.key)),
        hint: match &unknown.nearest {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => format!("take it out; known are {}", listed(&unknown.known)),
        },
        session: None,
    };
    ground.file.unknown.iter().map(finding).collect()
}

/// Budgets that are not kept.
pub(super) fn broken(scene: &Scene<'_>, played: &[Played]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (n, (session, played)) in scene.ground.sessions.iter().zip(played).enumerate() {
        let about = About { scene, session, n };
        if is_on(&scene.ground.file.settings, Rule::BudgetTotal) {
            about.total(played, &mut findings);
        }
        if is_on(&scene.ground.file.settings, Rule::BudgetPart) {
            about.parts(played, &mut findings);
        }
        if is_on(&scene.ground.file.settings, Rule::BudgetGrowth) {
            about.growth(played, &mut findings);
        }
    }
    findings
}

/// Contexts that changed by themselves.
pub(super) fn unstable(scene: &Scene<'_>, played: &[Played], again: &[String]) -> Vec<Finding> {
    let pairs = scene.ground.sessions.iter().zip(played.iter().zip(again)).enumerate();
    let differing = pairs.filter(|(_, (_, (played, again)))| played.text != **again);
    differing
        .map(|(n, (session, (played, again)))| {
            let same = played.text.lines().zip(again.lines()).take_while(|(a, b)| a == b).count();
            About { scene, session, n }.finding(
                Rule::UnstableOutput,
                &[],
                format!("two contexts of the same notes differ from line {} on", same + 1),
                "this is a fault of kgctx; please report it with the notes that show it".to_owned(),
            )
        })
        .collect()
}

/// A session of which something is found.
struct About<'a> {
    scene: &'a Scene<'a>,
    session: &'a SessionSpec,
    /// Its place among all.
    n: usize,
}

impl About<'_> {
    fn total(&self, played: &Played, findings: &mut Vec<Finding>) {
        let report = &played.report;
        let settings = &self.scene.ground.file.settings;
        let host = host_name(self.session.host);
        let keys = [format!("check.budget.{host}.total"), "check.budget.total".to_owned()];
        let used = report.used.tokens;
        if let Some(limit) = settings.total_limit(self.session.host)
            && used > limit
        {
            let message = format!(
                "the context has {} tokens, {} more than the {} agreed on",
                thousands(used),
                thousands(used - limit),
                thousands(limit)
            );
            let hint =
                "shorten or part the notes that it shows, or raise `total` in [check.budget]";
            findings.push(self.finding(Rule::BudgetTotal, &keys, message, hint.to_owned()));
        }
        let room = thousands(report.budget.tokens);
        let wanted = thousands(report.wanted);
        let message = if played.is_shut_out {
            format!("a budget of {room} tokens has no room for any of the {wanted} that are wanted")
        } else if let Some(id) = &played.omitted_handoff {
            format!("a budget of {room} tokens has no room for the handoff {}", shown(id))
        } else {
            return;
        };
        let hint = "raise the session's `budget` or `token_limit`, or shorten what is left for it";
        let keys = [format!("check.session.{}.budget", self.n), "token_limit".to_owned()];
        findings.push(self.finding(Rule::BudgetTotal, &keys, message, hint.to_owned()));
    }

    fn parts(&self, played: &Played, findings: &mut Vec<Finding>) {
        let settings = &self.scene.ground.file.settings;
        for part in &played.report.parts {
            let name = part.name.name();
            let Some(limit) = settings.part_limit(self.session.host, part.name) else { continue };
            if part.tokens <= limit {
                continue;
            }
            let host = host_name(self.session.host);
            let keys = [format!("check.budget.{host}.{name}"), format!("check.budget.{name}")];
            let message = format!(
                "the part {name} has {} tokens, {} more than the {} agreed on",
                thousands(part.tokens),
                thousands(part.tokens - limit),
                thousands(limit)
            );
            let hint = match part.name {
                Part::Handoff => "shorten the handoff",
                Part::Files => "list fewer files in the handoff",
                _ => "shorten the first sentences of the notes that it shows",
            };
            let hint = format!("{hint}, or raise `{name}` in [check.budget]");
            findings.push(self.finding(Rule::BudgetPart, &keys, message, hint));
        }
    }

    fn growth(&self, played: &Played, findings: &mut Vec<Finding>) {
        let Some(growth) = &played.report.growth else { return };
        let limit = self.scene.ground.file.settings.growth_tokens;
        let grown = played.report.used.tokens.saturating_sub(growth.tokens_before);
        if grown <= limit {
            return;
        }
        let Growth { added, pushed_out, .. } = growth;
        let mut message = format!(
            "the context grows by {} tokens, and {} are agreed on",
            thousands(grown),
            thousands(limit)
        );
        for (what, entries) in [("added", added), ("pushed out", pushed_out)] {
            if !entries.is_empty() {
                message.push_str(&format!("; {what}: {}", named(entries)));
            }
        }
        let hint = "shorten what is new, raise `growth_tokens` in [check], or agree with `kgctx check --update-baseline`";
        let keys = ["check.growth_tokens".to_owned()];
        findings.push(self.finding(Rule::BudgetGrowth, &keys, message, hint.to_owned()));
    }

    /// A finding at the first of some keys that is set, else at the session, else at what grew most.
    fn finding(&self, rule: Rule, keys: &[String], message: String, hint: String) -> Finding {
        let ground = self.scene.ground;
        let mut keys = keys.to_vec();
        keys.push(format!("check.session.{}", self.n));
        let spot = ground.spot(&keys).unwrap_or_else(|| {
            let path = self.scene.most_grown().unwrap_or(SETTINGS).to_owned();
            Spot { path, line: 1, column: 1, length: 0 }
        });
        Finding {
            rule,
            severity: Severity::Error,
            excerpt: ground.excerpt(&spot),
            spot,
            message: format!("in the session {}, {message}", shown(&self.session.name)),
            hint,
            session: Some(self.session.name.clone()),
        }
    }
}

/// The first names, and how many more there are. A concept can be in two parts, and is named once.
fn named(entries: &[EntryName]) -> String {
    let mut names: Vec<String> = Vec::new();
    for entry in entries {
        let name = shown(&entry.name);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let more = names.len().saturating_sub(NAMED);
    names.truncate(NAMED);
    let names = names.join(", ");
    if more == 0 { names } else { format!("{names} and {more} more") }
}

fn listed(keys: &[String]) -> String {
    keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ")
}

/// A name as it may stand in a message.
fn shown(name: &str) -> String {
    let name = crate::engine::secrets::mask(name);
    crate::engine::untrusted::one_line(&name)
}
