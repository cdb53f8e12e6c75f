//! Updates the index to match the vaults, so that answers are fresh.

mod dates;
mod write;

use std::thread;
use std::time::{Duration, Instant};

use crate::core::note::listing::{FolderListing, Skipped};
use crate::core::time_limits;
use crate::store::index::{Index, IndexError, Outcome, Unusable};
use crate::system::vault::{self, MemoryVault};
use crate::workspace::reader::Notes;
use crate::workspace::refresh::write::{build_in_memory, write};
use crate::workspace::{AppError, Workspace};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// Wait for it to finish.
    Wait,
    /// Wait for all but git: others need an index, even if it does not know the times of all notes.
    WaitForNotes,
    /// Answer from the index as it is.
    Skip,
}

impl Patience {
    /// How long git may take to say when notes were committed.
    fn for_git(self) -> Duration {
        if self.has_time() { time_limits::COMMIT_TIMES } else { time_limits::SOON_COMMIT_TIMES }
    }

    fn has_time(self) -> bool {
        self == Patience::Wait
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Read only changed files.
    Incremental,
    Full,
}

/// Information for a person that a hook does not show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// The old index was unusable.
    Rebuilt(String),
    /// The index could not be written, and is made anew for every answer.
    InMemory(String),
    /// Another process is writing: the answer can be slightly outdated.
    Busy,
    /// The index could not be updated: the answer can be outdated.
    Stale(String),
    /// Git failed, so some notes count as old from now on.
    Undated(String),
}

impl Notice {
    /// Formats the notice, with a name for the index, such as "it".
    pub fn about(&self, index: &str) -> String {
        match self {
            Notice::Rebuilt(reason) => format!("{index} was rebuilt: {reason}"),
            Notice::InMemory(reason) => {
                format!("{index} is only in memory and rebuilt every time: {reason}")
            }
            Notice::Busy => {
                format!("another process is writing {index}: this answer is from the previous one")
            }
            Notice::Stale(reason) => format!("{index} could not be updated: {reason}"),
            Notice::Undated(reason) => format!(
                "{index} treats some notes as old, because git does not report when they were committed: {reason}; \
                fix this and run `kgctx index --full`"
            ),
        }
    }
}

/// The result of a refresh.
#[derive(Debug, Clone)]
pub struct Refreshed {
    pub outcome: Outcome,
    /// Files and folders that were skipped while listing.
    pub skipped: Skipped,
    pub notice: Option<Notice>,
    /// Whether the index is unchanged: nothing has changed, or nothing could be written.
    pub is_as_before: bool,
    /// The time for listing the vaults' files.
    pub listed_in: Duration,
    /// Whether git did not say in time when some notes were committed.
    pub has_undated: bool,
}

impl Refreshed {
    /// Whether the index is a file, which another process can bring up to date.
    pub(crate) fn is_stored(&self) -> bool {
        !matches!(self.notice, Some(Notice::InMemory(_)))
    }
}

/// Updates the index and opens it. Calls `progress` with the number of finished files and of all
/// files.
pub fn refresh(
    workspace: &Workspace,
    mode: Mode,
    patience: Patience,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<(Index, Refreshed), AppError> {
    let mut listed = list(workspace);
    let last = workspace.last_index();
    if last.is_ok() || patience != Patience::Wait {
        return refresh_listed(workspace, &mut listed, last, mode, patience, progress);
    }
    // As long as there is no index, sessions have no notes: they do not wait for git, too.
    let first = Patience::WaitForNotes;
    let (index, made) = refresh_listed(workspace, &mut listed, last, mode, first, progress)?;
    if !made.has_undated {
        return Ok((index, made));
    }
    drop(index);
    let (mut listed, last) = (list(workspace), workspace.last_index());
    let mode = Mode::Incremental;
    let (index, dated) =
        refresh_listed(workspace, &mut listed, last, mode, patience, &mut |_, _| {})?;
    let notice = dated.notice.or(made.notice);
    Ok((index, Refreshed { outcome: made.outcome, is_as_before: false, notice, ..dated }))
}

/// Updates the index from notes in memory, as if they were in the vaults.
pub(crate) fn refresh_from_memory(
    workspace: &Workspace,
    notes: &MemoryVault<'_>,
) -> Result<(), AppError> {
    let mut listed = Listed::of(workspace, Notes::InMemory(notes));
    let (last, mode) = (workspace.last_index(), Mode::Incremental);
    refresh_listed(workspace, &mut listed, last, mode, Patience::Wait, &mut |_, _| {})?;
    Ok(())
}

/// The listed files of the vaults. No file was opened.
pub(crate) struct Listed<'a> {
    pub(crate) listings: Vec<FolderListing>,
    notes: Notes<'a>,
    skipped: Skipped,
    took: Duration,
    has_undated: bool,
    /// Why git did not say when notes were committed.
    git_failure: Option<String>,
}

impl<'a> Listed<'a> {
    /// The result of a refresh that finds nothing to do.
    fn unchanged(&self) -> Refreshed {
        Refreshed {
            outcome: Outcome::default(),
            skipped: self.skipped,
            notice: None,
            is_as_before: true,
            listed_in: self.took,
            has_undated: false,
        }
    }

    /// Whether the notes are in memory, with times of their own.
    fn is_in_memory(&self) -> bool {
        matches!(self.notes, Notes::InMemory(_))
    }

    fn of(workspace: &Workspace, notes: Notes<'a>) -> Listed<'a> {
        let started = Instant::now();
        let (listings, skipped) = match notes {
            Notes::OnDisk => {
                vault::walk(&workspace.vaults, workspace.settings.max_file_bytes.value)
            }
            Notes::InMemory(notes) => (notes.listings(&workspace.vaults), Skipped::default()),
        };
        let took = started.elapsed();
        Listed { listings, notes, skipped, took, has_undated: false, git_failure: None }
    }
}

pub(crate) fn list(workspace: &Workspace) -> Listed<'static> {
    Listed::of(workspace, Notes::OnDisk)
}

/// Updates an index that is already open, or that could not be opened. The caller keeps the
/// listing: freeing a hundred thousand names takes time, and no answer should wait for it.
pub(crate) fn refresh_listed(
    workspace: &Workspace,
    listed: &mut Listed<'_>,
    last: Result<Index, Unusable>,
    mode: Mode,
    patience: Patience,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<(Index, Refreshed), AppError> {
    let mut refreshed = listed.unchanged();
    let usable = match last {
        Ok(index) if mode == Mode::Incremental => match index.is_current(&listed.listings) {
            Ok(true) => return Ok((index, refreshed)),
            Ok(false) => Ok(Some(index)),
            Err(error) => Err(Unusable::Failed(error)),
        },
        last => last.map(|_| None),
    };
    let mut usable = usable.unwrap_or_else(|unusable| {
        refreshed.notice = rebuild_notice(&unusable);
        None
    });
    let lock = workspace.store.try_lock();
    if matches!(lock, Ok(None)) && usable.is_none() {
        let is_enough = mode == Mode::Incremental && patience == Patience::Skip;
        usable = is_enough.then(|| awaited(workspace)).flatten();
    }
    let written = match lock {
        Ok(Some(lock)) => write(workspace, &lock, listed, (mode, patience), progress),
        Ok(None) => match usable {
            Some(index) if patience == Patience::Skip => {
                refreshed.notice = Some(Notice::Busy);
                return Ok((index, refreshed));
            }
            _ => workspace.store.lock().and_then(|lock| {
                // The listing from before the wait can be older than the other process's index.
                *listed = Listed::of(workspace, listed.notes);
                refreshed.skipped = listed.skipped;
                write(workspace, &lock, listed, (mode, patience), progress)
            }),
        },
        Err(error) => Err(error),
    };
    // A caller that waits needs the file; any other caller needs an answer.
    if let Err(error @ (IndexError::Io { .. } | IndexError::Full(_))) = &written
        && patience == Patience::Skip
        && let Ok((index, outcome)) = build_in_memory(workspace, listed, patience, progress)
    {
        let notice = Some(Notice::InMemory(error.to_string()));
        let has_undated = listed.has_undated;
        let refreshed =
            Refreshed { outcome, notice, is_as_before: false, has_undated, ..refreshed };
        return Ok((index, refreshed));
    }
    match (written, usable) {
        (Ok((outcome, notice)), _) => {
            refreshed.is_as_before = false;
            refreshed.has_undated = listed.has_undated;
            refreshed.outcome = outcome;
            let undated = listed.git_failure.take().map(Notice::Undated);
            refreshed.notice = undated.or(refreshed.notice).or(notice);
        }
        (Err(error), Some(index)) => {
            refreshed.notice = Some(Notice::Stale(error.to_string()));
            return Ok((index, refreshed));
        }
        (Err(error), None) => return Err(error.into()),
    }
    Ok((reopened(workspace)?, refreshed))
}

/// The first index, which another process is making. It may go on writing after that, while it asks git; `None` if it ends
/// without an index.
fn awaited(workspace: &Workspace) -> Option<Index> {
    loop {
        if let Ok(index) = workspace.last_index() {
            return Some(index);
        }
        if !matches!(workspace.store.try_lock(), Ok(None)) {
            return None;
        }
        thread::sleep(time_limits::FIRST_INDEX_POLL);
    }
}

/// The index that was just written.
fn reopened(workspace: &Workspace) -> Result<Index, IndexError> {
    workspace.last_index().map_err(|unusable| match unusable {
        Unusable::Failed(error) => error,
        unusable => IndexError::Damaged(unusable.to_string()),
    })
}

/// Asks a fresh index, without waiting for another process that is writing it.
pub(crate) fn ask<T>(
    workspace: &Workspace,
    question: impl Fn(&Index) -> Result<T, IndexError>,
) -> Result<(T, Refreshed), AppError> {
    let fresh = refresh(workspace, Mode::Incremental, Patience::Skip, &mut |_, _| {})?;
    ask_of(workspace, fresh, |index, _| question(index))
}

/// Asks an index. Rebuilds a damaged one and asks once more.
pub(super) fn ask_of<T>(
    workspace: &Workspace,
    (index, refreshed): (Index, Refreshed),
    question: impl Fn(&Index, &Refreshed) -> Result<T, IndexError>,
) -> Result<(T, Refreshed), AppError> {
    match index.consistently(|index| question(index, &refreshed)) {
        Err(error @ IndexError::Damaged(_)) => {
            drop(index);
            let (index, mut refreshed) =
                refresh(workspace, Mode::Full, Patience::Wait, &mut |_, _| {})?;
            refreshed.notice = Some(Notice::Rebuilt(error.to_string()));
            let answer = index.consistently(|index| question(index, &refreshed))?;
            Ok((answer, refreshed))
        }
        answer => Ok((answer?, refreshed)),
    }
}

fn rebuild_notice(unusable: &Unusable) -> Option<Notice> {
    match unusable {
        Unusable::Foreign | Unusable::Outdated | Unusable::Failed(IndexError::Damaged(_)) => {
            Some(Notice::Rebuilt(unusable.to_string()))
        }
        // There was no index, or it is not known to be damaged.
        Unusable::Missing | Unusable::Failed(_) => None,
    }
}
