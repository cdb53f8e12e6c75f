//! A test repository made of a few texts, and properties of all rules: no text makes them panic,
//! and no secret appears in a finding.

use proptest::prelude::*;

use super::{CheckedVault, Roles, RuleInput, find_all};
use crate::check::finding::{Finding, Rule, Severity};
use crate::check::repository_file::RepositoryFile;
use crate::check::settings::CheckSettings;
use crate::core::settings::LinkStyle;
use crate::core::time::Timestamp;
use crate::core::tokens::encoding::Encoding;

/// A repository with notes in `docs` and in `.kgctx/memory`.
pub(super) struct TestRepository {
    pub(super) files: Vec<RepositoryFile>,
    pub(super) vaults: Vec<CheckedVault>,
    pub(super) links: LinkStyle,
    pub(super) settings: CheckSettings,
    pub(super) now: Timestamp,
}

impl TestRepository {
    pub(super) fn new() -> TestRepository {
        let vault = |name: &str, folder: &str| CheckedVault {
            name: name.to_owned(),
            folder: folder.to_owned(),
            style: LinkStyle::Plain,
            is_flat: false,
        };
        TestRepository {
            files: Vec::new(),
            vaults: vec![vault("docs", "docs"), vault("memory", ".kgctx/memory")],
            links: LinkStyle::Maenifold,
            settings: CheckSettings::default(),
            now: Timestamp::parse("2026-03-01T12:00:00Z").unwrap(),
        }
    }

    pub(super) fn obsidian() -> TestRepository {
        TestRepository { links: LinkStyle::Obsidian, ..TestRepository::new() }
    }

    pub(super) fn with(mut self, path: &str, text: &str) -> TestRepository {
        self.files.push(RepositoryFile {
            path: path.to_owned(),
            text: Some(text.to_owned()),
            modified: Timestamp::parse("2026-02-01T12:00:00Z").unwrap(),
        });
        self
    }

    /// A file whose content was not read.
    pub(super) fn with_file(self, path: &str) -> TestRepository {
        let mut repository = self.with(path, "");
        repository.files.last_mut().unwrap().text = None;
        repository
    }

    pub(super) fn input(&self) -> RuleInput<'_> {
        RuleInput {
            files: &self.files,
            unread: &[],
            roles: Roles { settings: &self.settings, vaults: &self.vaults },
            links: self.links,
            now: self.now,
            encoding: Encoding::O200kBase,
            max_age_days: 7,
        }
    }

    pub(super) fn all(&self) -> Vec<Finding> {
        find_all(&self.input())
    }

    pub(super) fn of(&self, rule: Rule) -> Vec<Finding> {
        self.all().into_iter().filter(|finding| finding.rule == rule).collect()
    }

    /// Asserts where a rule is broken, as `path:line:column+length`, and that it finds nothing when
    /// it is off.
    #[track_caller]
    pub(super) fn check(mut self, rule: Rule, expect: &[&str]) {
        let found: Vec<String> = self
            .of(rule)
            .iter()
            .map(|Finding { spot, severity, message, hint, .. }| {
                assert_eq!(*severity, rule.default_severity());
                for text in [message, hint] {
                    assert!(
                        !text.contains('\n') && !text.ends_with('.') && !text.is_empty(),
                        "{text}"
                    );
                }
                format!("{}:{}:{}+{}", spot.path, spot.line, spot.column, spot.length)
            })
            .collect();
        assert_eq!(found, expect);
        let others = self.all().iter().filter(|finding| finding.rule != rule).count();
        self.settings.severities.insert(rule, Severity::Off);
        assert!(self.of(rule).is_empty(), "off");
        assert_eq!(self.all().len(), others, "off silences the rule alone");
    }
}

/// A table in `fixtures/secrets`, without the marks that break up its samples.
fn table(text: &'static str) -> impl Iterator<Item = String> {
    let rows = text.lines().filter(|line| !line.starts_with("# "));
    rows.map(|line| line.split_once('\t').unwrap().1.replace('⏎', "\n").replace('¦', ""))
}

/// All text that a report shows.
fn shown(findings: &[Finding]) -> String {
    let parts = findings.iter().flat_map(|finding| {
        [finding.excerpt.as_deref().unwrap_or_default(), &finding.message, &finding.hint]
    });
    parts.collect::<Vec<_>>().join("\n")
}

#[test]
fn no_secret_leaves_its_file() {
    for sample in table(include_str!("../../../fixtures/secrets/secrets.tsv")) {
        let (before, rest) = sample.split_once('⟦').unwrap();
        let (secret, after) = rest.split_once('⟧').unwrap();
        let text = format!("{before}{secret}{after}");
        let lines = secret.replace('\n', " ");
        for text in [
            text.clone(),
            format!("[[{text}]] [x]({text}) <system>{text}"),
            format!("# {text}\n\n`src/{lines}.rs`\n{text}\u{200b}\n"),
            format!(
                "---\ntitle: {lines}\nstatus: {lines}\nkind: {lines}\nfiles: [{lines}]\n---\n{text}"
            ),
            format!(
                "---\nid: '{lines}'\ntype: \"{lines}\"\nspecs:\n  - {lines}\n---\n[x](<{lines}>)\n\n{text}"
            ),
        ] {
            let repository = TestRepository::obsidian()
                .with("docs/a.md", &text)
                .with("docs/b.md", &text)
                .with(".kgctx/handoffs/h.md", &text)
                .with("AGENTS.md", &text)
                .with_file("src/main.rs");
            let findings = repository.all();
            assert!(findings.iter().any(|finding| finding.rule == Rule::Secret), "{text}");
            let shown = shown(&findings);
            let start = secret.floor_char_boundary((secret.len() / 2).saturating_sub(4));
            let middle = &secret[start..secret.ceil_char_boundary(start + 8)];
            assert!(!shown.contains(middle), "{middle} of {text}:\n{shown}");
        }
    }
}

#[test]
fn what_only_looks_like_a_secret_is_none() {
    for text in table(include_str!("../../../fixtures/secrets/lookalikes.tsv")) {
        TestRepository::new().with("docs/a.md", &text).check(Rule::Secret, &[]);
    }
}

/// Texts that rules react to.
const PIECES: &[&str] = &[
    "---\n",
    "kind: task\n",
    "files:\n",
    "  - a\n",
    "status: done\n",
    "[[a]]",
    "[[",
    "]]",
    "[x](",
    ")",
    "`",
    "src/gone.rs",
    "memory://docs/",
    "@",
    "\n",
    "<system>",
    "\u{202e}",
    "\u{feff}",
    "é",
    "=== END HANDOFF",
    "{\"",
    "\"}",
    ":",
    "# ",
    "%C3",
    "../",
    "AKIAQ3EGRXZ5T7PLMN2W",
    "\r\n",
    "\0",
    "[r]: ",
];

fn texts() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        prop::collection::vec(prop::sample::select(PIECES), 0..16)
            .prop_map(|pieces| pieces.concat()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]
    #[test]
    fn no_text_stops_the_rules(note in texts(), handoff in texts(), agents in texts(), path in "\\PC{0,12}") {
        for repository in [TestRepository::new(), TestRepository::obsidian()] {
            let repository = repository
                .with("docs/a.md", &note)
                .with("docs/b.md", &handoff)
                // The prefix avoids duplicate paths.
                .with(&format!("docs/x{path}.md"), &note)
                .with(".kgctx/handoffs/h.md", &handoff)
                .with("AGENTS.md", &agents)
                .with_file("src/main.rs");
            let findings = repository.all();
            for finding in &findings {
                let one_line = |text: &str| !text.contains(['\n', '\r']) && !text.contains('\u{202e}');
                prop_assert!(one_line(&finding.message) && one_line(&finding.hint), "{:?}", finding);
                prop_assert!(finding.excerpt.as_deref().is_none_or(one_line), "{:?}", finding);
                let file = repository.files.iter().find(|file| file.path == finding.spot.path).unwrap();
                let line = file.text.as_deref().unwrap().split('\n').nth(finding.spot.line - 1);
                let n_chars = line.unwrap().chars().count();
                prop_assert!(finding.spot.column + finding.spot.length <= n_chars + 1, "{:?}", finding);
            }
            let mut sorted = findings.clone();
            sorted.sort_by(|a, b| (&a.spot, a.rule).cmp(&(&b.spot, b.rule)));
            prop_assert_eq!(&sorted, &findings);
            let mut turned = repository;
            turned.files.reverse();
            prop_assert_eq!(turned.all(), findings, "the order of files says nothing");
        }
    }
}
