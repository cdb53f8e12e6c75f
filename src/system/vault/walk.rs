//! Walks vaults on one thread, and on more if there are many files.
//!
//! Most vaults are small, and a session start walks them before anything else: starting and joining
//! threads would take longer than the walk.

use std::num::NonZero;
use std::panic;
use std::sync::{Mutex, PoisonError};
use std::thread;

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
            on_all_cores(std::mem::take(&mut folders), 1, look)
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

/// Does some work for each item, on threads that take `n_at_once` items at a time. The threads
/// belong to this walk alone: those that hang in a network folder must not stop any other.
pub(super) fn on_all_cores<T: Send, R: Send>(
    items: Vec<T>,
    n_at_once: usize,
    work: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    let n_threads = thread::available_parallelism().map_or(1, NonZero::get).min(items.len());
    let items = Mutex::new(items.into_iter());
    let some = || -> Vec<T> {
        let mut items = items.lock().unwrap_or_else(PoisonError::into_inner);
        items.by_ref().take(n_at_once).collect()
    };
    let run = || -> Vec<R> {
        let groups = std::iter::from_fn(|| Some(some()).filter(|some| !some.is_empty()));
        groups.flatten().map(&work).collect()
    };
    thread::scope(|scope| {
        let helpers: Vec<_> = (1..n_threads).map(|_| scope.spawn(run)).collect();
        let mut done = run();
        for helper in helpers {
            done.extend(helper.join().unwrap_or_else(|panic| panic::resume_unwind(panic)));
        }
        done
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;

    use super::*;
    use crate::core::note::vault::Vault;

    #[test]
    fn many_files_are_listed_once_each() {
        let scratch = tempfile::tempdir().unwrap();
        let mut expected = BTreeSet::new();
        // The walk is alone in `a`, splits the files of `b`, and shares the folders of `c`.
        for (folder, n_files) in [("a", 100), ("b", 2 * FILES_ALONE), ("c", 0)] {
            let place = scratch.path().join(folder);
            fs::create_dir(&place).unwrap();
            for n in 0..n_files {
                fs::write(place.join(format!("{n}.md")), "text").unwrap();
                expected.insert(format!("{folder}/{n}.md"));
            }
        }
        for n in 0..20 {
            fs::create_dir_all(scratch.path().join(format!("c/{n}/deep"))).unwrap();
            for file in [format!("c/{n}/x.md"), format!("c/{n}/deep/y.md")] {
                fs::write(scratch.path().join(&file), "text").unwrap();
                expected.insert(file);
            }
            fs::write(scratch.path().join(format!("c/{n}/deep/large.md")), "too long").unwrap();
        }
        let vault = Vault { name: String::new(), root: scratch.path().to_path_buf() };
        let (listings, skipped) = walk(vec![VaultFolder::root(0, &vault)], 4);
        let names = listings.iter().flat_map(|listing| {
            listing.files.iter().map(move |file| format!("{}/{}", listing.folder, file.name))
        });
        let names: Vec<String> = names.collect();
        assert_eq!(names.len(), expected.len());
        assert_eq!(names.into_iter().collect::<BTreeSet<_>>(), expected);
        assert_eq!(skipped, Skipped { too_large: 20, ..Skipped::default() });
    }

    #[test]
    #[should_panic(expected = "on purpose")]
    fn a_panic_ends_the_walk() {
        on_all_cores(vec![1; 100], 1, |_| panic!("on purpose"));
    }
}
