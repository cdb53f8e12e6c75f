//! The report for programs: all that is known, as `schema/json/check.schema.json` describes it.

use serde::Serialize;

use crate::check::report::CheckReport;

/// Raised when a field changes its meaning or goes; a new one is no reason.
const VERSION: u32 = 1;

#[derive(Serialize)]
struct Answer<'a> {
    version: u32,
    ok: bool,
    #[serde(flatten)]
    report: &'a CheckReport,
}

pub(super) fn render(report: &CheckReport) -> String {
    pretty(&Answer { version: VERSION, ok: !report.fails(), report })
}

/// A value as JSON for eyes and programs, with a line break at its end.
pub(super) fn pretty(value: &impl Serialize) -> String {
    // Nothing here has keys that are not text, which is all that could fail.
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    format!("{text}\n")
}
