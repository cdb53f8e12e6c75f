//! Work with a time limit: it runs on a separate thread, which is left behind when the time is
//! over.

use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

/// Runs some work. Returns `None` if it takes too long or panics; the thread may then still be
/// running.
pub fn within<T: Send + 'static>(
    patience: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    start(work).by(Instant::now() + patience)
}

/// Starts some work, for callers that do something else in the meantime.
pub fn start<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Started<T> {
    let (sender, result) = mpsc::channel();
    // Sending fails after a timeout, when the receiver has been dropped.
    thread::spawn(move || drop(sender.send(work())));
    Started { result }
}

/// Work in progress.
#[derive(Debug)]
pub struct Started<T> {
    result: Receiver<T>,
}

impl<T> Started<T> {
    /// Waits for the result; `None` after a panic.
    pub fn wait(self) -> Option<T> {
        self.result.recv().ok()
    }

    /// Waits for the result until the given time. Returns an available result even if the time is
    /// over.
    pub fn by(self, until: Instant) -> Option<T> {
        self.result.recv_timeout(until.saturating_duration_since(Instant::now())).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(20);

    #[test]
    fn work_is_done_in_time_or_left_behind() {
        assert_eq!(within(LONG, || 7), Some(7));
        let started = Instant::now();
        assert_eq!(within(Duration::from_millis(10), || thread::sleep(LONG)), None);
        assert!(started.elapsed() < LONG);
    }

    #[test]
    fn a_panic_ends_the_wait() {
        let started = Instant::now();
        assert_eq!(within(LONG, || -> u8 { panic!("on purpose") }), None);
        assert!(started.elapsed() < LONG);
    }

    #[test]
    fn a_finished_result_is_returned_after_the_deadline() {
        let work = start(|| 7);
        thread::sleep(Duration::from_millis(100));
        assert_eq!(work.by(Instant::now()), Some(7));
    }
}
