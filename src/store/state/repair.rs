//! The repair of a damaged state: a new one is made beside it, and takes its place in one step. The damaged one is kept.
//! Killed at any point, the program leaves the one or the other; the documents of handoffs are never touched.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use crate::core::installation::Installation;
use crate::store::state::damage::{check_plain, files};
use crate::store::state::usage::{self, Unlocked};
use crate::store::state::{DATABASE, Result, State, StateError};
use crate::system::atomic_file;
use crate::system::breakpoint;
use crate::system::clock;
use crate::system::directories;
use crate::system::durable;
use crate::system::folders;
use crate::system::path_bytes;

/// Where the new state is made.
const WORKSHOP: &str = "repair";
/// The file beside the new state that says that it is complete and only has to take its place, and where the old one goes.
const COMPLETE: &str = "complete";

/// A repair that has begun. No other process has the state open.
pub struct Repair {
    _alone: Option<File>,
    folder: PathBuf,
    /// What is wrong with the old state.
    pub cause: StateError,
    /// The old state, as far as it can be read.
    old: Option<Connection>,
    pub new: State,
}

impl Repair {
    /// Begins to repair the state in `folder`; `None` if it is not damaged.
    pub fn begin(folder: &Path, patience: Duration) -> Result<Option<Repair>> {
        let path = folder.join(DATABASE);
        if fs::symlink_metadata(&path).is_err() && check_finished(folder).is_ok() {
            return Ok(None);
        }
        // Looks first: an undamaged state is left in place.
        let shared = State::share(folder, patience)?;
        let workshop = folder.join(WORKSHOP);
        if check_finished(folder).is_ok() {
            // A killed repair left it: none is at work now.
            let _ = fs::remove_dir_all(&workshop);
        }
        if damage_of(folder, patience)?.is_none() {
            return Ok(None);
        }
        drop(shared);
        let alone = usage::alone(folder, patience).map_err(|unlocked| match unlocked {
            Unlocked::Busy => StateError::InUse { path: path.clone() },
            Unlocked::Io(cause) => StateError::Io { path: path.clone(), cause },
        })?;
        // Another process may have been faster.
        let Some(cause) = damage_of(folder, patience)? else { return Ok(None) };
        breakpoint::reach("repair:begun");
        // The one that a killed repair has made, or another.
        let mut new = State::open(&workshop, patience)?;
        new.make_durable()?;
        let access = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let old = check_plain(&path).ok();
        let old = old.and_then(|()| Connection::open_with_flags(&path, access).ok());
        let folder = folder.to_path_buf();
        Ok(Some(Repair { _alone: alone, folder, cause, old, new }))
    }

    /// Whether the old state still tells that a handoff was done with.
    pub fn was_archived(&self, id: &str) -> bool {
        let sql = "SELECT status IN ('consumed', 'expired', 'cleared') FROM handoffs WHERE id = ?1";
        let archived = |old: &Connection| old.query_row(sql, [id], |row| row.get(0));
        self.old.as_ref().is_some_and(|old| archived(old).unwrap_or(false))
    }

    /// Takes over the records of installations, as far as they can be read. Returns whether all could be.
    pub fn take_installations(&self) -> Result<bool> {
        let Some(Ok(installations)) = self.old.as_ref().map(installations) else {
            return Ok(false);
        };
        for (file, installation) in &installations {
            self.new.remember_installation(file, installation)?;
        }
        Ok(true)
    }

    /// Puts the new state in the place of the old one. Returns where the old one is now.
    pub fn finish(self) -> Result<PathBuf> {
        let Repair { _alone, folder, old, new, .. } = self;
        drop(old);
        let new_path = new.path.clone();
        new.read(|connection| {
            connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        })?;
        drop(new);
        breakpoint::reach("repair:made");
        let path = folder.join(DATABASE);
        let swapped = mark_complete(&folder, &new_path)
            .and_then(|aside| swap(&folder, &path, &new_path, &aside).map(|()| aside));
        swapped.map_err(|cause| StateError::Io { path, cause })
    }
}

/// From now on, the next repair only puts the new state in its place. Returns where the old one goes.
fn mark_complete(folder: &Path, new: &Path) -> io::Result<PathBuf> {
    let mark = new.with_file_name(COMPLETE);
    // A killed repair may have moved a part of the old state already.
    let begun = fs::read_to_string(&mark).ok().map(|name| folder.join(name));
    if let Some(begun) = begun.filter(|begun| folders::is_folder(begun)) {
        return Ok(begun.join(DATABASE));
    }
    durable::sync_file(new)?;
    let day = clock::now().to_string();
    let prefix = format!("damaged-{}-", day.get(..10).unwrap_or_default());
    let aside = directories::create_new_private(folder, &prefix)?;
    let name = aside.file_name().unwrap_or_default().to_string_lossy();
    atomic_file::write_private(&mark, &name)?;
    breakpoint::reach("repair:complete");
    Ok(aside.join(DATABASE))
}

fn swap(folder: &Path, path: &Path, new: &Path, aside: &Path) -> io::Result<()> {
    let [_, log, shared] = files(path);
    let [_, log_aside, shared_aside] = files(aside);
    // The log first: SQLite would take it for the new database's.
    for (from, to) in [(log, log_aside), (shared, shared_aside)] {
        let moved = match to.exists() {
            // The old one has none any more; a look at it has made another.
            true => fs::remove_file(from),
            false => fs::rename(from, to),
        };
        unless_missing(moved)?;
        breakpoint::reach("repair:log-aside");
    }
    // With a link there is a state at any time. Folders cannot be linked, nor files of some file systems.
    if fs::hard_link(path, aside).is_err() {
        unless_missing(fs::rename(path, aside))?;
    }
    breakpoint::reach("repair:aside");
    fs::rename(new, path)?;
    breakpoint::reach("repair:swapped");
    durable::sync_folder(folder)?;
    // What stays is removed by the next repair.
    let _ = new.parent().map(fs::remove_dir_all);
    Ok(())
}

fn unless_missing(done: io::Result<()>) -> io::Result<()> {
    done.or_else(|error| match error.kind() {
        io::ErrorKind::NotFound => Ok(()),
        _ => Err(error),
    })
}

/// Refuses a state that a killed repair was about to replace. Its log may be set aside already, and it would seem
/// whole without the last changes.
pub(super) fn check_finished(folder: &Path) -> Result<()> {
    let workshop = folder.join(WORKSHOP);
    if !workshop.join(COMPLETE).exists() || !workshop.join(DATABASE).exists() {
        return Ok(());
    }
    let what = "its repair was not finished".to_owned();
    Err(StateError::Damaged { path: folder.join(DATABASE), what })
}

/// What is wrong with the database in a folder; `None` if nothing is. An error if it cannot be said, or is no damage.
fn damage_of(folder: &Path, patience: Duration) -> Result<Option<StateError>> {
    let examined = check_finished(folder)
        .and_then(|()| State::connect(&folder.join(DATABASE), patience))
        .and_then(|state| state.examine());
    match examined {
        Ok(()) => Ok(None),
        Err(error) if error.is_damage() => Ok(Some(error)),
        Err(error) => Err(error),
    }
}

fn installations(old: &Connection) -> rusqlite::Result<Vec<(PathBuf, Installation)>> {
    let sql = "SELECT file, version, sha256, folders_made FROM installations";
    let mut statement = old.prepare(sql)?;
    let rows = statement.query_map([], |row| {
        let (file, version, sha256, folders_made) = row.try_into()?;
        Ok((path_bytes::path(file), Installation { version, sha256, folders_made }))
    })?;
    rows.collect()
}
