//! The reports of a check: each format on one example that has everything, on one that has nothing, and on any text.

mod example;
mod xml;

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use kgctx::check::finding::Severity;
use kgctx::check::report::CheckReport;
use kgctx::check::reports::{self, ReportFormat};
use kgctx::core::text::for_terminal::Style;
use proptest::prelude::*;
use serde_json::Value;

use crate::support::skips::skipped;
use crate::support::valid;
use example::{any_report, empty, rich};

/// A report that has nothing.
pub(crate) fn nothing() -> CheckReport {
    empty()
}

fn schema(file: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/schemas").join(file)
}

fn render(report: &CheckReport, format: ReportFormat) -> String {
    reports::render(report, format, &|_, text| text.to_owned())
}

#[test]
fn people_read_findings_and_what_sessions_get() {
    insta::assert_snapshot!("check_text", render(&rich(), ReportFormat::Text));
    insta::assert_snapshot!(render(&empty(), ReportFormat::Text), @"No problems: 0 notes, 0 sessions");
}

#[test]
fn programs_read_all_that_is_known() {
    for report in [rich(), empty()] {
        let answer: Value = serde_json::from_str(&render(&report, ReportFormat::Json)).unwrap();
        valid("check", &answer);
        assert_eq!(answer["ok"], !report.fails());
        assert_eq!(answer["findings"].as_array().unwrap().len(), report.findings.len());
    }
    insta::assert_snapshot!("check_json", render(&rich(), ReportFormat::Json));
}

#[test]
fn github_shows_findings_at_their_lines() {
    insta::assert_snapshot!("check_github", render(&rich(), ReportFormat::Github));
    insta::assert_snapshot!(
        render(&empty(), ReportFormat::Github),
        @"::notice title=kgctx check::No problems: 0 notes, 0 sessions"
    );
}

#[test]
fn github_is_told_when_it_will_not_show_all() {
    let mut report = rich();
    let error = report.findings[1].clone();
    report.findings.extend(std::iter::repeat_n(error, 12));
    let commands = render(&report, ReportFormat::Github);
    let notice = commands.lines().last().unwrap();
    assert!(notice.contains("GitHub shows 10 of each kind"), "{notice}");
    let kinds: Vec<&str> = commands.lines().map(|line| line.split(' ').next().unwrap()).collect();
    assert!(kinds[..kinds.len() - 1].is_sorted(), "errors before warnings: {kinds:?}");
}

fn sarif_validator() -> jsonschema::Validator {
    let text = fs::read_to_string(schema("sarif/sarif-schema-2.1.0.json")).unwrap();
    // A bracket in it means itself, which our validator wants to be said.
    let text = text.replace("-[a-zA-Z]{2}]?$", "-[a-zA-Z]{2}\\\\]?$");
    jsonschema::options()
        .should_validate_formats(true)
        .build(&serde_json::from_str(&text).unwrap())
        .unwrap()
}

#[track_caller]
fn valid_sarif(validator: &jsonschema::Validator, report: &CheckReport) -> Value {
    let log: Value = serde_json::from_str(&render(report, ReportFormat::Sarif)).unwrap();
    if let Err(error) = validator.validate(&log) {
        panic!("{error} at {}\n{log:#}", error.instance_path());
    }
    log
}

#[test]
fn sarif_is_what_its_schema_says() {
    let validator = sarif_validator();
    valid_sarif(&validator, &empty());
    let log = valid_sarif(&validator, &rich());
    let run = &log["runs"][0];
    for result in run["results"].as_array().unwrap() {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(run["tool"]["driver"]["rules"][index]["id"], result["ruleId"]);
    }
    let mut wrong = log.clone();
    wrong["runs"][0]["results"][0]["level"] = "fatal".into();
    assert!(!validator.is_valid(&wrong), "the schema looks at results");
    // Its rules change with the program's version alone.
    let mut shown = log;
    shown["runs"][0]["tool"]["driver"] = "…".into();
    insta::assert_snapshot!("check_sarif", format!("{shown:#}"));
}

#[test]
fn junit_is_what_its_schema_says() {
    for report in [rich(), empty()] {
        let text = render(&report, ReportFormat::Junit);
        let root = xml::parse(&text);
        assert_eq!(root.name, "testsuites");
        let failures: usize = root
            .children
            .iter()
            .map(|suite| {
                let count = |name: &str| suite.all(name).count();
                assert_eq!(suite.attribute("tests"), count("testcase").to_string());
                assert_eq!(suite.attribute("failures"), count("failure").to_string());
                count("failure")
            })
            .sum();
        assert_eq!(failures, report.n(Severity::Error));
        let Some((ok, said)) = linted(&text) else {
            skipped("xmllint is not installed, so that only the structure is checked");
            continue;
        };
        assert!(ok, "{said}");
        let (ok, _) = linted(&text.replace(" tests=", " testz=")).unwrap();
        assert!(!ok, "the schema looks at suites");
    }
    insta::assert_snapshot!("check_junit", render(&rich(), ReportFormat::Junit));
}

/// Whether xmllint finds that the text keeps to the schema, and what it says; `None` where there is no xmllint.
fn linted(text: &str) -> Option<(bool, String)> {
    let mut child = Command::new("xmllint")
        .args(["--noout", "--nonet", "--schema"])
        .arg(schema("junit/junit-10.xsd"))
        .arg("-")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    Some((output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned()))
}

#[test]
fn a_reviewer_reads_one_comment() {
    insta::assert_snapshot!("check_markdown", render(&rich(), ReportFormat::Markdown));
    insta::assert_snapshot!("check_markdown_empty", render(&empty(), ReportFormat::Markdown));
}

#[test]
fn a_comment_is_never_longer_than_forges_take() {
    let mut report = rich();
    let (finding, session) = (report.findings[1].clone(), report.sessions[0].clone());
    report.findings.extend(std::iter::repeat_n(finding, 5_000));
    for n in 0..2_000 {
        let mut session = session.clone();
        session.name = format!("package-{n}");
        session.growth.as_mut().unwrap().added[0].name = format!("note {n}");
        report.sessions.push(session);
    }
    let comment = render(&report, ReportFormat::Markdown);
    assert!(comment.chars().count() < 65_536, "{}", comment.chars().count());
    assert!(comment.contains("more do not fit here; `kgctx check` shows all."));
    assert_eq!(comment.matches("<details").count(), comment.matches("</details>").count());
}

#[test]
fn colours_change_nothing_else() {
    let painted = reports::render(&rich(), ReportFormat::Text, &|style, text| match style {
        Style::Bad => format!("\u{1b}[31m{text}\u{1b}[0m"),
        _ => format!("\u{1b}[1m{text}\u{1b}[0m"),
    });
    let mut plain = painted.replace("\u{1b}[31m", "").replace("\u{1b}[1m", "");
    plain = plain.replace("\u{1b}[0m", "");
    assert_eq!(plain, render(&rich(), ReportFormat::Text));
    assert!(painted.contains("\u{1b}[31merror[dangling-link]:\u{1b}[0m"));
}

#[test]
fn lines_for_people_are_short() {
    for line in render(&rich(), ReportFormat::Text).lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
}

proptest! {
    #[test]
    fn any_text_in_any_field_is_valid(report in any_report()) {
        thread_local!(static SARIF: jsonschema::Validator = sarif_validator());
        SARIF.with(|validator| valid_sarif(validator, &report));
        let answer: Value = serde_json::from_str(&render(&report, ReportFormat::Json)).unwrap();
        valid("check", &answer);
        xml::parse(&render(&report, ReportFormat::Junit));
        for command in render(&report, ReportFormat::Github).split_terminator('\n') {
            let is_command = ["::error file=", "::warning file=", "::notice title="]
                .iter()
                .any(|start| command.starts_with(start));
            prop_assert!(is_command && !command.contains('\r'), "{command:?}");
        }
        let text = render(&report, ReportFormat::Text);
        prop_assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
        let comment = render(&report, ReportFormat::Markdown);
        prop_assert!(comment.starts_with("<!-- kgctx check -->\n"));
        let outside = outside_of_code(&comment);
        prop_assert!(!outside.contains("§"), "{outside}\n{comment}");
    }
}

/// A comment's text as a reader of markdown sees it, without what stands in code.
fn outside_of_code(markdown: &str) -> String {
    use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
    let mut depth = 0;
    let mut outside = String::new();
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::CodeBlock(_)) => depth += 1,
            Event::End(TagEnd::CodeBlock) => depth -= 1,
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) if depth == 0 => {
                outside.push_str(&text);
            }
            _ => {}
        }
    }
    outside
}
