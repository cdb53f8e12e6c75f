//! The report for people: findings in the style of a compiler, then the contexts of sessions.

mod excerpt;
mod tables;

use crate::check::finding::{Finding, Severity};
use crate::check::report::CheckReport;
use crate::check::reports::words::{self, place};
use crate::core::text::for_report::one_line;
use crate::core::text::for_terminal::Style;
use crate::core::text::width::wrapped;

/// The longest line, unless a single word is longer.
pub(super) const COLUMNS: usize = 100;

/// Colours a piece of text, or returns it unchanged.
pub(super) type Paint<'a> = &'a dyn Fn(Style, &str) -> String;

/// Renders the report, with each piece passed through `paint`.
pub(super) fn render(report: &CheckReport, paint: Paint<'_>) -> String {
    let mut blocks: Vec<String> = Vec::new();
    blocks.extend(report.findings.iter().map(|found| finding(found, paint)));
    blocks.extend(tables::sessions(report, paint));
    blocks.extend(tables::parts(report, paint));
    blocks.extend(tables::static_files(report, paint));
    blocks.extend(remarks(report, paint));
    let tone = report.worst().map_or(Style::Good, tone);
    blocks.push(format!("{}\n", paint(tone, &words::verdict(report))));
    blocks.join("\n")
}

/// A finding: rule and message, spot, excerpt, hint.
pub(super) fn finding(finding: &Finding, paint: Paint<'_>) -> String {
    let tone = tone(finding.severity);
    let name = format!("{}[{}]:", words::severity(finding.severity), finding.rule.id());
    let line = wrapped(&format!("{name} {}", one_line(&finding.message)), COLUMNS - 2, "  ");
    let line = line.replacen(&name, &paint(tone, &name), 1);
    let gutter = finding.spot.line.to_string().len();
    let margin = " ".repeat(gutter);
    let mut text = format!("{line}\n{margin}{} {}\n", paint(Style::Faint, "-->"), place(finding));
    text.push_str(&excerpt::lines(finding, paint));
    let hint = Some(one_line(&finding.hint)).filter(|hint| !hint.is_empty());
    for (what, line) in [("session", words::session(finding)), ("help", hint)] {
        let Some(line) = line else { continue };
        let mark = format!("{margin} = {what}:");
        let indent = " ".repeat(mark.len() + 1);
        let line = wrapped(&line, COLUMNS.saturating_sub(indent.len()), &indent);
        text.push_str(&format!("{} {line}\n", paint(Style::Faint, &mark)));
    }
    text
}

fn remarks(report: &CheckReport, paint: Paint<'_>) -> Option<String> {
    let lines = report.remarks.iter().map(|remark| {
        let line = wrapped(&one_line(remark), COLUMNS - "note: ".len(), "      ");
        format!("{} {line}\n", paint(Style::Strong, "note:"))
    });
    (!report.remarks.is_empty()).then(|| lines.collect())
}

fn tone(severity: Severity) -> Style {
    if severity == Severity::Error { Style::Bad } else { Style::Doubtful }
}
