//! The report as JUnit XML, for tools that collect test results: a suite per rule, a case per
//! finding.
//!
//! Follows the schemas of both Jenkins and Apache Ant. The latter requires a time and a host: the
//! time is the check's `now`, which comes from no clock, and the host is always `localhost`.

use crate::check::finding::{Finding, Rule, Severity};
use crate::check::report::{CheckReport, SessionReport};
use crate::check::reports::words::{place, session, verdict};
use crate::core::text::for_report::one_line;

pub(super) fn render(report: &CheckReport) -> String {
    let rules = Rule::ALL.into_iter().enumerate();
    let suites: String = rules.map(|(n, rule)| suite(report, rule, n)).collect();
    let head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>";
    format!("{head}\n<testsuites>\n{suites}</testsuites>\n")
}

fn suite(report: &CheckReport, rule: Rule, n: usize) -> String {
    let findings: Vec<&Finding> =
        report.findings.iter().filter(|finding| finding.rule == rule).collect();
    let failures = findings.iter().filter(|finding| finding.severity == Severity::Error).count();
    let mut properties = property("summary", rule.summary());
    let (mut cases, mut log) = (String::new(), String::new());
    if findings.is_empty() {
        cases.push_str(&case(rule, rule.summary(), ""));
    }
    for finding in &findings {
        let said = details(finding);
        let message = one_line(&finding.message);
        let mut failure = String::new();
        if finding.severity == Severity::Error {
            let (message, said) = (escaped(&message), escaped(&said));
            let id = rule.id();
            failure =
                format!("      <failure type=\"{id}\" message=\"{message}\">{said}</failure>\n");
        } else {
            log.push_str(&format!("warning: {said}"));
        }
        cases.push_str(&case(rule, &format!("{}: {message}", place(finding)), &failure));
    }
    if rule == Rule::BudgetTotal {
        properties.extend(report.sessions.iter().map(budget));
        log.extend(report.remarks.iter().map(|remark| format!("note: {}\n", one_line(remark))));
        log.push_str(&format!("{}\n", verdict(report)));
    }
    let moment = report.now.to_string();
    format!(
        "  <testsuite name=\"{}\" package=\"kgctx\" id=\"{n}\" tests=\"{}\" failures=\"{failures}\" errors=\"0\" \
         time=\"0\" timestamp=\"{}\" hostname=\"localhost\">\n    <properties>\n{properties}    </properties>\n\
         {cases}    <system-out>{}</system-out>\n    <system-err></system-err>\n  </testsuite>\n",
        rule.id(),
        findings.len().max(1),
        escaped(moment.trim_end_matches('Z')),
        escaped(&log),
    )
}

fn case(rule: Rule, name: &str, content: &str) -> String {
    let end = match content {
        "" => "/>\n".to_owned(),
        content => format!(">\n{content}    </testcase>\n"),
    };
    let (name, id) = (escaped(name), rule.id());
    format!("    <testcase name=\"{name}\" classname=\"kgctx.{id}\" time=\"0\"{end}")
}

/// A finding as several lines.
fn details(finding: &Finding) -> String {
    let mut lines = vec![format!("{}: {}", place(finding), one_line(&finding.message))];
    lines.extend(finding.excerpt.as_deref().map(|excerpt| format!("  | {}", one_line(excerpt))));
    lines.extend(session(finding).map(|name| format!("  session: {name}")));
    lines.push(format!("  help: {}", one_line(&finding.hint)));
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// The sizes of a session's context as properties.
fn budget(session: &SessionReport) -> String {
    let (used, budget) = (session.used.tokens, session.budget.tokens);
    let mut sizes = vec![("tokens", used), ("budget", budget), ("wanted", session.wanted)];
    sizes.extend(session.growth.iter().map(|growth| ("tokens before", growth.tokens_before)));
    sizes.extend(session.parts.iter().map(|part| (part.name.name(), part.tokens)));
    let name = |what: &str| format!("session {}: {what}", one_line(&session.name));
    sizes.iter().map(|(what, size)| property(&name(what), &size.to_string())).collect()
}

fn property(name: &str, value: &str) -> String {
    format!("      <property name=\"{}\" value=\"{}\"/>\n", escaped(name), escaped(value))
}

/// Escapes text for an element or a quoted attribute, and replaces the characters that XML does not
/// allow.
fn escaped(text: &str) -> String {
    let mut xml = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => xml.push_str("&amp;"),
            '<' => xml.push_str("&lt;"),
            '>' => xml.push_str("&gt;"),
            '"' => xml.push_str("&quot;"),
            '\n' | '\t' => xml.push(c),
            '\u{fffe}' | '\u{ffff}' => xml.push('\u{fffd}'),
            c if c.is_control() => xml.push('\u{fffd}'),
            c => xml.push(c),
        }
    }
    xml
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_forbids_is_replaced() {
        assert_eq!(escaped("a<b>&\"c\"\n]]>"), "a&lt;b&gt;&amp;&quot;c&quot;\n]]&gt;");
        assert_eq!(escaped("\0\u{1b}\u{7f}\u{ffff}\u{fffe}"), "\u{fffd}".repeat(5));
        assert_eq!(escaped("日本 \u{10ffff}"), "日本 \u{10ffff}");
    }
}
