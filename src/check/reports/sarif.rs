//! The report in SARIF 2.1.0, for tools that collect findings.

use std::collections::HashMap;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use crate::check::finding::{Finding, Rule};
use crate::check::report::{CheckReport, SessionReport};
use crate::check::reports::json::pretty;
use crate::check::reports::words::severity;
use crate::core::text::for_report::one_line;

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
/// The base of all paths. The reader defines it, so the report contains no path of this machine.
const TOP: &str = "SRCROOT";
/// Increases when the algorithm of fingerprints changes.
const FINGERPRINT: &str = "kgctxFinding/v1";
const FINGERPRINT_CHARS: usize = 32;
/// All but what RFC 3986 leaves unreserved, and the slash.
const RESERVED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

pub(super) fn render(report: &CheckReport) -> String {
    let fingerprints = fingerprints(&report.findings);
    let results = report.findings.iter().zip(&fingerprints);
    let results: Vec<Value> = results.map(|(finding, print)| result(finding, print)).collect();
    let note = |text: &String| json!({"level": "note", "message": {"text": without_links(text)}});
    let remarks: Vec<Value> = report.remarks.iter().map(note).collect();
    let sessions: Vec<Value> = report.sessions.iter().map(session).collect();
    pretty(&json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": driver(env!("CARGO_PKG_REPOSITORY"))},
            "invocations": [{"executionSuccessful": true, "toolExecutionNotifications": remarks}],
            "originalUriBaseIds": {TOP: {"description": {"text": "The top of the repository."}}},
            "columnKind": "unicodeCodePoints",
            "results": results,
            "properties": {
                "project": report.project,
                "base": report.base,
                "notes": report.notes,
                "sessions": sessions,
                "staticFiles": report.static_files,
            },
        }],
    }))
}

/// The program and its rules, with links if the program's repository is known.
fn driver(repository: &str) -> Value {
    let repository = Some(repository.trim_end_matches('/')).filter(|address| !address.is_empty());
    let rules = Rule::ALL.into_iter().map(|rule| descriptor(rule, repository));
    without_nulls(json!({
        "name": "kgctx",
        "version": env!("CARGO_PKG_VERSION"),
        "semanticVersion": env!("CARGO_PKG_VERSION"),
        "informationUri": repository,
        "rules": rules.collect::<Vec<_>>(),
    }))
}

fn descriptor(rule: Rule, repository: Option<&str>) -> Value {
    let section = format!("docs/check-rules.md#{}", rule.id());
    without_nulls(json!({
        "id": rule.id(),
        "name": format!("{rule:?}"),
        "shortDescription": {"text": rule.summary()},
        "help": {"text": format!("{} See {section} in kgctx's guide.", rule.summary())},
        "helpUri": repository.map(|address| format!("{address}/blob/HEAD/{section}")),
        "defaultConfiguration": {"level": severity(rule.default_severity())},
    }))
}

fn result(finding: &Finding, fingerprint: &str) -> Value {
    let text = format!("{} Help: {}", sentence(&finding.message), sentence(&finding.hint));
    let location = json!({
        "artifactLocation": {"uri": percent_encoded(&finding.spot.path), "uriBaseId": TOP},
        "region": region(finding),
    });
    without_nulls(json!({
        "ruleId": finding.rule.id(),
        "ruleIndex": Rule::ALL.iter().position(|&rule| rule == finding.rule),
        "level": severity(finding.severity),
        "message": {"text": text},
        "locations": [{"physicalLocation": location}],
        "partialFingerprints": {FINGERPRINT: fingerprint},
        "properties": finding.session.as_ref().map(|session| json!({"session": session})),
    }))
}

/// The whole line if there are no columns.
fn region(finding: &Finding) -> Value {
    let spot = &finding.spot;
    let start = Some(spot.column.max(1)).filter(|_| spot.length > 0);
    without_nulls(json!({
        "startLine": spot.line.max(1),
        "startColumn": start,
        "endColumn": start.map(|start| start.saturating_add(spot.length)),
        "snippet": finding.excerpt.as_ref().map(|excerpt| json!({"text": one_line(excerpt)})),
    }))
}

fn without_nulls(mut object: Value) -> Value {
    if let Value::Object(fields) = &mut object {
        fields.retain(|_, value| !value.is_null());
    }
    object
}

fn session(session: &SessionReport) -> Value {
    json!({
        "name": session.name,
        "host": session.host,
        "budget": session.budget,
        "used": session.used,
        "wanted": session.wanted,
        "parts": session.parts,
        "growth": session.growth,
    })
}

/// Identifies each finding even if its line moves: by rule, file, excerpt, session, and its number
/// among equal ones.
fn fingerprints(findings: &[Finding]) -> Vec<String> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let of = findings.iter().map(|finding| {
        let excerpt = finding.excerpt.as_deref().unwrap_or_default();
        let excerpt = excerpt.split_whitespace().collect::<Vec<_>>().join(" ");
        let session = finding.session.as_deref().unwrap_or_default();
        let key = [finding.rule.id(), &finding.spot.path, &excerpt, session].join("\0");
        let n = seen.entry(key.clone()).or_default();
        *n += 1;
        let hash = blake3::hash(format!("{key}\0{n}").as_bytes()).to_hex();
        hash[..FINGERPRINT_CHARS].to_owned()
    });
    of.collect()
}

/// Ends a message with a full stop.
fn sentence(text: &str) -> String {
    let text = without_links(text);
    if text.ends_with(['.', '?', '!']) { text } else { format!("{text}.") }
}

/// Breaks links: in a SARIF message, `[words](address)` is one.
fn without_links(text: &str) -> String {
    one_line(text).replace("](", "] (")
}

/// Encodes a path as a relative reference. A colon in its first part would be read as a scheme.
fn percent_encoded(path: &str) -> String {
    utf8_percent_encode(path, RESERVED).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::finding::{Severity, Spot};

    fn finding(line: usize, excerpt: &str) -> Finding {
        Finding {
            rule: Rule::DanglingLink,
            severity: Severity::Error,
            spot: Spot { path: "a.md".to_owned(), line, column: 1, length: 1 },
            excerpt: Some(excerpt.to_owned()),
            message: String::new(),
            hint: String::new(),
            session: None,
        }
    }

    #[test]
    fn a_moved_line_keeps_its_fingerprint_and_equal_lines_have_their_own() {
        let before = fingerprints(&[finding(3, "a  b"), finding(9, "a b"), finding(12, "c")]);
        let after = fingerprints(&[finding(30, " a b"), finding(90, "a b"), finding(91, "c")]);
        assert_eq!(before, after);
        assert!(before[0] != before[1] && before[1] != before[2]);
    }

    #[test]
    fn a_path_is_a_relative_reference() {
        assert_eq!(percent_encoded("docs/a b.md"), "docs/a%20b.md");
        assert_eq!(percent_encoded("c:ü#?.md"), "c%3A%C3%BC%23%3F.md");
    }

    #[test]
    fn rules_have_an_address_where_the_repository_has_one() {
        let with = driver("https://forge.example/kgctx/");
        assert_eq!(with["informationUri"], "https://forge.example/kgctx");
        let uri = "https://forge.example/kgctx/blob/HEAD/docs/check-rules.md#dangling-link";
        assert_eq!(with["rules"][4]["helpUri"], uri);
        assert_eq!(with["rules"][4]["name"], "DanglingLink");
        assert!(driver("")["rules"][4].get("helpUri").is_none());
    }

    #[test]
    fn a_message_holds_no_link_of_a_notes_making() {
        assert_eq!(without_links("see [here](https://x.y)\nnow"), "see [here] (https://x.y) now");
        assert_eq!((&*sentence("it is"), &*sentence("is it?")), ("it is.", "is it?"));
    }
}
