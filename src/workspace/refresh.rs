//! Brings the index up to date with the vaults. The only way to an index: what is read is always fresh.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rayon::prelude::*;
use serde::Serialize;

use crate::core::note::listing::{FolderListing, ListedFile, Skipped};
use crate::core::note::reading::Reading;
use crate::store::index::{
    Builder, Index, IndexError, Outcome, Totals, Unusable, Updater, WriterLock,
};
use crate::system::vault::{self, MemoryVault};
use crate::workspace::reader::{FileReader, Notes};
use crate::workspace::{AppError, Workspace};

/// Files are read in groups of about this many bytes, of which a few are in memory at a time.
const GROUP_BYTES: u64 = 2 * 1024 * 1024;
const GROUP_FILES: usize = 256;
/// How many groups may wait for the writer.
const GROUPS_AHEAD: usize = 2;
/// Above this share of changed notes, a new index is made faster than the old one is changed.
const REBUILD_SHARE: i64 = 4;
const REBUILD_FROM: i64 = 200;
/// An update holds all that it reads in memory, a build only a little at a time.
const REBUILD_BYTES: u64 = 64 * 1024 * 1024;

/// What to do while another process is writing the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// Wait for it to end.
    Wait,
    /// Answer from the index as it is.
    Skip,
}

/// How to bring the index up to date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Read only what changed.
    Incremental,
    /// Read everything.
    Full,
}

/// Something that a person may want to know, and a hook does not say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// The old index could not be used.
    Rebuilt(String),
    /// Another process is writing: the answer may be a moment old.
    Busy,
    /// The index could not be brought up to date: the answer may be old.
    Stale(String),
}

/// What was done.
#[derive(Debug, Clone)]
pub struct Refreshed {
    /// What changed.
    pub outcome: Outcome,
    /// What was passed over while listing.
    pub skipped: Skipped,
    /// What a person may want to know.
    pub notice: Option<Notice>,
    /// Whether the index is the one that was there before: nothing changed, or nothing could be written.
    pub is_as_before: bool,
    /// How long it took to list the vaults' files.
    pub listed_in: Duration,
}

/// The summary of an index.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// Notes.
    pub notes: i64,
    /// Distinct concepts.
    pub concepts: i64,
    /// Links that count.
    pub links: i64,
    /// Pairs of concepts that share a note.
    pub edges: i64,
    /// Notes that are new or whose content is; all of them after a full build.
    pub changed: usize,
    /// Notes that are gone; none is counted by a full build.
    pub removed: usize,
    /// Files and folders that were passed over.
    pub skipped: u64,
    /// Notes with remarks.
    pub remarks: i64,
    /// How long it took.
    pub ms: f64,
    /// The passed-over, by reason.
    pub skipped_by: Skipped,
    /// What was odd about which notes.
    pub remarked: Vec<Remarked>,
    /// Where the index is.
    pub index: String,
}

/// A note and what was odd about it.
#[derive(Debug, Clone, Serialize)]
pub struct Remarked {
    /// The note's address.
    pub uri: String,
    /// The remark.
    pub remark: String,
}

/// Brings the index up to date and opens it. `progress` hears of files done and files in all.
pub fn refresh(
    workspace: &Workspace,
    mode: Mode,
    patience: Patience,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<(Index, Refreshed), AppError> {
    let mut listed = list(workspace);
    refresh_listed(workspace, &mut listed, workspace.last_index(), mode, patience, progress)
}

/// Brings the index up to date with notes that are held in memory, as if they lay in the vaults.
pub(crate) fn refresh_from_memory(
    workspace: &Workspace,
    notes: &MemoryVault<'_>,
) -> Result<(), AppError> {
    let mut listed = Listed::of(workspace, Notes::InMemory(notes));
    let (last, mode) = (workspace.last_index(), Mode::Incremental);
    refresh_listed(workspace, &mut listed, last, mode, Patience::Wait, &mut |_, _| {})?;
    Ok(())
}

/// The vaults' files, as far as that is known without opening any.
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

/// Lists the files of all vaults.
pub(crate) fn list(workspace: &Workspace) -> Listed<'static> {
    Listed::of(workspace, Notes::OnDisk)
}

/// Brings an index up to date that is open already, or could not be opened. What was listed stays with the caller: to
/// free a hundred thousand names takes time, for which nobody should have to wait.
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
            Ok(false) => Some(index),
            Err(error) => {
                refreshed.notice = rebuild_notice(&Unusable::Failed(error));
                None
            }
        },
        Ok(_) => None,
        Err(unusable) => {
            refreshed.notice = rebuild_notice(&unusable);
            None
        }
    };
    let written = match workspace.store.try_lock() {
        Ok(Some(lock)) => write(workspace, &lock, listed, mode, progress),
        Ok(None) => match usable {
            Some(index) if patience == Patience::Skip => {
                refreshed.notice = Some(Notice::Busy);
                return Ok((index, refreshed));
            }
            _ => workspace.store.lock().and_then(|lock| {
                // What was listed before the wait may be older than what the other process wrote.
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

/// Puts a question to a fresh index, without waiting for another process that is writing it.
pub(crate) fn ask<T>(
    workspace: &Workspace,
    question: impl Fn(&Index) -> Result<T, IndexError>,
) -> Result<(T, Refreshed), AppError> {
    let fresh = refresh(workspace, Mode::Incremental, Patience::Skip, &mut |_, _| {})?;
    ask_of(workspace, fresh, |index, _| question(index))
}

/// Brings the index up to date and sums it up.
pub fn index(
    workspace: &Workspace,
    mode: Mode,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<(Summary, Refreshed), AppError> {
    let started = Instant::now();
    let fresh = refresh(workspace, mode, Patience::Wait, progress)?;
    ask_of(workspace, fresh, |index, refreshed| summary(workspace, index, refreshed, started))
}

/// Puts a question to an index. One that turns out to be damaged is made again, and asked once more.
fn ask_of<T>(
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

fn summary(
    workspace: &Workspace,
    index: &Index,
    refreshed: &Refreshed,
    started: Instant,
) -> Result<Summary, IndexError> {
    let Totals { notes, concepts, links, edges, remarked } = index.totals()?;
    let mut skipped = refreshed.skipped;
    skipped.add(&index.rejected()?);
    let remarks = if remarked > 0 { index.remarks()? } else { Vec::new() };
    let in_vault =
        |vault: usize| workspace.vaults.get(vault).map_or("", |vault| vault.name.as_str());
    Ok(Summary {
        notes,
        concepts,
        links,
        edges,
        changed: refreshed.outcome.changed,
        removed: refreshed.outcome.removed,
        skipped: skipped.total(),
        remarks: remarked,
        ms: (started.elapsed().as_secs_f64() * 1e6).round() / 1e3,
        skipped_by: skipped,
        remarked: remarks
            .into_iter()
            .map(|(vault, path, remarks)| Remarked {
                uri: crate::core::note::vault::uri(in_vault(vault), &path),
                remark: remarks.to_string(),
            })
            .collect(),
        index: workspace.index_path().display().to_string(),
    })
}

fn rebuild_notice(unusable: &Unusable) -> Option<Notice> {
    match unusable {
        Unusable::Foreign | Unusable::Outdated | Unusable::Failed(IndexError::Damaged(_)) => {
            Some(Notice::Rebuilt(unusable.to_string()))
        }
        // Nothing was there, or nothing is known to be wrong with it.
        Unusable::Missing | Unusable::Failed(_) => None,
    }
}

/// Writes what changed, into the index in use or into a new one.
fn write(
    workspace: &Workspace,
    lock: &WriterLock,
    listed: &Listed<'_>,
    mode: Mode,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<(Outcome, Option<Notice>), IndexError> {
    let mut notice = None;
    if mode == Mode::Incremental {
        match update(workspace, lock, listed, progress) {
            Ok(Some(outcome)) => return Ok((outcome, None)),
            Ok(None) | Err(IndexError::Crowded) => {}
            Err(error @ IndexError::Damaged(_)) => {
                notice = Some(Notice::Rebuilt(error.to_string()))
            }
            Err(error) => return Err(error),
        }
    }
    Ok((build(workspace, lock, listed, progress)?, notice))
}

/// Changes the index in use; `None` where a new one has to be made.
fn update(
    workspace: &Workspace,
    lock: &WriterLock,
    listed: &Listed<'_>,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Option<Outcome>, IndexError> {
    let mut updater = match Updater::open(lock, &workspace.fingerprint) {
        Ok(updater) => updater,
        Err(Unusable::Failed(error)) => return Err(error),
        Err(_) => return Ok(None),
    };
    let Listed { listings, notes, .. } = listed;
    let changes = updater.changes(listings)?;
    if changes.is_empty() {
        return Ok(Some(Outcome::default()));
    }
    let n_to_read = changes.to_read.len();
    let bytes: u64 =
        changes.to_read.iter().map(|&(folder, file)| listings[folder].files[file].stamp.size).sum();
    let most = (updater.n_notes()? / REBUILD_SHARE).max(REBUILD_FROM);
    if n_to_read as i64 > most || bytes > REBUILD_BYTES {
        return Ok(None);
    }
    let reader = FileReader::new(workspace, listings, *notes);
    progress(0, n_to_read);
    let readings: Vec<Reading> = changes
        .to_read
        .par_iter()
        .with_min_len(8)
        .map(|&(folder, file)| reader.read(folder, &listings[folder].files[file]))
        .collect();
    progress(n_to_read, n_to_read);
    let outcome = updater.apply(&changes, listings, readings)?;
    Ok(Some(Outcome { read: n_to_read, ..outcome }))
}

/// Makes a new index.
fn build(
    workspace: &Workspace,
    lock: &WriterLock,
    listed: &Listed<'_>,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Outcome, IndexError> {
    let Listed { listings, notes, .. } = listed;
    let mut files: Vec<(usize, &ListedFile)> = listings
        .iter()
        .enumerate()
        .flat_map(|(folder, listing)| listing.files.iter().map(move |file| (folder, file)))
        .collect();
    // Ids are given in this order, which every update keeps.
    files.sort_unstable_by(|(a_folder, a), (b_folder, b)| {
        let (a_place, b_place) = (&listings[*a_folder], &listings[*b_folder]);
        let a_key = (a.stamp.mtime, a_place.vault, &a_place.folder, &a.name);
        a_key.cmp(&(b.stamp.mtime, b_place.vault, &b_place.folder, &b.name))
    });
    let mut builder = Builder::begin(lock, listings.len())?;
    let reader = FileReader::new(workspace, listings, *notes);
    let n_files = files.len();
    progress(0, n_files);
    thread::scope(|scope| -> Result<(), IndexError> {
        let (sender, receiver) = mpsc::sync_channel::<Vec<Reading>>(GROUPS_AHEAD);
        let reader = &reader;
        scope.spawn(move || {
            for group in groups(&files) {
                let readings =
                    group.par_iter().map(|&(folder, file)| reader.read(folder, file)).collect();
                // The writer has given up, and says why.
                if sender.send(readings).is_err() {
                    break;
                }
            }
        });
        let mut done = 0;
        for readings in receiver {
            for reading in &readings {
                builder.add(reading)?;
            }
            done += readings.len();
            progress(done, n_files);
        }
        Ok(())
    })?;
    let totals = builder.finish(listings, &workspace.fingerprint)?;
    let changed = usize::try_from(totals.notes).unwrap_or_default();
    Ok(Outcome { changed, removed: 0, read: n_files })
}

/// Splits files into groups that fit into memory together.
fn groups<'a>(
    mut files: &'a [(usize, &'a ListedFile)],
) -> impl Iterator<Item = &'a [(usize, &'a ListedFile)]> {
    std::iter::from_fn(move || {
        let mut bytes = 0;
        let n = files
            .iter()
            .take(GROUP_FILES)
            .take_while(|(_, file)| {
                let fits = bytes == 0 || bytes + file.stamp.size <= GROUP_BYTES;
                bytes += file.stamp.size.max(1);
                fits
            })
            .count();
        let (group, rest) = files.split_at(n);
        files = rest;
        (!group.is_empty()).then_some(group)
    })
}
