//! Walks vaults on one thread, and on more if there are many files.
//!
//! Most vaults are small, and a session start walks them before anything else: starting and joining
//! threads would take longer than the walk.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Scope};

use super::folder::VaultFolder;
use super::open_folder::OpenFolder;
use crate::core::note::listing::{FolderListing, ListedFile, Skipped};

/// The number of files of a folder per job.
const FILES_PER_JOB: usize = 256;
/// The number of files above which more threads start. Starting them takes as long as hundreds of
/// files, and during a session start the other cores are busy.
const FILES_ALONE: usize = 1_500;

/// Walks folders with everything below them.
pub(super) fn walk(roots: Vec<VaultFolder>, max_file_bytes: u64) -> (Vec<FolderListing>, Skipped) {
    let walkers = Walkers {
        max_file_bytes,
        n_files: AtomicUsize::new(0),
        queue: Mutex::new(Queue {
            jobs: roots.into_iter().map(Job::Folder).collect(),
            ..Queue::default()
        }),
        changed: Condvar::new(),
    };
    thread::scope(|scope| walkers.work(Some(scope)));
    let Queue { listings, skipped, .. } =
        walkers.queue.into_inner().unwrap_or_else(PoisonError::into_inner);
    (listings, skipped)
}

struct Walkers {
    max_file_bytes: u64,
    n_files: AtomicUsize,
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Default)]
struct Queue {
    jobs: Vec<Job>,
    n_running: usize,
    listings: Vec<FolderListing>,
    skipped: Skipped,
}

enum Job {
    Folder(VaultFolder),
    /// Some of the files of a large folder.
    Files(Arc<LargeFolder>, Vec<String>),
}

/// The files of a folder, which can be too many for one job.
struct LargeFolder {
    vault: usize,
    folder: String,
    open: OpenFolder,
    n_jobs_left: AtomicUsize,
    listed: Mutex<Vec<ListedFile>>,
}

/// Counts a running job.
struct JobGuard<'a>(&'a Walkers);

impl Drop for JobGuard<'_> {
    fn drop(&mut self) {
        self.0.queue().n_running -= 1;
        self.0.changed.notify_all();
    }
}

impl Walkers {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs jobs until none is left. The thread with the scope can start helpers.
    fn work<'scope, 'env>(&'scope self, scope: Option<&'scope Scope<'scope, 'env>>) {
        let mut helpers = scope;
        let mut queue = self.queue();
        loop {
            let Some(job) = queue.jobs.pop() else {
                if queue.n_running == 0 {
                    self.changed.notify_all();
                    return;
                }
                queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            queue.n_running += 1;
            drop(queue);
            // Dropped even after a panic: otherwise the other threads would wait forever.
            let guard = JobGuard(self);
            match job {
                Job::Folder(place) => self.look(place, &mut helpers),
                Job::Files(large, files) => self.stamp(&large, files),
            }
            drop(guard);
            queue = self.queue();
        }
    }

    /// Reads a folder, and adds its jobs.
    fn look<'scope, 'env>(
        &'scope self,
        place: VaultFolder,
        helpers: &mut Option<&'scope Scope<'scope, 'env>>,
    ) {
        // A root that vanishes between two walks counts as empty.
        let Ok(open) = OpenFolder::open(&place.path) else {
            self.queue().skipped.unreadable += u64::from(!place.folder.is_empty());
            return;
        };
        let large = Arc::new(LargeFolder {
            vault: place.vault,
            folder: place.folder.clone(),
            open,
            // One for this function, which ends after it has found the last file.
            n_jobs_left: AtomicUsize::new(1),
            listed: Mutex::default(),
        });
        let mut skipped = Skipped::default();
        let mut files = Vec::new();
        let inner = place.look(&mut skipped, |file| {
            if files.len() == FILES_PER_JOB {
                let some = std::mem::replace(&mut files, Vec::with_capacity(FILES_PER_JOB));
                large.n_jobs_left.fetch_add(1, Ordering::Relaxed);
                self.add_jobs([Job::Files(Arc::clone(&large), some)], helpers);
            }
            self.n_files.fetch_add(1, Ordering::Relaxed);
            files.push(file);
        });
        self.add_jobs(inner.into_iter().map(Job::Folder), helpers);
        self.queue().skipped.add(&skipped);
        self.stamp(&large, files);
    }

    /// Adds jobs, and starts helpers once there are many files.
    fn add_jobs<'scope, 'env>(
        &'scope self,
        jobs: impl IntoIterator<Item = Job>,
        helpers: &mut Option<&'scope Scope<'scope, 'env>>,
    ) {
        let n_new = {
            let mut queue = self.queue();
            let n_before = queue.jobs.len();
            queue.jobs.extend(jobs);
            queue.jobs.len() - n_before
        };
        if n_new == 0 {
            return;
        }
        self.changed.notify_all();
        if self.n_files.load(Ordering::Relaxed) > FILES_ALONE
            && let Some(scope) = helpers.take()
        {
            let n_walkers = thread::available_parallelism().map_or(1, NonZero::get);
            for _ in 1..n_walkers {
                scope.spawn(|| self.work(None));
            }
        }
    }

    /// Reads the stamps of some files of a folder. The last job adds the listing.
    fn stamp(&self, large: &LargeFolder, files: Vec<String>) {
        let mut too_large = 0;
        let mut listed = Vec::with_capacity(files.len());
        for name in files {
            // A file without a stamp has vanished since the folder was read.
            let Some(stamp) = large.open.stamp(&name) else { continue };
            if stamp.size > self.max_file_bytes {
                too_large += 1;
            } else {
                listed.push(ListedFile::new(name, stamp));
            }
        }
        let all = {
            let mut so_far = large.listed.lock().unwrap_or_else(PoisonError::into_inner);
            if so_far.is_empty() {
                *so_far = listed;
            } else {
                so_far.append(&mut listed);
            }
            // Counted under the lock, so that the last job sees all files.
            let is_last = large.n_jobs_left.fetch_sub(1, Ordering::Relaxed) == 1;
            is_last.then(|| std::mem::take(&mut *so_far))
        };
        let listing = all
            .filter(|files| !files.is_empty())
            .map(|files| FolderListing::new(large.vault, large.folder.clone(), files));
        if too_large > 0 || listing.is_some() {
            let mut queue = self.queue();
            queue.skipped.too_large += too_large;
            queue.listings.extend(listing);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;

    use super::super::ignore_rules::IgnoreRules;
    use super::*;
    use crate::core::note::vault::Vault;
    use crate::core::settings::LinkStyle;

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
        let vault = Vault::new("", scratch.path().to_path_buf(), LinkStyle::Plain);
        let (listings, skipped) =
            walk(vec![VaultFolder::root(0, &vault, &IgnoreRules::default())], 4);
        let names = listings.iter().flat_map(|listing| {
            listing.files.iter().map(move |file| format!("{}/{}", listing.folder, file.name))
        });
        let names: Vec<String> = names.collect();
        assert_eq!(names.len(), expected.len());
        assert_eq!(names.into_iter().collect::<BTreeSet<_>>(), expected);
        assert_eq!(skipped, Skipped { too_large: 20, ..Skipped::default() });
    }
}
