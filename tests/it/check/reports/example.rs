//! A report that has one of everything, one that has nothing, and any report at all.

use kgctx::check::finding::{Finding, Rule, Severity, Spot};
use kgctx::check::report::{CheckReport, EntryName, Growth, SessionReport, StaticFile};
use kgctx::check::settings::Limits;
use kgctx::core::context::budget::{Budget, Size};
use kgctx::core::context::candidate::Part;
use kgctx::core::context::receipt::PartUse;
use kgctx::core::host::Host;
use kgctx::core::named::Named;
use kgctx::core::time::Timestamp;
use proptest::prelude::*;

pub(super) fn empty() -> CheckReport {
    CheckReport {
        project: "atlas".to_owned(),
        now: Timestamp::from_seconds(0),
        base: None,
        notes: 0,
        sessions: Vec::new(),
        static_files: Vec::new(),
        findings: Vec::new(),
        remarks: Vec::new(),
    }
}

fn spot(path: &str, line: usize, column: usize, length: usize) -> Spot {
    Spot { path: path.to_owned(), line, column, length }
}

fn finding(rule: Rule, spot: Spot, excerpt: Option<&str>, message: &str, hint: &str) -> Finding {
    Finding {
        rule,
        severity: rule.default_severity(),
        spot,
        excerpt: excerpt.map(str::to_owned),
        message: message.to_owned(),
        hint: hint.to_owned(),
        session: None,
    }
}

fn entries(part: Part, names: &[&str]) -> Vec<EntryName> {
    names.iter().map(|&name| EntryName { part, name: name.to_owned() }).collect()
}

fn parts(tokens: [usize; 4]) -> Vec<PartUse> {
    [Part::Frame, Part::Handoff, Part::Concepts, Part::Recent]
        .into_iter()
        .zip(tokens)
        .map(|(name, tokens)| PartUse { name, tokens })
        .collect()
}

pub(super) fn rich() -> CheckReport {
    let growth = Growth {
        tokens_before: 1_100,
        parts_before: parts([60, 0, 800, 240]),
        added: entries(
            Part::Concepts,
            &["Tile Cache", "Renderer", "Etag", "Stale tiles", "Warm start", "Queue", "Zoom"],
        ),
        removed: entries(Part::Recent, &["memory://docs/overview"]),
        pushed_out: entries(Part::Concepts, &["Rate limiting"]),
    };
    let claude_code = SessionReport {
        name: "claude-code".to_owned(),
        host: Host::ClaudeCode,
        budget: Budget { tokens: 2_000, chars: Some(9_500) },
        used: Size { tokens: 1_460, chars: 6_104 },
        wanted: 5_310,
        parts: parts([60, 420, 770, 210]),
        limits: Limits {
            total: Some(1_800),
            parts: [(Part::Handoff, 600), (Part::Concepts, 700)].into(),
        },
        shown: entries(Part::Concepts, &["Tile Cache", "Renderer"]),
        omitted: entries(Part::Concepts, &["Rate limiting"]),
        growth: Some(growth),
    };
    let package = SessionReport {
        name: "packages/地図 | viewer".to_owned(),
        host: Host::Plain,
        budget: Budget { tokens: 500, chars: None },
        used: Size { tokens: 0, chars: 0 },
        wanted: 0,
        parts: Vec::new(),
        limits: Limits::default(),
        shown: Vec::new(),
        omitted: Vec::new(),
        growth: None,
    };
    let mut budget = finding(
        Rule::BudgetGrowth,
        spot("kgctx.toml", 1, 1, 0),
        None,
        "the change adds 360 tokens to the session, 200 are agreed on: it adds Tile Cache, Renderer, Etag, Stale tiles and \
         Warm start, and pushes out Rate limiting",
        "shorten what is new, or agree to it with kgctx check --update-baseline",
    );
    budget.session = Some("claude-code".to_owned());
    CheckReport {
        project: "atlas".to_owned(),
        now: Timestamp::parse("2026-11-16T14:18:42Z").unwrap(),
        base: Some("origin/main".to_owned()),
        notes: 120,
        sessions: vec![claude_code, package],
        static_files: vec![
            StaticFile {
                path: "AGENTS.md".to_owned(),
                tokens: 2_610,
                limit: Some(2_500),
                tokens_before: Some(2_400),
            },
            StaticFile {
                path: "packages/viewer/CLAUDE.md".to_owned(),
                tokens: 80,
                limit: None,
                tokens_before: None,
            },
        ],
        findings: vec![
            finding(
                Rule::StaticContext,
                spot("AGENTS.md", 1, 1, 0),
                Some("# Atlas"),
                "2,610 tokens where 2,500 are allowed; the largest section is \"Style\" with 1,200",
                "move what not every session needs into a note",
            ),
            finding(
                Rule::DanglingLink,
                spot("docs/a, b: 100 %.md", 12, 12, 16),
                Some("\tSee 地図 the [cache](cash.md) of @team <b> | `x` [y](https://example.com)"),
                "the link leads to cash.md, which is not there",
                "did you mean cache.md",
            ),
            finding(
                Rule::Secret,
                spot("docs/keys.md", 7, 8, 40),
                Some("token: [masked: github-token] and more"),
                "a secret stands here: github-token",
                "take it out, and make it void: it is in the history",
            ),
            finding(
                Rule::AmbiguousLink,
                spot("docs/long.md", 1204, 131, 9),
                Some(&format!("{}[[Cache]]{}", "word ".repeat(26), " more".repeat(4))),
                "[[Cache]] leads to two notes: docs/cache.md and .kgctx/memory/cache.md",
                "name the one that is meant by its path",
            ),
            budget,
        ],
        remarks: vec![
            "this is a shallow clone, so that the times of files are those of its oldest commit; fetch all of it with \
             `git fetch --unshallow`"
                .to_owned(),
        ],
    }
}

/// Text with all that could break out of something. The mark in it is nowhere else in a report.
fn any_text() -> impl Strategy<Value = String> {
    let nasty = prop_oneof![
        Just("§\n::error::x"),
        Just("§`"),
        Just("```"),
        Just("§```\n"),
        Just("§|"),
        Just("§<b>&\"'"),
        Just("§]]>"),
        Just("§\r\n"),
        Just("§%0A"),
        Just("§\u{0}\u{1b}[31m"),
        Just("§\u{2028}\u{202e}"),
        Just("§\u{ffff}\t"),
        Just("§@team [x](y) {0}"),
        Just("§\\"),
        Just("§--> </details>"),
    ];
    prop_oneof![
        "\\PC{0,12}".prop_map(|text| text.replace('§', "")),
        proptest::collection::vec(nasty, 0..4).prop_map(|pieces| pieces.concat()),
    ]
}

fn any_finding() -> impl Strategy<Value = Finding> {
    let severity = prop_oneof![Just(Severity::Warn), Just(Severity::Error)];
    let place = (any_text(), 1usize..2_000, 1usize..200, 0usize..200);
    let said = (proptest::option::of(any_text()), any_text(), any_text());
    let rule = proptest::sample::select(Rule::ALL.to_vec());
    (rule, severity, place, said, proptest::option::of(any_text())).prop_map(
        |(rule, severity, (path, line, column, length), (excerpt, message, hint), session)| {
            Finding {
                rule,
                severity,
                spot: Spot { path, line, column, length },
                excerpt,
                message,
                hint,
                session,
            }
        },
    )
}

fn any_entries() -> impl Strategy<Value = Vec<EntryName>> {
    let part = proptest::sample::select(Part::ALL.to_vec());
    let entry = (part, any_text()).prop_map(|(part, name)| EntryName { part, name });
    proptest::collection::vec(entry, 0..7)
}

fn any_session() -> impl Strategy<Value = SessionReport> {
    let numbers = (0usize..5_000, proptest::option::of(0usize..10_000), 0usize..9_000);
    let uses = proptest::collection::vec(
        (proptest::sample::select(Part::ALL.to_vec()), 0usize..2_000)
            .prop_map(|(name, tokens)| PartUse { name, tokens }),
        0..5,
    );
    let growth = (0usize..5_000, any_entries(), any_entries(), any_entries()).prop_map(
        |(tokens_before, added, removed, pushed_out)| Growth {
            tokens_before,
            parts_before: Vec::new(),
            added,
            removed,
            pushed_out,
        },
    );
    let host = proptest::sample::select(Host::ALL.to_vec());
    (any_text(), host, numbers, uses, any_entries(), proptest::option::of(growth)).prop_map(
        |(name, host, (tokens, chars, wanted), parts, shown, growth)| SessionReport {
            name,
            host,
            budget: Budget { tokens, chars },
            used: Size { tokens: parts.iter().map(|part| part.tokens).sum(), chars: wanted },
            wanted,
            parts,
            limits: Limits { total: chars, parts: [(Part::Recent, wanted)].into() },
            omitted: shown.clone(),
            shown,
            growth,
        },
    )
}

pub(super) fn any_report() -> impl Strategy<Value = CheckReport> {
    let file = (any_text(), 0usize..5_000, proptest::option::of(0usize..5_000))
        .prop_map(|(path, tokens, limit)| StaticFile { path, tokens, limit, tokens_before: limit });
    (
        (any_text(), proptest::option::of(any_text()), 0usize..200),
        proptest::collection::vec(any_session(), 0..3),
        proptest::collection::vec(file, 0..3),
        proptest::collection::vec(any_finding(), 0..4),
        proptest::collection::vec(any_text(), 0..3),
    )
        .prop_map(|((project, base, notes), sessions, static_files, findings, remarks)| {
            CheckReport {
                project,
                now: Timestamp::from_seconds(1_790_000_000),
                base,
                notes,
                sessions,
                static_files,
                findings,
                remarks,
            }
        })
}
