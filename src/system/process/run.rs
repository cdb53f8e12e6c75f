//! A child: another program, run for what it says on standard output, and ended with everything that it started.

use std::io::{self, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use thiserror::Error;

#[cfg(unix)]
use crate::core::time_limits;
use crate::system::process::reaper;
use crate::system::within;

/// What a child may take, and what it may leave.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// When it has to be done.
    pub until: Instant,
    /// A longer answer is none.
    pub max_bytes: u64,
    /// What becomes of those that it started, when it ended well itself.
    pub leftovers: Leftovers,
}

/// What becomes of those that a child started and left behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leftovers {
    /// They are ended.
    Ended,
    /// It had its reasons.
    LeftAlone,
}

/// Why there is no answer.
#[derive(Debug, Error)]
pub enum ChildError {
    /// It could not be started.
    #[error("it cannot be started: {0}")]
    Start(io::Error),
    /// It was not done in time.
    #[error("it did not answer within {0:?}")]
    Late(Duration),
    /// It did not stop talking.
    #[error("its answer is too long")]
    TooLong,
    /// It failed.
    #[error("it failed with {0}")]
    Failed(ExitStatus),
    /// It could not be listened to.
    #[error("its answer cannot be read: {0}")]
    Read(#[from] io::Error),
}

/// Runs a command, with a question on its standard input if there is one, and returns all that it says. Whatever goes
/// wrong, nothing of it is left when this returns: neither itself, nor those that it started.
pub fn run(
    mut command: Command,
    question: Option<String>,
    limits: Limits,
) -> Result<Vec<u8>, ChildError> {
    let patience = limits.until.saturating_duration_since(Instant::now());
    if patience.is_zero() {
        return Err(ChildError::Late(patience));
    }
    command.stdin(if question.is_some() { Stdio::piped() } else { Stdio::null() });
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    #[cfg(unix)]
    reaper::ready();
    let child = command.spawn().map_err(ChildError::Start)?;
    let mut group = Group { child, is_reaped: false };
    #[cfg(unix)]
    if let Some(number) = group.number() {
        reaper::watched(number);
    }

    if let (Some(mut stdin), Some(question)) = (group.child.stdin.take(), question) {
        // Whoever knows enough, or has ended, need not hear all of it.
        thread::spawn(move || drop(stdin.write_all(question.as_bytes())));
    }
    let stdout = group.child.stdout.take();
    let answer = within::start(move || {
        let mut answer = Vec::new();
        let read = stdout?.take(limits.max_bytes.saturating_add(1)).read_to_end(&mut answer);
        Some(read.map(|_| answer))
    });
    let answer = answer.by(limits.until).flatten().ok_or(ChildError::Late(patience))??;
    if answer.len() as u64 > limits.max_bytes {
        return Err(ChildError::TooLong);
    }
    let ended_well = loop {
        match group.has_ended_well()? {
            Some(well) => break well,
            None if Instant::now() >= limits.until => {
                return Err(ChildError::Late(patience));
            }
            None => thread::sleep(time_limits::ANSWER_POLL),
        }
    };
    let is_left_alone = ended_well && limits.leftovers == Leftovers::LeftAlone;
    let status = if is_left_alone { group.reap()? } else { group.end()? };
    if status.success() { Ok(answer) } else { Err(ChildError::Failed(status)) }
}

/// A child and those that it started, all in one process group.
struct Group {
    child: Child,
    is_reaped: bool,
}

impl Group {
    /// Whether it ended, and with success. It is not reaped yet: until then nobody else can get the number of the group.
    #[cfg(unix)]
    fn has_ended_well(&self) -> io::Result<Option<bool>> {
        use rustix::process::{WaitId, WaitIdOptions, waitid};
        let how = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let Some(pid) = self.number() else { return Ok(Some(false)) };
        Ok(waitid(WaitId::Pid(pid), how)?.map(|status| status.exit_status() == Some(0)))
    }

    #[cfg(not(unix))]
    fn has_ended_well(&mut self) -> io::Result<Option<bool>> {
        Ok(self.child.try_wait()?.map(|status| status.success()))
    }

    #[cfg(unix)]
    fn number(&self) -> Option<rustix::process::Pid> {
        i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw)
    }

    /// Ends all of them.
    fn end(&mut self) -> io::Result<ExitStatus> {
        #[cfg(unix)]
        if let Some(group) = self.number() {
            // It may have ended just now.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        let _ = self.child.kill();
        self.reap()
    }

    fn reap(&mut self) -> io::Result<ExitStatus> {
        let status = self.child.wait()?;
        self.is_reaped = true;
        #[cfg(unix)]
        if let Some(number) = self.number() {
            reaper::released(number);
        }
        Ok(status)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.is_reaped {
            let _ = self.end();
        }
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, leftovers: Leftovers) -> Result<Vec<u8>, ChildError> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        let until = Instant::now() + Duration::from_secs(5);
        run(command, None, Limits { until, max_bytes: 1_000, leftovers })
    }

    #[test]
    fn those_left_behind_are_ended_or_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        for (leftovers, name) in [(Leftovers::Ended, "ended"), (Leftovers::LeftAlone, "alone")] {
            let file = folder.path().join(name);
            let script = format!("(sleep 0.3; echo x > '{}') >/dev/null & echo", file.display());
            assert_eq!(shell(&script, leftovers).unwrap(), b"\n");
            thread::sleep(Duration::from_millis(900));
            assert_eq!(file.exists(), leftovers == Leftovers::LeftAlone, "{name}");
        }
    }

    #[test]
    fn nothing_is_started_when_time_is_up() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("started");
        let mut command = Command::new("/usr/bin/touch");
        command.arg(&file);
        let limits =
            Limits { until: Instant::now(), max_bytes: 1_000, leftovers: Leftovers::Ended };
        assert!(matches!(run(command, None, limits), Err(ChildError::Late(Duration::ZERO))));
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
            leftovers: Leftovers::Ended,
        };
        assert!(matches!(run(command, None, limits), Err(ChildError::Late(_))));
        assert!(started.elapsed() < Duration::from_secs(5));
    }
}
