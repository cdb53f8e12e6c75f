//! The raw `[check]` section, and its conversion to settings.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use crate::check::finding::{Rule, Severity};
use crate::check::settings::{CheckSettings, Limits, SessionSpec, is_project_name};
use crate::core::context::candidate::Part;
use crate::core::host::Host;
use crate::core::named::Named;
use crate::core::time::Timestamp;

#[derive(Debug, Default, Deserialize)]
pub(super) struct WithCheck {
    #[serde(default)]
    pub(super) check: RawCheck,
}

#[derive(Debug, Default, Deserialize)]
#[serde(expecting = "a table", deny_unknown_fields)]
pub(super) struct RawCheck {
    project: Option<Spanned<String>>,
    baseline: Option<Spanned<String>>,
    handoffs: Option<Vec<Spanned<String>>>,
    growth_tokens: Option<usize>,
    giant_percent: Option<Spanned<usize>>,
    #[serde(default)]
    rules: BTreeMap<Rule, Severity>,
    #[serde(default)]
    budget: RawBudget<true>,
    #[serde(default, rename = "static")]
    statics: BTreeMap<Spanned<String>, usize>,
    #[serde(default, rename = "session")]
    sessions: Vec<RawSession>,
}

/// Limits for all hosts; at the top level, single hosts can have their own tables.
#[derive(Debug, Default)]
struct RawBudget<const TOP: bool> {
    all: Limits,
    hosts: BTreeMap<Host, Limits>,
}

impl<'de, const TOP: bool> Deserialize<'de> for RawBudget<TOP> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RawBudget<TOP>, D::Error> {
        deserializer.deserialize_map(BudgetVisitor::<TOP>)
    }
}

struct BudgetVisitor<const TOP: bool>;

impl<'de, const TOP: bool> Visitor<'de> for BudgetVisitor<TOP> {
    type Value = RawBudget<TOP>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut table: A) -> Result<RawBudget<TOP>, A::Error> {
        let mut budget = RawBudget::default();
        while let Some(key) = table.next_key::<BudgetKey<TOP>>()? {
            match key {
                BudgetKey::Total => budget.all.total = Some(table.next_value()?),
                BudgetKey::Part(part) => {
                    budget.all.parts.insert(part, table.next_value()?);
                }
                BudgetKey::Host(host) => {
                    budget.hosts.insert(host, table.next_value::<RawBudget<false>>()?.all);
                }
            }
        }
        Ok(budget)
    }
}

enum BudgetKey<const TOP: bool> {
    Total,
    Part(Part),
    Host(Host),
}

impl<'de, const TOP: bool> Deserialize<'de> for BudgetKey<TOP> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<BudgetKey<TOP>, D::Error> {
        let key = String::deserialize(deserializer)?;
        let parts = Part::ALL.into_iter().filter(|part| *part != Part::Frame);
        let parts = parts.map(|part| (part.name(), BudgetKey::Part(part)));
        let hosts = Host::with_limits().filter(|_| TOP);
        let hosts = hosts.map(|host| (host.name(), BudgetKey::Host(host)));
        let mut names = Vec::new();
        for (name, known) in [("total", BudgetKey::Total)].into_iter().chain(parts).chain(hosts) {
            if name == key {
                return Ok(known);
            }
            names.push(name);
        }
        let names = names.join("`, `");
        // Uses serde's wording for a struct: `known_keys` reads the names from it.
        Err(Error::custom(format!("unknown field `{key}`, expected one of `{names}`")))
    }
}

#[derive(Debug, Deserialize)]
#[serde(expecting = "a table", deny_unknown_fields)]
struct RawSession {
    name: Option<Spanned<String>>,
    dir: Option<Spanned<String>>,
    host: Option<Host>,
    budget: Option<usize>,
    /// A string, or a TOML time.
    now: Option<Spanned<toml::Value>>,
    branch: Option<Spanned<String>>,
}

/// Why a value is invalid, and its position.
pub(super) type Refusal = (Range<usize>, String);

impl RawCheck {
    pub(super) fn settings(self) -> Result<CheckSettings, Refusal> {
        let mut settings = CheckSettings::default();
        let is_name = |name: &String| is_project_name(name);
        let reason = "a project's name must not be empty or contain `/`";
        settings.project = self.project.map(|name| valid(name, is_name, reason)).transpose()?;
        if let Some(baseline) = self.baseline {
            settings.baseline = inside(&baseline)?;
            valid(baseline, |_| !settings.baseline.is_empty(), "this is not a file")?;
        }
        if let Some(folders) = self.handoffs {
            settings.handoffs = folders.iter().map(inside).collect::<Result<_, _>>()?;
        }
        settings.growth_tokens = self.growth_tokens.unwrap_or(settings.growth_tokens);
        if let Some(percent) = self.giant_percent {
            let is_share = |percent: &usize| (1..=100).contains(percent);
            settings.giant_percent =
                valid(percent, is_share, "this is not a percentage; write 1 to 100")?;
        }
        settings.severities = self.rules;
        settings.limits = self.budget.all;
        settings.host_limits = self.budget.hosts;
        let mut statics: Vec<(Spanned<String>, usize)> = self.statics.into_iter().collect();
        statics.sort_by_key(|(pattern, _)| pattern.span().start);
        let statics = statics.into_iter().map(|(pattern, tokens)| (pattern.into_inner(), tokens));
        settings.static_limits.extend(statics);
        for raw in self.sessions {
            let session = raw.spec(&settings.sessions)?;
            settings.sessions.push(session);
        }
        Ok(settings)
    }
}

impl RawSession {
    fn spec(self, others: &[SessionSpec]) -> Result<SessionSpec, Refusal> {
        let now = self.now.as_ref().map(moment).transpose()?;
        let is_branch = |branch: &String| !branch.contains(char::is_control);
        let branch = self.branch.map(|branch| valid(branch, is_branch, "this is not a branch"));
        let branch = branch.transpose()?;
        let numbered = || Spanned::new(0..0, format!("session {}", others.len() + 1));
        let name = self.name.unwrap_or_else(numbered);
        let taken =
            format!("there is already a session {:?}; give this one another name", name.get_ref());
        // Reports and the baseline identify sessions by name.
        let is_new = |name: &String| others.iter().all(|other| other.name != *name);
        Ok(SessionSpec {
            name: valid(name, is_new, &taken)?,
            dir: self.dir.as_ref().map(inside).transpose()?.unwrap_or_default(),
            host: self.host.unwrap_or_default(),
            budget: self.budget,
            now,
            branch,
        })
    }
}

fn valid<T>(value: Spanned<T>, is_valid: impl Fn(&T) -> bool, reason: &str) -> Result<T, Refusal> {
    let span = value.span();
    Some(value.into_inner()).filter(is_valid).ok_or_else(|| (span, reason.to_owned()))
}

fn moment(written: &Spanned<toml::Value>) -> Result<Timestamp, Refusal> {
    let moment = match written.get_ref() {
        toml::Value::Datetime(moment) => Timestamp::parse(&moment.to_string()),
        toml::Value::String(text) => Timestamp::parse(text),
        _ => None,
    };
    let reason = "this is not a time; write 2026-01-31 or 2026-01-31T12:00:00Z";
    moment.ok_or_else(|| (written.span(), reason.to_owned()))
}

/// Normalises a path below the top, with `/` as separator. Refuses one that leaves it.
fn inside(written: &Spanned<String>) -> Result<String, Refusal> {
    let path = written.get_ref();
    let leads_elsewhere = |part: &str| {
        part == ".." || part.eq_ignore_ascii_case(".git") || part.contains(['\\', ':', '\0'])
    };
    if path.starts_with('/') || path.split('/').any(leads_elsewhere) {
        return Err((written.span(), "this is not a path inside the repository".to_owned()));
    }
    let parts: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    Ok(parts.join("/"))
}
