//! Words that several formats share.

use crate::check::finding::{Finding, Severity};
use crate::check::report::{CheckReport, EntryName, SessionReport, part_tokens};
use crate::check::reports::width::shortened;
use crate::core::context::candidate::Part;
use crate::core::text::for_report::one_line;
use crate::core::text::number::{counted, thousands};

/// How many names are listed; the others are counted.
const NAMES: usize = 5;
/// Longer names are cut.
const NAME_COLUMNS: usize = 60;

/// `path:line:column`, as editors and terminals take it.
pub(super) fn place(finding: &Finding) -> String {
    let spot = &finding.spot;
    format!("{}:{}:{}", one_line(&spot.path), spot.line, spot.column)
}

/// The session in which a finding shows, where its message does not name it.
pub(super) fn session(finding: &Finding) -> Option<String> {
    let name = finding.session.as_deref()?;
    (!finding.message.contains(name)).then(|| one_line(name))
}

/// What a finding is called by its severity.
pub(super) fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Off => "note",
        Severity::Warn => "warning",
        Severity::Error => "error",
    }
}

/// What came out, in one line without a final stop.
pub(super) fn verdict(report: &CheckReport) -> String {
    let seen =
        [counted(report.notes, "note"), counted(report.sessions.len(), "session")].join(", ");
    match broken(report) {
        Some(broken) => format!("{broken} in {seen}"),
        None => format!("All is well: {seen}"),
    }
}

/// How many errors and warnings there are, if there are any.
pub(super) fn broken(report: &CheckReport) -> Option<String> {
    let kinds = [Severity::Error, Severity::Warn]
        .map(|kind| (report.n(kind), severity(kind)))
        .into_iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, name)| counted(n, name));
    let kinds: Vec<String> = kinds.collect();
    (!kinds.is_empty()).then(|| kinds.join(", "))
}

/// How much a session uses of what it may.
pub(super) fn use_of_budget(session: &SessionReport) -> String {
    of(session.used.tokens, Some(session.budget.tokens))
}

/// A number of how many there may be.
pub(super) fn of(number: usize, limit: Option<usize>) -> String {
    let number = thousands(number);
    match limit {
        Some(limit) => format!("{number} of {}", thousands(limit)),
        None => number,
    }
}

/// How many tokens a session's parts gained and lost, if there is a base: `+120 −30`.
pub(super) fn change(session: &SessionReport) -> Option<String> {
    let growth = session.growth.as_ref()?;
    let (mut gained, mut lost) = (0, 0);
    for part in Part::ALL {
        let now = part_tokens(&session.parts, part);
        let before = part_tokens(&growth.parts_before, part);
        gained += now.saturating_sub(before);
        lost += before.saturating_sub(now);
    }
    Some(gain_and_loss(gained, lost))
}

/// How many tokens were gained or lost: `+120`.
pub(super) fn difference(now: usize, before: usize) -> String {
    gain_and_loss(now.saturating_sub(before), before.saturating_sub(now))
}

fn gain_and_loss(gained: usize, lost: usize) -> String {
    let (gain, loss) = (thousands(gained), thousands(lost));
    match (gained, lost) {
        (0, 0) => "±0".to_owned(),
        (_, 0) => format!("+{gain}"),
        (0, _) => format!("−{loss}"),
        _ => format!("+{gain} −{loss}"),
    }
}

/// The entries of a session that a change added, removed or pushed out, without empty lists.
pub(super) fn moves(session: &SessionReport) -> Vec<(&'static str, &[EntryName])> {
    let Some(growth) = &session.growth else { return Vec::new() };
    let all = [
        ("added", growth.added.as_slice()),
        ("removed", &growth.removed),
        ("pushed out", &growth.pushed_out),
    ];
    all.into_iter().filter(|(_, entries)| !entries.is_empty()).collect()
}

/// The first names, each as `show` returns it, and how many more there are.
pub(super) fn names(entries: &[EntryName], show: impl Fn(&str) -> String) -> String {
    let shown = entries.iter().take(NAMES);
    let shown = shown.map(|entry| show(&shortened(&one_line(&entry.name), NAME_COLUMNS)));
    let shown = shown.collect::<Vec<_>>().join(", ");
    match entries.len().saturating_sub(NAMES) {
        0 => shown,
        more => format!("{shown} and {} more", thousands(more)),
    }
}
