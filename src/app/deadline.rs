//! A deadline: the total time for a context, and when each stage must stop so that the next one has
//! time.

use std::time::{Duration, Instant};

use crate::core::time_limits::{CONTEXT_END, KILL_MARGIN};

#[derive(Debug, Clone, Copy)]
pub(super) struct Deadline {
    started: Instant,
    all: Duration,
    most: Duration,
}

impl Deadline {
    /// Starts now. A later `allow` never exceeds `most`.
    pub(super) fn start(all: Duration, most: Option<Duration>) -> Deadline {
        let most = most.unwrap_or(Duration::MAX);
        Deadline { started: Instant::now(), all: all.min(most), most }
    }

    /// Sets the total time.
    pub(super) fn allow(&mut self, all: Duration) {
        self.all = all.min(self.most);
    }

    /// The end of opening vaults one by one; after that, each gets a thread, and those that hang
    /// are skipped.
    pub(super) fn for_opening(&self) -> Instant {
        self.started + self.all / 8
    }

    /// The time limit per vault on such a thread.
    pub(super) fn for_one_vault(&self) -> Duration {
        self.all / 8
    }

    /// The end of updating the index; after that, the last index is used.
    pub(super) fn for_refreshing(&self) -> Instant {
        self.started + self.all / 2
    }

    /// The end of waiting for sources.
    pub(super) fn for_gathering(&self) -> Instant {
        self.started + self.all.saturating_sub(CONTEXT_END.min(self.all / 4))
    }

    /// The end of a slow source's work, early enough for it and its child processes to exit.
    pub(super) fn for_slow_work(&self) -> Instant {
        let until = self.for_gathering();
        until.checked_sub(KILL_MARGIN.min(self.all / 8)).unwrap_or(until)
    }

    pub(super) fn left(&self) -> Duration {
        (self.started + self.all).saturating_duration_since(Instant::now())
    }

    pub(super) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }
}
