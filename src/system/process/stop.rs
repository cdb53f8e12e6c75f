//! Somebody asks this process to stop: by Ctrl-C, or by a signal.

use std::io;

#[cfg(unix)]
use tokio::signal::unix::{Signal as Asked, SignalKind, signal};
#[cfg(windows)]
use tokio::signal::windows::{CtrlC as Asked, ctrl_c};

/// From its creation on, nothing of this ends the process by itself.
pub struct Stop {
    #[cfg(unix)]
    terminate: Asked,
    interrupt: Asked,
}

impl Stop {
    pub fn new() -> io::Result<Stop> {
        Ok(Stop {
            #[cfg(unix)]
            terminate: signal(SignalKind::terminate())?,
            #[cfg(unix)]
            interrupt: signal(SignalKind::interrupt())?,
            #[cfg(windows)]
            interrupt: ctrl_c()?,
        })
    }

    /// Waits until somebody asks.
    #[cfg(unix)]
    pub async fn asked(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }

    #[cfg(windows)]
    pub async fn asked(&mut self) {
        self.interrupt.recv().await;
    }
}
