//! Folders that a build copies among the pages of a book: its summary lists pages of a folder that is not there, and that is
//! elsewhere in the repository.

use super::super::tree::{self, Tree};
use super::{Sites, navigation};

/// The only file of navigation without which its pages do not exist: whoever lists a page there makes sure of it.
const SUMMARY: &str = "SUMMARY.md";

pub(super) struct Copied {
    from: String,
    to: String,
}

impl Sites<'_> {
    pub(super) fn find_copied(&self, tree: &Tree<'_>) -> Vec<Copied> {
        let mut found: Vec<Copied> = Vec::new();
        let books = self.sites.iter().filter(|site| site.generator.navigation.contains(&SUMMARY));
        for (site, text) in
            books.flat_map(|site| self.navigation_of(site).map(move |it| (site, it)))
        {
            let pages = navigation::names(text).filter(|name| name.ends_with(".md"));
            for (name, pages) in pages.flat_map(|name| site.pages.iter().map(move |it| (name, it)))
            {
                let Some(to) = tree::joined(pages, tree::folder_of(name)) else { continue };
                let is_new = name.contains('/') && found.iter().all(|copied| copied.to != to);
                if is_new
                    && !tree.has_folder(&to)
                    && let Some(from) = tree.ending_with(name)
                {
                    found.push(Copied { from: tree::folder_of(from).to_owned(), to });
                }
            }
        }
        found
    }

    /// The folder into which a build copies this one.
    pub(in super::super) fn copy_of(&self, folder: &str) -> Option<String> {
        let copy = |copied: &Copied| moved(folder, &copied.from, &copied.to);
        self.copied.iter().find_map(copy)
    }

    /// Where a file is from which a build makes the one at this path.
    pub(in super::super) fn before_copied(&self, path: String) -> String {
        let before = |copied: &Copied| moved(&path, &copied.to, &copied.from);
        self.copied.iter().find_map(before).unwrap_or(path)
    }
}

fn moved(path: &str, from: &str, to: &str) -> Option<String> {
    if path == from {
        return Some(to.to_owned());
    }
    tree::joined(to, tree::below(from, path)?)
}
