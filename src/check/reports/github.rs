//! The report as commands for GitHub's runner, which shows them beside the changed lines. One
//! command per line.

use crate::check::finding::{Finding, Severity};
use crate::check::report::CheckReport;
use crate::check::reports::words::{broken, change, session, severity, use_of_budget, verdict};
use crate::core::text::for_report::one_line;

/// GitHub shows this many errors and this many warnings per step; the log has all of them.
const SHOWN: usize = 10;

pub(super) fn render(report: &CheckReport) -> String {
    let mut commands: Vec<String> = Vec::new();
    // Errors first, because GitHub shows at most ten of each kind.
    for kind in [Severity::Error, Severity::Warn] {
        let findings = report.findings.iter().filter(|finding| finding.severity == kind);
        commands.extend(findings.map(annotation));
    }
    commands.push(format!("::notice title=kgctx check::{}", data(&summary(report))));
    commands.iter().map(|command| format!("{command}\n")).collect()
}

fn annotation(finding: &Finding) -> String {
    let Finding { rule, spot, .. } = finding;
    let mut properties =
        format!("file={},line={}", property(&one_line(&spot.path)), spot.line.max(1));
    if spot.length > 0 {
        let end = spot.column.saturating_add(spot.length);
        properties.push_str(&format!(",col={},endColumn={end}", spot.column));
    }
    let title = property(&format!("kgctx: {}", rule.id()));
    let session = session(finding).map_or(String::new(), |name| format!(" (session {name})"));
    let message =
        format!("{}{session}\nHelp: {}", one_line(&finding.message), one_line(&finding.hint));
    format!("::{} {properties},title={title}::{}", severity(finding.severity), data(&message))
}

fn summary(report: &CheckReport) -> String {
    let mut lines = vec![verdict(report)];
    if let Some(broken) = broken(report)
        && [Severity::Error, Severity::Warn].iter().any(|&kind| report.n(kind) > SHOWN)
    {
        lines.push(format!("GitHub shows {SHOWN} of each kind; the log has all: {broken}"));
    }
    for session in &report.sessions {
        let change = change(session).map_or(String::new(), |change| format!(" ({change})"));
        let (name, used) = (one_line(&session.name), use_of_budget(session));
        lines.push(format!("{name}: {used} tokens{change}"));
    }
    lines.extend(report.remarks.iter().map(|remark| one_line(remark)));
    lines.join("\n")
}

/// Escapes a command's text.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes the value of a command's property.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ends_a_command_or_a_property_is_escaped() {
        assert_eq!(data("100 %\r\na: b, c"), "100 %25%0D%0Aa: b, c");
        assert_eq!(property("a:b,c%\n"), "a%3Ab%2Cc%25%0A");
    }
}
