//! The pages that the navigation of a site lists. Takes every text in a file of navigation that may
//! name a page, and looks whether there is one.

use super::super::links::{LinkTarget, Resolver};
use super::super::tree;
use super::addresses::Naming;
use super::{Site, Sites, folder_before, toctree, values};

/// Settings that name a folder of which all pages are listed.
const FOLDER_SETTINGS: [&str; 2] = ["dirName", "directory"];

/// What stands around names in YAML, JSON, scripts and markdown.
const SEPARATORS: [char; 10] = ['"', '\'', '`', '(', ')', '[', ']', '{', '}', ','];

/// The notes that a navigation lists.
pub(crate) fn listed(sites: &Sites<'_>, resolver: &Resolver<'_>) -> Vec<usize> {
    let mut listed = Vec::new();
    for site in &sites.sites {
        if site.generator.has_named_targets {
            listed.extend(sites.listed_by_pages(site, resolver));
            continue;
        }
        for folder in site.generator.listed {
            let folder = tree::joined(site.folder, folder);
            listed.extend(folder.iter().flat_map(|folder| resolver.notes_below(folder)));
        }
        if site.generator.naming == Naming::Id {
            let folders = site.pages.iter().map(String::as_str).chain([site.folder]);
            listed.extend(folders.flat_map(|folder| resolver.partials_below(folder)));
        }
        let texts: Vec<&str> = sites.navigation_of(site).collect();
        let setting = site.generator.navigation_setting;
        let is_written = |text: &&str| values(text, setting).next().is_some();
        if !setting.is_empty() && !texts.iter().chain([&site.text]).any(is_written) {
            site.pages.iter().for_each(|folder| listed.extend(resolver.notes_below(folder)));
        }
        for (text, folder) in texts.iter().flat_map(|text| site.pages.iter().map(|f| (*text, f))) {
            for name in FOLDER_SETTINGS.iter().flat_map(|key| values(text, key)) {
                let below = tree::joined(folder, name);
                listed.extend(below.iter().flat_map(|below| resolver.notes_below(below)));
            }
            let paths = names(text).filter_map(|name| tree::joined(folder, name));
            listed.extend(paths.filter_map(|path| match resolver.at_path(&path) {
                Some(LinkTarget::Note(number)) => Some(number),
                _ => resolver.at_address(&path),
            }));
        }
    }
    listed
}

impl<'a> Sites<'a> {
    /// The notes that pages of a site list.
    fn listed_by_pages(&self, site: &Site<'_>, resolver: &Resolver<'_>) -> Vec<usize> {
        let pages = self.files.iter().filter(|file| tree::below(site.folder, &file.path).is_some());
        let entries = pages.flat_map(|page| {
            let entries = toctree::entries(page.text.as_deref().unwrap_or_default());
            entries.map(|entry| (tree::folder_of(&page.path), entry))
        });
        let notes = entries.flat_map(|(folder, entry)| {
            let (folder, entry) = match entry.strip_prefix('/') {
                Some(entry) => (site.folder, entry),
                None => (folder, entry),
            };
            let Some(path) = tree::joined(folder, entry.trim_end_matches('*')) else {
                return vec![];
            };
            match resolver.at_path(&path) {
                _ if entry.ends_with('*') => resolver.notes_below(&path),
                Some(LinkTarget::Note(number)) => vec![number],
                _ => vec![],
            }
        });
        notes.collect()
    }

    /// The texts of a site's navigation.
    pub(super) fn navigation_of(&self, site: &Site<'a>) -> impl Iterator<Item = &'a str> {
        let is_in_site =
            |folder: &str| folder == site.folder || site.pages.iter().any(|pages| pages == folder);
        let is_navigation = move |path: &str| {
            let mut patterns = site.generator.navigation.iter();
            patterns.any(|pattern| folder_before(pattern, path).is_some_and(is_in_site))
        };
        let files = self.files.iter().filter(move |file| is_navigation(&file.path));
        files.filter_map(|file| file.text.as_deref())
    }
}

/// The texts that may name a page: what stands in quotes or brackets, and the value of a line.
pub(super) fn names(text: &str) -> impl Iterator<Item = &str> {
    let pieces = text.lines().flat_map(|line| line.split(SEPARATORS));
    let values = pieces.flat_map(|piece| {
        let value = piece.rsplit_once(": ").map_or(piece, |(_, value)| value);
        let value = value.trim().strip_prefix("- ").unwrap_or(value);
        [piece, value]
    });
    let values = values.map(|value| value.split('#').next().unwrap_or(value).trim());
    values.filter(|value| !value.is_empty() && *value != "." && *value != "/")
}
