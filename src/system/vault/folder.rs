//! A folder of a vault, and which of its entries belong to the vault. Hidden and ignored entries do
//! not.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::core::note::listing::Skipped;
use crate::core::note::not_note::{LeftOut, is_note_name};
use crate::core::note::vault::Vault;

/// A folder on the walk through a vault.
pub(super) struct VaultFolder {
    pub(super) vault: usize,
    of: Arc<Vault>,
    pub(super) path: PathBuf,
    /// The path below the vault's root; empty for the root.
    pub(super) folder: String,
    /// The ignore rules for its entries, outermost first.
    rules: Vec<Arc<Gitignore>>,
}

impl VaultFolder {
    pub(super) fn root(vault_idx: usize, vault: &Vault) -> VaultFolder {
        let rules = rules_above(&vault.root);
        let of = Arc::new(vault.clone());
        VaultFolder::new(vault_idx, of, vault.root.clone(), String::new(), rules)
    }

    fn new(
        vault: usize,
        of: Arc<Vault>,
        path: PathBuf,
        folder: String,
        mut rules: Vec<Arc<Gitignore>>,
    ) -> VaultFolder {
        rules.extend(rules_of(&path));
        VaultFolder { vault, of, path, folder, rules }
    }

    /// Reads the folder. Calls `take` with each note, and returns the folders in it.
    pub(super) fn look(
        &self,
        skipped: &mut Skipped,
        mut take: impl FnMut(String),
    ) -> Vec<VaultFolder> {
        let mut inner = Vec::new();
        let Ok(entries) = fs::read_dir(&self.path) else {
            // A root that vanishes between two walks counts as empty.
            skipped.unreadable += u64::from(!self.folder.is_empty());
            return inner;
        };
        for entry in entries.flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            let name = entry.file_name();
            if kind.is_dir() {
                inner.extend(self.enter(name, skipped));
            } else if is_note_name(name.as_encoded_bytes(), self.of.style) {
                if !kind.is_file() {
                    skipped.special += 1;
                } else if let Some(name) = self.admit_note(name, skipped) {
                    take(name);
                }
            }
        }
        inner
    }

    /// Returns a folder in this one that belongs to the vault, and counts any other.
    pub(super) fn enter(&self, name: OsString, skipped: &mut Skipped) -> Option<VaultFolder> {
        let name = self.admit(name, true, skipped)?;
        let slash = if self.folder.is_empty() { "" } else { "/" };
        let folder = format!("{}{slash}{name}", self.folder);
        if let Some(reason) = self.of.leaves_out_folder(&folder) {
            count(skipped, reason);
            return None;
        }
        let (path, rules) = (self.path.join(name), self.rules.clone());
        Some(VaultFolder::new(self.vault, Arc::clone(&self.of), path, folder, rules))
    }

    /// Returns the name of a note of the vault, and counts any other.
    pub(super) fn admit_note(&self, name: OsString, skipped: &mut Skipped) -> Option<String> {
        let name = self.admit(name, false, skipped)?;
        let Some(reason) = self.of.leaves_out_file(&name) else { return Some(name) };
        count(skipped, reason);
        None
    }

    /// Returns the name of an entry that belongs to the vault, and counts any other.
    fn admit(&self, name: OsString, is_folder: bool, skipped: &mut Skipped) -> Option<String> {
        if name.as_encoded_bytes().starts_with(b".") {
            skipped.hidden += 1;
            return None;
        }
        if !self.rules.is_empty() && is_ignored(&self.rules, &self.path.join(&name), is_folder) {
            skipped.ignored += 1;
            return None;
        }
        let name = name.into_string().ok().filter(|name| !name.contains('\\'));
        skipped.unnameable += u64::from(name.is_none());
        name
    }
}

fn count(skipped: &mut Skipped, reason: LeftOut) {
    match reason {
        LeftOut::Template => skipped.templates += 1,
        LeftOut::Backup => skipped.backups += 1,
    }
}

/// The innermost matching rule decides.
fn is_ignored(rules: &[Arc<Gitignore>], path: &Path, is_folder: bool) -> bool {
    let verdict = rules
        .iter()
        .rev()
        .map(|rule| rule.matched(path, is_folder))
        .find(|verdict| !verdict.is_none());
    verdict.is_some_and(|verdict| verdict.is_ignore())
}

/// The rules of a folder's own `.gitignore`.
fn rules_of(folder: &Path) -> Option<Arc<Gitignore>> {
    let file = folder.join(".gitignore");
    if !file.is_file() {
        return None;
    }
    let mut builder = GitignoreBuilder::new(folder);
    // Skips invalid patterns, like git.
    let _ = builder.add(file);
    builder.build().ok().filter(|rules| !rules.is_empty()).map(Arc::new)
}

/// The rules above a vault, up to the top of its repository.
///
/// If these rules exclude the vault as a whole, only the rules in it apply: the user named it on
/// purpose (private notes in an ignored folder, a home folder under git that ignores everything).
fn rules_above(root: &Path) -> Vec<Arc<Gitignore>> {
    let Some(top) = root.ancestors().find(|place| place.join(".git").exists()) else {
        return Vec::new();
    };
    let between: Vec<&Path> =
        root.ancestors().skip(1).take_while(|place| place.starts_with(top)).collect();
    let rules: Vec<Arc<Gitignore>> = between.into_iter().rev().filter_map(rules_of).collect();
    let excluded = root
        .ancestors()
        .take_while(|&place| place != top)
        .any(|place| is_ignored(&rules, place, true));
    if excluded { Vec::new() } else { rules }
}
