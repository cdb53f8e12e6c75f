//! The terminal of this process: remembered, and restored after a program that left it in disorder.

use std::io::{self, IsTerminal, stdin, stdout};
use std::time::Duration;

use rustix::fs::fstat;
use rustix::process::getpgrp;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr};

use crate::system::clock;

/// Leaves the second screen, shows the cursor, and ends reports of the mouse, of the focus and of pasted text.
const ORDER: &[u8] = b"\x1b[?1049l\x1b[?25h\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1004l\x1b[?2004l\x1b[0m\r\n";

/// How a terminal was set.
pub struct Terminal {
    attributes: Termios,
}

impl Terminal {
    /// The terminal in which this process runs; `None` if it reads from elsewhere, or writes there: another program in a
    /// pipe may have set it.
    pub fn of_process() -> Option<Terminal> {
        let is_there = stdin().is_terminal() && stdout().is_terminal();
        let attributes = is_there.then(|| tcgetattr(stdin()).ok()).flatten()?;
        Some(Terminal { attributes })
    }

    /// Sets the terminal as it was. `is_killed`: the program in it could not leave it in order.
    pub fn restore(&self, is_killed: bool) {
        // In the background this would stop the process, and the terminal is in use by another one.
        if tcgetpgrp(stdin()).ok() != Some(getpgrp()) {
            return;
        }
        // A terminal that is gone needs no order.
        let _ = tcsetattr(stdin(), OptionalActions::Now, &self.attributes);
        if is_killed {
            let _ = write_all(ORDER);
        }
    }

    /// The time since the program in it last read a key. The system tells it with a precision of eight seconds.
    pub fn untouched(&self) -> Option<Duration> {
        let seconds = fstat(stdin()).ok()?.st_atime;
        let ms = clock::now_ms().saturating_sub(seconds.saturating_mul(1_000));
        u64::try_from(ms).ok().map(Duration::from_millis)
    }
}

fn write_all(bytes: &[u8]) -> io::Result<()> {
    use std::io::Write;
    let mut stdout = stdout().lock();
    stdout.write_all(bytes)?;
    stdout.flush()
}
