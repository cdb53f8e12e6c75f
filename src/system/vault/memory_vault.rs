//! A memory vault: notes in memory that belong to vaults as if they were in their folders. The same
//! names, folders and ignore rules apply as in a walk; only the notes are not on disk.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::gitignore::Gitignore;

use super::walk::{VaultFolder, is_markdown};
use crate::core::note::listing::{FolderListing, ListedFile, Skipped, Stamp};
use crate::core::note::vault::Vault;
use crate::core::time::Timestamp;

#[derive(Debug)]
pub struct MemoryVault<'a> {
    top: PathBuf,
    notes: Vec<Note<'a>>,
    texts: HashMap<&'a str, &'a str>,
}

#[derive(Debug, Clone, Copy)]
struct Note<'a> {
    path: &'a str,
    text: &'a str,
    modified: Timestamp,
}

impl<'a> MemoryVault<'a> {
    /// An empty vault for notes below a folder.
    pub fn new(top: &Path) -> MemoryVault<'a> {
        MemoryVault { top: top.to_path_buf(), notes: Vec::new(), texts: HashMap::new() }
    }

    /// Adds a note by its path from the top.
    pub fn add(&mut self, path: &'a str, text: &'a str, modified: Timestamp) {
        self.texts.insert(path, text);
        self.notes.push(Note { path, text, modified });
    }

    pub fn listings(&self, vaults: &[Vault]) -> Vec<FolderListing> {
        let of_vaults = vaults.iter().enumerate();
        of_vaults.flat_map(|(n, vault)| self.listings_of(n, vault)).collect()
    }

    fn listings_of(&self, n: usize, vault: &Vault) -> Vec<FolderListing> {
        let Some(prefix) = self.prefix(vault) else { return Vec::new() };
        let mut admitted = Folders::new(VaultFolder::root(n, vault));
        let mut folders: Vec<(&str, Vec<ListedFile>)> = Vec::new();
        let mut known: HashMap<&str, usize> = HashMap::new();
        for note in &self.notes {
            let Some(path) = note.path.strip_prefix(prefix.as_str()) else { continue };
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
            let Some(name) = admitted.admit(folder, name) else { continue };
            let place = *known.entry(folder).or_insert_with(|| {
                folders.push((folder, Vec::new()));
                folders.len() - 1
            });
            folders[place].1.push(ListedFile { name, stamp: note.stamp() });
        }
        let listing = |(folder, files): (&str, _)| FolderListing::new(n, folder.to_owned(), files);
        folders.into_iter().map(listing).collect()
    }

    pub fn text(&self, vault: &Vault, folder: &str, name: &str) -> Option<&'a str> {
        let slash = if folder.is_empty() { "" } else { "/" };
        let path = format!("{}{folder}{slash}{name}", self.prefix(vault)?);
        self.texts.get(path.as_str()).copied()
    }

    /// The prefix of the paths of a vault's notes.
    fn prefix(&self, vault: &Vault) -> Option<String> {
        let below = vault.root.strip_prefix(&self.top).ok()?.to_str()?;
        Some(if below.is_empty() { String::new() } else { format!("{below}/") })
    }
}

impl Note<'_> {
    /// A stamp that differs for different texts.
    fn stamp(&self) -> Stamp {
        let mut hash = [0; 8];
        hash.copy_from_slice(&blake3::hash(self.text.as_bytes()).as_bytes()[..8]);
        Stamp {
            mtime: self.modified,
            ctime_ns: i64::from_le_bytes(hash),
            size: self.text.len() as u64,
        }
    }
}

/// The folders of a vault by their paths; `None` for a folder that a rule excludes.
struct Folders {
    known: HashMap<String, Option<Folder>>,
}

/// A folder and the rules that apply to its entries.
struct Folder {
    place: VaultFolder,
    rules: Vec<Arc<Gitignore>>,
}

impl Folder {
    fn new(place: VaultFolder) -> Folder {
        Folder { rules: place.inner_rules(), place }
    }
}

impl Folders {
    fn new(root: VaultFolder) -> Folders {
        Folders { known: HashMap::from([(String::new(), Some(Folder::new(root)))]) }
    }

    /// The name of a note; `None` if it does not belong to the vault.
    fn admit(&mut self, folder: &str, name: &str) -> Option<String> {
        self.enter(folder);
        let Folder { place, rules } = self.known.get(folder)?.as_ref()?;
        let name = OsString::from(name);
        is_markdown(&name).then(|| place.admit(name, false, rules, &mut Skipped::default()))?
    }

    fn enter(&mut self, folder: &str) {
        if self.known.contains_key(folder) {
            return;
        }
        let (above, name) = folder.rsplit_once('/').unwrap_or(("", folder));
        self.enter(above);
        let inner = self.known[above].as_ref().and_then(|Folder { place, rules }| {
            let inner = place.enter(vec![OsString::from(name)], rules, &mut Skipped::default());
            inner.into_iter().next()
        });
        self.known.insert(folder.to_owned(), inner.map(Folder::new));
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn it_lists_the_same_notes_as_a_walk() {
        let scratch = tempfile::tempdir().unwrap();
        let top = scratch.path().canonicalize().unwrap();
        let files = [
            ("a.md", "outside"),
            ("docs/b.md", "# B"),
            ("docs/c.txt", "no note"),
            ("docs/deep/er/d.md", "# D"),
            ("docs/deep/.hidden/e.md", "# E"),
            ("docs/deep/.f.md", "# F"),
            ("docs/made/g.md", "# G"),
            ("docs/made/kept.md", "# Kept"),
            ("docs/drafts/h.md", "# H"),
            ("docs/deep/i\\j.md", "# I"),
            ("notes/k.md", "# K"),
            (".gitignore", "drafts/\n"),
            ("docs/.gitignore", "made/*\n!made/kept.md\n"),
            (".git/HEAD", ""),
        ];
        for (path, text) in files {
            let path = top.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let vault = |name: &str| Vault { name: name.to_owned(), root: top.join(name) };
        let vaults = [vault("docs"), vault("notes")];
        let names = |listings: Vec<FolderListing>| {
            let mut names: Vec<String> = listings
                .iter()
                .flat_map(|listing| {
                    let place = format!("{} {}", listing.vault, listing.folder);
                    listing.files.iter().map(move |file| format!("{place}/{}", file.name))
                })
                .collect();
            names.sort();
            names
        };
        let mut notes = MemoryVault::new(&top);
        for (n, (path, text)) in files.iter().enumerate() {
            notes.add(path, text, Timestamp(n as i64));
        }
        let held = notes.listings(&vaults);
        assert_eq!(names(held), names(super::super::walk(&vaults, 1_000).0));
        assert_eq!(notes.text(&vaults[0], "deep/er", "d.md"), Some("# D"));
        assert_eq!(notes.text(&vaults[0], "", "b.md"), Some("# B"));
        assert_eq!(notes.text(&vaults[0], "", "a.md"), None);
    }

    #[test]
    fn another_text_of_the_same_size_and_time_has_another_stamp() {
        let stamp = |text: &str, at| Note { path: "", text, modified: Timestamp(at) }.stamp();
        assert_eq!(stamp("one", 1), stamp("one", 1));
        assert_ne!(stamp("one", 1), stamp("two", 1));
        assert_ne!(stamp("one", 1), stamp("one", 2));
    }
}
