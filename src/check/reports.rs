//! The six formats of a report. No format contains the machine's name or the time: the same
//! checkout gives the same bytes everywhere.

mod github;
mod json;
mod junit;
mod markdown;
mod sarif;
mod text;
mod words;

use clap::ValueEnum;

use crate::check::report::CheckReport;
use text::Paint;

/// The comments are the help texts of `kgctx check --format`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// For people: each place with its line and the way out, and a table of sessions
    Text,
    /// For scripts
    Json,
    /// For GitHub: annotations at the lines of a pull request
    Github,
    /// For code scanning: SARIF 2.1.0
    Sarif,
    /// For test reports: JUnit's XML
    Junit,
    /// For a comment below a pull request
    Markdown,
}

/// Renders the report in a format, with a final line break. Only text is painted.
pub fn render(report: &CheckReport, format: ReportFormat, paint: Paint<'_>) -> String {
    match format {
        ReportFormat::Text => text::render(report, paint),
        ReportFormat::Json => json::render(report),
        ReportFormat::Github => github::render(report),
        ReportFormat::Sarif => sarif::render(report),
        ReportFormat::Junit => junit::render(report),
        ReportFormat::Markdown => markdown::render(report),
    }
}
