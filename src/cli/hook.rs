//! `kgctx hook`: the one command that must never disturb who calls it. It ends with 0, says nothing on standard error, and
//! answers in time.

use std::io::{self, Read};
use std::panic;
use std::process::ExitCode;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::app::hook::{self, Answer, Caller, Underway};
use crate::cli::args::HookArgs;
use crate::cli::screen::Screen;

/// What it takes to print the answer, on a busy machine.
const LAST_STEPS: Duration = Duration::from_millis(50);
/// No question is longer: a session's messages are not sent, only what concerns us of them.
const LONGEST_QUESTION: u64 = 4 * 1024 * 1024;

pub(super) fn run(args: &HookArgs, mut screen: Screen) -> ExitCode {
    // What goes wrong in this program is an answer to the host, not a message on somebody's terminal.
    panic::set_hook(Box::new(|_| {}));
    let until = Instant::now() + hook::LIMIT;
    // A session that only sums up another one is given nothing, and leaves nothing.
    let is_summariser = hook::is_summariser();
    match args {
        HookArgs::Opencode if is_summariser => {
            answered(&Answer::none("this session sums up another one"), &mut screen);
        }
        HookArgs::ClaudeCode if is_summariser => {}
        HookArgs::Amplifier if is_summariser => {
            screen.line(hook::go_on());
            screen.flush();
        }
        HookArgs::Opencode => opencode(until, &mut screen),
        HookArgs::ClaudeCode => direct(until, hook::claude_code, String::new(), &mut screen),
        HookArgs::Amplifier => direct(until, hook::amplifier, hook::go_on(), &mut screen),
    }
    ExitCode::SUCCESS
}

fn opencode(until: Instant, screen: &mut Screen) {
    let answer = in_time(until, move |question| match question {
        Ok(question) => ask_the_service(&question)
            .unwrap_or_else(|| hook::opencode(&question, &Caller::alone(until - LAST_STEPS))),
        Err(error) => Answer::none(error),
    });
    let answer = answer.unwrap_or_else(|| {
        Answer::none("no answer in time, or a fault of this program; `kgctx doctor` may tell more")
    });
    answered(&answer, screen);
}

fn answered(answer: &Answer, screen: &mut Screen) {
    if let Ok(json) = answer.to_json() {
        screen.line(json);
    }
    screen.flush();
}

/// Answers a host that takes the context from standard output: it is delivered when it is written.
fn direct(
    until: Instant,
    answer: fn(&[u8], Instant) -> Option<Underway>,
    nothing: String,
    screen: &mut Screen,
) {
    let answer = in_time(until, move |question| answer(&question.ok()?, until - LAST_STEPS));
    let Some(underway) = answer.flatten() else {
        if !nothing.is_empty() {
            screen.line(nothing);
            screen.flush();
        }
        return;
    };
    screen.line(&underway.text);
    match screen.written() {
        Ok(()) => underway.delivered(),
        Err(_) => underway.not_delivered(),
    }
}

/// Reads the question and works out the answer, in a thread that nobody waits for when time is up.
fn in_time<T: Send + 'static>(
    until: Instant,
    work: impl FnOnce(io::Result<Vec<u8>>) -> T + Send + 'static,
) -> Option<T> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut question = Vec::new();
        let read = io::stdin().take(LONGEST_QUESTION).read_to_end(&mut question);
        // Nobody listens any more to an answer that comes too late.
        let _ = sender.send(work(read.map(|_| question)));
    });
    receiver.recv_timeout(until.saturating_duration_since(Instant::now())).ok()
}

/// The service's answer, where there is one.
fn ask_the_service(question: &[u8]) -> Option<Answer> {
    #[cfg(unix)]
    return crate::service::hook(question);
    #[cfg(not(unix))]
    None
}
