//! The lock on the state's folder. Every process that has the database open shares it. Who creates the database has it
//! alone, so that no other process sees half of one. So has a repair, which puts another file in its place: otherwise
//! a process could open the old database with the log of the new one.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::core::time_limits;
use crate::system::directories;

/// Why the folder could not be locked.
pub(super) enum Unlocked {
    /// Another process did not release it in time.
    Busy,
    Io(io::Error),
}

/// Shares the folder with all others that use the database. Creates it if necessary. `None` where folders cannot be
/// locked.
pub(super) fn share(folder: &Path, patience: Duration) -> Result<Option<File>, Unlocked> {
    let opened = match lockable(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            directories::create_private(folder).and_then(|()| lockable(folder))
        }
        opened => opened,
    };
    let file = opened.map_err(Unlocked::Io)?;
    Ok(wait(patience, || file.try_lock_shared())?.then_some(file))
}

/// Waits until no other process uses the database, and keeps others from opening it.
pub(super) fn alone(folder: &Path, patience: Duration) -> Result<Option<File>, Unlocked> {
    let file = lockable(folder).map_err(Unlocked::Io)?;
    Ok(wait(patience, || file.try_lock())?.then_some(file))
}

#[cfg(unix)]
fn lockable(folder: &Path) -> io::Result<File> {
    File::open(folder)
}

/// Windows locks no folders: a file in it takes their place.
#[cfg(not(unix))]
fn lockable(folder: &Path) -> io::Result<File> {
    directories::private_file(&folder.join("state.lock"))
}

/// Tries until the lock is taken. Returns whether the file system has locks.
fn wait(
    patience: Duration,
    try_lock: impl Fn() -> Result<(), TryLockError>,
) -> Result<bool, Unlocked> {
    let until = Instant::now() + patience;
    loop {
        match try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::Error(_)) => return Ok(false),
            Err(TryLockError::WouldBlock) if Instant::now() >= until => return Err(Unlocked::Busy),
            Err(TryLockError::WouldBlock) => thread::sleep(time_limits::HELD_POLL),
        }
    }
}
