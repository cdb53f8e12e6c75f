//! Points at which tests kill this process, as in a power failure, or stop it while they change
//! files. Not in release builds, and not on Windows, which cannot stop a process.

/// Kills the process if `KGCTX_TEST_KILL_AT` names this point. Stops it until a test continues it
/// if `KGCTX_TEST_HOLD_AT` does.
#[cfg(all(debug_assertions, unix))]
pub fn reach(point: &str) {
    use rustix::process::{Signal, getpid, kill_process};
    for (variable, signal) in
        [("KGCTX_TEST_KILL_AT", Signal::KILL), ("KGCTX_TEST_HOLD_AT", Signal::STOP)]
    {
        if std::env::var_os(variable).is_some_and(|asked| asked == point) {
            let _ = kill_process(getpid(), signal);
        }
    }
}

#[cfg(not(all(debug_assertions, unix)))]
pub fn reach(_point: &str) {}
