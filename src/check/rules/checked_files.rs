//! The files that reach a prompt, parsed once for all rules.

use std::ops::Range;
use std::sync::OnceLock;

use rayon::prelude::*;

use super::frozen;
use super::ignored::Ignored;
use super::links::{ResolvedLink, Resolver};
use super::names::Names;
use super::sites::{Sites, navigation};
use super::spans::Spans;
use super::tree::{self, Tree};
use super::{CheckedVault, RuleInput};
use crate::check::finding::{Finding, Rule, Severity};
use crate::check::repository_file::RepositoryFile;
use crate::core::note::front_matter::{self, FrontMatter};
use crate::core::note::without_extension;
use crate::core::secrets::FoundSecret;
use crate::core::time::Timestamp;

/// The names of files that describe their folder.
const INDEX_NAMES: [&str; 6] = ["readme", "index", "agents", "claude", "gemini", "_index"];

/// The most findings of a rule per file.
pub(super) const MAX_PER_FILE: usize = 200;

pub(super) struct CheckedFiles<'a> {
    pub(super) input: &'a RuleInput<'a>,
    pub(super) tree: Tree<'a>,
    pub(super) ignored: Ignored<'a>,
    pub(super) sites: Sites<'a>,
    /// Sorted by path.
    pub(super) files: Vec<CheckedFile<'a>>,
    pub(super) names: Names,
    /// The links of each file, sorted by position.
    pub(super) links: Vec<Vec<ResolvedLink>>,
    /// The notes that the navigation of a site lists.
    pub(super) listed: Vec<usize>,
}

#[derive(Debug)]
pub(super) struct CheckedFile<'a> {
    pub(super) path: &'a str,
    pub(super) text: &'a str,
    pub(super) line_starts: OnceLock<Vec<usize>>,
    pub(super) secrets: OnceLock<Vec<FoundSecret>>,
    pub(super) spans: Spans,
    /// The vault that the note belongs to.
    pub(super) vault: Option<&'a CheckedVault>,
    pub(super) is_handoff: bool,
    pub(super) front_matter: FrontMatter,
    /// The time of the last change.
    pub(super) modified: Timestamp,
}

impl<'a> CheckedFiles<'a> {
    pub(super) fn new(input: &'a RuleInput<'a>) -> CheckedFiles<'a> {
        let mut files: Vec<CheckedFile<'a>> =
            input.files.par_iter().filter_map(|file| CheckedFile::read(input, file)).collect();
        files.sort_by(|a, b| a.path.cmp(b.path));
        let names = Names::new(input.links, &files);
        let tree = Tree::new(input.files, input.unread);
        let (ignored, sites) = (Ignored::new(input.files), Sites::new(input.files, &tree));
        let (links, listed) = (Vec::new(), Vec::new());
        let mut checked = CheckedFiles { input, tree, ignored, sites, files, names, links, listed };
        let resolver = Resolver::new(&checked);
        let links = checked.files.iter().map(|file| resolver.links(file)).collect();
        (checked.listed, checked.links) = (navigation::listed(&checked.sites, &resolver), links);
        checked
    }

    /// The notes, each with its index among all files.
    pub(super) fn notes(&self) -> impl Iterator<Item = (usize, &CheckedFile<'a>)> {
        self.files.iter().enumerate().filter(|(_, file)| file.vault.is_some())
    }

    /// The notes that somebody keeps: no samples, and no pages about an older version.
    pub(super) fn living_notes(&self) -> impl Iterator<Item = (usize, &CheckedFile<'a>)> {
        self.notes().filter(|(_, file)| {
            !frozen::is_template(file.path) && !frozen::is_of_old_version(file.path)
        })
    }
}

/// A place where a file breaks a rule, and how to mend it.
pub(super) struct Problem<'a> {
    pub(super) file: &'a CheckedFile<'a>,
    pub(super) range: Range<usize>,
    message: String,
    hint: String,
    most: Severity,
}

impl Problem<'_> {
    /// The problem as a warning, however severe its rule is: it may be none.
    pub(super) fn doubtful(self) -> Self {
        Problem { most: Severity::Warn, ..self }
    }

    pub(super) fn finding(self, rule: Rule, severity: Severity) -> Finding {
        let Problem { file, range, message, hint, most } = self;
        let severity = severity.min(most);
        let excerpt = Some(file.excerpt(&range)).filter(|excerpt| !excerpt.trim().is_empty());
        Finding { severity, excerpt, ..Finding::new(rule, file.spot(&range), message, hint) }
    }
}

impl<'a> CheckedFile<'a> {
    /// Parses a file; `None` if it does not reach a prompt.
    fn read(input: &RuleInput<'a>, file: &'a RepositoryFile) -> Option<CheckedFile<'a>> {
        let (path, text) = (file.path.as_str(), file.text.as_deref()?);
        let roles = input.roles;
        let is_handoff = roles.is_handoff(path);
        let vault = if is_handoff { None } else { roles.vault_of(path) };
        if !is_handoff && vault.is_none() && roles.static_limit(path).is_none()
            || frozen::is_foreign(path, vault.is_some())
        {
            return None;
        }
        let modified = file.modified;
        Some(CheckedFile { vault, is_handoff, modified, ..CheckedFile::new(path, text) })
    }

    pub(super) fn new(path: &'a str, text: &'a str) -> CheckedFile<'a> {
        let unmarked = text.strip_prefix('\u{feff}').unwrap_or(text);
        let yaml = front_matter::split(unmarked).0.unwrap_or_default();
        CheckedFile {
            path,
            text,
            line_starts: OnceLock::new(),
            secrets: OnceLock::new(),
            spans: Spans::of(text),
            vault: None,
            is_handoff: false,
            front_matter: front_matter::parse(yaml).0,
            modified: Timestamp(0),
        }
    }

    pub(super) fn problem(
        &self,
        range: Range<usize>,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Problem<'_> {
        let (message, hint) = (message.into(), hint.into());
        Problem { file: self, range, message, hint, most: Severity::Error }
    }

    /// The problems at these places: the first ones, and one that counts the others.
    pub(super) fn problems<T>(
        &self,
        found: Vec<(Range<usize>, T)>,
        summary: &str,
        describe: impl Fn(&Range<usize>, T) -> (String, String),
    ) -> Vec<Problem<'_>> {
        let mut found = found.into_iter();
        let first = found.by_ref().take(MAX_PER_FILE);
        let mut problems: Vec<Problem<'_>> = first
            .map(|(range, what)| {
                let (message, hint) = describe(&range, what);
                self.problem(range, message, hint)
            })
            .collect();
        let more = found.len();
        problems.extend(found.next().map(|(range, _)| {
            let message = format!("from here on, {more} more {summary}");
            self.problem(range, message, "fix those above first: they may have one cause")
        }));
        problems
    }

    /// The note's title, as in the index.
    pub(super) fn title(&self) -> &str {
        let heading = self.spans.headings.first().map(|(_, heading)| heading.trim());
        let title = self.front_matter.title.as_deref().map(str::trim).or(heading);
        title.filter(|title| !title.is_empty()).unwrap_or_else(|| self.stem())
    }

    pub(super) fn stem(&self) -> &'a str {
        without_extension(tree::name_of(self.path))
    }

    /// The text after the front matter.
    pub(super) fn body(&self) -> &'a str {
        &self.text[self.spans.body..]
    }

    /// Whether the file describes its folder.
    pub(super) fn is_index(&self) -> bool {
        INDEX_NAMES.iter().any(|name| self.stem().eq_ignore_ascii_case(name))
    }

    /// The position of a key in the front matter.
    pub(super) fn key(&self, key: &str) -> Option<Range<usize>> {
        let mut at = 0;
        for line in self.text[..self.spans.body].split_inclusive('\n') {
            let unmarked = line.trim_start_matches('\u{feff}');
            let name = unmarked.trim_start_matches(['"', '\'']);
            let behind = name.strip_prefix(key).map(|rest| rest.trim_start_matches(['"', '\'']));
            if behind.is_some_and(|rest| rest.trim_start().starts_with(':')) {
                let start = at + (line.len() - name.len());
                return Some(start..start + key.len());
            }
            at += line.len();
        }
        None
    }
}
