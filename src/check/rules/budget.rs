//! The rules about what sessions are given: how much, and how much more than before. And the one about settings, because it is
//! found where they are read.

use crate::check::contexts::session::Played;
use crate::check::finding::{Finding, Rule, Severity, Spot};
use crate::check::is_on;
use crate::check::report::{EntryName, Growth};
use crate::check::repository::{Repository, SETTINGS};
use crate::check::settings::SessionSpec;
use crate::check::snapshot::Scene;
use crate::core::context::candidate::Part;
use crate::core::text::number::thousands;

/// How many names stand in a message.
const NAMED: usize = 5;

/// Keys that do nothing.
pub(crate) fn unknown_keys(repository: &Repository) -> Vec<Finding> {
    let finding = |unknown: &crate::check::settings::file::UnknownKey| Finding {
        rule: Rule::ConfigUnknownKey,
        severity: Severity::Error,
        excerpt: repository.excerpt(&unknown.spot),
        spot: unknown.spot.clone(),
        message: format!("kgctx knows no key `{}` here", shown(&unknown.key)),
        hint: match &unknown.nearest {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => format!("take it out; known are {}", listed(&unknown.known)),
        },
        session: None,
    };
    repository.file.unknown.iter().map(finding).collect()
}

/// Files of which nothing is read: sessions do without them, and no other rule looks at them.
pub(crate) fn too_large(scene: &Scene<'_>) -> Vec<Finding> {
    let too_large = scene.too_large().into_iter();
    too_large
        .map(|(path, n_bytes, rule)| Finding {
            rule,
            severity: Severity::Error,
            spot: top_of(path),
            excerpt: None,
            message: format!(
                "this file has {n_bytes} bytes, and is left out: `max_file_bytes` is {}",
                scene.max_bytes()
            ),
            hint: "split it, move it out of the notes, or raise `max_file_bytes`".to_owned(),
            session: None,
        })
        .collect()
}

/// Budgets that are not kept.
pub(crate) fn broken(scene: &Scene<'_>, played: &[Played]) -> Vec<Finding> {
    let mut findings: Vec<Broken> = Vec::new();
    for (n, (session, played)) in scene.repository.sessions.iter().zip(played).enumerate() {
        let about = About { scene, session, n };
        if is_on(&scene.repository.file.settings, Rule::BudgetTotal) {
            about.total(played, &mut findings);
        }
        if is_on(&scene.repository.file.settings, Rule::BudgetPart) {
            about.parts(played, &mut findings);
        }
        if is_on(&scene.repository.file.settings, Rule::BudgetGrowth) {
            about.growth(played, &mut findings);
        }
    }
    told(findings)
}

/// What is broken in one session.
pub(crate) struct Broken {
    /// Its message does not name the session yet.
    finding: Finding,
    session: String,
    /// By how many tokens.
    excess: usize,
}

/// One finding for all sessions in which the same is broken at the same place: who mends it once mends it for all.
pub(crate) fn told(broken: Vec<Broken>) -> Vec<Finding> {
    let mut groups: Vec<Vec<Broken>> = Vec::new();
    for broken in broken {
        let what = |broken: &Broken| {
            let Finding { rule, spot, hint, .. } = &broken.finding;
            (*rule, spot.clone(), hint.clone())
        };
        match groups.iter_mut().find(|group| what(&group[0]) == what(&broken)) {
            Some(group) => group.push(broken),
            None => groups.push(vec![broken]),
        }
    }
    groups.into_iter().filter_map(one_of_all).collect()
}

/// The worst of a group, with the sessions of all.
fn one_of_all(group: Vec<Broken>) -> Option<Finding> {
    let names: Vec<String> = group.iter().map(|broken| shown(&broken.session)).collect();
    let first = group.first()?.finding.message.clone();
    let is_same = group.iter().all(|broken| broken.finding.message == first);
    let worst = group.into_iter().rev().max_by_key(|broken| broken.excess)?;
    let Broken { mut finding, session, .. } = worst;
    finding.message = match &names[..] {
        [name] => format!("in the session {name}, {}", finding.message),
        names => {
            let most =
                if is_same { String::new() } else { format!(" most in {},", shown(&session)) };
            format!("in the sessions {},{most} {}", enumerated(names), finding.message)
        }
    };
    finding.session = Some(session).filter(|_| names.len() == 1);
    Some(finding)
}

/// `a, b and c`; of many the first ones, and how many more there are.
fn enumerated(names: &[String]) -> String {
    match names {
        [names @ .., last] if names.len() < NAMED => format!("{} and {last}", names.join(", ")),
        names => {
            let more = names.len().saturating_sub(NAMED);
            let first: Vec<&str> = names.iter().take(NAMED).map(String::as_str).collect();
            format!("{} and {more} more", first.join(", "))
        }
    }
}

/// A session of which something is found.
pub(crate) struct About<'a> {
    pub(crate) scene: &'a Scene<'a>,
    pub(crate) session: &'a SessionSpec,
    /// Its place among all.
    pub(crate) n: usize,
}

impl About<'_> {
    fn total(&self, played: &Played, findings: &mut Vec<Broken>) {
        let report = &played.report;
        let host = self.session.host;
        let keys = [format!("check.budget.{host}.total"), "check.budget.total".to_owned()];
        let used = report.used.tokens;
        if let Some(limit) = report.limits.total
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
            let excess = used - limit;
            findings.push(self.broken(Rule::BudgetTotal, &keys, excess, message, hint.to_owned()));
        }
        let mut room = format!("{} tokens", thousands(report.budget.tokens));
        if let Some(chars) = report.budget.chars {
            room.push_str(&format!(" and {} characters", thousands(chars)));
        }
        let wanted = thousands(report.wanted);
        let message = if played.is_shut_out {
            format!("a budget of {room} has no room for any of the {wanted} that are wanted")
        } else if let Some(cut) = &played.cut {
            let handoff = shown(&cut.handoff);
            match cut.shown {
                0 => format!("a budget of {room} has no room for the handoff {handoff}"),
                n => format!(
                    "a budget of {room} has room for {} of the {} tokens of the handoff {handoff}",
                    thousands(n),
                    thousands(cut.wanted)
                ),
            }
        } else {
            return;
        };
        let hint = "raise the session's `budget` or `token_limit`, or shorten what is left for it";
        let keys = [format!("check.session.{}.budget", self.n), "token_limit".to_owned()];
        let excess = report.wanted.saturating_sub(report.budget.tokens);
        findings.push(self.broken(Rule::BudgetTotal, &keys, excess, message, hint.to_owned()));
    }

    fn parts(&self, played: &Played, findings: &mut Vec<Broken>) {
        for part in &played.report.parts {
            let name = part.name.name();
            let Some(&limit) = played.report.limits.parts.get(&part.name) else { continue };
            if part.tokens <= limit {
                continue;
            }
            let host = self.session.host;
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
            let excess = part.tokens - limit;
            findings.push(self.broken(Rule::BudgetPart, &keys, excess, message, hint));
        }
    }

    fn growth(&self, played: &Played, findings: &mut Vec<Broken>) {
        let Some(growth) = &played.report.growth else { return };
        let limit = self.scene.repository.file.settings.growth_tokens;
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
        let hint = match self.scene.has_base() {
            true => "shorten what is new, or raise `growth_tokens` in [check]",
            false => {
                "shorten what is new, raise `growth_tokens` in [check], or agree with `kgctx check --update-baseline`"
            }
        };
        // At what the change is about: nobody looks for it in settings that are not part of it.
        let spot = self.scene.most_grown().map(top_of);
        let excess = grown - limit;
        findings.push(self.broken_at(spot, Rule::BudgetGrowth, excess, message, hint.to_owned()));
    }

    /// Something at the first of some keys that is set, else at the session, else at what grew most.
    pub(crate) fn broken(
        &self,
        rule: Rule,
        keys: &[String],
        excess: usize,
        message: String,
        hint: String,
    ) -> Broken {
        let repository = self.scene.repository;
        let mut keys = keys.to_vec();
        keys.push(format!("check.session.{}", self.n));
        let set = keys.iter().find_map(|key| repository.file.places.get(key)).cloned();
        let spot = set.or_else(|| self.scene.most_grown().map(top_of));
        self.broken_at(spot, rule, excess, message, hint)
    }

    pub(crate) fn broken_at(
        &self,
        spot: Option<Spot>,
        rule: Rule,
        excess: usize,
        message: String,
        hint: String,
    ) -> Broken {
        let spot = spot.unwrap_or_else(|| top_of(SETTINGS));
        let finding = Finding {
            rule,
            severity: Severity::Error,
            excerpt: self.scene.repository.excerpt(&spot),
            spot,
            message,
            hint,
            session: None,
        };
        Broken { finding, session: self.session.name.clone(), excess }
    }
}

/// The first line of a file.
fn top_of(path: &str) -> Spot {
    Spot { path: path.to_owned(), line: 1, column: 1, length: 0 }
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
    let name = crate::core::secrets::mask(name);
    crate::core::text::for_model::one_line(&name)
}
