//! The six formats of a report. None of them names the machine or the time: the same checkout gives the same bytes
//! everywhere.

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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportFormat {
    /// A person at a terminal.
    Text,
    /// A program.
    Json,
    /// GitHub's runner, which shows findings at the changed lines.
    Github,
    /// A collector of findings, like GitHub's code scanning.
    Sarif,
    /// A collector of test results, like Jenkins or GitLab.
    Junit,
    /// A reviewer, as a comment on a pull request.
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

/// What a piece of the text is, so that it can get a colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// The name of a broken rule that fails the check, or its place.
    Bad,
    /// The name of a broken rule that does not, or its place.
    Doubtful,
    /// That all is well.
    Good,
    /// A heading.
    Strong,
    /// What holds the rest together.
    Faint,
}

/// The report in a format. It ends with a line break.
pub fn render(report: &CheckReport, format: ReportFormat) -> String {
    match format {
        ReportFormat::Text => render_text(report, &|_, text| text.to_owned()),
        ReportFormat::Json => json::render(report),
        ReportFormat::Github => github::render(report),
        ReportFormat::Sarif => sarif::render(report),
        ReportFormat::Junit => junit::render(report),
        ReportFormat::Markdown => markdown::render(report),
    }
}

/// The report for people, each piece of it as `paint` returns it.
pub fn render_text(report: &CheckReport, paint: &dyn Fn(Tone, &str) -> String) -> String {
    text::render(report, paint)
}
