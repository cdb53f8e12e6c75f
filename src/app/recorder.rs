//! Writes a context's receipt, in a thread that opens the state while the context is still being made.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use crate::core::context::receipt::{Fault, Receipt, Stage};
use crate::store::state::{State, StateError, Token};
use crate::workspace::Place;

/// How long to wait for another process that is writing a receipt.
const STATE_PATIENCE: Duration = Duration::from_millis(100);

/// Whether the receipt is recorded.
pub enum Recording {
    /// It is, once the settings allow it.
    New,
    /// It is, here and under the claim that was made.
    UnderClaim(State, Token),
    Off,
}

/// Gives up when the time is over: a context without a receipt is better than none.
pub(super) struct Recorder {
    receipts: Sender<Arc<Receipt>>,
    written: Receiver<Result<i64, String>>,
}

impl Recorder {
    pub(super) fn open(place: &Place) -> Recorder {
        let folder = place.directories.state.clone();
        Recorder::start(None, move || State::open(&folder, STATE_PATIENCE))
    }

    pub(super) fn under_claim(state: State, token: Token) -> Recorder {
        Recorder::start(Some(token), move || Ok(state))
    }

    fn start(
        claim: Option<Token>,
        open: impl FnOnce() -> Result<State, StateError> + Send + 'static,
    ) -> Recorder {
        let (receipts, to_write) = mpsc::channel::<Arc<Receipt>>();
        let (sender, written) = mpsc::channel();
        thread::spawn(move || {
            let mut state = open();
            let Ok(receipt) = to_write.recv() else { return };
            let written = match &mut state {
                Ok(state) => state.record(&receipt, claim).map_err(|error| error.to_string()),
                Err(error) => Err(error.to_string()),
            };
            // Dropped first, so that the caller need not copy it; sent before the database closes, which takes a while.
            drop(receipt);
            let _ = sender.send(written);
        });
        Recorder { receipts, written }
    }

    /// Returns the receipt, and its number if it was written.
    pub(super) fn record(self, receipt: Receipt, left: Duration) -> (Receipt, Option<i64>) {
        let started = Instant::now();
        let receipt = Arc::new(receipt);
        let _ = self.receipts.send(Arc::clone(&receipt));
        let written = self.written.recv_timeout(left);
        let written = written.unwrap_or_else(|_| Err("it could not be written in time".to_owned()));
        let mut receipt = Arc::unwrap_or_clone(receipt);
        receipt.stages.push(Stage::new("receipt", started.elapsed()));
        let id = written.map_err(|reason| receipt.faults.push(Fault::new("receipt", reason))).ok();
        (receipt, id)
    }
}
