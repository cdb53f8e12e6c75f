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
#[serde(deny_unknown_fields)]
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
        let parts = || Part::ALL.into_iter().filter(|part| *part != Part::Frame);
        let hosts = || Host::with_limits().filter(|_| TOP);
        if key == "total" {
            return Ok(BudgetKey::Total);
        }
        if let Some(part) = parts().find(|part| part.name() == key) {
            return Ok(BudgetKey::Part(part));
        }
        if let Some(host) = hosts().find(|host| host.name() == key) {
            return Ok(BudgetKey::Host(host));
        }
        let names = ["total"].into_iter().chain(parts().map(Part::name));
        let names: Vec<&str> = names.chain(hosts().map(Host::name)).collect();
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

fn refuse<T>(span: Range<usize>, message: &str) -> Result<T, Refusal> {
    Err((span, message.to_owned()))
}

impl RawCheck {
    pub(super) fn settings(self) -> Result<CheckSettings, Refusal> {
        let mut settings = CheckSettings::default();
        if let Some(project) = self.project {
            if !is_project_name(project.get_ref()) {
                return refuse(project.span(), "a project's name has no `/` and is not empty");
            }
            settings.project = Some(project.into_inner());
        }
        if let Some(baseline) = self.baseline {
            settings.baseline = inside(&baseline)?;
            if settings.baseline.is_empty() {
                return refuse(baseline.span(), "this is no file");
            }
        }
        if let Some(folders) = self.handoffs {
            settings.handoffs = folders.iter().map(inside).collect::<Result<_, _>>()?;
        }
        settings.growth_tokens = self.growth_tokens.unwrap_or(settings.growth_tokens);
        if let Some(percent) = self.giant_percent {
            if !(1..=100).contains(percent.get_ref()) {
                return refuse(percent.span(), "this is no share: write 1 to 100");
            }
            settings.giant_percent = percent.into_inner();
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
        if let Some(branch) = &self.branch
            && branch.get_ref().contains(char::is_control)
        {
            return refuse(branch.span(), "this is no branch");
        }
        let span = self.name.as_ref().map(Spanned::span).unwrap_or_default();
        let numbered = || format!("session {}", others.len() + 1);
        let name = self.name.map_or_else(numbered, Spanned::into_inner);
        // Reports and the baseline identify sessions by name.
        if others.iter().any(|other| other.name == name) {
            let message =
                format!("there is a session {name:?} already; give this one another name");
            return refuse(span, &message);
        }
        Ok(SessionSpec {
            name,
            dir: self.dir.as_ref().map(inside).transpose()?.unwrap_or_default(),
            host: self.host.unwrap_or_default(),
            budget: self.budget,
            now,
            branch: self.branch.map(Spanned::into_inner),
        })
    }
}

fn moment(written: &Spanned<toml::Value>) -> Result<Timestamp, Refusal> {
    let moment = match written.get_ref() {
        toml::Value::Datetime(moment) => Timestamp::parse(&moment.to_string()),
        toml::Value::String(text) => Timestamp::parse(text),
        _ => None,
    };
    let message = "this is not a moment; write 2026-01-31 or 2026-01-31T12:00:00Z";
    moment.map_or_else(|| refuse(written.span(), message), Ok)
}

fn inside(path: &Spanned<String>) -> Result<String, Refusal> {
    let plain = plain_path(path.get_ref());
    plain.map_or_else(|| refuse(path.span(), "this is no path inside of the repository"), Ok)
}

/// Normalises a path below the top, with `/` as separator; `None` for one that leaves it.
fn plain_path(path: &str) -> Option<String> {
    let leads_elsewhere = |part: &str| {
        part == ".." || part.eq_ignore_ascii_case(".git") || part.contains(['\\', ':', '\0'])
    };
    if path.starts_with('/') || path.split('/').any(leads_elsewhere) {
        return None;
    }
    let parts: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    Some(parts.join("/"))
}
