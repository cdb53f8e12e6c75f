//! A folder of a vault, and which of its entries belong to the vault. Hidden and ignored entries do
//! not.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use ignore::gitignore::Gitignore;

use super::ignore_rules::{IgnoreRules, is_ignored, rules_of};
use crate::core::note::listing::Skipped;
use crate::core::note::not_note::{LeftOut, is_note_name};
use crate::core::note::places::is_note_at_top;
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
    pub(super) fn root(vault_idx: usize, vault: &Vault, rules: &IgnoreRules) -> VaultFolder {
        let rules = rules.above(&vault.root).into_iter().chain(rules.of(&vault.root)).collect();
        let (path, folder) = (vault.root.clone(), String::new());
        let of = Arc::new(vault.clone());
        VaultFolder { vault: vault_idx, of, path, folder, rules }
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
        if self.of.is_flat {
            return None;
        }
        let name = self.admit(name, true, skipped)?;
        let slash = if self.folder.is_empty() { "" } else { "/" };
        let folder = format!("{}{slash}{name}", self.folder);
        if let Some(reason) = self.of.leaves_out_folder(&folder) {
            count(skipped, reason);
            return None;
        }
        let path = self.path.join(name);
        let rules = self.rules.iter().cloned().chain(rules_of(&path)).collect();
        Some(VaultFolder { vault: self.vault, of: Arc::clone(&self.of), path, folder, rules })
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
        if self.of.is_flat && !name.to_str().is_some_and(is_note_at_top) {
            return None;
        }
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
        LeftOut::SideFile => skipped.side_files += 1,
    }
}
