//! The names of notes for `[[links]]`, and which note a link means.

use std::collections::HashMap;
use std::sync::Arc;

use super::checked_files::CheckedFile;
use super::tree;
use crate::core::note::concept::Concept;
use crate::core::note::without_extension;
use crate::core::settings::LinkStyle;

#[derive(Debug)]
pub(super) struct Names {
    style: LinkStyle,
    /// By path from the vault or the top, title, alias, file name, and suffix of the path. An
    /// earlier kind takes precedence over a later one.
    kinds: [HashMap<String, Arc<Vec<usize>>>; 5],
}

impl Names {
    pub(super) fn new(style: LinkStyle, files: &[CheckedFile<'_>]) -> Names {
        let mut names = Names { style, kinds: Default::default() };
        for (number, file) in files.iter().enumerate() {
            let Some(vault) = file.vault else { continue };
            let path = file.path;
            let in_vault = tree::below(&vault.folder, path).unwrap_or(path);
            for path in [in_vault, path] {
                names.add(0, without_extension(path), number);
            }
            names.add(1, file.title(), number);
            for alias in &file.front_matter.aliases {
                names.add(2, alias, number);
            }
            names.add(3, file.stem(), number);
            if !style.has_free_names() {
                let mut rest = without_extension(path);
                while let Some((_, end)) = rest.split_once('/') {
                    names.add(4, end, number);
                    rest = end;
                }
            }
        }
        names
    }

    fn add(&mut self, kind: usize, name: &str, number: usize) {
        let Some(key) = self.key(name) else { return };
        let numbers = Arc::make_mut(self.kinds[kind].entry(key).or_default());
        if numbers.last() != Some(&number) {
            numbers.push(number);
        }
    }

    /// The form in which names are compared.
    fn key(&self, name: &str) -> Option<String> {
        match self.style {
            _ if self.style.has_free_names() => {
                Concept::parse(name).map(|concept| concept.as_str().to_owned())
            }
            _ => {
                let name = name.trim();
                // No other ending: Dendron has notes that are called `a.markdown`.
                let name = name.strip_suffix(".md").unwrap_or(name);
                (!name.is_empty()).then(|| name.to_lowercase())
            }
        }
    }

    /// The indexes of the notes with that name, by the best kind of name. Shared: a thousand notes
    /// may have the name that a thousand links give.
    pub(super) fn find(&self, name: &str) -> Arc<Vec<usize>> {
        let found =
            self.key(name).and_then(|key| self.kinds.iter().find_map(|names| names.get(&key)));
        found.cloned().unwrap_or_default()
    }
}

/// The name in a link's inner text.
pub(super) fn target(inner: &str, style: LinkStyle) -> &str {
    match style {
        _ if style.has_free_names() => inner,
        _ => {
            let target = inner.split(['|', '#', '^']).next().unwrap_or(inner);
            // In a table, the bar is written as `\|`.
            target.strip_suffix('\\').unwrap_or(target).trim()
        }
    }
}
