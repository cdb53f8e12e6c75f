//! Resolves links (paths, `memory://` addresses and `[[links]]`) to files.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;

use percent_encoding::percent_decode_str;

use super::super::checked_files::{CheckedFile, CheckedFiles};
use super::super::sites::addresses::Addresses;
use super::super::spans::Spans;
use super::super::{CheckedVault, names, tree};
use super::host_page::HostPage;
use super::samples::Samples;
use super::view::View;
use crate::core::note::vault::SCHEME;

/// Targets that are placeholders.
const PLACEHOLDERS: [&str; 10] =
    ["url", "link", "path", "href", "target", "...", "…", "#", "TODO", "TBD"];
/// Example hosts.
const EXAMPLES: [&str; 3] = ["example.com", "example.net", "example.org"];
/// Characters that mark templates.
const TEMPLATES: [&str; 3] = ["{", "$", "<%"];
/// Endings that a link can omit, and names of a folder's index page.
const OMITTED_ENDINGS: [&str; 8] =
    [".md", ".mdx", ".qmd", ".rst", "/index.md", "/index.mdx", "/README.md", "/_index.md"];
/// Endings of files of which sites make pages, and names of a folder's page.
const PAGE_ENDINGS: [&str; 7] = [".md", ".mdx", ".qmd", ".markdown", ".rst", ".adoc", ".ipynb"];
/// Endings by which a link is known to be a file and no name.
const FILE_ENDINGS: [&str; 14] = [
    "md", "rst", "txt", "html", "py", "ipynb", "png", "jpg", "jpeg", "gif", "svg", "pdf", "yml",
    "json",
];
/// Files that sites make of all pages.
const BUILT_FILES: [&str; 4] = ["llms.txt", "llms-full.txt", "sitemap.xml", "robots.txt"];
const INDEXES: [&str; 2] = ["README.md", "_index.md"];
/// The usual names of the branch that everybody works on.
const DEFAULT_BRANCHES: [&str; 3] = ["main", "master", "HEAD"];

#[derive(Debug)]
pub(crate) struct ResolvedLink {
    pub(crate) range: Range<usize>,
    pub(crate) target: LinkTarget,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum LinkTarget {
    /// A note, by its index.
    Note(usize),
    /// Several notes have the name.
    Notes(Arc<Vec<usize>>),
    /// Another file, or a target that is not checked.
    Other,
    Missing {
        kind: LinkKind,
        /// A file that the link may mean.
        similar: Option<String>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LinkKind {
    Path,
    /// A path without a file's ending, as sites write theirs.
    Page,
    Address,
    Wiki,
}

pub(crate) struct Resolver<'a> {
    checked: &'a CheckedFiles<'a>,
    /// Notes by their paths from the top of the repository.
    notes: BTreeMap<&'a str, usize>,
    addresses: Addresses,
    /// Suffixes of all paths in lower case, for Obsidian's links.
    ends: HashMap<String, &'a str>,
}

impl<'a> Resolver<'a> {
    pub(crate) fn new(checked: &'a CheckedFiles<'a>) -> Resolver<'a> {
        let notes = checked.notes().map(|(number, file)| (file.path, number)).collect();
        let mut ends: HashMap<String, &str> = HashMap::new();
        if !checked.input.links.has_free_names() {
            for (end, path) in checked.tree.ends() {
                let first = ends.entry(end.to_lowercase()).or_insert(path);
                // Takes the first path by name, in any order of the files.
                *first = path.min(*first);
            }
        }
        Resolver { checked, notes, addresses: Addresses::new(checked), ends }
    }

    /// The links of a file, sorted by position.
    pub(crate) fn links(&self, file: &CheckedFile<'_>) -> Vec<ResolvedLink> {
        let Spans { links, addresses, wiki_links, .. } = &file.spans;
        let view = View::new(self.checked, file);
        let samples = Samples::in_code(file);
        let links = links.iter().map(|link| match link.target.starts_with(SCHEME) {
            true => (&link.range, self.address(&link.target)),
            false => (&link.range, self.path(&view, &link.target)),
        });
        let addresses = addresses.iter().map(|at| (at, self.address(&file.text[at.clone()])));
        let wiki_links = wiki_links.iter().map(|link| (&link.range, self.wiki(file, &link.target)));
        let all = links.chain(addresses).chain(wiki_links);
        let all = all.map(|(range, target)| match target {
            LinkTarget::Missing { .. } if samples.has(file, range) => (range, LinkTarget::Other),
            target => (range, target),
        });
        let all = all.map(|(range, target)| ResolvedLink { range: range.clone(), target });
        let mut all: Vec<ResolvedLink> = all.collect();
        all.sort_by_key(|link| link.range.start);
        all
    }

    fn path(&self, view: &View<'_>, target: &str) -> LinkTarget {
        let written = without_line(target.split(['#', '?']).next().unwrap_or(target).trim());
        if written.is_empty()
            || has_scheme(written)
            || written.starts_with("//")
            // A home folder is outside of the repository.
            || written.starts_with("~/")
            || is_of_rustdoc(written)
            // Checked as a `[[link]]`.
            || written.starts_with("[[")
            || is_placeholder(written)
            || written.contains("path/to/")
            || EXAMPLES.contains(&written.split('/').next().unwrap_or_default())
        {
            return LinkTarget::Other;
        }
        let path = percent_decoded(written);
        let paths = view.paths(&self.checked.sites, &path);
        if let Some(target) = paths.iter().find_map(|path| self.in_site(view, path)) {
            return target;
        }
        if let Some(page) = HostPage::of(&path).filter(|page| !self.is_folder_here(page, &paths)) {
            return self.on_host(&page);
        }
        let is_file = !path.ends_with('/') && tree::name_of(&path).contains('.');
        let is_route = self.is_route(view, &path, is_file);
        let is_name = view.named_targets.is_some_and(|site| self.is_name(&path, &paths, site));
        let is_elsewhere = paths.is_empty() || is_route || is_name;
        if is_elsewhere || paths.iter().any(|path| self.may_be_built(path)) {
            return LinkTarget::Other;
        }
        let plain = path.trim_start_matches(['.', '/']);
        if let Some(target) = self.by_end(plain) {
            return target;
        }
        let similar = self.checked.tree.ending_with(plain);
        if let Some(page) = similar.filter(|_| view.finds_by_end) {
            return self.file(page);
        }
        let similar = similar.or_else(|| self.checked.tree.ending_with(tree::name_of(plain)));
        let kind = if is_file { LinkKind::Path } else { LinkKind::Page };
        LinkTarget::Missing { kind, similar: similar.map(str::to_owned) }
    }

    /// Whether a link is a route of a web site, such as `/tags/x` and `/api/Class.method`, or a file that another repository
    /// has: its top folder is in none of the places where this one may have it.
    fn is_route(&self, view: &View<'_>, path: &str, is_file: bool) -> bool {
        let Some(from_top) = path.strip_prefix('/') else {
            return view.has_link_hook && !is_file;
        };
        let ending = tree::name_of(path).rsplit_once('.').map_or("", |(_, ending)| ending);
        let is_known = FILE_ENDINGS.contains(&ending) || self.checked.tree.has_ending(ending);
        let is_asset = !PAGE_ENDINGS.iter().any(|page| path.ends_with(page));
        let is_foreign = || match from_top.split_once('/') {
            Some((top, _)) => view.has_foreign_files || !view.has_top(&self.checked.tree, top),
            None => view.has_foreign_files,
        };
        // Such parts lead to what a program has, in registries of JavaScript.
        let is_of_program = || from_top.split('/').any(|part| part == "~");
        !is_file || !is_known || is_of_program() || is_asset && is_foreign()
    }

    /// The target at a path from the top; `None` if it does not exist.
    pub(crate) fn at_path(&self, path: &str) -> Option<LinkTarget> {
        let tree = &self.checked.tree;
        if tree.has_file(path) {
            return Some(self.file(path));
        }
        let path = path.trim_end_matches('/');
        match longer(path).chain(pages(path)).find(|path| tree.has_file(path)) {
            Some(path) => Some(self.file(&path)),
            None => tree.has_folder(path).then_some(LinkTarget::Other),
        }
    }

    /// The same, in a site whose links may end otherwise than their files.
    fn in_site(&self, view: &View<'_>, path: &str) -> Option<LinkTarget> {
        let mut others = view.other_ends.iter().filter_map(|(end, other)| {
            let start = path.strip_suffix(end)?;
            Some(format!("{start}{other}"))
        });
        let found = self.at_path(path).or_else(|| others.find_map(|path| self.at_path(&path)));
        found.or_else(|| self.at_address(path).map(LinkTarget::Note))
    }

    /// The note that a site has at this address.
    pub(crate) fn at_address(&self, path: &str) -> Option<usize> {
        self.addresses.note(path)
    }

    /// The notes in or below a folder.
    pub(crate) fn notes_below(&self, folder: &str) -> Vec<usize> {
        let below = self.notes.iter().filter(|(path, _)| tree::below(folder, path).is_some());
        below.map(|(_, &number)| number).collect()
    }

    /// The notes in or below a folder that other pages include.
    pub(crate) fn partials_below(&self, folder: &str) -> Vec<usize> {
        let is_partial = |path: &str| {
            tree::below(folder, path).is_some() && tree::name_of(path).starts_with('_')
        };
        let partials = self.notes.iter().filter(|(path, _)| is_partial(path));
        partials.map(|(_, &number)| number).collect()
    }

    /// Whether a link that looks like a page of the host leads into a folder of the repository.
    fn is_folder_here(&self, page: &HostPage<'_>, paths: &[String]) -> bool {
        let tree = &self.checked.tree;
        let mut first = paths.iter().filter_map(|path| Some((path, path.find(page.kind)?)));
        first.any(|(path, at)| tree.has_folder(&path[..at + page.kind.len()]))
    }

    fn on_host(&self, page: &HostPage<'_>) -> LinkTarget {
        let Some((branch, path)) = page.file else { return LinkTarget::Other };
        let found = tree::joined("", path).and_then(|path| self.at_path(&path));
        let missing = match DEFAULT_BRANCHES.contains(&branch) {
            true => LinkTarget::Missing { kind: LinkKind::Path, similar: None },
            // Another branch may have it.
            false => LinkTarget::Other,
        };
        found.unwrap_or(missing)
    }

    /// Whether a link is the name of something and no path: a label, a dotted name of a program, or a page that is made of
    /// a program, in a folder of the site that is not there.
    fn is_name(&self, link: &str, paths: &[String], site: &str) -> bool {
        let ending = link.rsplit_once('.').map(|(_, ending)| ending);
        let is_file = ending.is_some_and(|ending| FILE_ENDINGS.contains(&ending));
        let is_made = |path: &String| {
            let folder = tree::folder_of(path);
            tree::below(site, path).is_some() && !self.checked.tree.has_folder(folder)
        };
        !is_file && (!link.contains('/') || paths.iter().any(is_made))
    }

    /// Whether a build may make the file: git ignores it, or it is a page in a folder that is not
    /// there.
    fn may_be_built(&self, path: &str) -> bool {
        let CheckedFiles { tree, ignored, .. } = self.checked;
        let is_page = path.ends_with(".html") && !tree.has_folder(tree::folder_of(path));
        let is_page = is_page || BUILT_FILES.contains(&tree::name_of(path));
        // Some sites have the text of `a.html` as `a.html.md`.
        let page = path.strip_suffix(".md").filter(|page| page.ends_with(".html"));
        let is_page = is_page || page.is_some_and(|page| self.at_path(page).is_some());
        let has_ending = tree::name_of(path).contains('.');
        is_page
            || ignored.has(tree, path)
            || !has_ending && longer(path).any(|path| ignored.has(tree, &path))
    }

    fn file(&self, path: &str) -> LinkTarget {
        self.notes.get(path).map_or(LinkTarget::Other, |&number| LinkTarget::Note(number))
    }

    /// The note after the bar: Dendron writes `[[label|note]]` and
    /// `[[label|dendron://vault/note]]`.
    fn behind_the_label(&self, inner: &str) -> Option<LinkTarget> {
        let style = self.checked.input.links;
        let (_, behind) = inner.rsplit_once('|').filter(|_| !style.has_free_names())?;
        let name = names::target(behind, style);
        if name.is_empty() {
            return Some(LinkTarget::Other);
        }
        let (is_address, name) = match name.split_once("://") {
            Some((_, path)) => (true, tree::name_of(path)),
            None => (false, name),
        };
        match self.checked.names.find(name)[..] {
            [number] => Some(LinkTarget::Note(number)),
            _ => is_address.then_some(LinkTarget::Other),
        }
    }

    /// A file whose path ends like this; none outside of Obsidian.
    fn by_end(&self, path: &str) -> Option<LinkTarget> {
        let path = path.to_lowercase();
        let found = self.ends.get(&path).or_else(|| self.ends.get(&format!("{path}.md")))?;
        Some(self.file(found))
    }

    fn address(&self, address: &str) -> LinkTarget {
        let address = address.split(['#', '?']).next().unwrap_or(address);
        let address = percent_decoded(address.trim_end_matches('/'));
        let vaults = self.checked.input.roles.vaults.iter().filter(|vault| !vault.name.is_empty());
        let named = vaults.filter_map(|vault| {
            let path = tree::below(&vault.name, address.strip_prefix(SCHEME)?)?;
            (!path.is_empty()).then_some((vault, path))
        });
        let named: Vec<(&CheckedVault, &str)> = named.collect();
        if let Some(target) = named.iter().find_map(|(vault, path)| self.in_vault(vault, path)) {
            return target;
        }
        let is_open = |c: char| matches!(c, '<' | '>' | '*' | '{' | '}' | '…');
        if named.is_empty() || address.contains(is_open) || address.ends_with("..") {
            return LinkTarget::Other;
        }
        LinkTarget::Missing { kind: LinkKind::Address, similar: None }
    }

    fn in_vault(&self, vault: &CheckedVault, path: &str) -> Option<LinkTarget> {
        let from_top = tree::joined(&vault.folder, path)?;
        if let Some(target) = self.at_path(&from_top) {
            return Some(target);
        }
        // In plain text, an address with spaces has no clear end.
        let blank = format!("{from_top} ");
        let (next, _) = self.notes.range(blank.as_str()..).next()?;
        next.starts_with(&blank).then_some(LinkTarget::Other)
    }

    fn wiki(&self, file: &CheckedFile<'_>, inner: &str) -> LinkTarget {
        let style = self.checked.input.links;
        let name = names::target(inner, style);
        if name.is_empty() {
            return LinkTarget::Other;
        }
        let found = self.checked.names.find(name.trim_start_matches('/'));
        if let [number] = found[..] {
            return LinkTarget::Note(number);
        }
        if let Some(target) = self.behind_the_label(inner) {
            return target;
        }
        if !found.is_empty() {
            return LinkTarget::Notes(found);
        }
        if style.has_free_names()
            || name.contains("://")
            // Dendron's pattern for several notes.
            || name.contains('*')
            || is_placeholder(name)
        {
            return LinkTarget::Other;
        }
        let vault = file.vault.map_or("", |vault| vault.folder.as_str());
        let folders = [tree::folder_of(file.path), vault, ""];
        let paths = folders.into_iter().filter_map(|folder| tree::joined(folder, name));
        let plain = name.trim_start_matches(['.', '/']);
        let found = paths.into_iter().find_map(|path| self.at_path(&path));
        let found = found.or_else(|| self.by_end(plain));
        found.unwrap_or(LinkTarget::Missing { kind: LinkKind::Wiki, similar: None })
    }
}

fn is_placeholder(target: &str) -> bool {
    PLACEHOLDERS.contains(&target) || TEMPLATES.iter().any(|mark| target.contains(mark))
}

/// Whether a target names something of a program, as in the documentation of Rust's crates.
fn is_of_rustdoc(target: &str) -> bool {
    let is_path = target.contains("::") && !target.contains([' ', '/', '.']);
    is_path || target.starts_with('`') || matches!(target, "crate" | "self" | "super")
}

/// The paths that a link may mean that leaves out the ending or the name of a folder's page.
fn longer(path: &str) -> impl Iterator<Item = String> {
    OMITTED_ENDINGS.iter().map(move |ending| format!("{path}{ending}"))
}

/// The files of which a site makes the page at this path: `a.html` is made of `a.md`.
fn pages(path: &str) -> impl Iterator<Item = String> {
    let page = path.strip_suffix(".html");
    let of_folder = page.and_then(|page| page.strip_suffix("index"));
    let sources = page.into_iter().flat_map(|page| PAGE_ENDINGS.iter().map(move |end| (page, end)));
    let indexes =
        of_folder.into_iter().flat_map(|folder| INDEXES.iter().map(move |name| (folder, name)));
    sources.chain(indexes).map(|(start, end)| format!("{start}{end}"))
}

/// Removes a line number: `main.rs:12`.
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

/// Whether a target starts with a scheme, such as `https:`.
fn has_scheme(target: &str) -> bool {
    let name = |c: char| c.is_ascii_alphanumeric() || "+.-".contains(c);
    target.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(name)
    })
}

/// Decodes escapes such as `%20`, if the result is UTF-8.
pub(super) fn percent_decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8().map_or_else(|_| text.to_owned(), Cow::into_owned)
}
