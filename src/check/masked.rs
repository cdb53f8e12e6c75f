//! Masks secrets in the names of a report: files and sessions can be called by one.

use crate::check::finding::{CheckReport, EntryName};
use crate::core::secrets;

/// Masks what a report names.
pub(super) fn mask(report: &mut CheckReport) {
    for finding in &mut report.findings {
        masked(&mut finding.spot.path);
        masked(&mut finding.message);
        masked(&mut finding.hint);
        finding.session.iter_mut().for_each(masked);
    }
    for session in &mut report.sessions {
        masked(&mut session.name);
        entries(&mut session.shown);
        entries(&mut session.omitted);
        if let Some(growth) = &mut session.growth {
            entries(&mut growth.added);
            entries(&mut growth.removed);
            entries(&mut growth.pushed_out);
        }
    }
    report.static_files.iter_mut().for_each(|file| masked(&mut file.path));
    report.remarks.iter_mut().for_each(masked);
}

fn entries(entries: &mut [EntryName]) {
    entries.iter_mut().for_each(|entry| masked(&mut entry.name));
}

fn masked(text: &mut String) {
    if let std::borrow::Cow::Owned(masked) = secrets::mask(text) {
        *text = masked;
    }
}
