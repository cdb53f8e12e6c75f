//! A folder of a vault, and which of its entries belong to the vault. Hidden and ignored entries do
//! not.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::core::note::listing::Skipped;
use crate::core::note::vault::Vault;

/// A folder on the walk through a vault.
pub(super) struct VaultFolder {
    pub(super) vault: usize,
    pub(super) path: PathBuf,
    /// The path below the vault's root; empty for the root.
    pub(super) folder: String,
    /// The ignore rules of the folders above, outermost first.
    rules: Vec<Arc<Gitignore>>,
}

impl VaultFolder {
    pub(super) fn root(vault_idx: usize, vault: &Vault) -> VaultFolder {
        VaultFolder {
            vault: vault_idx,
            path: vault.root.clone(),
            folder: String::new(),
            rules: rules_above(&vault.root),
        }
    }

    /// Reads the folder. Calls `take` with each note, and returns the folders in it.
    pub(super) fn look(
        &self,
        skipped: &mut Skipped,
        mut take: impl FnMut(String),
    ) -> Vec<VaultFolder> {
        let Ok(entries) = fs::read_dir(&self.path) else {
            // A root that vanishes between two walks counts as empty.
            skipped.unreadable += u64::from(!self.folder.is_empty());
            return Vec::new();
        };
        let rules = self.inner_rules();
        let mut folders = Vec::new();
        for entry in entries.flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            let name = entry.file_name();
            if kind.is_dir() {
                folders.push(name);
            } else if is_markdown(&name) {
                if !kind.is_file() {
                    skipped.special += 1;
                } else if let Some(name) = self.admit(name, false, &rules, skipped) {
                    take(name);
                }
            }
        }
        self.enter(folders, &rules, skipped)
    }

    /// The rules that apply to the folder's entries.
    pub(super) fn inner_rules(&self) -> Vec<Arc<Gitignore>> {
        let mut rules = self.rules.clone();
        rules.extend(rules_of(&self.path));
        rules
    }

    pub(super) fn enter(
        &self,
        folders: Vec<OsString>,
        rules: &[Arc<Gitignore>],
        skipped: &mut Skipped,
    ) -> Vec<VaultFolder> {
        let mut inner = Vec::with_capacity(folders.len());
        for name in folders {
            let Some(name) = self.admit(name, true, rules, skipped) else { continue };
            let folder = if self.folder.is_empty() {
                name.clone()
            } else {
                format!("{}/{name}", self.folder)
            };
            inner.push(VaultFolder {
                vault: self.vault,
                path: self.path.join(&name),
                folder,
                rules: rules.to_vec(),
            });
        }
        inner
    }

    /// Returns the name of an entry that belongs to the vault, and counts any other.
    pub(super) fn admit(
        &self,
        name: OsString,
        is_folder: bool,
        rules: &[Arc<Gitignore>],
        skipped: &mut Skipped,
    ) -> Option<String> {
        if name.as_encoded_bytes().starts_with(b".") {
            skipped.hidden += 1;
            return None;
        }
        if !rules.is_empty() && is_ignored(rules, &self.path.join(&name), is_folder) {
            skipped.ignored += 1;
            return None;
        }
        match name.into_string() {
            Ok(text) if !text.contains('\\') => Some(text),
            _ => {
                skipped.unnameable += 1;
                None
            }
        }
    }
}

pub(super) fn is_markdown(name: &OsStr) -> bool {
    name.as_encoded_bytes().ends_with(b".md")
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
