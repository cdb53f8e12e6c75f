//! What a page says, and that nothing of a note becomes markup on it.

use super::*;
use crate::core::context::budget::{Budget, Size};
use crate::core::context::candidate::{Candidate, Line, Part};
use crate::core::context::explanation::{ExplainedLine, NearMiss};
use crate::core::context::found::{Link, Signal};
use crate::core::context::line::Forms;
use crate::core::context::rank::Ranking;
use crate::core::context::receipt::{Entry, Fault, FaultSource, PartUse, Shown, Stage};
use crate::core::host::Host;
use crate::core::note::concept::Concept;
use crate::core::time::Timestamp;
use crate::core::tokens::encoding::Encoding;

/// Text that would be markup, and that tells which field it stands in.
fn hostile(field: &str) -> String {
    format!("{field}</title></style><script>alert(1)</script>\" onload='x' <!--")
}

pub(super) fn receipt() -> Receipt {
    Receipt {
        kept_tokens: 0,
        is_prompted: false,
        session: "s1".to_owned(),
        moment: crate::core::session::Moment::Start,
        project: Some("atlas".to_owned()),
        project_key: "atlas".to_owned(),
        at: Timestamp::from_seconds(1_800_000_000),
        delivered: false,
        host: Host::Plain,
        ranking: Ranking::Frequency,
        encoding: Encoding::O200kBase,
        source: None,
        budget: Budget { tokens: 4_000, chars: None },
        handoff: None,
        used: Size::default(),
        sha256: "0123456789abcdef0123456789abcdef".to_owned(),
        parts: Vec::new(),
        found: Vec::new(),
        entries: Vec::new(),
        uncommitted: None,
        faults: Vec::new(),
        stages: Vec::new(),
    }
}

fn entry(part: Part, line: Line) -> Entry {
    let signals = vec![Signal::Recent { place: 1 }];
    Entry {
        candidate: Candidate { part, line, signals },
        shown: Some(Shown { extent: None, tokens: 9 }),
    }
}

pub(super) fn concept_entry(name: &str) -> Entry {
    let name = format!("[[{name}]]");
    entry(Part::Concepts, Line::Described { name, description: String::new(), uri: String::new() })
}

pub(super) fn connected_entry(name: &str, to: &[(&str, u32)]) -> Entry {
    let concept = |name: &str| Concept::from_normal_form(name.to_owned());
    let to = to.iter().map(|&(name, notes)| Link { concept: concept(name), notes }).collect();
    entry(Part::Graph, Line::Connected { concept: concept(name), to })
}

/// Leaves out all of an entry's connections after the one at `extent`.
pub(super) fn shorten(entry: &mut Entry, extent: usize) {
    entry.shown = Some(Shown { extent: Some(extent), tokens: 5 });
}

fn explanation(receipt: Receipt) -> Explanation {
    let lines = receipt
        .entries
        .iter()
        .filter_map(|entry| {
            let Shown { extent, tokens } = entry.shown?;
            let forms = Forms::of(&entry.candidate.line);
            Some(ExplainedLine {
                part: entry.candidate.part,
                text: forms.shown(extent).trim_end().to_owned(),
                tokens,
                shortened: extent.is_some(),
                reason: "in 1 recent note".to_owned(),
            })
        })
        .collect();
    Explanation { lines, near_misses: Vec::new(), receipt, supplement: None, is_dry_run: false }
}

/// An explanation with something of everything.
fn full() -> Explanation {
    let mut receipt = receipt();
    receipt.used = Size { tokens: 1_234, chars: 5_678 };
    receipt.budget.chars = Some(9_500);
    receipt.host = Host::ClaudeCode;
    receipt.parts = vec![
        PartUse { name: Part::Frame, tokens: 34 },
        PartUse { name: Part::Concepts, tokens: 1_200 },
    ];
    receipt.entries = vec![concept_entry("a"), connected_entry("a", &[("b", 3), ("c", 1)])];
    receipt.faults = vec![Fault::new(FaultSource::Search, "came too late")];
    receipt.stages = vec![Stage { name: "pack".to_owned(), ms: 1.5 }];
    let mut explanation = explanation(receipt);
    let miss = |enters_at| NearMiss {
        part: Part::Concepts,
        text: "- [[z]]".to_owned(),
        tokens: 7,
        reason: "in 2 recent notes".to_owned(),
        enters_at,
    };
    explanation.near_misses = vec![miss(Some(4_321)), miss(None)];
    explanation
}

#[track_caller]
fn says(page: &str, sentences: &[&str]) {
    for sentence in sentences {
        assert!(page.contains(sentence), "{sentence:?} is not in\n{page}");
    }
}

#[test]
fn a_page_says_what_the_receipt_says() {
    let page = page(&full());
    says(
        &page,
        &[
            "<title>Context for atlas, session s1</title>",
            "no delivery recorded",
            "<strong>1,234</strong> of 4,000 tokens (o200k_base)",
            "5,678 of 9,500",
            "claude-code",
            "by frequency",
            "0123456789ab…",
            "2027-01-15 08:00:00 UTC",
            "<strong>4,321</strong> tokens",
            "never: the host’s own limit is too small",
            "<th scope=\"row\">search</th><td>came too late</td>",
            "<td class=\"number\">1.50</td>",
            "The 2 connections as a table",
        ],
    );
    assert_eq!(page.matches("<circle").count(), 3);
}

#[test]
fn a_dry_run_is_called_so() {
    let explanation = Explanation { is_dry_run: true, ..full() };
    let page = page(&explanation);
    assert!(page.contains("<span class=\"badge\">dry run</span>"), "{page}");
    assert!(!page.contains("no delivery recorded"), "{page}");
}

#[test]
fn the_same_explanation_gives_the_same_page() {
    assert_eq!(page(&full()), page(&full()));
}

#[test]
fn an_empty_context_is_explained_in_sentences() {
    let mut empty = explanation(receipt());
    empty.receipt.project = None;
    empty.receipt.budget.tokens = 0;
    says(
        &page(&empty),
        &[
            "<bdi>no project</bdi>",
            "<strong>0</strong> of 0 tokens",
            "there was no room for anything",
            "There is nothing to draw",
            "The context has no lines",
            "Nothing was left out",
            "Nothing failed",
            "No times were recorded",
        ],
    );
}

#[test]
fn faults_come_before_all_else() {
    let mut broken = explanation(receipt());
    broken.receipt.faults.push(Fault::new(FaultSource::Index, "is damaged"));
    let page = page(&broken);
    let at = |text: &str| page.find(text).unwrap();
    assert!(at("is damaged") < at("Where the tokens went"));
    says(&page, &["None of the budget was used", "The context has no lines"]);
}

#[test]
fn concepts_without_connections_are_drawn_too() {
    let mut alone = receipt();
    alone.entries = vec![concept_entry("a"), concept_entry("b")];
    let page = page(&explanation(alone));
    says(&page, &["No line of the context shows a connection"]);
    assert_eq!(page.matches("<circle").count(), 2);
    assert!(!page.contains("<details>"));
}

#[test]
fn nothing_of_a_note_becomes_markup() {
    let mut receipt = receipt();
    receipt.session = hostile("session");
    receipt.project = Some(hostile("project"));
    receipt.sha256 = hostile("sha256");
    let (chosen, head, neighbour) = (hostile("chosen"), hostile("head"), hostile("neighbour"));
    let described = Line::Described {
        name: hostile("name"),
        description: hostile("description"),
        uri: format!("memory://{}", hostile("address")),
    };
    receipt.entries = vec![
        concept_entry(&chosen),
        connected_entry(&head, &[(&neighbour, 1)]),
        entry(Part::Recent, described),
    ];
    receipt.parts = Part::ALL.map(|name| PartUse { name, tokens: 1 }).to_vec();
    receipt.faults = vec![Fault::new(FaultSource::Vault, hostile("cause"))];
    receipt.stages = vec![Stage { name: hostile("stage"), ms: f64::NAN }];
    let mut explanation = explanation(receipt);
    for line in &mut explanation.lines {
        line.reason = hostile("reason");
    }
    explanation.near_misses = vec![NearMiss {
        part: Part::Recent,
        text: hostile("missed"),
        tokens: 1,
        reason: hostile("missed-reason"),
        enters_at: None,
    }];
    let page = page(&explanation);
    for field in
        "session project sha256 chosen head neighbour name description address cause stage reason \
                  missed missed-reason"
            .split_whitespace()
    {
        says(&page, &[&format!("{field}&lt;/title&gt;&lt;/style&gt;&lt;script&gt;")]);
    }
    for markup in ["<script", "<!--", "onload='", "\" onload"] {
        assert!(!page.contains(markup), "{markup}");
    }
    assert_eq!(page.matches("</title>").count(), page.matches("<title").count());
    assert_eq!(page.matches("</style>").count(), 1);
}
