//! The rules of `.gitignore` files: which entries of a folder do not belong to a vault, and which folders are no place for
//! notes. Each file is read once, however many vaults are below it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// The rules that were read so far, by folder.
#[derive(Debug, Default)]
pub struct IgnoreRules {
    known: RefCell<HashMap<PathBuf, Option<Arc<Gitignore>>>>,
}

impl IgnoreRules {
    /// The rules of a folder's own `.gitignore`.
    pub(super) fn of(&self, folder: &Path) -> Option<Arc<Gitignore>> {
        let mut known = self.known.borrow_mut();
        known.entry(folder.to_path_buf()).or_insert_with(|| rules_of(folder)).clone()
    }

    /// The rules above a vault, up to the top of its repository.
    ///
    /// If these rules exclude the vault as a whole, only the rules in it apply: the user named it on
    /// purpose (private notes in an ignored folder, a home folder under git that ignores everything).
    pub(super) fn above(&self, root: &Path) -> Vec<Arc<Gitignore>> {
        let (rules, is_excluded) = self.around(root);
        if is_excluded { Vec::new() } else { rules }
    }

    /// Whether a folder is ignored, or a folder around it.
    pub fn exclude(&self, folder: &Path) -> bool {
        self.around(folder).1
    }

    /// The rules above a folder, outermost first, and whether they exclude it.
    fn around(&self, folder: &Path) -> (Vec<Arc<Gitignore>>, bool) {
        let Some(top) = folder.ancestors().find(|place| place.join(".git").exists()) else {
            return (Vec::new(), false);
        };
        let between: Vec<&Path> =
            folder.ancestors().skip(1).take_while(|place| place.starts_with(top)).collect();
        let rules: Vec<Arc<Gitignore>> =
            between.into_iter().rev().filter_map(|place| self.of(place)).collect();
        let is_excluded = folder
            .ancestors()
            .take_while(|&place| place != top)
            .any(|place| is_ignored(&rules, place, true));
        (rules, is_excluded)
    }
}

/// The innermost matching rule decides.
pub(super) fn is_ignored(rules: &[Arc<Gitignore>], path: &Path, is_folder: bool) -> bool {
    let verdict = rules
        .iter()
        .rev()
        .map(|rule| rule.matched(path, is_folder))
        .find(|verdict| !verdict.is_none());
    verdict.is_some_and(|verdict| verdict.is_ignore())
}

/// Reads the rules of a folder's own `.gitignore`.
pub(super) fn rules_of(folder: &Path) -> Option<Arc<Gitignore>> {
    let file = folder.join(".gitignore");
    if !file.is_file() {
        return None;
    }
    let mut builder = GitignoreBuilder::new(folder);
    // Skips invalid patterns, like git.
    let _ = builder.add(file);
    builder.build().ok().filter(|rules| !rules.is_empty()).map(Arc::new)
}
