//! A crew that walks vaults together: whoever starts does the work, and gets help when there is much of it.
//!
//! Most vaults are small, and a session start walks them before anything else: threads that have to be started, woken
//! and joined would take longer than the walk.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Scope};

use super::Place;
use super::folder::Folder;
use crate::core::note::listing::{FolderListing, ListedFile, Skipped};

/// Files of one folder that one walker looks at in one go.
const FILES_PER_JOB: usize = 256;
/// Help is called for when there are more files than this: it takes as long to come as hundreds of files do, and while a
/// session starts, the other cores have other things to do.
const FILES_ALONE: usize = 1_500;

/// Walks folders to their ends.
pub(super) fn walk(roots: Vec<Place>, max_file_bytes: u64) -> (Vec<FolderListing>, Skipped) {
    let crew = Crew {
        max_file_bytes,
        n_files: AtomicUsize::new(0),
        board: Mutex::new(Board {
            jobs: roots.into_iter().map(Job::Folder).collect(),
            ..Board::default()
        }),
        news: Condvar::new(),
    };
    thread::scope(|scope| crew.work(Some(scope)));
    let Board { listings, skipped, .. } =
        crew.board.into_inner().unwrap_or_else(PoisonError::into_inner);
    (listings, skipped)
}

struct Crew {
    max_file_bytes: u64,
    /// How many files have been found so far.
    n_files: AtomicUsize,
    board: Mutex<Board>,
    news: Condvar,
}

/// What is to be done, and what has been.
#[derive(Default)]
struct Board {
    jobs: Vec<Job>,
    /// How many jobs are being done.
    n_taken: usize,
    listings: Vec<FolderListing>,
    skipped: Skipped,
}

enum Job {
    Folder(Place),
    /// Some files of a folder that has many.
    Files(Arc<Pile>, Vec<String>),
}

/// What is known about the files of a folder that is too large for one job.
struct Pile {
    vault: usize,
    folder: String,
    open: Folder,
    n_jobs_left: AtomicUsize,
    listed: Mutex<Vec<ListedFile>>,
}

/// A job that is being done.
struct Taken<'a>(&'a Crew);

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        self.0.board().n_taken -= 1;
        self.0.news.notify_all();
    }
}

impl Crew {
    fn board(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does jobs until none is left. Who has the scope may call for help.
    fn work<'scope, 'env>(&'scope self, scope: Option<&'scope Scope<'scope, 'env>>) {
        let mut may_call = scope;
        let mut board = self.board();
        loop {
            let Some(job) = board.jobs.pop() else {
                if board.n_taken == 0 {
                    self.news.notify_all();
                    return;
                }
                board = self.news.wait(board).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            board.n_taken += 1;
            drop(board);
            // Given back even if the work ends in a panic: else the others would wait for it.
            let taken = Taken(self);
            match job {
                Job::Folder(place) => self.look(place, &mut may_call),
                Job::Files(pile, files) => self.stamp(&pile, files),
            }
            drop(taken);
            board = self.board();
        }
    }

    /// Looks into a folder, and puts up what is to be done there.
    fn look<'scope, 'env>(
        &'scope self,
        place: Place,
        may_call: &mut Option<&'scope Scope<'scope, 'env>>,
    ) {
        // The root of a vault may vanish between two walks, which is no different from an empty one.
        let Ok(open) = Folder::open(&place.path) else {
            self.board().skipped.unreadable += u64::from(!place.folder.is_empty());
            return;
        };
        let pile = Arc::new(Pile {
            vault: place.vault,
            folder: place.folder.clone(),
            open,
            // One for this look itself, which is not over before the last file is found.
            n_jobs_left: AtomicUsize::new(1),
            listed: Mutex::default(),
        });
        let mut skipped = Skipped::default();
        let mut files = Vec::new();
        let inner = place.look(&mut skipped, |file| {
            if files.len() == FILES_PER_JOB {
                let some = std::mem::replace(&mut files, Vec::with_capacity(FILES_PER_JOB));
                pile.n_jobs_left.fetch_add(1, Ordering::Relaxed);
                self.put_up([Job::Files(Arc::clone(&pile), some)], may_call);
            }
            self.n_files.fetch_add(1, Ordering::Relaxed);
            files.push(file);
        });
        self.put_up(inner.into_iter().map(Job::Folder), may_call);
        self.board().skipped.add(&skipped);
        self.stamp(&pile, files);
    }

    /// Puts up jobs, and calls for help once there are many files.
    fn put_up<'scope, 'env>(
        &'scope self,
        jobs: impl IntoIterator<Item = Job>,
        may_call: &mut Option<&'scope Scope<'scope, 'env>>,
    ) {
        let n_new = {
            let mut board = self.board();
            let n_before = board.jobs.len();
            board.jobs.extend(jobs);
            board.jobs.len() - n_before
        };
        if n_new == 0 {
            return;
        }
        self.news.notify_all();
        if self.n_files.load(Ordering::Relaxed) > FILES_ALONE
            && let Some(scope) = may_call.take()
        {
            let n_walkers = thread::available_parallelism().map_or(1, NonZero::get);
            for _ in 1..n_walkers {
                scope.spawn(|| self.work(None));
            }
        }
    }

    /// Takes the stamps of some files of a folder. Whoever takes the last ones hands in the listing.
    fn stamp(&self, pile: &Pile, files: Vec<String>) {
        let mut too_large = 0;
        let mut listed = Vec::with_capacity(files.len());
        for name in files {
            // A file without a stamp is gone since the folder was read.
            let Some(stamp) = pile.open.stamp(&name) else { continue };
            if stamp.size > self.max_file_bytes {
                too_large += 1;
            } else {
                listed.push(ListedFile { name, stamp });
            }
        }
        let all = {
            let mut so_far = pile.listed.lock().unwrap_or_else(PoisonError::into_inner);
            if so_far.is_empty() {
                *so_far = listed;
            } else {
                so_far.append(&mut listed);
            }
            // Counted inside of the lock: the last one finds everybody's files.
            let is_last = pile.n_jobs_left.fetch_sub(1, Ordering::Relaxed) == 1;
            is_last.then(|| std::mem::take(&mut *so_far))
        };
        let listing = all
            .filter(|files| !files.is_empty())
            .map(|files| FolderListing::new(pile.vault, pile.folder.clone(), files));
        if too_large > 0 || listing.is_some() {
            let mut board = self.board();
            board.skipped.too_large += too_large;
            board.listings.extend(listing);
        }
    }
}
