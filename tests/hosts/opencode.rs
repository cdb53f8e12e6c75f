//! The real OpenCode, driven on a throw-away machine: what we rely on in it, and what our bridge does in it.

mod bridge;
mod broken;
mod client;
mod facts;
mod found;
mod handoff;
mod http;
mod lab;
mod maenifold;
mod measured;
mod monitor;
mod new_user;
mod pool;
mod provider;
mod rotation;
mod server;
mod service;
mod window;

use std::thread;
use std::time::{Duration, Instant};

/// Makes two tests of each function: one with the OpenCode that the bridge is built for, one with an older one.
macro_rules! on_both_versions {
    ($($name:ident),* $(,)?) => {
        mod older { $(#[test] fn $name() { super::$name(crate::opencode::found::Version::Older) })* }
        mod pinned { $(#[test] fn $name() { super::$name(crate::opencode::found::Version::Pinned) })* }
    };
}
use on_both_versions;

/// The older OpenCode sometimes stalls for most of a minute when ten sessions start at once, whatever plugin it has.
pub(crate) const PATIENCE: Duration = Duration::from_secs(180);

/// Waits until there is something.
#[track_caller]
fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < end, "waited three minutes in vain for {what}");
        thread::sleep(Duration::from_millis(15));
    }
}
