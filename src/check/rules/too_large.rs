//! Notes, handoffs and static files that are too large to be read. Each breaks the rule of its
//! role, because no other rule sees it.

use crate::check::facts::SnapshotFacts;
use crate::check::finding::{Finding, Severity, Spot};

pub(crate) fn find(facts: &SnapshotFacts<'_>) -> Vec<Finding> {
    let findings = facts.too_large().into_iter().map(|(path, n_bytes, rule)| Finding {
        rule,
        severity: Severity::Error,
        spot: Spot::top_of(path),
        excerpt: None,
        message: format!(
            "this file has {n_bytes} bytes, and is left out: `max_file_bytes` is {}",
            facts.max_bytes
        ),
        hint: "split it, move it out of the notes, or raise `max_file_bytes`".to_owned(),
        session: None,
    });
    findings.collect()
}
