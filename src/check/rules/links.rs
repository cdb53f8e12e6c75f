//! Where links lead: `dangling-link` and `ambiguous-link`.
//!
//! **dangling-link** looks at every note, handoff and static file. A markdown link, an image or the definition of a link
//! dangles when there is no such file or folder in the repository, seen from the file's folder, from the top (`/path`), or
//! from the vault. The ending `.md` may be left out. Links with a scheme, links that leave the repository (`../../issues`),
//! headings (`#part`), placeholders and links inside of code or HTML are not looked at. A `memory://` address dangles when it names a vault
//! of this repository and no note in it. A `[[link]]` dangles only under `links = "obsidian"`, when no note has that title, alias,
//! file name or path, and no other file that name: as maenifold has it, a concept needs no note.
//!
//! **ambiguous-link** looks at `[[links]]` in the same files: two or more notes have that name, and none has it by a better
//! kind of name. The kinds, best first: path, title, alias, file name.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use super::checked_files::{CheckedFile, CheckedFiles};
use super::text_file;
use super::tree;
use super::{CheckedVault, names};
use crate::check::finding::{Finding, Rule};
use crate::core::note::vault::SCHEME;
use crate::core::settings::LinkStyle;

/// After so many findings of a rule in one file its reader knows.
const MOST_PER_FILE: usize = 200;
/// Targets that stand for any other.
const PLACEHOLDERS: [&str; 10] =
    ["url", "link", "path", "href", "target", "...", "…", "#", "TODO", "TBD"];
/// Addresses that are nobody's.
const EXAMPLES: [&str; 3] = ["example.com", "example.net", "example.org"];
/// Marks of templates: what stands there is known only later.
const TEMPLATES: [&str; 3] = ["{", "$", "<%"];
/// Endings of files that a link without a folder often names.
const FILES: [&str; 12] = [
    ".md", ".mdx", ".txt", ".png", ".jpg", ".jpeg", ".svg", ".gif", ".pdf", ".json", ".yaml",
    ".html",
];
/// Endings that a link may leave out, and what a folder's page is called.
const LEFT_OUT: [&str; 6] = [".md", ".mdx", ".qmd", "/index.md", "/README.md", "/_index.md"];

/// Where the links of all files lead.
#[derive(Debug)]
pub(super) struct Leads {
    /// The links of each file, in order.
    pub(super) of_files: Vec<Vec<Lead>>,
}

/// Where a link leads.
#[derive(Debug)]
pub(super) struct Lead {
    pub(super) range: Range<usize>,
    pub(super) end: End,
}

/// What is at a link's end.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum End {
    /// A note, by its number.
    Note(usize),
    /// Several notes.
    Notes(Vec<usize>),
    /// Something else, or nobody knows.
    Elsewhere,
    /// Nothing.
    Nothing {
        /// What kind of link it is.
        kind: LinkKind,
        /// A file that could be meant.
        meant: Option<String>,
    },
}

/// A kind of link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LinkKind {
    Path,
    Address,
    Wiki,
}

impl Leads {
    pub(super) fn new(checked: &CheckedFiles<'_>) -> Leads {
        let resolver = Resolver::new(checked);
        Leads { of_files: checked.files.iter().map(|file| resolver.leads(file)).collect() }
    }
}

/// Finds links that lead to nothing.
pub(super) fn dangling(checked: &CheckedFiles<'_>, leads: &Leads) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, leads) in checked.files.iter().zip(&leads.of_files) {
        let mut nothing = leads.iter().filter_map(|lead| match &lead.end {
            End::Nothing { kind, meant } => Some((lead.range.clone(), *kind, meant)),
            _ => None,
        });
        for (range, kind, meant) in nothing.by_ref().take(MOST_PER_FILE) {
            let target = file.file.shown(range.clone());
            let message = match kind {
                LinkKind::Path if meant.is_some() => format!("{target} is not there"),
                LinkKind::Path => format!("{target} is not in the repository"),
                LinkKind::Address => format!("no note has the address {target}"),
                LinkKind::Wiki => format!("no note or file is called {target}"),
            };
            let hint = match meant {
                // It was written as if it began at the top.
                Some(path) if file.file.text.get(range.clone()) == Some(path) => format!(
                    "links begin at the file's own folder; write /{}, or the way from there",
                    text_file::shown(path)
                ),
                Some(path) => {
                    format!("{} is there; mend the link, or remove it", text_file::shown(path))
                }
                None if kind == LinkKind::Path && begins_with_host(&target) => {
                    format!(
                        "if this is an address, write https://{target}; else mend the link, or remove it"
                    )
                }
                None => "mend the link, add what it leads to, or remove it".to_owned(),
            };
            findings.push(checked.finding(file, Rule::DanglingLink, range, message, hint));
        }
        let rest: Vec<Range<usize>> = nothing.map(|(range, ..)| range).collect();
        let what = "links of this file lead to nothing";
        findings.extend(and_more(checked, file, Rule::DanglingLink, &rest, what));
    }
    findings
}

/// Finds links that lead to several notes.
pub(super) fn ambiguous(checked: &CheckedFiles<'_>, leads: &Leads) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, leads) in checked.files.iter().zip(&leads.of_files) {
        let mut several = leads.iter().filter_map(|lead| match &lead.end {
            End::Notes(numbers) => Some((lead.range.clone(), numbers)),
            _ => None,
        });
        for (range, numbers) in several.by_ref().take(MOST_PER_FILE) {
            let mut paths: Vec<String> = numbers
                .iter()
                .take(3)
                .map(|&number| text_file::shown(checked.files[number].file.path))
                .collect();
            if numbers.len() > paths.len() {
                paths.push(format!("{} more", numbers.len() - paths.len()));
            }
            let last = paths.pop().unwrap_or_default();
            let target = file.file.shown(range.clone());
            let message = format!("{target} may mean {} or {last}", paths.join(", "));
            let hint =
                "give the notes titles of their own, or write the path of the one that is meant";
            findings.push(checked.finding(file, Rule::AmbiguousLink, range, message, hint));
        }
        let rest: Vec<Range<usize>> = several.map(|(range, _)| range).collect();
        let what = "links of this file may mean several notes";
        findings.extend(and_more(checked, file, Rule::AmbiguousLink, &rest, what));
    }
    findings
}

/// One finding for those that are not told one by one.
fn and_more(
    checked: &CheckedFiles<'_>,
    file: &CheckedFile<'_>,
    rule: Rule,
    rest: &[Range<usize>],
    what: &str,
) -> Option<Finding> {
    let first = rest.first()?.clone();
    let message = format!("from here on {} more {what}", rest.len());
    let hint = "mend those above first: they may have one cause";
    Some(checked.finding(file, rule, first, message, hint))
}

struct Resolver<'a> {
    checked: &'a CheckedFiles<'a>,
    /// Notes by their paths from the top.
    notes: BTreeMap<&'a str, usize>,
    /// Ends of all paths in small letters, for who does not tell large ones from small.
    small: HashMap<String, &'a str>,
}

impl<'a> Resolver<'a> {
    fn new(checked: &'a CheckedFiles<'a>) -> Resolver<'a> {
        let notes = checked.notes().map(|(number, file)| (file.file.path, number)).collect();
        let mut small: HashMap<String, &str> = HashMap::new();
        if checked.input.links == LinkStyle::Obsidian {
            for (end, path) in checked.tree.ends() {
                let first = small.entry(end.to_lowercase()).or_insert(path);
                // Of several the first by name, whatever the order in which they come.
                *first = path.min(*first);
            }
        }
        Resolver { checked, notes, small }
    }

    fn leads(&self, file: &CheckedFile<'_>) -> Vec<Lead> {
        let mut leads = Vec::new();
        for link in &file.spans.links {
            let end = match link.target.strip_prefix(SCHEME) {
                Some(_) => self.address(&link.target),
                None => self.path(file, &link.target),
            };
            leads.push(Lead { range: link.range.clone(), end });
        }
        for range in &file.spans.addresses {
            let end = self.address(&file.file.text[range.clone()]);
            leads.push(Lead { range: range.clone(), end });
        }
        for link in &file.spans.wiki_links {
            leads.push(Lead { range: link.range.clone(), end: self.wiki(file, &link.inner) });
        }
        leads.sort_by_key(|lead| lead.range.start);
        leads
    }

    fn path(&self, file: &CheckedFile<'_>, target: &str) -> End {
        let written = without_line(target.split(['#', '?']).next().unwrap_or(target).trim());
        if written.is_empty()
            || has_scheme(written)
            || written.starts_with("//")
            // Somebody's home is not in the repository.
            || written.starts_with("~/")
            // It is looked at by itself.
            || written.starts_with("[[")
            || PLACEHOLDERS.contains(&written)
            || TEMPLATES.iter().any(|mark| written.contains(mark))
            || written.contains("path/to/")
            || EXAMPLES.contains(&written.split('/').next().unwrap_or_default())
        {
            return End::Elsewhere;
        }
        let path = percent_decoded(written);
        let here = tree::folder_of(file.file.path);
        let vault = file.vault.map(|vault| vault.folder.as_str());
        let tries = match path.strip_prefix('/') {
            Some(from_top) => [Some(("", from_top)), vault.map(|vault| (vault, from_top))],
            None => [Some((here, path.as_str())), vault.map(|vault| (vault, path.as_str()))],
        };
        let mut is_inside = false;
        for (folder, path) in tries.into_iter().flatten() {
            let Some(path) = tree::joined(folder, path) else { continue };
            is_inside = true;
            if let Some(end) = self.there(&path) {
                return end;
            }
        }
        // Only who makes the web site knows what is at `/tags/x`.
        let is_route = path.starts_with('/') && !tree::name_of(&path).contains('.');
        if !is_inside || is_route {
            return End::Elsewhere;
        }
        let plain = path.trim_start_matches(['.', '/']);
        if self.checked.input.links == LinkStyle::Obsidian
            && let Some(end) = self.by_end(plain)
        {
            return end;
        }
        let meant = self.checked.tree.ending_with(plain);
        let meant = meant.or_else(|| self.checked.tree.ending_with(tree::name_of(plain)));
        End::Nothing { kind: LinkKind::Path, meant: meant.map(str::to_owned) }
    }

    /// What is at a path from the top, if anything.
    fn there(&self, path: &str) -> Option<End> {
        let tree = &self.checked.tree;
        let note = |path: &str| self.notes.get(path).map_or(End::Elsewhere, |&n| End::Note(n));
        if tree.has_file(path) {
            return Some(note(path));
        }
        let path = path.trim_end_matches('/');
        let mut longer = LEFT_OUT.iter().map(|ending| format!("{path}{ending}"));
        match longer.find(|path| tree.has_file(path)) {
            Some(path) => Some(note(&path)),
            None => tree.has_folder(path).then_some(End::Elsewhere),
        }
    }

    /// The note that a link names behind its bar: Dendron writes `[[label|note]]` and `[[label|dendron://vault/note]]`.
    fn behind_the_label(&self, inner: &str) -> Option<End> {
        let style = self.checked.input.links;
        let (_, behind) = inner.rsplit_once('|').filter(|_| style == LinkStyle::Obsidian)?;
        let name = names::target(behind, style);
        if name.is_empty() {
            return Some(End::Elsewhere);
        }
        let (is_address, name) = match name.split_once("://") {
            Some((_, path)) => (true, tree::name_of(path)),
            None => (false, name),
        };
        match self.checked.names.find(name) {
            [number] => Some(End::Note(*number)),
            _ => is_address.then_some(End::Elsewhere),
        }
    }

    /// A file whose path ends like this, as Obsidian looks for it.
    fn by_end(&self, path: &str) -> Option<End> {
        let small = path.to_lowercase();
        let found = self.small.get(&small).or_else(|| self.small.get(&format!("{small}.md")))?;
        Some(self.notes.get(found).map_or(End::Elsewhere, |&number| End::Note(number)))
    }

    fn address(&self, address: &str) -> End {
        let address = address.split(['#', '?']).next().unwrap_or(address);
        let address = percent_decoded(address.trim_end_matches('/'));
        let mut named = false;
        for vault in self.checked.input.vaults.iter().filter(|vault| !vault.name.is_empty()) {
            let path = address.strip_prefix(SCHEME).and_then(|path| tree::below(&vault.name, path));
            let Some(path) = path.filter(|path| !path.is_empty()) else { continue };
            named = true;
            if let Some(end) = self.in_vault(vault, path) {
                return end;
            }
        }
        let is_open = |c: char| matches!(c, '<' | '>' | '*' | '{' | '}' | '…');
        if !named || address.contains(is_open) || address.ends_with("..") {
            return End::Elsewhere;
        }
        End::Nothing { kind: LinkKind::Address, meant: None }
    }

    fn in_vault(&self, vault: &CheckedVault, path: &str) -> Option<End> {
        let from_top = tree::joined(&vault.folder, path)?;
        if let Some(end) = self.there(&from_top) {
            return Some(end);
        }
        // In plain text nobody knows where an address with blanks ends.
        let blank = format!("{from_top} ");
        let (next, _) = self.notes.range(blank.as_str()..).next()?;
        next.starts_with(&blank).then_some(End::Elsewhere)
    }

    fn wiki(&self, file: &CheckedFile<'_>, inner: &str) -> End {
        let style = self.checked.input.links;
        let name = names::target(inner, style);
        if name.is_empty() {
            return End::Elsewhere;
        }
        let found = self.checked.names.find(name.trim_start_matches('/'));
        if let [number] = found {
            return End::Note(*number);
        }
        if let Some(end) = self.behind_the_label(inner) {
            return end;
        }
        if !found.is_empty() {
            return End::Notes(found.to_vec());
        }
        if style == LinkStyle::Maenifold
            || name.contains("://")
            // Dendron's notes by a pattern.
            || name.contains('*')
            || PLACEHOLDERS.contains(&name)
            || TEMPLATES.iter().any(|mark| name.contains(mark))
        {
            return End::Elsewhere;
        }
        let vault = file.vault.map_or("", |vault| vault.folder.as_str());
        let folders = [tree::folder_of(file.file.path), vault, ""];
        let paths = folders.into_iter().filter_map(|folder| tree::joined(folder, name));
        let plain = name.trim_start_matches(['.', '/']);
        let there = paths.into_iter().find_map(|path| self.there(&path));
        let there = there.or_else(|| self.by_end(plain));
        there.unwrap_or(End::Nothing { kind: LinkKind::Wiki, meant: None })
    }
}

/// Whether a target begins like the name of a host on the net: `docs.rs/serde`, `slack.example.ai`.
fn begins_with_host(target: &str) -> bool {
    let (first, rest) = target.split_once('/').unwrap_or((target, ""));
    let is_label = |label: &str| {
        !label.is_empty() && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
    };
    let mut labels = first.rsplit('.');
    let is_domain = |label: &str| {
        (2..=10).contains(&label.len()) && label.bytes().all(|byte| byte.is_ascii_lowercase())
    };
    labels.next().is_some_and(is_domain)
        && first.contains('.')
        && labels.all(is_label)
        // `notes.md` is a file, and `notes.md/x` is nothing.
        && !(rest.is_empty() && FILES.iter().any(|ending| first.ends_with(ending)))
}

/// A path without the line behind it: `main.rs:12`.
fn without_line(path: &str) -> &str {
    match path.rsplit_once(':') {
        Some((file, line))
            if file.contains('.')
                && !line.is_empty()
                && line.bytes().all(|byte| byte.is_ascii_digit()) =>
        {
            without_line(file)
        }
        _ => path,
    }
}

/// Whether a target begins like `https:`.
fn has_scheme(target: &str) -> bool {
    let name = |c: char| c.is_ascii_alphanumeric() || "+.-".contains(c);
    target.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(name)
    })
}

/// A path as the file's name is: `%20` is a blank. What does not become text stays as it is.
fn percent_decoded(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, others @ ..] = rest {
        let hex = |byte: &u8| char::from(*byte).to_digit(16);
        match others {
            [high, low, after @ ..] if *first == b'%' => match (hex(high), hex(low)) {
                (Some(high), Some(low)) => {
                    bytes.push((high * 16 + low) as u8);
                    rest = after;
                    continue;
                }
                _ => bytes.push(*first),
            },
            _ => bytes.push(*first),
        }
        rest = others;
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests;
