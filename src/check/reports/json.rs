//! The report as JSON, described by `schema/json/check.schema.json`.

use serde::Serialize;

use crate::check::report::CheckReport;

/// Increases when a field changes its meaning or is removed, not when one is added.
const VERSION: u32 = 1;

#[derive(Serialize)]
struct JsonReport<'a> {
    version: u32,
    ok: bool,
    #[serde(flatten)]
    report: &'a CheckReport,
}

pub(super) fn render(report: &CheckReport) -> String {
    pretty(&JsonReport { version: VERSION, ok: !report.fails(), report })
}

/// Formats a value as indented JSON with a final line break.
pub(super) fn pretty(value: &impl Serialize) -> String {
    // Only keys that are not strings can fail, and there are none.
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    format!("{text}\n")
}
