//! The note files of maenifold's memory. Supplies what the program's answers leave out: reading a note through the
//! program would change its rank.

use std::collections::{BTreeMap, BTreeSet};

use crate::core::note::concept::Concept;
use crate::core::note::decode::{self, Decoded};
use crate::core::note::listing::{FolderListing, ListedFile};
use crate::core::note::markdown;
use crate::core::note::vault::{Vault, uri};
use crate::core::note::{Note, Remarks};
use crate::core::quote::retold::Retold;
use crate::core::quote::thinking::Thinking;
use crate::core::settings::{LinkStyle, Setting, VaultSpec};
use crate::core::time::Timestamp;
use crate::system::maenifold_places::Places;
use crate::system::vault::{self, Styles};

/// The number of files of one name that are read to find the one with a given title.
const MOST_OF_ONE_NAME: usize = 10;

/// The listed notes of a memory: no links, no hidden files, no files that are too large.
pub(super) struct Notes {
    /// `None` if the memory is not accessible, for example if the program connects to another machine.
    vault: Option<Vault>,
    listings: Vec<FolderListing>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Listed<'a> {
    folder: &'a str,
    file: &'a ListedFile,
}

impl Listed<'_> {
    pub(super) fn uri(&self) -> String {
        let slash = if self.folder.is_empty() { "" } else { "/" };
        uri("", &format!("{}{slash}{}", self.folder, self.file.name))
    }

    pub(super) fn modified(&self) -> Timestamp {
        self.file.stamp.mtime
    }

    pub(super) fn stem(&self) -> &str {
        self.file.name.strip_suffix(".md").unwrap_or(&self.file.name)
    }

    /// A total order, oldest first.
    fn age(&self) -> (Timestamp, &str, &str) {
        (self.modified(), self.folder, &self.file.name)
    }
}

impl Notes {
    /// Lists the notes of a memory, without opening them.
    pub(super) fn list(places: &Places, max_file_bytes: u64) -> Notes {
        let value = VaultSpec { name: String::new(), path: places.memory.clone(), is_flat: false };
        let spec = Setting { value, origin: places.origin.clone() };
        let vault = vault::open(&spec, &Styles::of_memory()).ok();
        let listings = match &vault {
            Some(vault) => vault::walk(std::slice::from_ref(vault), max_file_bytes).0,
            None => Vec::new(),
        };
        Notes { vault, listings }
    }

    /// Whether this process can access the memory.
    pub(super) fn are_here(&self) -> bool {
        self.vault.is_some()
    }

    /// The file of an address.
    pub(super) fn at(&self, uri: &str) -> Option<Listed<'_>> {
        let path = self.vault.as_ref()?.resolve(uri)?.ok()?;
        let (folder, name) = path.as_str().rsplit_once('/').unwrap_or(("", path.as_str()));
        let listing = self.listings.iter().find(|listing| listing.folder == folder)?;
        let place = listing.files.binary_search_by(|file| (*file.name).cmp(name)).ok()?;
        Some(Listed { folder: &listing.folder, file: &listing.files[place] })
    }

    /// The path of an address's file.
    pub(super) fn file(&self, uri: &str) -> Option<String> {
        let Listed { folder, file } = self.at(uri)?;
        Some(self.vault.as_ref()?.file(folder).join(&*file.name).display().to_string())
    }

    /// The file that an answer names by stem and title: the one with that title, otherwise the newest. Skips `taken`
    /// files, which other parts of the answer named.
    ///
    /// maenifold treats the text after the last dot of a stem as an extension, and leaves it out. Up to 1.0.5 it names a
    /// folder of the file in place of the stem (`**1970**`); then only the title tells which file it is.
    pub(super) fn called(
        &self,
        stem: &str,
        title: Option<&str>,
        taken: &[Listed<'_>],
    ) -> Option<Listed<'_>> {
        let named = |note: &Listed<'_>| {
            let own = note.stem();
            own == stem || own.rsplit_once('.').is_some_and(|(start, _)| start == stem)
        };
        let mut of_that_name: Vec<Listed<'_>> =
            self.all().filter(|note| named(note) && !taken.contains(note)).collect();
        of_that_name.sort_by(|a, b| {
            (b.stem() == stem).cmp(&(a.stem() == stem)).then_with(|| b.age().cmp(&a.age()))
        });
        if let (Some(title), true) = (title, of_that_name.len() > 1) {
            let has_title =
                |note: &&Listed<'_>| self.read(**note).is_some_and(|read| read.title == title);
            let titled = of_that_name.iter().take(MOST_OF_ONE_NAME).find(has_title);
            if let Some(titled) = titled {
                return Some(*titled);
            }
        }
        of_that_name.first().copied().or_else(|| self.below(stem, title?, taken))
    }

    /// The newest file below a folder of this name that is called like a title, or has it.
    fn below(&self, folder: &str, title: &str, taken: &[Listed<'_>]) -> Option<Listed<'_>> {
        let is_below = |note: &Listed<'_>| note.folder.split('/').any(|part| part == folder);
        let mut below: Vec<Listed<'_>> =
            self.all().filter(|note| is_below(note) && !taken.contains(note)).collect();
        let name = Concept::parse(title);
        let is_called = |note: &Listed<'_>| name.is_some() && Concept::parse(note.stem()) == name;
        below.sort_by(|a, b| is_called(b).cmp(&is_called(a)).then_with(|| b.age().cmp(&a.age())));
        let has_title = |note: &&Listed<'_>| {
            // A file without a title is told by its name.
            note.stem() == title || self.read(**note).is_some_and(|read| read.title == title)
        };
        below.iter().take(MOST_OF_ONE_NAME).find(has_title).copied()
    }

    /// For each concept, the newest file of that name.
    pub(super) fn going_by<'a>(
        &self,
        concepts: impl Iterator<Item = &'a Concept>,
    ) -> BTreeMap<&'a Concept, Listed<'_>> {
        let concepts: BTreeSet<&Concept> = concepts.collect();
        let mut found: BTreeMap<&Concept, Listed<'_>> = BTreeMap::new();
        for note in self.all() {
            let name = Concept::parse(note.stem());
            let Some(concept) = name.and_then(|name| concepts.get(&name).copied()) else {
                continue;
            };
            let newest = found.entry(concept).or_insert(note);
            if note.age() > newest.age() {
                *newest = note;
            }
        }
        found
    }

    /// Reads a file; `None` if it is gone or not text.
    pub(super) fn read(&self, note: Listed<'_>) -> Option<Note> {
        let (text, remarks) = self.text(note)?;
        Some(markdown::parse(&text, note.stem(), LinkStyle::Maenifold, remarks))
    }

    /// What the default layout shows of a file; `None` if it is gone or not text.
    pub(super) fn retold(&self, note: Listed<'_>) -> Option<Retold> {
        let (text, _) = self.text(note)?;
        Some(Retold::of_file(&format!("{}/{}", note.folder, note.file.name), &text))
    }

    fn text(&self, note: Listed<'_>) -> Option<(String, Remarks)> {
        let (bytes, _) = vault::read(self.vault.as_ref()?, note.folder, note.file).ok()?;
        let Decoded::Text(text, remarks) = decode::decode(bytes) else { return None };
        Some((text, remarks))
    }

    /// The newest notes, without documents of maenifold's own.
    pub(super) fn newest(&self, most: usize) -> Vec<Listed<'_>> {
        let is_note = |note: &Listed<'_>| !Thinking::is_kept_at(&format!("{}/", note.folder));
        let mut newest: Vec<Listed<'_>> = self.all().filter(is_note).collect();
        newest.sort_by(|a, b| b.age().cmp(&a.age()));
        newest.truncate(most);
        newest
    }

    fn all(&self) -> impl Iterator<Item = Listed<'_>> {
        self.listings.iter().flat_map(|listing| {
            listing.files.iter().map(|file| Listed { folder: &listing.folder, file })
        })
    }
}
