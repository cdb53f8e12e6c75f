//! Folders of which more than a third of all links name pages that are not there: their site makes pages of files in a way
//! that kgctx does not know.

use std::collections::BTreeMap;

use super::super::checked_files::CheckedFiles;
use super::super::tree;
use super::{LinkKind, LinkTarget};

/// The fewest links, and notes with them, that tell a way of linking from mistakes.
const FEWEST_LINKS: usize = 20;
const FEWEST_NOTES: usize = 5;

/// What is known of the links between the notes in a folder and below.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Links {
    pub(super) all: usize,
    pub(super) missing: usize,
    /// The notes with links to nothing.
    notes: usize,
}

/// The outermost folders of which more than a third of all links name pages that are not there.
pub(super) fn folders<'c>(checked: &'c CheckedFiles<'_>) -> Vec<(&'c str, Links)> {
    let mut folders: BTreeMap<&str, Links> = BTreeMap::new();
    for (number, file) in checked.notes() {
        let (mut all, mut missing) = (0, 0);
        for link in &checked.links[number] {
            match link.target {
                LinkTarget::Missing { kind: LinkKind::Page, .. } => missing += 1,
                LinkTarget::Note(_) => {}
                _ => continue,
            }
            all += 1;
        }
        let top = file.vault.map_or("", |vault| vault.folder.as_str());
        let above = std::iter::successors(Some(tree::folder_of(file.path)), |folder| {
            (*folder != top && !folder.is_empty()).then(|| tree::folder_of(folder))
        });
        for folder in above {
            let links = folders.entry(folder).or_default();
            links.all += all;
            links.missing += missing;
            links.notes += usize::from(missing > 0);
        }
    }
    let mut found: Vec<(&str, Links)> = Vec::new();
    for (folder, links) in folders {
        let is_unknown = links.missing >= FEWEST_LINKS
            && links.notes >= FEWEST_NOTES
            && links.missing * 3 > links.all;
        let is_inner = found.iter().any(|(outer, _)| tree::below(outer, folder).is_some());
        if is_unknown && !is_inner {
            found.push((folder, links));
        }
    }
    found
}
