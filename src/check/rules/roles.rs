//! The roles of files: notes, handoffs, and static files, which hosts read on their own.

use super::ignored::GITIGNORE;
use super::{CheckedVault, pattern, sites, tree};
use crate::check::repository::SETTINGS;
use crate::check::settings::CheckSettings;
use crate::core::note::not_note::{LeftOut, is_note_name, leaves_out_file};
use crate::core::note::places;
use crate::core::note::side_file::is_side_folder;
use crate::core::note::vault::uri;
use crate::core::settings::LinkStyle;

/// Finds the roles of files by their paths.
#[derive(Debug, Clone, Copy)]
pub struct Roles<'a> {
    pub settings: &'a CheckSettings,
    pub vaults: &'a [CheckedVault],
}

impl<'a> Roles<'a> {
    /// The innermost vault of a note. Like a walk of the vault, skips hidden files and folders.
    pub(crate) fn vault_of(self, path: &str) -> Option<&'a CheckedVault> {
        let is_hidden = |below: &str| below.split('/').any(|part| part.starts_with('.'));
        let is_of = |vault: &CheckedVault, below: &str| {
            !vault.is_flat || !below.contains('/') && places::is_note_at_top(below)
        };
        let holds = |vault: &&CheckedVault| {
            tree::below(&vault.folder, path).is_some_and(|below| {
                !is_hidden(below) && !below.contains('\\') && is_of(vault, below)
            })
        };
        let innermost = self.vaults.iter().filter(holds).max_by_key(|vault| vault.folder.len());
        let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
        innermost.filter(|vault| {
            let is_side_file = || {
                leaves_out_file(name, vault.style) == Some(LeftOut::SideFile)
                    || folders.split('/').any(is_side_folder)
            };
            is_note_name(path.as_bytes(), vault.style)
                && (vault.style == LinkStyle::Maenifold || !is_side_file())
        })
    }

    pub(crate) fn is_note(self, path: &str) -> bool {
        self.vault_of(path).is_some()
    }

    /// Whether a note stands at the top of a project, like its README: it is written for the readers of a repository.
    pub(crate) fn is_at_top(self, path: &str) -> bool {
        self.vault_of(path).is_some_and(|vault| vault.is_flat)
    }

    /// The addresses of a note: one in each vault that contains it.
    pub(crate) fn addresses(self, path: &str) -> Vec<String> {
        let holding = self.vaults.iter().filter(|_| self.is_note(path));
        let below = holding.filter_map(|vault| Some((vault, tree::below(&vault.folder, path)?)));
        let below = below.filter(|(vault, path)| !vault.is_flat || !path.contains('/'));
        below.map(|(vault, path)| uri(&vault.name, path)).collect()
    }

    /// Whether the file is a handoff. A README in a handoff folder is not: it describes the folder.
    pub(crate) fn is_handoff(self, path: &str) -> bool {
        let is_below = |folder: &String| tree::below(folder.trim_matches('/'), path).is_some();
        path.ends_with(".md")
            && !tree::name_of(path).eq_ignore_ascii_case("README.md")
            && self.settings.handoffs.iter().any(is_below)
    }

    /// The most tokens that a static file may have: the last matching pattern wins.
    pub(crate) fn static_limit(self, path: &str) -> Option<usize> {
        let mut limits = self.settings.static_limits.iter().rev();
        limits.find(|(pattern, _)| pattern::fits(pattern, path)).map(|(_, limit)| *limit)
    }

    /// Whether the file is read, because of its role or because other files are understood by it.
    pub(crate) fn is_read(self, path: &str) -> bool {
        self.has_role(path) || tree::name_of(path) == GITIGNORE || sites::is_read(path)
    }

    pub(crate) fn has_role(self, path: &str) -> bool {
        path == SETTINGS
            || self.is_note(path)
            || self.is_handoff(path)
            || self.static_limit(path).is_some()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::core::settings::LinkStyle;

    fn vaults() -> [CheckedVault; 2] {
        let vault = |name: &str, folder: &str| CheckedVault {
            name: name.to_owned(),
            folder: folder.to_owned(),
            style: LinkStyle::Plain,
            is_flat: false,
        };
        [vault("project", ".kgctx/memory"), vault("docs", "docs")]
    }

    #[test]
    fn files_are_known_by_their_places() {
        let (settings, vaults) = (CheckSettings::default(), vaults());
        let roles = Roles { settings: &settings, vaults: &vaults };
        let is_static = |path: &str| roles.static_limit(path).is_some();
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
            assert!(is_static(read) && !roles.is_note(read), "{read}");
        }
        assert!(!is_static("src/main.rs") && !is_static("MY-AGENTS.md"));
    }

    proptest! {
        #[test]
        fn no_path_is_too_odd(path in "\\PC*") {
            let (settings, vaults) = (CheckSettings::default(), vaults());
            let roles = Roles { settings: &settings, vaults: &vaults };
            let _ = (roles.is_read(&path), roles.is_note(&path));
        }
    }
}
