//! A deadline: how long making a context may take in all, and when each stage gives up so that the next has time.

use std::time::{Duration, Instant};

/// What packing, writing the receipt and printing may need at the end.
const LAST_STEPS: Duration = Duration::from_millis(150);

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
        self.started + self.all.saturating_sub(LAST_STEPS.min(self.all / 4))
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
