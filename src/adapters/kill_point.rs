//! Points at which tests end this process as if the power had failed. Not in the program that people use.

/// Ends the process here and now, if a test asks for it in `KGCTX_TEST_KILL_AT`.
#[cfg(debug_assertions)]
pub fn reach(point: &str) {
    let is_asked = std::env::var_os("KGCTX_TEST_KILL_AT").is_some_and(|asked| asked == point);
    #[cfg(unix)]
    if is_asked {
        let this = rustix::process::getpid();
        let _ = rustix::process::kill_process(this, rustix::process::Signal::KILL);
    }
    #[cfg(not(unix))]
    let _ = is_asked;
}

/// Does nothing.
#[cfg(not(debug_assertions))]
pub fn reach(_point: &str) {}
