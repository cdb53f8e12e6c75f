//! `kgctx hook`: the one command that must never disturb who calls it. It ends with 0, says nothing on standard error, and
//! answers in time.

use std::io::{self, Read};
use std::panic;
use std::process::ExitCode;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::app::hook::{self, Answer, Caller};
use crate::cli::args::HookArgs;
use crate::cli::screen::Screen;

/// What it takes to print the answer, on a busy machine.
const LAST_STEPS: Duration = Duration::from_millis(50);
/// No question is longer: a session's messages are not sent, only what concerns us of them.
const LONGEST_QUESTION: u64 = 4 * 1024 * 1024;

pub(super) fn run(args: &HookArgs, mut screen: Screen) -> ExitCode {
    // What goes wrong in this program is an answer to the host, not a message on somebody's terminal.
    panic::set_hook(Box::new(|_| {}));
    let HookArgs::Opencode = args;
    let until = Instant::now() + hook::LIMIT;
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut question = Vec::new();
        let answer = match io::stdin().take(LONGEST_QUESTION).read_to_end(&mut question) {
            Ok(_) => ask_the_service(&question)
                .unwrap_or_else(|| hook::opencode(&question, &alone(until))),
            Err(error) => Answer::none(error),
        };
        // Nobody listens any more to an answer that comes too late.
        let _ = sender.send(answer);
    });
    let left = until.saturating_duration_since(Instant::now());
    let answer = receiver.recv_timeout(left).unwrap_or_else(|_| {
        Answer::none("no answer in time, or a fault of this program; `kgctx doctor` may tell more")
    });
    if let Ok(json) = answer.to_json() {
        screen.line(json);
    }
    screen.flush();
    ExitCode::SUCCESS
}

/// A process that was started for this one question, and has a moment left to print its answer.
fn alone(until: Instant) -> Caller<'static> {
    Caller { environment: None, warm: None, until: until - LAST_STEPS }
}

/// The service's answer, where there is one.
fn ask_the_service(question: &[u8]) -> Option<Answer> {
    #[cfg(unix)]
    return crate::service::hook(question);
    #[cfg(not(unix))]
    None
}
