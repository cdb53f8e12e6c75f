//! Writes changed notes into the index in use, or all notes into a new one.

use std::sync::mpsc;
use std::thread;

use rayon::prelude::*;

use super::{Listed, Mode, Notice, Patience, dates};
use crate::core::note::listing::ListedFile;
use crate::core::note::reading::Reading;
use crate::store::index::{
    Builder, Index, IndexError, KnownFiles, Outcome, Totals, Unusable, Updater, WriterLock,
};
use crate::workspace::Workspace;
use crate::workspace::reader::{FileReader, most_words};

/// The approximate size of a group of files that are read together. A few groups are in memory at a
/// time.
const GROUP_BYTES: u64 = 2 * 1024 * 1024;
const GROUP_FILES: usize = 256;
/// The number of groups that may wait for the writer.
const GROUPS_AHEAD: usize = 2;
/// Above this share of changed notes, building a new index is faster than updating the old one.
const REBUILD_SHARE: i64 = 4;
const REBUILD_FROM: i64 = 200;
/// An update holds all that it reads in memory, a build only a little at a time.
const REBUILD_BYTES: u64 = 64 * 1024 * 1024;

/// Writes the changes into the index in use, or builds a new one.
pub(super) fn write(
    workspace: &Workspace,
    lock: &WriterLock,
    listed: &mut Listed<'_>,
    (mode, patience): (Mode, Patience),
    progress: &mut dyn FnMut(usize, usize),
) -> Result<(Outcome, Option<Notice>), IndexError> {
    let mut notice = None;
    if mode == Mode::Incremental {
        match update(workspace, lock, listed, patience, progress) {
            Ok(Some(outcome)) => return Ok((outcome, None)),
            Ok(None) | Err(IndexError::Crowded) => {}
            Err(error @ IndexError::Damaged(_)) => {
                notice = Some(Notice::Rebuilt(error.to_string()))
            }
            Err(error) => return Err(error),
        }
    }
    Ok((build(workspace, lock, listed, (mode, patience), progress)?, notice))
}

/// Updates the index in use; `None` if a new one must be built.
fn update(
    workspace: &Workspace,
    lock: &WriterLock,
    listed: &mut Listed<'_>,
    patience: Patience,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Option<Outcome>, IndexError> {
    let mut updater = match Updater::open(lock, &workspace.fingerprint) {
        Ok(updater) => updater,
        Err(Unusable::Failed(error)) => return Err(error),
        Err(_) => return Ok(None),
    };
    let changes = updater.changes(&listed.listings)?;
    if changes.is_empty() {
        return Ok(Some(Outcome::default()));
    }
    let n_to_read = changes.to_read.len();
    let listings = &listed.listings;
    let bytes: u64 =
        changes.to_read.iter().map(|&(folder, file)| listings[folder].files[file].stamp.size).sum();
    let most = (updater.n_notes()? / REBUILD_SHARE).max(REBUILD_FROM);
    // Of few notes the index keeps more: when they become many, or few again, it is made anew.
    let is_same_length = updater.most_words()? == most_words(listings);
    // What a name tells depends on all names: most changes leave that as it is.
    if n_to_read as i64 > most
        || bytes > REBUILD_BYTES
        || !is_same_length
        || !updater.is_named_like(listings)?
    {
        return Ok(None);
    }
    progress(0, n_to_read);
    if !listed.is_in_memory() {
        let known = KnownFiles::open(&workspace.store);
        dates::date(workspace, listed, &changes.to_read, Some(&known), patience);
    }
    let Listed { listings, notes, .. } = &*listed;
    let reader = FileReader::new(workspace, listings, *notes);
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

fn build(
    workspace: &Workspace,
    lock: &WriterLock,
    listed: &mut Listed<'_>,
    (mode, patience): (Mode, Patience),
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Outcome, IndexError> {
    date_all(workspace, listed, (mode, patience), progress);
    let mut builder = Builder::begin(lock, &listed.listings)?;
    let n_files = add_all(&mut builder, workspace, listed, progress)?;
    let totals = builder.finish(&workspace.fingerprint, most_words(&listed.listings))?;
    Ok(outcome(totals, n_files))
}

/// Builds an index in memory, where no file can be written.
pub(super) fn build_in_memory(
    workspace: &Workspace,
    listed: &mut Listed<'_>,
    patience: Patience,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<(Index, Outcome), IndexError> {
    date_all(workspace, listed, (Mode::Incremental, patience), progress);
    let mut builder = Builder::in_memory(&workspace.store, &listed.listings)?;
    let n_files = add_all(&mut builder, workspace, listed, progress)?;
    let most_words = most_words(&listed.listings);
    let (index, totals) = builder.finish_in_memory(&workspace.fingerprint, most_words)?;
    Ok((index, outcome(totals, n_files)))
}

fn outcome(totals: Totals, n_files: usize) -> Outcome {
    let changed = usize::try_from(totals.notes).unwrap_or_default();
    Outcome { changed, removed: 0, read: n_files }
}

/// Dates all listed files.
fn date_all(
    workspace: &Workspace,
    listed: &mut Listed<'_>,
    (mode, patience): (Mode, Patience),
    progress: &mut dyn FnMut(usize, usize),
) {
    if listed.is_in_memory() {
        return;
    }
    // Reports progress before git is asked: a caller that runs out of time then knows that the index is unfinished.
    progress(0, listed.listings.iter().map(|listing| listing.files.len()).sum());
    let known = (mode == Mode::Incremental).then(|| KnownFiles::open(&workspace.store));
    let folders = listed.listings.iter().enumerate();
    let all = folders.flat_map(|(n, listing)| (0..listing.files.len()).map(move |file| (n, file)));
    let all: Vec<(usize, usize)> = all.collect();
    dates::date(workspace, listed, &all, known.as_ref(), patience);
}

/// Reads all listed files and adds them to an index. Returns their number.
fn add_all(
    builder: &mut Builder<'_>,
    workspace: &Workspace,
    listed: &Listed<'_>,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<usize, IndexError> {
    let Listed { listings, notes, .. } = listed;
    let mut files: Vec<(usize, &ListedFile)> = listings
        .iter()
        .enumerate()
        .flat_map(|(folder, listing)| listing.files.iter().map(move |file| (folder, file)))
        .collect();
    // Assigns ids in this order, which every update preserves.
    files.sort_unstable_by(|(a_folder, a), (b_folder, b)| {
        let (a_place, b_place) = (&listings[*a_folder], &listings[*b_folder]);
        let a_key = (a.time(), a_place.vault, &a_place.folder, &a.name);
        a_key.cmp(&(b.time(), b_place.vault, &b_place.folder, &b.name))
    });
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
                // The writer has stopped, and returns the error.
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
    Ok(n_files)
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
