//! A deadline: how long making a context may take in all, and when each stage gives up so that the next has time.

use std::time::{Duration, Instant};

use crate::core::time_limits::{CONTEXT_END, KILL_MARGIN};

/// The moment by which all must be done.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deadline {
    started: Instant,
    all: Duration,
    most: Duration,
}

impl Deadline {
    /// Starts now. Whatever is allowed later, it is never more than `most`.
    pub(super) fn start(all: Duration, most: Option<Duration>) -> Deadline {
        let most = most.unwrap_or(Duration::MAX);
        Deadline { started: Instant::now(), all: all.min(most), most }
    }

    /// Changes the time that there is in all.
    pub(super) fn allow(&mut self, all: Duration) {
        self.all = all.min(self.most);
    }

    /// Until when the vaults may be opened one by one; later each gets a thread, and those that hang are left out.
    pub(super) fn for_opening(&self) -> Instant {
        self.started + self.all / 8
    }

    /// How long a vault may take then.
    pub(super) fn for_one_vault(&self) -> Duration {
        self.all / 8
    }

    /// Until when the index may be brought up to date; later the last one has to do.
    pub(super) fn for_refreshing(&self) -> Instant {
        self.started + self.all / 2
    }

    /// Until when sources may answer.
    pub(super) fn for_gathering(&self) -> Instant {
        self.started + self.all.saturating_sub(CONTEXT_END.min(self.all / 4))
    }

    /// Until when to wait for a slow source while there is another answer already: to the end if the user insists on it,
    /// else no longer than for a new index.
    pub(super) fn for_slow_source(&self, is_insisted_on: bool) -> Instant {
        if is_insisted_on { self.for_gathering() } else { self.for_refreshing() }
    }

    /// Until when a slow source may work, so that it and everything that it started has ended by then.
    pub(super) fn for_slow_work(&self, is_insisted_on: bool) -> Instant {
        let until = self.for_slow_source(is_insisted_on);
        until.checked_sub(KILL_MARGIN.min(self.all / 8)).unwrap_or(until)
    }

    /// How much time is left in all.
    pub(super) fn left(&self) -> Duration {
        (self.started + self.all).saturating_duration_since(Instant::now())
    }

    /// How much time has passed.
    pub(super) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }
}
