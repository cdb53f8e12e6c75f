//! How the notes of a vault are named: what the name of one tells depends on those of all.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;

use crate::core::note::listing::FolderListing;
use crate::core::note::without_extension;
use crate::core::relevance::dated::is_dated;
use crate::core::text::words::words;

/// Languages into which pages are translated.
const LANGUAGES: [&str; 45] = words(
    "ar bg bn ca cs da de el en es et fa fi fr he hi hr hu id it ja ka km ko lt lv ms nb nl no pl pt ro ru sk sl sr sv ta th tr uk \
     uz vi zh",
);
/// So many pages must exist in another language, too: a folder can be called `it` by chance.
const LEAST_PAIRS: usize = 3;
/// The folder that generators of sites have for translations.
const TRANSLATIONS: &str = "i18n";
/// In a vault with fewer notes, a share of them tells nothing.
const LEAST_NOTES: usize = 10;

/// The namings of the vaults of an index, by their positions. Vaults in which nothing is special are left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Namings(BTreeMap<usize, Naming>);

/// What the names in a vault tell beyond each name itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Naming {
    /// Whether most names are dates: then a date tells nothing about a note.
    pub is_by_date: bool,
    /// The languages of pages that are translations of others.
    pub(super) translations: Vec<String>,
}

impl Namings {
    pub fn of(listings: &[FolderListing]) -> Namings {
        let mut counts: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
        let mut pages: BTreeMap<usize, Pages<'_>> = BTreeMap::new();
        for listing in listings {
            let (n_notes, n_dated) = counts.entry(listing.vault).or_default();
            let marked = language_of_folder(&listing.folder);
            for file in &listing.files {
                let stem = without_extension(&file.name);
                *n_notes += 1;
                *n_dated += usize::from(is_dated(&listing.folder, stem));
                if let Some(language) = marked.or_else(|| language_of_stem(stem)) {
                    let page = neutral(&listing.folder, stem);
                    pages
                        .entry(listing.vault)
                        .or_default()
                        .entry(page)
                        .or_default()
                        .insert(language);
                }
            }
        }
        let of_vault = |(vault, (n_notes, n_dated)): (usize, (usize, usize))| {
            let is_by_date = n_notes >= LEAST_NOTES && 2 * n_dated > n_notes;
            let translations = match pages.remove(&vault) {
                Some(pages) => translations(pages, vault, listings),
                None => Vec::new(),
            };
            let naming = Naming { is_by_date, translations };
            (naming != Naming::default()).then_some((vault, naming))
        };
        Namings(counts.into_iter().filter_map(of_vault).collect())
    }

    pub fn of_vault(&self, vault: usize) -> Naming {
        self.0.get(&vault).cloned().unwrap_or_default()
    }
}

/// What an index keeps, to see that it must be made anew.
impl fmt::Display for Namings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (vault, Naming { is_by_date, translations }) in &self.0 {
            write!(f, "{vault}:{is_by_date}:{};", translations.join(","))?;
        }
        Ok(())
    }
}

impl Naming {
    /// Whether a note is a page in a language into which the vault is translated.
    pub fn is_translation(&self, folder: &str, stem: &str) -> bool {
        !self.translations.is_empty()
            && language_of_folder(folder)
                .or_else(|| language_of_stem(stem))
                .is_some_and(|language| self.translations.iter().any(|other| *other == *language))
    }
}

/// The languages of pages, by their paths without a language.
type Pages<'a> = HashMap<String, HashSet<&'a str>>;

/// The languages of translations: all but the main one.
fn translations(mut pages: Pages<'_>, vault: usize, listings: &[FolderListing]) -> Vec<String> {
    for listing in listings.iter().filter(|listing| listing.vault == vault) {
        for stem in listing.files.iter().map(|file| without_extension(&file.name)) {
            let is_marked =
                language_of_folder(&listing.folder).or_else(|| language_of_stem(stem)).is_some();
            if !is_marked && let Some(languages) = pages.get_mut(&neutral(&listing.folder, stem)) {
                languages.insert("");
            }
        }
    }
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (page, languages) in &pages {
        if languages.len() > 1 || page.starts_with(TRANSLATIONS) {
            languages.iter().for_each(|language| *counts.entry(language).or_default() += 1);
        }
    }
    counts.retain(|_, n_pages| *n_pages >= LEAST_PAIRS);
    // The original is without a language, or else it has the most pages; of two, English.
    let main =
        counts.iter().max_by_key(|(language, n)| (language.is_empty(), **n, **language == "en"));
    let main = main.map(|(language, _)| *language);
    counts
        .into_keys()
        .filter(|language| Some(*language) != main && !language.is_empty())
        .map(str::to_owned)
        .collect()
}

/// The path of a page without what says its language.
fn neutral(folder: &str, stem: &str) -> String {
    let folders = folder.split('/').filter(|part| !part.is_empty() && !is_language(part));
    let stem = match language_of_stem(stem) {
        Some(language) => &stem[..stem.len() - language.len() - 1],
        None => stem,
    };
    folders.chain([stem]).collect::<Vec<_>>().join("/")
}

fn language_of_folder(folder: &str) -> Option<&str> {
    folder.split('/').find(|part| is_language(part))
}

/// The language at the end of a name: `README.zh-CN`, `index.ja`, `guide_de`.
fn language_of_stem(stem: &str) -> Option<&str> {
    // `zh-Hans` is the longest one.
    let from = stem.len().saturating_sub(8);
    let marks =
        stem.bytes().enumerate().skip(from).filter(|(_, byte)| matches!(byte, b'.' | b'_' | b'-'));
    let mut endings = marks.filter_map(|(at, _)| stem.get(at + 1..).filter(|_| at > 0));
    endings.find(|ending| is_language(ending))
}

/// Whether a text is a language, with or without a region: `de`, `pt-BR`, `zh_Hans`.
fn is_language(text: &str) -> bool {
    let Some(region) = text.get(2..).filter(|region| region.len() <= 5) else { return false };
    let language = &text.as_bytes()[..2];
    let is_region = region.is_empty()
        || region.starts_with(['-', '_'])
            && (3..=5).contains(&region.len())
            && region[1..].bytes().all(|byte| byte.is_ascii_alphabetic());
    is_region && LANGUAGES.iter().any(|other| other.as_bytes().eq_ignore_ascii_case(language))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::note::listing::{ListedFile, Stamp};
    use crate::core::time::Timestamp;

    fn naming(paths: &[&str]) -> Naming {
        let stamp = Stamp { mtime: Timestamp(0), ctime_ns: 0, size: 0 };
        let listing = |path: &&str| {
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
            let file = ListedFile::new(format!("{name}.md"), stamp);
            FolderListing::new(0, folder.to_owned(), vec![file])
        };
        Namings::of(&paths.iter().map(listing).collect::<Vec<_>>()).of_vault(0)
    }

    #[test]
    fn translations_are_told_by_pages_that_are_there_twice() {
        let cases: &[(&[&str], &[&str])] = &[
            (&["en/a", "en/b", "en/c", "en/d", "zh/a", "zh/b", "zh/c"], &["zh"]),
            (
                &["docs/en/a", "docs/en/b", "docs/en/c", "docs/zh/a", "docs/zh/b", "docs/zh/c"],
                &["zh"],
            ),
            (&["README", "README.zh-CN", "a", "a.zh-CN", "b", "b.zh-CN"], &["zh-CN"]),
            (&["a", "b", "c", "ja/a", "ja/b", "ja/c", "ja/d"], &["ja"]),
            (&["i18n/ja/x/a", "i18n/ja/x/b", "i18n/fr/x/a", "i18n/fr/x/b", "a"], &[]),
            // Folders that are called like a language by chance.
            (&["it/a", "it/b", "it/c", "it/d", "x/a"], &[]),
            (&["README", "README.zh-CN", "a", "b"], &[]),
            (&["a", "b", "c"], &[]),
        ];
        for (paths, expect) in cases {
            assert_eq!(naming(paths).translations, *expect, "{paths:?}");
        }
        let naming = naming(cases[0].0);
        assert!(naming.is_translation("zh/x", "new") && !naming.is_translation("en", "a"));
        assert!(!naming.is_translation("", "a"));
    }

    #[test]
    fn a_vault_of_dates_is_told_by_most_of_its_names() {
        let days: Vec<String> = (1..=9).map(|day| format!("2026-01-0{day} notes")).collect();
        let mut paths: Vec<&str> = days.iter().map(String::as_str).collect();
        assert!(!naming(&paths).is_by_date);
        paths.extend(["a", "b", "c"]);
        assert!(naming(&paths).is_by_date);
        paths.extend(["d", "e", "f", "g", "h", "i"]);
        assert!(!naming(&paths).is_by_date);
    }
}
