//! The summariser: a command that the user chose. It reads a question from standard input and
//! writes its answer to standard output.

use std::io;
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use thiserror::Error;

use crate::system::process::run;
use crate::system::process::run::{Leftovers, Limits, RunError};

const MAX_ANSWER_BYTES: u64 = 256 * 1024;
/// Set for the command and its children. If a host writes the summary, it runs our hooks, and those
/// must neither give a context to that session nor record anything about it.
const MARK: &str = "KGCTX_SUMMARISER";

#[derive(Debug, Error)]
pub enum SummariserError {
    #[error("no summariser is named")]
    NoCommand,
    #[error("the summariser {program} cannot be started: {cause}")]
    Start { program: String, cause: io::Error },
    #[error("the summariser did not answer within {} s", .0.as_secs())]
    Late(Duration),
    #[error("the summariser failed with {0}")]
    Failed(ExitStatus),
    #[error("the summariser's answer is longer than {} KiB", MAX_ANSWER_BYTES / 1024)]
    TooLong,
    #[error("the summariser's answer cannot be read: {0}")]
    Read(#[from] io::Error),
}

/// Whether this process belongs to a session that only summarises another one.
pub fn is_at_work() -> bool {
    std::env::var_os(MARK).is_some()
}

/// Runs a command (the program, then its arguments) with a question and returns the answer. Kills
/// it with all its children when the time is over.
pub fn ask(
    command: &[String],
    question: &str,
    patience: Duration,
) -> Result<String, SummariserError> {
    let (program, arguments) = command.split_first().ok_or(SummariserError::NoCommand)?;
    let mut command = Command::new(program);
    command.args(arguments).env(MARK, "1");
    let limits = Limits {
        until: Instant::now() + patience,
        max_bytes: MAX_ANSWER_BYTES,
        leftovers: Leftovers::Keep,
    };
    let answer = run::run(command, Some(question.to_owned()), limits);
    answer.map(|answer| String::from_utf8_lossy(&answer).into_owned()).map_err(
        |error| match error {
            RunError::Start(cause) => SummariserError::Start { program: program.clone(), cause },
            RunError::Late(_) => SummariserError::Late(patience),
            RunError::TooLong => SummariserError::TooLong,
            RunError::Failed(status) => SummariserError::Failed(status),
            RunError::Read(cause) => SummariserError::Read(cause),
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    fn shell(script: &str, question: &str) -> Result<String, SummariserError> {
        let command = ["/bin/sh", "-c", script].map(str::to_owned);
        ask(&command, question, Duration::from_secs(5))
    }

    #[test]
    fn a_command_is_given_the_question_and_its_answer_comes_back() {
        let question = "é\n".repeat(200_000);
        assert_eq!(shell("wc -c", &question).unwrap().trim(), "600000");
        assert_eq!(shell("echo first; cat >/dev/null; echo é", "q").unwrap(), "first\né\n");
        // A command can answer without reading the question.
        assert_eq!(shell("echo known", &question).unwrap(), "known\n");
        assert_eq!(shell(&format!("echo ${MARK}"), "").unwrap(), "1\n");
        assert_eq!(shell("printf '\\377'", "").unwrap(), "\u{fffd}");
    }

    #[test]
    fn h_0_18_what_goes_wrong_is_a_value() {
        // H-0.18
        let message = |result: Result<String, SummariserError>| result.unwrap_err().to_string();
        assert_eq!(message(ask(&[], "", Duration::ZERO)), "no summariser is named");
        let none = ask(&["/none/summariser".to_owned()], "", Duration::from_secs(1));
        assert!(message(none).starts_with("the summariser /none/summariser cannot be started: "));
        assert!(message(shell("echo half; exit 3", "")).contains("exit status: 3"));
        assert!(message(shell("kill -9 $$", "")).contains("signal: 9"));
        assert!(matches!(shell("yes", ""), Err(SummariserError::TooLong)));
        let just = shell("head -c 262144 /dev/zero", "").unwrap();
        assert_eq!(just.len() as u64, MAX_ANSWER_BYTES);
    }

    #[test]
    fn when_time_is_up_nobody_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let alive = folder.path().join("alive");
        // Its child holds the pipe open, and writes a sign of life regularly.
        for ending in ["wait", "exit 0"] {
            let script = format!(
                "(while :; do echo x >> '{}'; sleep 0.02; done) & {ending}",
                alive.display()
            );
            let command = ["/bin/sh", "-c", &script].map(str::to_owned);
            let start = Instant::now();
            let late = ask(&command, "", Duration::from_millis(300)).unwrap_err();
            assert!(matches!(late, SummariserError::Late(_)), "{late}");
            assert!(start.elapsed() < Duration::from_secs(3));
            let size = || std::fs::metadata(&alive).unwrap().len();
            thread::sleep(Duration::from_millis(100));
            let then = size();
            assert!(then > 0);
            thread::sleep(Duration::from_millis(200));
            assert_eq!(size(), then, "{ending}: it is still there");
        }
    }
}
