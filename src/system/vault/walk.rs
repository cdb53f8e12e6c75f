//! Walks vaults on one thread, and on more if there are many files.
//!
//! Most vaults are small, and a session start walks them before anything else: starting and joining
//! threads would take longer than the walk.

use rayon::prelude::*;

use super::folder::{Looked, VaultFolder};
use crate::core::note::listing::{FolderListing, Skipped};

/// The number of files above which more threads start. Starting them takes as long as hundreds of
/// files, and during a session start the other cores are busy.
pub(super) const FILES_ALONE: usize = 1_500;

/// Walks folders with everything below them.
pub(super) fn walk(
    mut folders: Vec<VaultFolder>,
    max_file_bytes: u64,
) -> (Vec<FolderListing>, Skipped) {
    let (mut listings, mut skipped, mut n_files) = (Vec::new(), Skipped::default(), 0);
    let look = |folder: VaultFolder| folder.look(max_file_bytes);
    while !folders.is_empty() {
        let looked: Vec<Looked> = if n_files > FILES_ALONE {
            folders.par_drain(..).map(look).collect()
        } else {
            folders.pop().into_iter().map(look).collect()
        };
        for Looked { listing, inner, skipped: more } in looked {
            n_files += listing.as_ref().map_or(0, |listing| listing.files.len());
            listings.extend(listing);
            folders.extend(inner);
            skipped.add(&more);
        }
    }
    (listings, skipped)
}
