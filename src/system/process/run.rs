//! Runs another program for its standard output, and kills it with all its children if anything
//! fails.

use std::io::{self, Read, Write};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use thiserror::Error;

use crate::core::time_limits;
use crate::system::process::ending;
use crate::system::process::group::Group;
use crate::system::within;

/// No answer in text is longer.
const MAX_ANSWER_BYTES: u64 = 256 * 1024;

#[derive(Debug, Clone, Copy)]
pub struct Limits {
    pub until: Instant,
    /// A longer answer is an error.
    pub max_bytes: u64,
    pub leftovers: Leftovers,
}

/// What happens to processes that a successful program leaves behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leftovers {
    Kill,
    Keep,
}

#[derive(Debug, Error)]
pub enum RunError {
    #[error("it cannot be started: {0}")]
    Start(io::Error),
    #[error("it did not answer within {} s", .0.as_secs())]
    Late(Duration),
    #[error("its answer is too long")]
    TooLong,
    #[error("it ended with {}", described(*.0))]
    Failed(ExitStatus),
    #[error("its answer cannot be read: {0}")]
    Read(#[from] io::Error),
}

/// `code 3`, `signal 9`.
fn described(status: ExitStatus) -> String {
    match (status.code(), ending::signal(status)) {
        (Some(code), _) => format!("code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => status.to_string(),
    }
}

/// Runs a command (the program, then its arguments) with a question, and returns its answer as text.
pub fn answer(
    command: &[String],
    question: String,
    patience: Duration,
) -> Result<String, RunError> {
    let nothing = || RunError::Start(io::ErrorKind::InvalidInput.into());
    let (program, arguments) = command.split_first().ok_or_else(nothing)?;
    let mut command = Command::new(program);
    command.args(arguments);
    let (until, max_bytes) = (Instant::now() + patience, MAX_ANSWER_BYTES);
    let limits = Limits { until, max_bytes, leftovers: Leftovers::Keep };
    Ok(String::from_utf8_lossy(&run(command, Some(question), limits)?).into_owned())
}

/// Runs a command, with an optional question on its standard input, and returns its answer. After
/// an error, neither the program nor its children are left.
pub fn run(
    mut command: Command,
    question: Option<String>,
    limits: Limits,
) -> Result<Vec<u8>, RunError> {
    let patience = limits.until.saturating_duration_since(Instant::now());
    if patience.is_zero() {
        return Err(RunError::Late(patience));
    }
    command.stdin(if question.is_some() { Stdio::piped() } else { Stdio::null() });
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut group = Group::start(command).map_err(RunError::Start)?;

    if let (Some(mut stdin), Some(question)) = (group.child.stdin.take(), question) {
        // Fails if the program ends without reading everything, which is fine.
        thread::spawn(move || drop(stdin.write_all(question.as_bytes())));
    }
    let stdout = group.child.stdout.take();
    let answer = within::start(move || {
        let mut answer = Vec::new();
        let read = stdout?.take(limits.max_bytes.saturating_add(1)).read_to_end(&mut answer);
        Some(read.map(|_| answer))
    });
    let answer = answer.by(limits.until).flatten().ok_or(RunError::Late(patience))??;
    if answer.len() as u64 > limits.max_bytes {
        return Err(RunError::TooLong);
    }
    let ended_well = loop {
        match group.has_ended_well()? {
            Some(well) => break well,
            None if Instant::now() >= limits.until => return Err(RunError::Late(patience)),
            None => thread::sleep(time_limits::ANSWER_POLL),
        }
    };
    let is_left_alone = ended_well && limits.leftovers == Leftovers::Keep;
    let status = if is_left_alone { group.leave()? } else { group.kill()? };
    if status.success() { Ok(answer) } else { Err(RunError::Failed(status)) }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, leftovers: Leftovers) -> Result<Vec<u8>, RunError> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        let until = Instant::now() + Duration::from_secs(5);
        run(command, None, Limits { until, max_bytes: 1_000, leftovers })
    }

    #[test]
    fn those_left_behind_are_ended_or_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        for (leftovers, name) in [(Leftovers::Kill, "ended"), (Leftovers::Keep, "alone")] {
            let file = folder.path().join(name);
            let script = format!("(sleep 0.3; echo x > '{}') >/dev/null & echo", file.display());
            assert_eq!(shell(&script, leftovers).unwrap(), b"\n");
            thread::sleep(Duration::from_millis(900));
            assert_eq!(file.exists(), leftovers == Leftovers::Keep, "{name}");
        }
    }

    #[test]
    fn nothing_is_started_when_time_is_up() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("started");
        let mut command = Command::new("/usr/bin/touch");
        command.arg(&file);
        let limits = Limits { until: Instant::now(), max_bytes: 1_000, leftovers: Leftovers::Kill };
        assert!(matches!(run(command, None, limits), Err(RunError::Late(Duration::ZERO))));
        assert!(!file.exists());
    }

    #[test]
    fn one_that_has_said_everything_but_stays_is_late() {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "echo said; exec sleep 30 >/dev/null"]);
        let started = Instant::now();
        let limits = Limits {
            until: started + Duration::from_millis(200),
            max_bytes: 1_000,
            leftovers: Leftovers::Kill,
        };
        assert!(matches!(run(command, None, limits), Err(RunError::Late(_))));
        assert!(started.elapsed() < Duration::from_secs(5));
    }
}
