//! Counts notes in folders, and gives up where that would take too long: a session start waits for it.

use std::fs;
use std::path::Path;

use super::folder::VaultFolder;
use super::ignore_rules::IgnoreRules;
use crate::core::note::listing::Skipped;
use crate::core::note::not_note::is_note_name;
use crate::core::note::vault::Vault;
use crate::core::settings::LinkStyle;

/// What may still be looked at.
pub struct BoundedLook {
    pub folders: usize,
    pub entries: usize,
}

/// What a folder holds.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Held {
    pub n_notes: usize,
    pub has_repository: bool,
}

impl BoundedLook {
    /// Counts the notes of a folder and, unless it is flat, of the folders in it. Stops at `most`. `None` if that takes too long.
    pub fn count(&mut self, folder: &Path, is_flat: bool, most: usize) -> Option<Held> {
        let vault = Vault::new("", folder.to_path_buf(), LinkStyle::Plain);
        let root = VaultFolder::root(0, &Vault { is_flat, ..vault }, &IgnoreRules::default());
        let (mut held, mut left) = (Held::default(), vec![root]);
        while let Some(place) = left.pop().filter(|_| held.n_notes < most) {
            self.folders = self.folders.checked_sub(1)?;
            for entry in fs::read_dir(&place.path).into_iter().flatten().flatten() {
                self.entries = self.entries.checked_sub(1)?;
                let Ok(kind) = entry.file_type() else { continue };
                let (name, mut skipped) = (entry.file_name(), Skipped::default());
                held.has_repository |= name == ".git";
                if kind.is_dir() {
                    left.extend(place.enter(name, &mut skipped));
                } else if kind.is_file() && is_note_name(name.as_encoded_bytes(), LinkStyle::Plain)
                {
                    held.n_notes += usize::from(place.admit_note(name, &mut skipped).is_some());
                }
            }
        }
        Some(held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_counted_up_to_the_bounds() {
        let scratch = tempfile::tempdir().unwrap();
        for file in
            ["a.md", "b/c.MDX", "b/d/e.markdown", "b/f.txt", "b/node_modules/g.md", "h/i.md"]
        {
            let path = scratch.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "text").unwrap();
        }
        fs::create_dir(scratch.path().join(".git")).unwrap();
        fs::write(scratch.path().join(".gitignore"), "/h\n").unwrap();
        let count = |folder: &str, is_flat, folders, entries, most| {
            let folder = scratch.path().join(folder);
            BoundedLook { folders, entries }.count(&folder, is_flat, most)
        };
        let held = |n_notes, has_repository| Some(Held { n_notes, has_repository });
        assert_eq!(count("", false, 3, 99, 99), held(3, true));
        assert_eq!(count("", true, 3, 99, 99), held(1, true));
        assert_eq!(count("b", false, 3, 99, 99), held(2, false));
        assert_eq!(count("", false, 2, 99, 99), None);
        assert_eq!(count("", false, 3, 5, 99), None);
        assert_eq!(count("", false, 1, 99, 1), held(1, true));
        assert_eq!(count("none", false, 1, 1, 1), held(0, false));
    }
}
