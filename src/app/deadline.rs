//! A deadline: how long making a context may take in all, and when each stage gives up so that the next has time.

use std::time::{Duration, Instant};

use crate::core::source::SourcePreference;

/// What packing, writing the receipt and printing may need at the end.
const LAST_STEPS: Duration = Duration::from_millis(150);

/// What ending a program that does not answer may take.
const LAST_RITES: Duration = Duration::from_millis(100);

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

    /// Until when maenifold's program is waited for by who has another answer already: to the end if the user asked for
    /// it, but no longer than for a new index if nobody did.
    pub(super) fn for_program(&self, wish: SourcePreference) -> Instant {
        match wish {
            SourcePreference::Cli => self.for_gathering(),
            _ => self.for_refreshing(),
        }
    }

    /// Until when it may answer, so that it has ended by then, and everything that it started.
    pub(super) fn for_call(&self, wish: SourcePreference) -> Instant {
        let until = self.for_program(wish);
        until.checked_sub(LAST_RITES.min(self.all / 8)).unwrap_or(until)
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
