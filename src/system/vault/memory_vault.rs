//! A memory vault: notes in memory that belong to vaults as if they were in their folders. The same
//! names, folders and ignore rules apply as in a walk; only the notes are not on disk.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::folder::VaultFolder;
use super::ignore_rules::IgnoreRules;
use crate::core::note::listing::{FolderListing, ListedFile, Skipped, Stamp};
use crate::core::note::not_note::is_note_name;
use crate::core::note::vault::Vault;
use crate::core::text::slashes::with_slashes;
use crate::core::time::Timestamp;

#[derive(Debug)]
pub struct MemoryVault<'a> {
    top: PathBuf,
    /// Their paths from the top, and their stamps, in the order of addition.
    notes: Vec<(&'a str, Stamp)>,
    /// Their texts, by their paths.
    texts: HashMap<&'a str, &'a str>,
}

impl<'a> MemoryVault<'a> {
    /// An empty vault for notes below a folder.
    pub fn new(top: &Path) -> MemoryVault<'a> {
        MemoryVault { top: top.to_path_buf(), notes: Vec::new(), texts: HashMap::new() }
    }

    /// Adds a note by its path from the top, with a stamp that differs for different texts.
    pub fn add(&mut self, path: &'a str, text: &'a str, mtime: Timestamp) {
        let hash = blake3::hash(text.as_bytes()).as_bytes().as_chunks().0[0];
        let stamp = Stamp { mtime, ctime_ns: i64::from_le_bytes(hash), size: text.len() as u64 };
        self.notes.push((path, stamp));
        self.texts.insert(path, text);
    }

    /// The notes of vaults. Folders are in the order in which their first notes were added.
    pub fn listings(&self, vaults: &[Vault]) -> Vec<FolderListing> {
        let (of_vaults, rules) = (vaults.iter().enumerate(), IgnoreRules::default());
        of_vaults.flat_map(|(n, vault)| self.listings_of(n, vault, &rules)).collect()
    }

    fn listings_of(&self, n: usize, vault: &Vault, rules: &IgnoreRules) -> Vec<FolderListing> {
        let Some(prefix) = self.prefix(vault) else { return Vec::new() };
        let root = VaultFolder::root(n, vault, rules);
        let mut entered = HashMap::from([(String::new(), Some(root))]);
        let mut listed: Vec<(&str, Vec<ListedFile>)> = Vec::new();
        let mut places: HashMap<&str, usize> = HashMap::new();
        for &(path, stamp) in &self.notes {
            let Some(path) = path.strip_prefix(prefix.as_str()) else { continue };
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
            let is_note = is_note_name(name.as_bytes(), vault.style);
            let place = enter(&mut entered, folder).filter(|_| is_note);
            let admit =
                |place: &VaultFolder| place.admit_note(name.into(), &mut Skipped::default());
            if let Some(name) = place.and_then(admit) {
                let place = *places.entry(folder).or_insert(listed.len());
                if place == listed.len() {
                    listed.push((folder, Vec::new()));
                }
                listed[place].1.push(ListedFile::new(name, stamp));
            }
        }
        let listing = |(folder, files): (&str, _)| FolderListing::new(n, folder.to_owned(), files);
        listed.into_iter().map(listing).collect()
    }

    pub fn text(&self, vault: &Vault, folder: &str, name: &str) -> Option<&'a str> {
        let slash = if folder.is_empty() { "" } else { "/" };
        let path = format!("{}{folder}{slash}{name}", self.prefix(vault)?);
        self.texts.get(path.as_str()).copied()
    }

    /// The prefix of the paths of a vault's notes.
    fn prefix(&self, vault: &Vault) -> Option<String> {
        let below = with_slashes(vault.root.strip_prefix(&self.top).ok()?)?;
        Some(if below.is_empty() { String::new() } else { format!("{below}/") })
    }
}

/// The folder of a vault with this path; `None` if a rule excludes it.
fn enter<'a>(
    entered: &'a mut HashMap<String, Option<VaultFolder>>,
    folder: &str,
) -> Option<&'a VaultFolder> {
    if !entered.contains_key(folder) {
        let (above, name) = folder.rsplit_once('/').unwrap_or(("", folder));
        let inner = enter(entered, above)
            .and_then(|above| above.enter(name.into(), &mut Skipped::default()));
        entered.insert(folder.to_owned(), inner);
    }
    entered[folder].as_ref()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::core::settings::LinkStyle;

    #[test]
    fn it_lists_the_same_notes_as_a_walk() {
        let scratch = tempfile::tempdir().unwrap();
        let top = dunce::canonicalize(scratch.path()).unwrap();
        let files = [
            ("a.md", "at the top"),
            ("CLAUDE.md", "no note"),
            ("docs/b.md", "# B"),
            ("docs/c.txt", "no note"),
            ("docs/l.mdx", "# L"),
            ("docs/b.bak.md", "# B"),
            ("docs/deep/er/d.md", "# D"),
            ("docs/deep/.hidden/e.md", "# E"),
            ("docs/deep/.f.md", "# F"),
            ("docs/made/g.md", "# G"),
            ("docs/made/kept.md", "# Kept"),
            ("docs/drafts/h.md", "# H"),
            // Where a backslash stands between folders, no name has one.
            #[cfg(unix)]
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
        let vault = |name: &str| Vault::new(name, top.join(name), LinkStyle::Plain);
        let flat = Vault { is_flat: true, ..Vault::new("root", top.clone(), LinkStyle::Plain) };
        let vaults = [vault("docs"), vault("notes"), flat];
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
        assert_eq!(notes.text(&vaults[2], "", "a.md"), Some("at the top"));
    }

    #[test]
    fn notes_in_reverse_are_folders_in_reverse() {
        let vaults = [Vault::new("", PathBuf::from("/top"), LinkStyle::Plain)];
        let folders = |paths: &[&'static str]| {
            let mut notes = MemoryVault::new(Path::new("/top"));
            paths.iter().for_each(|path| notes.add(path, "text", Timestamp(0)));
            let listings = notes.listings(&vaults).into_iter();
            listings.map(|listing| listing.folder).collect::<Vec<_>>()
        };
        assert_eq!(folders(&["a/x.md", "b/x.md", "a/y.md", "c/x.md"]), ["a", "b", "c"]);
        assert_eq!(folders(&["c/x.md", "b/x.md", "a/y.md", "a/x.md"]), ["c", "b", "a"]);
    }

    #[test]
    fn another_text_of_the_same_size_and_time_has_another_stamp() {
        let stamp = |text, at| {
            let mut notes = MemoryVault::new(Path::new("/"));
            notes.add("a.md", text, Timestamp(at));
            notes.notes[0].1
        };
        assert_eq!(stamp("one", 1), stamp("one", 1));
        assert_ne!(stamp("one", 1), stamp("two", 1));
        assert_ne!(stamp("one", 1), stamp("one", 2));
    }
}
