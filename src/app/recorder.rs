//! Writes a context's receipt, in a thread that opens the state while the context is being built.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use crate::core::context::receipt::{Fault, FaultSource, Receipt, Stage};
use crate::core::time_limits;
use crate::store::state::{State, Token};
use crate::store::unsaved_receipts;
use crate::workspace::Place;

/// Whether and how to record the receipt.
pub enum Recording {
    New,
    /// In this state, under this claim.
    UnderClaim(State, Token),
    /// Under this claim, of a context that does not go out unless its receipt is recorded.
    OrNotAtAll(State, Token),
    /// In a file, until the state takes it in.
    Unsaved,
    Off,
}

pub(super) struct Recorder {
    recording: Recording,
    writer: Option<Writer>,
}

struct Writer {
    receipts: Sender<Arc<Receipt>>,
    written: Receiver<Result<i64, String>>,
}

impl Recorder {
    pub(super) fn new(recording: Recording) -> Recorder {
        Recorder { recording, writer: None }
    }

    /// Starts the thread, if the place's settings allow a context. Without this call, nothing is
    /// recorded.
    pub(super) fn prepare(&mut self, place: &Place) {
        if self.writer.is_some() || !place.settings.enabled.value {
            return;
        }
        let recording = std::mem::replace(&mut self.recording, Recording::Off);
        if !matches!(recording, Recording::Off) {
            self.writer = Some(Writer::start(recording, place.directories.state.clone()));
        }
    }

    /// Whether a receipt will be recorded.
    pub(super) fn is_on(&self) -> bool {
        self.writer.is_some()
    }

    /// Records a receipt and returns its id. Gives up when the time is over: a context without a
    /// receipt is better than none.
    pub(super) fn record(self, receipt: Receipt, left: Duration) -> (Receipt, Option<i64>) {
        let Some(writer) = self.writer else { return (receipt, None) };
        let started = Instant::now();
        let receipt = Arc::new(receipt);
        let _ = writer.receipts.send(Arc::clone(&receipt));
        let written = writer.written.recv_timeout(left);
        let written = written.unwrap_or_else(|_| Err("it could not be written in time".to_owned()));
        let mut receipt = Arc::unwrap_or_clone(receipt);
        receipt.stages.push(Stage::new("receipt", started.elapsed()));
        let id = written
            .map_err(|reason| receipt.faults.push(Fault::new(FaultSource::Receipt, reason)))
            .ok();
        (receipt, id)
    }
}

impl Writer {
    fn start(recording: Recording, folder: PathBuf) -> Writer {
        let (receipts, to_write) = mpsc::channel::<Arc<Receipt>>();
        let (sender, written) = mpsc::channel();
        thread::spawn(move || {
            let is_kept = !matches!(recording, Recording::OrNotAtAll(..));
            let (mut state, claim) = match recording {
                Recording::UnderClaim(state, token) | Recording::OrNotAtAll(state, token) => {
                    (Ok(state), Some(token))
                }
                Recording::Unsaved => (Err("the state could not store it".to_owned()), None),
                Recording::New | Recording::Off => {
                    let state = State::open(&folder, time_limits::RECEIPT_STATE);
                    (state.map_err(|error| error.to_string()), None)
                }
            };
            let Ok(receipt) = to_write.recv() else { return };
            let written = state.as_mut().map_err(|reason| reason.clone()).and_then(|state| {
                // Earlier ones first. If that fails, they wait on.
                let _ = unsaved_receipts::take_in(&folder, state);
                state.record(&receipt, claim).map_err(|error| error.to_string())
            });
            if written.is_err() && is_kept {
                // Without the file there is nothing to explain; the session has its context all the same.
                let _ = unsaved_receipts::keep(&folder, &receipt);
            }
            // Drops the receipt first, so that the caller need not copy it; sends the result before
            // the database closes, which takes a while.
            drop(receipt);
            let _ = sender.send(written);
        });
        Writer { receipts, written }
    }
}
