//! The roles of files: which are notes, which are handoffs, and which are read by hosts.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::check::contexts::temp_checkout::TempCheckout;
use crate::check::repository::{Repository, SETTINGS};
use crate::check::rules::CheckedVault;
use crate::core::note::vault::uri;
use crate::system::vault;
use crate::workspace::Place;

/// What files are there for.
pub(crate) struct Roles {
    pub(crate) vaults: Vec<CheckedVault>,
    handoffs: Vec<String>,
    statics: Gitignore,
}

impl Roles {
    pub(crate) fn of(
        repository: &Repository,
        stage: &TempCheckout,
        places: &BTreeMap<String, Place>,
    ) -> Roles {
        let mut vaults = BTreeSet::new();
        // One that cannot be opened is told of by the session that would have it.
        let specs = places.values().flat_map(|place| &place.settings.vaults);
        for opened in specs.filter_map(|spec| vault::open(spec).ok()) {
            let below = opened.root.strip_prefix(stage.project()).unwrap_or(Path::new(""));
            let folder = below.to_string_lossy().into_owned();
            vaults.insert(CheckedVault { name: opened.name, folder });
        }
        let settings = &repository.file.settings;
        // Whatever could be meant by a pattern is read; whose limit it has is decided by who counts.
        let mut statics = GitignoreBuilder::new("");
        for (pattern, _) in &settings.static_limits {
            let _ = statics.add_line(None, pattern);
        }
        let statics = statics.build().unwrap_or_else(|_| Gitignore::empty());
        let vaults = vaults.into_iter().collect();
        Roles { vaults, handoffs: settings.handoffs.clone(), statics }
    }

    /// As a vault is walked: hidden files and folders are none of it.
    pub(crate) fn is_note(&self, path: &str) -> bool {
        let is_hidden = |below: &str| below.split('/').any(|part| part.starts_with('.'));
        let is_plain = |below: &str| !is_hidden(below) && !below.contains('\\');
        path.ends_with(".md")
            && self.vaults.iter().any(|vault| below(path, &vault.folder).is_some_and(is_plain))
    }

    /// The addresses of a note: one in each vault that holds it.
    pub(crate) fn addresses(&self, path: &str) -> Vec<String> {
        let holding = self.vaults.iter().filter(|_| self.is_note(path));
        let below = holding.filter_map(|vault| Some((vault, below(path, &vault.folder)?)));
        below.map(|(vault, path)| uri(&vault.name, path)).collect()
    }

    pub(crate) fn is_handoff(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        path.ends_with(".md")
            // It tells people about the folder, and the rules do not look at it, either.
            && !name.eq_ignore_ascii_case("README.md")
            && self.handoffs.iter().any(|folder| below(path, folder).is_some())
    }

    pub(crate) fn is_static(&self, path: &str) -> bool {
        self.statics.matched(path, false).is_ignore()
    }

    pub(crate) fn is_read(&self, path: &str) -> bool {
        path == SETTINGS || self.is_note(path) || self.is_handoff(path) || self.is_static(path)
    }
}

pub(crate) fn is_gitignore(path: &str) -> bool {
    path == ".gitignore" || path.ends_with("/.gitignore")
}

/// The rest of a path below a folder; the top is empty.
fn below<'a>(path: &'a str, folder: &str) -> Option<&'a str> {
    if folder.is_empty() { Some(path) } else { path.strip_prefix(folder)?.strip_prefix('/') }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn roles() -> Roles {
        let vault = |name: &str, folder: &str| CheckedVault {
            name: name.to_owned(),
            folder: folder.to_owned(),
        };
        let mut statics = GitignoreBuilder::new("");
        for pattern in ["**/AGENTS.md", ".cursor/rules/**/*.mdc", ".github/copilot-instructions.md"]
        {
            statics.add_line(None, pattern).unwrap();
        }
        Roles {
            vaults: vec![vault("project", ".kgctx/memory"), vault("docs", "docs")],
            handoffs: vec![".kgctx/handoffs".to_owned()],
            statics: statics.build().unwrap(),
        }
    }

    #[test]
    fn files_are_known_by_their_places() {
        let roles = roles();
        for note in [".kgctx/memory/a.md", "docs/deep/b.md"] {
            assert!(roles.is_note(note) && roles.is_read(note), "{note}");
        }
        for other in ["docs.md", "docs/a.txt", "docs/.hidden/a.md", "docs/.a.md", "a/docs/b.md"] {
            assert!(!roles.is_note(other), "{other}");
        }
        assert!(!roles.is_handoff(".kgctx/handoffs/README.md"));
        assert!(roles.is_handoff(".kgctx/handoffs/a.md") && !roles.is_note(".kgctx/handoffs/a.md"));
        for read in [
            "AGENTS.md",
            "a/b/AGENTS.md",
            ".cursor/rules/x/y.mdc",
            ".github/copilot-instructions.md",
        ] {
            assert!(roles.is_static(read) && !roles.is_note(read), "{read}");
        }
        assert!(!roles.is_static("src/main.rs") && !roles.is_static("MY-AGENTS.md"));
    }

    proptest! {
        #[test]
        fn no_path_is_too_odd(path in "\\PC*") {
            let roles = roles();
            let _ = (roles.is_read(&path), roles.is_note(&path));
        }
    }
}
