//! A check's report in the forms in which it is read.

use crate::domain::check::CheckReport;

/// A form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportFormat {
    /// For people.
    Text,
    /// For scripts.
    Json,
    /// For GitHub's annotations.
    Github,
    /// SARIF 2.1.0.
    Sarif,
    /// JUnit's XML.
    Junit,
    /// For a comment.
    Markdown,
}

/// Writes a report.
pub fn render(report: &CheckReport, _: ReportFormat) -> String {
    serde_json::to_string_pretty(report).unwrap_or_default() + "\n"
}
