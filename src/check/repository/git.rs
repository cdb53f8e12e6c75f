//! Runs `git` without the user's configuration, so that its output is the same on every machine.

#![expect(clippy::disallowed_methods, reason = "this room is behind the I/O fence")]

use std::collections::{HashMap, HashSet};
use std::fmt::Display;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Output, Stdio};
use std::thread;

use super::working_tree::{History, WorkingTree};
use crate::check::CheckError;
use crate::core::text::words::words;
use crate::core::time::Timestamp;

/// Starts the line with a commit's time: no path starts with this byte.
const COMMIT: char = '\u{1}';
/// Settings for all questions, so that no answer depends on the user's own.
static SETTINGS: [&str; 7] = words(
    "core.quotepath=off core.fsmonitor=false core.attributesFile=/dev/null \
     log.showSignature=false log.follow=false diff.orderFile=/dev/null diff.relative=false",
);

impl WorkingTree {
    /// Makes sure that git answers. Returns whether it is installed.
    pub(super) fn reach_git(&mut self) -> Result<bool, CheckError> {
        let question = ["rev-parse", "--git-dir"];
        let mut output = match self.command(&question).output() {
            Ok(output) => output,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(failed(&question, error)),
        };
        let is_foreign =
            |output: &Output| String::from_utf8_lossy(&output.stderr).contains("dubious ownership");
        if is_foreign(&output) {
            self.trusted = trusted();
            output = self.run(&question)?;
        }
        if is_foreign(&output) {
            return Err(CheckError::Wrong(format!(
                "git does not trust this folder, which belongs to somebody else; if you do, \
                 run `git config --global --add safe.directory {}`",
                self.top.display()
            )));
        }
        succeeded(&question, output).map(|_| true)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        command.arg("--no-optional-locks").arg("-C").arg(&self.top);
        let trusted = self.trusted.iter().map(|folder| format!("safe.directory={folder}"));
        for setting in SETTINGS.map(str::to_owned).into_iter().chain(trusted) {
            command.args(["-c", &setting]);
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        command.args(arguments).env_clear().env("PATH", path).env("LC_ALL", "C");
        command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
        // Git would fetch the objects that a partial clone lacks from the network.
        command.env("GIT_NO_LAZY_FETCH", "1").env("GIT_TERMINAL_PROMPT", "0");
        command.stdin(Stdio::null()).stderr(Stdio::piped());
        command
    }

    fn run(&self, arguments: &[&str]) -> Result<Output, CheckError> {
        let output = self.command(arguments).output();
        output.map_err(|error| failed(arguments, error))
    }

    fn spawn(&self, arguments: &[&str], stdin: Stdio) -> io::Result<Running> {
        let mut command = self.command(arguments);
        command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().map(Running)
    }

    /// The output without the last line break; `None` if git fails.
    pub(super) fn query(&self, arguments: &[&str]) -> Result<Option<String>, CheckError> {
        let output = self.run(arguments)?;
        let text = String::from_utf8_lossy(&output.stdout).trim_end_matches('\n').to_owned();
        Ok(output.status.success().then_some(text))
    }

    /// The output of a command that must not fail.
    pub(super) fn output(&self, arguments: &[&str]) -> Result<Vec<u8>, CheckError> {
        succeeded(arguments, self.run(arguments)?)
    }

    /// The times of the last changes to files, up to a commit. Reads the history until it has seen
    /// all of the files.
    pub(crate) fn times(
        &self,
        commit: &str,
        wanted: &HashSet<&str>,
    ) -> Result<HashMap<String, Timestamp>, CheckError> {
        let mut times = HashMap::with_capacity(wanted.len());
        if wanted.is_empty() || self.history != History::Commits {
            return Ok(times);
        }
        let arguments =
            ["log", "-c", "-z", "--format=%x01%ct", "--name-only", "--no-renames", commit, "--"];
        let fail = |error: io::Error| failed(&arguments, error);
        let mut child = self.spawn(&arguments, Stdio::null()).map_err(fail)?;
        let Some(stdout) = child.0.stdout.take() else { return Ok(times) };
        let mut at = Timestamp::from_seconds(0);
        for entry in BufReader::new(stdout).split(0) {
            let entry = entry.map_err(fail)?;
            let entry = entry.strip_prefix(b"\n").unwrap_or(&entry);
            let Ok(text) = std::str::from_utf8(entry) else { continue };
            if let Some(seconds) = text.strip_prefix(COMMIT) {
                at = Timestamp::from_seconds(seconds.parse().unwrap_or_default());
            } else if wanted.contains(text) {
                times.entry(text.to_owned()).or_insert(at);
            }
            if times.len() == wanted.len() {
                break;
            }
        }
        Ok(times)
    }

    /// Reads blobs with one process; `None` for a blob that is too large.
    pub(crate) fn blobs(
        &self,
        blobs: &[&str],
        max_bytes: u64,
    ) -> Result<Vec<Option<Vec<u8>>>, CheckError> {
        if blobs.is_empty() {
            return Ok(Vec::new());
        }
        let arguments = ["cat-file", "--batch"];
        let fail = |error: io::Error| failed(&arguments, error);
        let mut child = self.spawn(&arguments, Stdio::piped()).map_err(fail)?;
        let (stdin, stdout) = (child.0.stdin.take(), child.0.stdout.take());
        let (Some(mut stdin), Some(stdout)) = (stdin, stdout) else { return Ok(Vec::new()) };
        let question: String = blobs.iter().map(|blob| format!("{blob}\n")).collect();
        thread::scope(|scope| {
            // Pipes have small buffers: writing everything before reading would block forever.
            scope.spawn(move || drop(stdin.write_all(question.as_bytes())));
            let mut answers = BufReader::new(stdout);
            let read_next = |_| {
                let mut about = String::new();
                answers.read_line(&mut about).map_err(fail)?;
                let size = about.trim_end().rsplit(' ').next().and_then(|size| size.parse().ok());
                if about.trim_end().ends_with(" missing") {
                    let message = "this clone is partial, and does not have all files of the revision that is compared with; \
                         `git diff REV...HEAD > /dev/null`, with that revision, fetches them";
                    return Err(CheckError::Failed(message.to_owned()));
                }
                let Some(size) = size else {
                    return Err(failed(&arguments, format!("it does not have {about}")));
                };
                let mut answer = answers.by_ref().take(size);
                let mut bytes = None;
                if size > max_bytes {
                    io::copy(&mut answer, &mut io::sink()).map_err(fail)?;
                } else {
                    let bytes = bytes.insert(Vec::new());
                    answer.read_to_end(bytes).map_err(fail)?;
                }
                answers.read_exact(&mut [0]).map_err(fail)?;
                Ok(bytes)
            };
            blobs.iter().map(read_next).collect()
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

fn succeeded(arguments: &[&str], output: Output) -> Result<Vec<u8>, CheckError> {
    match output.status.success() {
        true => Ok(output.stdout),
        false => Err(failed(arguments, String::from_utf8_lossy(&output.stderr))),
    }
}

fn failed(arguments: &[&str], message: impl Display) -> CheckError {
    let message = message.to_string();
    let message = Some(message.trim()).filter(|message| !message.is_empty());
    let message = message.unwrap_or("it does not say why");
    CheckError::Failed(format!("git {} failed: {message}", arguments[0]))
}

/// Splits the output at zero bytes. Skips names that are not UTF-8, which no address can contain.
pub(super) fn texts(output: &[u8]) -> impl Iterator<Item = &str> {
    let names = output.split(|&byte| byte == 0).filter_map(|name| std::str::from_utf8(name).ok());
    names.filter(|name| !name.is_empty())
}
