//! How a process ended.

use std::process::ExitStatus;

/// The signal that ended a process.
#[cfg(unix)]
pub(crate) fn signal(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

/// Windows has none.
#[cfg(not(unix))]
pub(crate) fn signal(_: ExitStatus) -> Option<i32> {
    None
}
