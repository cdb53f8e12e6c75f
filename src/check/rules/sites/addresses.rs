//! Where a site has its pages, if not at their paths: a name in the front matter, a name in lower case, or one without the
//! number that sorts it.

use std::collections::HashMap;

use super::super::checked_files::{CheckedFile, CheckedFiles};
use super::super::tree;
use super::Site;
use crate::core::note::without_extension;

/// How a generator names pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Naming {
    Path,
    /// Docusaurus: `id` and `slug` in the front matter; numbers before names are left out.
    Id,
    /// Hugo: in lower case, with `slug` and `aliases` in the front matter.
    Folded,
    /// Jekyll: `permalink` in the front matter; `_docs/a.md` is `docs/a`.
    Permalink,
}

/// The notes by their addresses, as paths from the top of the repository.
#[derive(Debug)]
pub(in super::super) struct Addresses(HashMap<String, usize>);

impl Addresses {
    pub(in super::super) fn new(checked: &CheckedFiles<'_>) -> Addresses {
        let mut addresses = HashMap::new();
        for (number, file) in checked.notes() {
            for site in checked.sites.around(file.path) {
                for address in site.addresses(file) {
                    addresses.entry(folded(&address).into_owned()).or_insert(number);
                }
            }
        }
        Addresses(addresses)
    }

    pub(in super::super) fn note(&self, path: &str) -> Option<usize> {
        if self.0.is_empty() {
            return None;
        }
        self.0.get(&*folded(path)).copied()
    }
}

/// An address without the ways in which it can be written.
fn folded(address: &str) -> std::borrow::Cow<'_, str> {
    let address = address.trim_matches('/');
    let address = address.strip_suffix(".html").unwrap_or(address);
    address.to_lowercase().into()
}

impl Site<'_> {
    /// The addresses of a page of this site.
    fn addresses(&self, file: &CheckedFile<'_>) -> Vec<String> {
        let folder = tree::folder_of(file.path);
        let page = without_extension(file.path);
        let named = |key: &str, from: &str| {
            let value = value(file, key)?;
            tree::joined(if value.starts_with('/') { self.top(file.path) } else { from }, value)
        };
        match self.generator.naming {
            Naming::Path => vec![],
            Naming::Id => {
                let names = [named("id", folder), named("slug", folder)];
                let below = tree::below(self.folder, page).unwrap_or(page);
                let parts: Vec<&str> = below.split('/').map(without_number).collect();
                names
                    .into_iter()
                    .flatten()
                    .chain(tree::joined(self.folder, &parts.join("/")))
                    .collect()
            }
            Naming::Folded => {
                let aliases = file.front_matter.aliases.iter().filter_map(|alias| {
                    let from = if alias.starts_with('/') { self.top(file.path) } else { folder };
                    tree::joined(from, alias)
                });
                let page = if file.is_index() { folder } else { page };
                aliases.chain(named("slug", folder)).chain([page.to_owned()]).collect()
            }
            Naming::Permalink => {
                let below = tree::below(self.folder, page).unwrap_or(page);
                let collection = below.strip_prefix('_').unwrap_or(below);
                let own = tree::joined(self.folder, collection);
                named("permalink", self.folder).into_iter().chain(own).collect()
            }
        }
    }

    /// The folder from which the site sees this page.
    fn top<'s>(&'s self, path: &'s str) -> &'s str {
        if self.generator.naming == Naming::Permalink {
            return self.folder;
        }
        let version = path.match_indices("/version-").find_map(|(at, _)| {
            let end = path[at + 1..].find('/')?;
            Some(&path[..at + 1 + end])
        });
        let pages = self.pages.iter().filter(|pages| tree::below(pages, path).is_some());
        version.or(pages.max_by_key(|pages| pages.len()).map(String::as_str)).unwrap_or(self.folder)
    }
}

/// The value of a key in the front matter.
fn value<'t>(file: &CheckedFile<'t>, key: &str) -> Option<&'t str> {
    let place = file.key(key)?;
    let value = file.text[place.end..].lines().next()?.trim_matches(['"', '\'', ' ', ':', '\t']);
    (!value.is_empty()).then_some(value)
}

/// The name of a file or folder without the number that sorts it: `01-intro`.
fn without_number(name: &str) -> &str {
    let rest = name.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered =
        rest.len() < name.len() && rest.len() > 1 && rest.starts_with(['-', '_', '.']);
    if is_numbered { rest[1..].trim_start_matches(['-', '_', ' ']) } else { name }
}
