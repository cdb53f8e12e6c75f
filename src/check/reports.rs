//! The six formats of a report. No format contains the machine's name or the time: the same
//! checkout gives the same bytes everywhere.

mod github;
mod json;
mod junit;
mod markdown;
mod sarif;
mod text;
mod width;
mod words;

use crate::check::report::CheckReport;
use crate::core::named::named;
pub use text::render as render_text;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportFormat {
    /// For a terminal.
    Text,
    /// For programs.
    Json,
    /// For GitHub's runner, which shows findings at the changed lines.
    Github,
    /// For tools that collect findings, such as GitHub's code scanning.
    Sarif,
    /// For tools that collect test results, such as Jenkins or GitLab.
    Junit,
    /// For a comment on a pull request.
    Markdown,
}

named!(ReportFormat {
    Text = "text",
    Json = "json",
    Github = "github",
    Sarif = "sarif",
    Junit = "junit",
    Markdown = "markdown",
});

/// The meaning of a piece of text, which decides its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// An error, or its carets.
    Bad,
    /// A warning, or its carets.
    Doubtful,
    /// Success.
    Good,
    Strong,
    /// Frames and labels.
    Faint,
}

/// Renders the report in a format, with a final line break.
pub fn render(report: &CheckReport, format: ReportFormat) -> String {
    match format {
        ReportFormat::Text => text::render(report, &|_, text| text.to_owned()),
        ReportFormat::Json => json::render(report),
        ReportFormat::Github => github::render(report),
        ReportFormat::Sarif => sarif::render(report),
        ReportFormat::Junit => junit::render(report),
        ReportFormat::Markdown => markdown::render(report),
    }
}
