//! Shows that a command is at work: on a terminal, from half a second on. Silent everywhere else.

use std::cell::Cell;
use std::io::{self, IsTerminal};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// What ends sooner needs no progress.
const DELAY: Duration = Duration::from_millis(500);
const TICK: Duration = Duration::from_millis(100);

const UNCOUNTED: &str = "{spinner} {msg} {elapsed}";
const COUNTED: &str = "{bar:40} {human_pos}/{human_len} {msg} {elapsed}";

/// The progress of one piece of work. Nothing else may be printed until it is dropped.
pub(super) struct Progress {
    bar: ProgressBar,
    counted: Cell<&'static str>,
    /// Ends the delay when it is dropped.
    waiting: Option<(Sender<()>, JoinHandle<()>)>,
}

/// Does some work, and shows what it is if it takes long.
pub(super) fn during<T>(what: &'static str, work: impl FnOnce(&Progress) -> T) -> T {
    work(&Progress::start(what))
}

impl Progress {
    fn start(what: &'static str) -> Progress {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        let waiting = io::stderr().is_terminal().then(|| {
            bar.set_style(style(UNCOUNTED));
            bar.set_message(what);
            let (sender, ended) = mpsc::channel();
            let bar = bar.clone();
            let show_later = move || {
                if ended.recv_timeout(DELAY) == Err(RecvTimeoutError::Timeout) {
                    bar.set_draw_target(ProgressDrawTarget::stderr());
                    bar.enable_steady_tick(TICK);
                }
            };
            (sender, thread::spawn(show_later))
        });
        Progress { bar, counted: Cell::default(), waiting }
    }

    /// Shows how many of these things are done.
    pub(super) fn count(&self, things: &'static str, done: usize, all: usize) {
        if self.counted.replace(things) != things {
            self.bar.set_style(style(COUNTED));
            self.bar.set_message(things);
        }
        self.bar.set_length(all as u64);
        self.bar.set_position(done as u64);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((sender, waiting)) = self.waiting.take() {
            drop(sender);
            // A thread that panicked has shown nothing that must be removed.
            let _ = waiting.join();
        }
        self.bar.finish_and_clear();
    }
}

fn style(template: &str) -> ProgressStyle {
    // The templates are fixed; the default bar would do as well.
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
