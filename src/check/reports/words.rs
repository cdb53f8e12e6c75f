//! Phrases that several formats share.

use crate::check::finding::{Finding, Severity};
use crate::check::report::{CheckReport, EntryName, SessionReport, part_tokens};
use crate::core::context::candidate::Part;
use crate::core::text::for_report::one_line;
use crate::core::text::number::{counted, thousands};
use crate::core::text::width::shortened;

/// The number of names to list; the others are counted.
const NAMES: usize = 5;
/// Longer names are cut.
const NAME_COLUMNS: usize = 60;

/// `path:line:column`, as editors and terminals expect it.
pub(super) fn place(finding: &Finding) -> String {
    let spot = &finding.spot;
    format!("{}:{}:{}", one_line(&spot.path), spot.line, spot.column)
}

/// The finding's session, unless its message already names it.
pub(super) fn session(finding: &Finding) -> Option<String> {
    let name = finding.session.as_deref()?;
    (!finding.message.contains(name)).then(|| one_line(name))
}

pub(super) fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Off => "note",
        Severity::Warn => "warning",
        Severity::Error => "error",
    }
}

/// The result in one line without a full stop.
pub(super) fn verdict(report: &CheckReport) -> String {
    let seen =
        [counted(report.notes, "note"), counted(report.sessions.len(), "session")].join(", ");
    match broken(report) {
        Some(broken) => format!("{broken} in {seen}"),
        None => format!("No problems: {seen}"),
    }
}

/// The number of errors and warnings; `None` without any.
pub(super) fn broken(report: &CheckReport) -> Option<String> {
    let kinds = [Severity::Error, Severity::Warn].into_iter().filter(|&kind| report.n(kind) > 0);
    let kinds: Vec<String> = kinds.map(|kind| counted(report.n(kind), severity(kind))).collect();
    (!kinds.is_empty()).then(|| kinds.join(", "))
}

pub(super) fn use_of_budget(session: &SessionReport) -> String {
    of(session.used.tokens, Some(session.budget.tokens))
}

/// A number, with its limit if there is one.
pub(super) fn of(number: usize, limit: Option<usize>) -> String {
    let number = thousands(number);
    match limit {
        Some(limit) => format!("{number} of {}", thousands(limit)),
        None => number,
    }
}

/// The tokens that a session's parts gained and lost, if there is a base: `+120 −30`.
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

/// The tokens gained or lost, if there is a base: `+120`.
pub(super) fn difference(now: usize, before: Option<usize>) -> Option<String> {
    let before = before?;
    Some(gain_and_loss(now.saturating_sub(before), before.saturating_sub(now)))
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

/// The first names, each formatted with `show`, and the number of the others.
pub(super) fn names(entries: &[EntryName], show: impl Fn(&str) -> String) -> String {
    let shown = entries.iter().take(NAMES);
    let shown = shown.map(|entry| show(&shortened(&one_line(&entry.name), NAME_COLUMNS)));
    let shown = shown.collect::<Vec<_>>().join(", ");
    match entries.len().saturating_sub(NAMES) {
        0 => shown,
        more => format!("{shown} and {} more", thousands(more)),
    }
}
