//! Updates the index to match the vaults, so that answers are fresh.

mod write;

use std::time::{Duration, Instant};

use crate::core::note::listing::{FolderListing, Skipped};
use crate::store::index::{Index, IndexError, Outcome, Unusable};
use crate::system::vault::{self, MemoryVault};
use crate::workspace::reader::Notes;
use crate::workspace::refresh::write::write;
use crate::workspace::{AppError, Workspace};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// Wait for it to finish.
    Wait,
    /// Answer from the index as it is.
    Skip,
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
    /// Another process is writing: the answer can be slightly outdated.
    Busy,
    /// The index could not be updated: the answer can be outdated.
    Stale(String),
}

impl Notice {
    /// Formats the notice, with a name for the index, such as "it".
    pub fn about(&self, index: &str) -> String {
        match self {
            Notice::Rebuilt(reason) => format!("{index} was made anew: {reason}"),
            Notice::Busy => {
                format!("another process is writing {index}: this is from the one before")
            }
            Notice::Stale(reason) => format!("{index} could not be brought up to date: {reason}"),
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
    refresh_listed(workspace, &mut listed, workspace.last_index(), mode, patience, progress)
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
}

impl<'a> Listed<'a> {
    fn of(workspace: &Workspace, notes: Notes<'a>) -> Listed<'a> {
        let started = Instant::now();
        let (listings, skipped) = match notes {
            Notes::OnDisk => {
                vault::walk(&workspace.vaults, workspace.settings.max_file_bytes.value)
            }
            Notes::InMemory(notes) => (notes.listings(&workspace.vaults), Skipped::default()),
        };
        Listed { listings, notes, skipped, took: started.elapsed() }
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
    let mut refreshed = Refreshed {
        outcome: Outcome::default(),
        skipped: listed.skipped,
        notice: None,
        is_as_before: true,
        listed_in: listed.took,
    };
    let usable = match last {
        Ok(index) if mode == Mode::Incremental => match index.is_current(&listed.listings) {
            Ok(true) => return Ok((index, refreshed)),
            Ok(false) => Ok(Some(index)),
            Err(error) => Err(Unusable::Failed(error)),
        },
        last => last.map(|_| None),
    };
    let usable = usable.unwrap_or_else(|unusable| {
        refreshed.notice = rebuild_notice(&unusable);
        None
    });
    let written = match workspace.store.try_lock() {
        Ok(Some(lock)) => write(workspace, &lock, listed, mode, progress),
        Ok(None) => match usable {
            Some(index) if patience == Patience::Skip => {
                refreshed.notice = Some(Notice::Busy);
                return Ok((index, refreshed));
            }
            _ => workspace.store.lock().and_then(|lock| {
                // The listing from before the wait can be older than the other process's index.
                *listed = Listed::of(workspace, listed.notes);
                refreshed.skipped = listed.skipped;
                write(workspace, &lock, listed, mode, progress)
            }),
        },
        Err(error) => Err(error),
    };
    match (written, usable) {
        (Ok((outcome, notice)), _) => {
            refreshed.is_as_before = false;
            refreshed.outcome = outcome;
            refreshed.notice = refreshed.notice.or(notice);
        }
        (Err(error), Some(index)) => {
            refreshed.notice = Some(Notice::Stale(error.to_string()));
            return Ok((index, refreshed));
        }
        (Err(error), None) => return Err(error.into()),
    }
    match workspace.last_index() {
        Ok(index) => Ok((index, refreshed)),
        Err(Unusable::Failed(error)) => Err(error.into()),
        Err(unusable) => Err(IndexError::Damaged(unusable.to_string()).into()),
    }
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
