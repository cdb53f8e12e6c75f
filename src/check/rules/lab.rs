//! What the tests of rules share: a repository made of a few texts.

use super::{CheckedVault, RuleInput, all};
use crate::check::finding::{Finding, RepositoryFile, Rule, Severity};
use crate::check::settings::CheckSettings;
use crate::core::settings::LinkStyle;
use crate::core::time::Timestamp;
use crate::core::tokens::encoding::Encoding;

/// A repository with notes in `docs` and in `.kgctx/memory`.
pub(super) struct Lab {
    pub(super) files: Vec<RepositoryFile>,
    vaults: Vec<CheckedVault>,
    pub(super) links: LinkStyle,
    pub(super) settings: CheckSettings,
    pub(super) now: Timestamp,
}

impl Lab {
    pub(super) fn new() -> Lab {
        let vault = |name: &str, folder: &str| CheckedVault {
            name: name.to_owned(),
            folder: folder.to_owned(),
        };
        Lab {
            files: Vec::new(),
            vaults: vec![vault("docs", "docs"), vault("memory", ".kgctx/memory")],
            links: LinkStyle::Maenifold,
            settings: CheckSettings::default(),
            now: Timestamp::parse("2026-03-01T12:00:00Z").unwrap(),
        }
    }

    pub(super) fn obsidian() -> Lab {
        Lab { links: LinkStyle::Obsidian, ..Lab::new() }
    }

    pub(super) fn with(mut self, path: &str, text: &str) -> Lab {
        self.files.push(RepositoryFile {
            path: path.to_owned(),
            text: Some(text.to_owned()),
            modified: Timestamp::parse("2026-02-01T12:00:00Z").unwrap(),
        });
        self
    }

    /// A file that nobody read.
    pub(super) fn with_file(self, path: &str) -> Lab {
        let mut lab = self.with(path, "");
        lab.files.last_mut().unwrap().text = None;
        lab
    }

    pub(super) fn input(&self) -> RuleInput<'_> {
        RuleInput {
            files: &self.files,
            unread: &[],
            vaults: &self.vaults,
            links: self.links,
            settings: &self.settings,
            now: self.now,
            encoding: Encoding::O200kBase,
            max_age_days: 7,
        }
    }

    pub(super) fn all(&self) -> Vec<Finding> {
        all::all(&self.input())
    }

    pub(super) fn of(&self, rule: Rule) -> Vec<Finding> {
        self.all().into_iter().filter(|finding| finding.rule == rule).collect()
    }

    /// Where a rule is broken, as `path:line:column+length`; and that it is silent once it is off.
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
