//! The settings of a repository for its own check: `kgctx.toml` read with the place of every key. A key that nobody knows
//! is told of and passed over, as long as all others can be used.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::path::Path;

use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::check::finding::{Rule, Severity, Spot};
use crate::check::settings::SessionSpec;
use crate::check::settings::{CheckSettings, Limits, is_project_name};
use crate::core::context::candidate::Part;
use crate::core::host::Host;
use crate::core::named::Named;
use crate::core::settings::SettingsFile;
use crate::core::time::Timestamp;
use crate::workspace::settings::{SettingsError, invalid, position};

/// A key is taken for a slip of a known one if they are at least so much alike.
const LEAST_LIKENESS: f64 = 0.8;

/// What `kgctx.toml` says, for a check.
#[derive(Debug, Clone, Default)]
pub struct CheckFile {
    /// What it asks of the repository.
    pub settings: CheckSettings,
    /// Where each key stands: `token_limit`, `check.budget.total`, `check.session.0`.
    pub places: BTreeMap<String, Spot>,
    /// Keys that do nothing.
    pub unknown: Vec<UnknownKey>,
    /// Everything else, written anew without them and without `[check]`.
    pub without_unknown: String,
    /// Whether there is a `[check]`.
    pub has_check: bool,
}

/// A key that nobody knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownKey {
    /// The key.
    pub key: String,
    /// Where it stands.
    pub spot: Spot,
    /// The keys that are known there.
    pub known: Vec<String>,
    /// The one that may be meant.
    pub nearest: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct WithCheck {
    #[serde(default)]
    check: RawCheck,
}

#[derive(Debug, Default, Deserialize)]
#[serde(expecting = "a table", deny_unknown_fields)]
struct RawCheck {
    project: Option<Spanned<String>>,
    baseline: Option<Spanned<String>>,
    handoffs: Option<Vec<Spanned<String>>>,
    growth_tokens: Option<usize>,
    giant_percent: Option<Spanned<usize>>,
    #[serde(default)]
    rules: BTreeMap<RuleName, Severity>,
    #[serde(default)]
    budget: RawBudget,
    #[serde(default, rename = "static")]
    statics: BTreeMap<Spanned<String>, usize>,
    #[serde(default, rename = "session")]
    sessions: Vec<RawSession>,
}

/// Limits for all hosts, and in tables of their own for single hosts.
#[derive(Debug, Default)]
struct RawBudget {
    all: Limits,
    hosts: BTreeMap<Host, Limits>,
}

impl<'de> Deserialize<'de> for RawBudget {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RawBudget, D::Error> {
        deserializer.deserialize_map(BudgetVisitor)
    }
}

struct BudgetVisitor;

impl<'de> Visitor<'de> for BudgetVisitor {
    type Value = RawBudget;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut table: A) -> Result<RawBudget, A::Error> {
        let mut budget = RawBudget::default();
        while let Some(key) = table.next_key()? {
            match key {
                BudgetKey::Total => budget.all.total = Some(table.next_value()?),
                BudgetKey::Part(part) => {
                    budget.all.parts.insert(part, table.next_value()?);
                }
                BudgetKey::Host(host) => {
                    budget.hosts.insert(host, limits(table.next_value()?));
                }
            }
        }
        Ok(budget)
    }
}

/// A key of `[check.budget]`.
enum BudgetKey {
    Total,
    Part(Part),
    Host(Host),
}

impl<'de> Deserialize<'de> for BudgetKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<BudgetKey, D::Error> {
        let key = String::deserialize(deserializer)?;
        let parts = || Part::ALL.into_iter().filter(|part| *part != Part::Frame);
        if key == "total" {
            return Ok(BudgetKey::Total);
        }
        if let Some(part) = parts().find(|part| part.name() == key) {
            return Ok(BudgetKey::Part(part));
        }
        if let Some(host) = Host::with_limits().find(|host| host.name() == key) {
            return Ok(BudgetKey::Host(host));
        }
        let names = ["total"].into_iter().chain(parts().map(Part::name));
        let names: Vec<&str> = names.chain(Host::with_limits().map(Host::name)).collect();
        let names = names.join("`, `");
        // Worded as serde words it for a struct: `known` reads the names from it.
        Err(Error::custom(format!("unknown field `{key}`, expected one of `{names}`")))
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(expecting = "a table", deny_unknown_fields)]
struct RawLimits {
    total: Option<usize>,
    handoff: Option<usize>,
    concepts: Option<usize>,
    recent: Option<usize>,
    graph: Option<usize>,
    files: Option<usize>,
}

#[derive(Debug, Deserialize)]
#[serde(expecting = "a table", deny_unknown_fields)]
struct RawSession {
    name: Option<Spanned<String>>,
    dir: Option<Spanned<String>>,
    host: Option<Host>,
    budget: Option<usize>,
    /// As a text, or as TOML writes times.
    now: Option<Spanned<toml::Value>>,
    branch: Option<Spanned<String>>,
}

/// A rule under its name: an unknown one is an unknown key.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct RuleName(Rule);

impl<'de> Deserialize<'de> for RuleName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RuleName, D::Error> {
        let name = String::deserialize(deserializer)?;
        const NAMES: [&str; Rule::ALL.len()] = rule_names();
        let unknown = || Error::unknown_field(&name, &NAMES);
        Rule::parse(&name).map(RuleName).ok_or_else(unknown)
    }
}

const fn rule_names() -> [&'static str; Rule::ALL.len()] {
    let mut names = [""; Rule::ALL.len()];
    let mut n = 0;
    while n < names.len() {
        names[n] = Rule::ALL[n].id();
        n += 1;
    }
    names
}

/// Reads `kgctx.toml`. A value that cannot be used is an error, with its place.
pub fn read(path: &str, text: &str) -> Result<CheckFile, SettingsError> {
    let file = Path::new(path);
    let wrong = |error: toml::de::Error| invalid(file, text, &error);
    let whole = DeTable::parse(text).map_err(wrong)?;
    let span = whole.span();
    let mut others = whole.into_inner();
    let mut of_check = DeTable::new();
    let check = others.keys().find(|key| key.get_ref() == "check").cloned();
    let has_check = check.is_some();
    if let Some((key, value)) = check.and_then(|key| others.remove_entry(&key)) {
        of_check.insert(key, value);
    }
    let mut unknown = Vec::new();
    let mut tell = |key: Unknown| unknown.push(key.told(path, text));
    known::<SettingsFile>(&mut others, &span, &mut tell).map_err(wrong)?;
    let raw = known::<WithCheck>(&mut of_check, &span, &mut tell).map_err(wrong)?.check;
    unknown.sort_by(|a, b| a.spot.cmp(&b.spot));
    let mut places = BTreeMap::new();
    for table in [&others, &of_check] {
        note_places(table, "", &mut |key, span| {
            places.insert(key, spot(path, text, span));
        });
    }
    let refuse = |span: Range<usize>, message: &str| {
        let (line, column) = position(text, span.start);
        let (path, message) = (file.to_path_buf(), message.to_owned());
        SettingsError::Invalid { path, line, column, message }
    };
    Ok(CheckFile {
        settings: settings(raw, refuse)?,
        places,
        unknown,
        without_unknown: others.iter().map(|(key, value)| pair(key, value) + "\n").collect(),
        has_check,
    })
}

/// A key that was not expected where it stands, and those that were.
struct Unknown {
    span: Range<usize>,
    key: String,
    known: Vec<String>,
}

impl Unknown {
    fn told(self, path: &str, text: &str) -> UnknownKey {
        let Unknown { span, key, known } = self;
        let nearest = known
            .iter()
            .map(|name| (strsim::jaro_winkler(name, &key), name))
            .filter(|(likeness, _)| *likeness >= LEAST_LIKENESS)
            .max_by(|(a, _), (b, _)| a.total_cmp(b))
            .map(|(_, name)| name.clone());
        UnknownKey { spot: spot(path, text, span), key, known, nearest }
    }
}

fn spot(path: &str, text: &str, span: Range<usize>) -> Spot {
    let (line, column) = position(text, span.start);
    let shown = text.get(span).unwrap_or_default().lines().next().unwrap_or_default();
    Spot { path: path.to_owned(), line, column, length: shown.chars().count() }
}

/// Reads a table. Keys that are not expected are taken out of it, one after the other: who reads a table knows best which
/// keys it has.
fn known<T: for<'de> Deserialize<'de>>(
    table: &mut DeTable<'_>,
    span: &Range<usize>,
    tell: &mut impl FnMut(Unknown),
) -> Result<T, toml::de::Error> {
    loop {
        let attempt = Spanned::new(span.clone(), table.clone());
        let error = match T::deserialize(toml::de::Deserializer::from(attempt)) {
            Ok(read) => return Ok(read),
            Err(error) => error,
        };
        let mut names = error.message().split('`').skip(1).step_by(2).map(str::to_owned);
        let is_unknown = error.message().starts_with("unknown field `");
        let Some((at, key)) = error.span().zip(names.next()).filter(|_| is_unknown) else {
            return Err(error);
        };
        if !take_out(table, &at) {
            return Err(error);
        }
        tell(Unknown { span: at, key, known: names.collect() });
    }
}

/// Takes the key out that stands at a place.
fn take_out(table: &mut DeTable<'_>, at: &Range<usize>) -> bool {
    let found = table.keys().find(|key| key.span() == *at).cloned();
    if let Some(key) = found {
        return table.remove(&key).is_some();
    }
    table.iter_mut().any(|(_, value)| take_out_of_value(value.get_mut(), at))
}

fn take_out_of_value(value: &mut DeValue<'_>, at: &Range<usize>) -> bool {
    match value {
        DeValue::Table(table) => take_out(table, at),
        DeValue::Array(items) => items.iter_mut().any(|item| take_out_of_value(item.get_mut(), at)),
        _ => false,
    }
}

/// Tells where each key stands, and each table of a list.
fn note_places(table: &DeTable<'_>, above: &str, note: &mut impl FnMut(String, Range<usize>)) {
    for (key, value) in table {
        let path = format!("{above}{}", key.get_ref());
        note(path.clone(), key.span());
        match value.get_ref() {
            DeValue::Table(inner) => note_places(inner, &format!("{path}."), note),
            DeValue::Array(items) => {
                for (n, item) in items.iter().enumerate() {
                    note(format!("{path}.{n}"), item.span());
                    if let DeValue::Table(inner) = item.get_ref() {
                        note_places(inner, &format!("{path}.{n}."), note);
                    }
                }
            }
            _ => {}
        }
    }
}

fn settings(
    raw: RawCheck,
    refuse: impl Fn(Range<usize>, &str) -> SettingsError,
) -> Result<CheckSettings, SettingsError> {
    let mut settings = CheckSettings::default();
    let inside = |path: Spanned<String>| {
        let span = path.span();
        let plain = plain_path(path.get_ref());
        plain.ok_or_else(|| refuse(span, "this is no path inside of the repository"))
    };
    if let Some(project) = raw.project {
        let name = project.get_ref();
        if !is_project_name(name) {
            return Err(refuse(project.span(), "a project's name has no `/` and is not empty"));
        }
        settings.project = Some(name.clone());
    }
    if let Some(baseline) = raw.baseline {
        let span = baseline.span();
        settings.baseline = inside(baseline)?;
        if settings.baseline.is_empty() {
            return Err(refuse(span, "this is no file"));
        }
    }
    if let Some(folders) = raw.handoffs {
        settings.handoffs = folders.into_iter().map(inside).collect::<Result<_, _>>()?;
    }
    settings.growth_tokens = raw.growth_tokens.unwrap_or(settings.growth_tokens);
    if let Some(percent) = raw.giant_percent {
        if !(1..=100).contains(percent.get_ref()) {
            return Err(refuse(percent.span(), "this is no share: write 1 to 100"));
        }
        settings.giant_percent = *percent.get_ref();
    }
    settings.severities =
        raw.rules.into_iter().map(|(rule, severity)| (rule.0, severity)).collect();
    settings.limits = raw.budget.all;
    settings.host_limits = raw.budget.hosts;
    let mut statics: Vec<(Spanned<String>, usize)> = raw.statics.into_iter().collect();
    statics.sort_by_key(|(pattern, _)| pattern.span().start);
    let statics = statics.into_iter().map(|(pattern, tokens)| (pattern.into_inner(), tokens));
    settings.static_limits.extend(statics);
    for (n, raw) in raw.sessions.into_iter().enumerate() {
        let host = raw.host.unwrap_or_default();
        let now = match raw.now {
            Some(written) => {
                let text = match written.get_ref() {
                    toml::Value::Datetime(moment) => moment.to_string(),
                    toml::Value::String(text) => text.clone(),
                    _ => String::new(),
                };
                Some(Timestamp::parse(&text).ok_or_else(|| {
                    let way_out = "this is not a moment; write 2026-01-31 or 2026-01-31T12:00:00Z";
                    refuse(written.span(), way_out)
                })?)
            }
            None => None,
        };
        let branch = match raw.branch {
            Some(branch) if branch.get_ref().contains(char::is_control) => {
                return Err(refuse(branch.span(), "this is no branch"));
            }
            branch => branch.map(Spanned::into_inner),
        };
        let span = raw.name.as_ref().map(Spanned::span);
        let name = raw.name.map_or_else(|| format!("session {}", n + 1), Spanned::into_inner);
        // Reports and the baseline know sessions by their names.
        if settings.sessions.iter().any(|other| other.name == name) {
            let why = format!("there is a session {name:?} already; give this one another name");
            return Err(refuse(span.unwrap_or_default(), &why));
        }
        let dir = raw.dir.map_or(Ok(String::new()), inside)?;
        settings.sessions.push(SessionSpec { name, dir, host, budget: raw.budget, now, branch });
    }
    Ok(settings)
}

fn limits(raw: RawLimits) -> Limits {
    let parts = [
        (Part::Handoff, raw.handoff),
        (Part::Concepts, raw.concepts),
        (Part::Recent, raw.recent),
        (Part::Graph, raw.graph),
        (Part::Files, raw.files),
    ];
    let parts = parts.into_iter().filter_map(|(part, limit)| Some((part, limit?))).collect();
    Limits { total: raw.total, parts }
}

/// A path below the top, with `/` between its parts; `None` for one that leads elsewhere.
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

/// A key and its value on one line.
fn pair(key: &Spanned<toml::de::DeString<'_>>, value: &Spanned<DeValue<'_>>) -> String {
    format!("{} = {}", quoted(key.get_ref()), inline(value.get_ref()))
}

fn inline(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => quoted(text),
        DeValue::Integer(number) => {
            let sign = match number.radix() {
                2 => "0b",
                8 => "0o",
                16 => "0x",
                _ => "",
            };
            format!("{sign}{}", number.as_str())
        }
        DeValue::Float(number) => number.as_str().to_owned(),
        DeValue::Boolean(value) => value.to_string(),
        DeValue::Datetime(moment) => moment.to_string(),
        DeValue::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| inline(item.get_ref())).collect();
            format!("[{}]", items.join(", "))
        }
        DeValue::Table(table) => {
            let pairs: Vec<String> = table.iter().map(|(key, value)| pair(key, value)).collect();
            format!("{{{}}}", pairs.join(", "))
        }
    }
}

/// A text in quotes: JSON's escapes are TOML's, too.
pub fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007F")
}

#[cfg(test)]
mod tests;
