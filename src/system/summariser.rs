//! The summariser: a command that the user chose. It reads a question from standard input and
//! writes its answer to standard output.

use std::io;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::system::process::run;
use crate::system::process::run::{Leftovers, Limits, RunError};

const MAX_ANSWER_BYTES: u64 = 256 * 1024;
/// Set for the command and its children. If a host writes the summary, it runs our hooks, and those
/// must neither give a context to that session nor record anything about it.
const MARK: &str = "KGCTX_SUMMARISER";

/// Whether this process belongs to a session that only summarises another one.
pub fn is_at_work() -> bool {
    std::env::var_os(MARK).is_some()
}

/// Runs a command (the program, then its arguments) with a question and returns the answer. Kills
/// it with all its children when the time is over.
pub fn ask(command: &[String], question: &str, patience: Duration) -> Result<String, RunError> {
    let nothing = || RunError::Start(io::ErrorKind::InvalidInput.into());
    let (program, arguments) = command.split_first().ok_or_else(nothing)?;
    let mut command = Command::new(program);
    command.args(arguments).env(MARK, "1");
    let limits = Limits {
        until: Instant::now() + patience,
        max_bytes: MAX_ANSWER_BYTES,
        leftovers: Leftovers::Keep,
    };
    let answer = run::run(command, Some(question.to_owned()), limits)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    fn shell(script: &str, question: &str) -> Result<String, RunError> {
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
        let message = |result: Result<String, RunError>| result.unwrap_err().to_string();
        for command in [vec![], vec!["/none/summariser".to_owned()]] {
            let none = ask(&command, "", Duration::from_secs(1));
            assert!(message(none).starts_with("it cannot be started: "));
        }
        assert!(message(shell("echo half; exit 3", "")).ends_with("it ended with code 3"));
        assert!(message(shell("kill -9 $$", "")).ends_with("it ended with signal 9"));
        assert!(matches!(shell("yes", ""), Err(RunError::TooLong)));
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
            assert!(matches!(late, RunError::Late(_)), "{late}");
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
