//! Points at which tests end this process, as if the power had failed, or hold it while they change the world around it. Not
//! in the program that people use.

/// Ends the process here and now, if a test asks for it in `KGCTX_TEST_KILL_AT`; holds it until somebody lets it go on, if
/// one asks in `KGCTX_TEST_HOLD_AT`.
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

/// Does nothing.
#[cfg(not(all(debug_assertions, unix)))]
pub fn reach(_point: &str) {}
