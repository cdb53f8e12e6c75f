//! Runs `git` without the user's configuration, so that its output is the same on every machine.

#![expect(clippy::disallowed_methods, reason = "this room is behind the I/O fence")]

use std::collections::{HashMap, HashSet};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;

use super::error::RepositoryError;
use crate::core::time::Timestamp;

/// Starts the line with a commit's time: no path starts with this byte.
const COMMIT: u8 = 1;

#[derive(Debug)]
pub(super) struct Git {
    top: PathBuf,
    /// Folders of other users that this user trusts. This is the only user setting: it decides
    /// whether git answers, not what it answers.
    trusted: Vec<String>,
}

impl Git {
    /// Finds git for a working tree; `None` if git is not installed.
    pub(super) fn at(top: &Path) -> Result<Option<Git>, RepositoryError> {
        let mut git = Git { top: top.to_path_buf(), trusted: Vec::new() };
        for is_last in [false, true] {
            let question = ["rev-parse", "--git-dir"];
            let output = match git.command(&question).output() {
                Ok(output) => output,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(failed(&question, &error.to_string())),
            };
            let message = String::from_utf8_lossy(&output.stderr).into_owned();
            match output.status.success() {
                true => break,
                false if !message.contains("dubious ownership") => {
                    return Err(failed(&question, &message));
                }
                false if is_last => return Err(RepositoryError::NotTrusted { top: git.top }),
                false => git.trusted = trusted(),
            }
        }
        Ok(Some(git))
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        command.arg("--no-optional-locks").arg("-C").arg(&self.top);
        for setting in [
            "core.quotepath=off",
            "core.fsmonitor=false",
            "core.attributesFile=/dev/null",
            "log.showSignature=false",
            "log.follow=false",
            "diff.orderFile=/dev/null",
            "diff.relative=false",
        ] {
            command.args(["-c", setting]);
        }
        for folder in &self.trusted {
            command.arg("-c").arg(format!("safe.directory={folder}"));
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        command.args(arguments).env_clear().env("PATH", path).env("LC_ALL", "C");
        command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
        // Git would fetch the objects that a partial clone lacks from the network.
        command.env("GIT_NO_LAZY_FETCH", "1").env("GIT_TERMINAL_PROMPT", "0");
        command.stdin(Stdio::null()).stderr(Stdio::piped());
        command
    }

    fn run(&self, arguments: &[&str]) -> Result<Output, RepositoryError> {
        let output = self.command(arguments).output();
        output.map_err(|error| failed(arguments, &error.to_string()))
    }

    fn spawn(&self, arguments: &[&str], stdin: Stdio) -> io::Result<Running> {
        let mut command = self.command(arguments);
        command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().map(Running)
    }

    /// The output without the last line break; `None` if git fails.
    pub(super) fn query(&self, arguments: &[&str]) -> Result<Option<String>, RepositoryError> {
        let output = self.run(arguments)?;
        let text = String::from_utf8_lossy(&output.stdout).trim_end_matches('\n').to_owned();
        Ok(output.status.success().then_some(text))
    }

    /// The output of a command that must not fail.
    pub(super) fn output(&self, arguments: &[&str]) -> Result<Vec<u8>, RepositoryError> {
        let output = self.run(arguments)?;
        match output.status.success() {
            true => Ok(output.stdout),
            false => Err(failed(arguments, &String::from_utf8_lossy(&output.stderr))),
        }
    }

    /// The times of the last changes to files, up to a commit. Reads the history until it has seen
    /// all of the files.
    pub(super) fn times(
        &self,
        commit: &str,
        wanted: &HashSet<&str>,
    ) -> Result<HashMap<String, Timestamp>, RepositoryError> {
        let mut times = HashMap::with_capacity(wanted.len());
        if wanted.is_empty() {
            return Ok(times);
        }
        let arguments =
            ["log", "-c", "-z", "--format=%x01%ct", "--name-only", "--no-renames", commit, "--"];
        let fail = |error: io::Error| failed(&arguments, &error.to_string());
        let mut child = self.spawn(&arguments, Stdio::null()).map_err(fail)?;
        let Some(stdout) = child.0.stdout.take() else { return Ok(times) };
        let mut at = Timestamp::from_seconds(0);
        let mut lines = BufReader::new(stdout);
        let mut line = Vec::new();
        while times.len() < wanted.len() {
            line.clear();
            if lines.read_until(0, &mut line).map_err(fail)? == 0 {
                break;
            }
            let entry = line.strip_suffix(b"\0").unwrap_or(&line);
            let entry = entry.strip_prefix(b"\n").unwrap_or(entry);
            let Ok(text) = std::str::from_utf8(entry) else { continue };
            match text.as_bytes() {
                [COMMIT, ..] => at = Timestamp::from_seconds(text[1..].parse().unwrap_or_default()),
                _ if wanted.contains(text) && !times.contains_key(text) => {
                    times.insert(text.to_owned(), at);
                }
                _ => {}
            }
        }
        Ok(times)
    }

    /// Reads blobs with one process. Skips blobs that are too large.
    pub(super) fn blobs(
        &self,
        blobs: &[&str],
        max_bytes: u64,
        mut take: impl FnMut(usize, Vec<u8>),
    ) -> Result<(), RepositoryError> {
        let arguments = ["cat-file", "--batch"];
        let fail = |error: io::Error| failed(&arguments, &error.to_string());
        let mut child = self.spawn(&arguments, Stdio::piped()).map_err(fail)?;
        let (stdin, stdout) = (child.0.stdin.take(), child.0.stdout.take());
        let (Some(mut stdin), Some(stdout)) = (stdin, stdout) else { return Ok(()) };
        let question: String = blobs.iter().map(|blob| format!("{blob}\n")).collect();
        thread::scope(|scope| {
            // Pipes have small buffers: writing everything before reading would block forever.
            scope.spawn(move || drop(stdin.write_all(question.as_bytes())));
            let mut answers = BufReader::new(stdout);
            for n in 0..blobs.len() {
                let mut about = String::new();
                answers.read_line(&mut about).map_err(fail)?;
                let size = about.trim_end().rsplit(' ').next().and_then(|size| size.parse().ok());
                if about.trim_end().ends_with(" missing") {
                    return Err(RepositoryError::Partial);
                }
                let Some(size) = size else {
                    return Err(failed(&arguments, &format!("it does not have {about}")));
                };
                let mut answer = answers.by_ref().take(size);
                if size > max_bytes {
                    io::copy(&mut answer, &mut io::sink()).map_err(fail)?;
                } else {
                    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
                    answer.read_to_end(&mut bytes).map_err(fail)?;
                    take(n, bytes);
                }
                answers.read_exact(&mut [0]).map_err(fail)?;
            }
            Ok(())
        })
    }
}

/// A process that dropping kills.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn trusted() -> Vec<String> {
    let question = ["config", "--null", "--get-all", "safe.directory"];
    // Run in the root folder: a repository must not declare itself trusted.
    let output = Command::new("git").args(question).current_dir("/").stdin(Stdio::null()).output();
    let output = output.map(|output| output.stdout).unwrap_or_default();
    texts(&output).map(str::to_owned).collect()
}

fn failed(arguments: &[&str], message: &str) -> RepositoryError {
    let message = message.trim();
    let message = if message.is_empty() { "it does not say why" } else { message };
    RepositoryError::Git {
        command: arguments.first().copied().unwrap_or_default().to_owned(),
        message: message.to_owned(),
    }
}

/// Splits the output at zero bytes. Skips names that are not UTF-8, which no address can contain.
pub(super) fn texts(output: &[u8]) -> impl Iterator<Item = &str> {
    let names = output.split(|&byte| byte == 0).filter_map(|name| std::str::from_utf8(name).ok());
    names.filter(|name| !name.is_empty())
}
