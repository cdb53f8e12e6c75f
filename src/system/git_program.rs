//! The program `git`, run without the user's configuration, so that its output is the same on every machine, and without
//! the programs that a repository's own configuration names: whoever made the folder must not choose what is run. Only the
//! user's settings for trusted folders and for the ends of lines apply.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Instant;

use thiserror::Error;

use crate::core::text::words::words;
use crate::core::time_limits;
use crate::system::process::ending;
use crate::system::within::{self, Started};

/// Settings for all questions, so that no answer depends on the user's own.
static SETTINGS: [&str; 8] = words(
    "core.quotepath=off core.fsmonitor=false core.hooksPath=/dev/null core.attributesFile=/dev/null \
     log.showSignature=false log.follow=false diff.orderFile=/dev/null diff.relative=false",
);

/// The number of parts of an output that may wait to be handled.
const PARTS_AHEAD: usize = 1_024;

#[derive(Debug, Error)]
pub enum GitError {
    #[error(
        "git does not trust this folder, which belongs to another user; if you do, run `git config --global --add \
        safe.directory {}`", .0.display()
    )]
    Foreign(PathBuf),
    #[error("git {command} failed: {reason}")]
    Failed { command: String, reason: String },
    #[error("git {command} did not answer in time")]
    Late { command: String },
}

impl GitError {
    pub(crate) fn new(arguments: &[&str], reason: &str) -> GitError {
        let reason = Some(reason.trim()).filter(|reason| !reason.is_empty());
        GitError::Failed {
            command: arguments[0].to_owned(),
            reason: reason.unwrap_or("it does not say why").to_owned(),
        }
    }

    /// Why git ended, in its own words if it has some.
    fn ended(arguments: &[&str], status: ExitStatus, complaint: &[u8]) -> GitError {
        let complaint = String::from_utf8_lossy(complaint);
        match ending::signal(status).filter(|_| complaint.trim().is_empty()) {
            Some(signal) => GitError::new(arguments, &format!("signal {signal} ended it")),
            None => GitError::new(arguments, &complaint),
        }
    }

    fn io<'a>(arguments: &'a [&'a str]) -> impl Fn(io::Error) -> GitError + 'a {
        |error| match error.kind() {
            io::ErrorKind::TimedOut => GitError::Late { command: arguments[0].to_owned() },
            _ => GitError::new(arguments, &error.to_string()),
        }
    }
}

/// Git in a folder.
#[derive(Debug, Default)]
pub(crate) struct GitProgram {
    pub(crate) folder: PathBuf,
    /// Folders of other users that this user trusts: whether git answers.
    trusted: Vec<String>,
    /// The user's settings for the ends of lines, without which every file of a checkout seems to be changed.
    line_ends: Vec<String>,
    /// Settings that keep the repository's filters from running.
    without_filters: Vec<(String, &'static str)>,
    /// When all answers must be there. A process that has not ended by then is killed.
    until: Option<Instant>,
}

/// A file's content; a large file is not read, or not to its end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum BlobAnswer {
    Content {
        bytes: Vec<u8>,
        is_whole: bool,
    },
    /// A partial clone lacks it.
    Missing,
}

impl GitProgram {
    /// Makes sure that git answers; `None` if it is not installed. All of its answers must be there in time, if there is a
    /// limit.
    pub(crate) fn find(
        folder: PathBuf,
        until: Option<Instant>,
    ) -> Result<Option<GitProgram>, GitError> {
        let mut git = GitProgram { folder, until, ..GitProgram::default() };
        let question = ["rev-parse", "--git-dir"];
        let mut output = match output_by(&mut git.command(&question), until) {
            Ok(output) => output,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(GitError::io(&question)(error)),
        };
        let is_foreign =
            |output: &Output| String::from_utf8_lossy(&output.stderr).contains("dubious ownership");
        if is_foreign(&output) {
            git.trusted = trusted(until)?;
            output = git.run(&question)?;
        }
        if is_foreign(&output) {
            return Err(GitError::Foreign(git.folder));
        }
        succeeded(&question, output)?;
        let names = git.query(&["config", "--null", "--name-only", "--list"])?.unwrap_or_default();
        git.without_filters = without_filters(&names);
        git.line_ends = line_ends(&names, until)?;
        Ok(Some(git))
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        command.arg("--no-optional-locks").arg("-C").arg(&self.folder);
        let trusted = self.trusted.iter().map(|folder| format!("safe.directory={folder}"));
        let own = trusted.chain(self.line_ends.iter().cloned());
        for setting in SETTINGS.map(str::to_owned).into_iter().chain(own) {
            command.args(["-c", &setting]);
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        command.args(arguments).env_clear().env("PATH", path).env("LC_ALL", "C");
        command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
        // Git would fetch the objects that a partial clone lacks from the network.
        command.env("GIT_NO_LAZY_FETCH", "1").env("GIT_TERMINAL_PROMPT", "0");
        // Versions of git that do not know the first of these obey this one; it overrules `protocol.allow` of the repository.
        command.env("GIT_ALLOW_PROTOCOL", "none");
        // Not as arguments: the name of a filter may contain `=`.
        command.env("GIT_CONFIG_COUNT", self.without_filters.len().to_string());
        for (n, (key, value)) in self.without_filters.iter().enumerate() {
            command.env(format!("GIT_CONFIG_KEY_{n}"), key);
            command.env(format!("GIT_CONFIG_VALUE_{n}"), value);
        }
        command.stdin(Stdio::null()).stderr(Stdio::piped());
        command
    }

    fn run(&self, arguments: &[&str]) -> Result<Output, GitError> {
        output_by(&mut self.command(arguments), self.until).map_err(GitError::io(arguments))
    }

    fn spawn(
        &self,
        arguments: &[&str],
        (stdin, stderr): (Stdio, Stdio),
    ) -> Result<Running, GitError> {
        let mut command = self.command(arguments);
        command.stdin(stdin).stdout(Stdio::piped()).stderr(stderr);
        command.spawn().map(Running).map_err(GitError::io(arguments))
    }

    /// The output without the last line break; `None` if git fails.
    pub(crate) fn query(&self, arguments: &[&str]) -> Result<Option<String>, GitError> {
        let output = self.run(arguments)?;
        let text = String::from_utf8_lossy(&output.stdout).trim_end_matches('\n').to_owned();
        Ok(output.status.success().then_some(text))
    }

    /// The output of a command that must not fail.
    pub(crate) fn output(&self, arguments: &[&str]) -> Result<Vec<u8>, GitError> {
        succeeded(arguments, self.run(arguments)?)
    }

    /// Calls `each` with the parts of an output that zero bytes separate, until it returns false. Returns false if the
    /// time was over before.
    pub(crate) fn each_part(
        &self,
        arguments: &[&str],
        mut each: impl FnMut(&[u8]) -> bool,
    ) -> Result<bool, GitError> {
        let mut child = self.spawn(arguments, (Stdio::null(), Stdio::piped()))?;
        let complaint = read_to_end(child.0.stderr.take());
        let Some(stdout) = child.0.stdout.take() else { return Ok(true) };
        let mut parts = BufReader::new(stdout).split(0);
        let (sender, received) = mpsc::sync_channel(PARTS_AHEAD);
        thread::spawn(move || parts.try_for_each(|part| sender.send(part.ok()?).ok()));
        loop {
            let part = match self.until {
                Some(until) => {
                    received.recv_timeout(until.saturating_duration_since(Instant::now()))
                }
                None => received.recv().map_err(RecvTimeoutError::from),
            };
            match part {
                Ok(part) if each(&part) => {}
                Ok(_) => return Ok(true),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => return Ok(false),
            }
        }
        // An output can also end because git failed.
        match child.ended(self.until).map_err(GitError::io(arguments)) {
            Ok(status) if status.success() => Ok(true),
            Ok(status) => {
                let complaint = by(complaint, self.until).unwrap_or_default();
                Err(GitError::ended(arguments, status, &complaint))
            }
            Err(GitError::Late { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Starts a process that reads blobs.
    pub(crate) fn blobs(&self, max_bytes: u64) -> Result<BlobReader, GitError> {
        let pipes = (Stdio::piped(), Stdio::null());
        let mut child = self.spawn(&BlobReader::COMMAND, pipes)?;
        let (stdin, stdout) = (child.0.stdin.take(), child.0.stdout.take());
        match stdin.zip(stdout) {
            Some((questions, answers)) => {
                let answers = BufReader::new(answers);
                Ok(BlobReader { questions: Some(questions), answers, max_bytes, _child: child })
            }
            None => Err(GitError::new(&BlobReader::COMMAND, "it has no pipes")),
        }
    }
}

/// Reads blobs with one process.
pub(crate) struct BlobReader {
    questions: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    max_bytes: u64,
    _child: Running,
}

impl BlobReader {
    const COMMAND: [&str; 2] = ["cat-file", "--batch"];

    pub(crate) fn read(&mut self, blob: &str) -> Result<BlobAnswer, GitError> {
        if let Some(questions) = &mut self.questions {
            let asked = writeln!(questions, "{blob}").and_then(|()| questions.flush());
            asked.map_err(GitError::io(&BlobReader::COMMAND))?;
        }
        self.answer()
    }

    /// Reads many blobs, in their order.
    pub(crate) fn read_all(mut self, blobs: &[&str]) -> Result<Vec<BlobAnswer>, GitError> {
        let questions: String = blobs.iter().map(|blob| format!("{blob}\n")).collect();
        let stdin = self.questions.take();
        thread::scope(|scope| {
            // Pipes have small buffers: writing everything before reading would block forever.
            scope.spawn(move || stdin.map(|mut stdin| stdin.write_all(questions.as_bytes())));
            blobs.iter().map(|_| self.answer()).collect()
        })
    }

    fn answer(&mut self) -> Result<BlobAnswer, GitError> {
        let fail = GitError::io(&BlobReader::COMMAND);
        let mut about = String::new();
        self.answers.read_line(&mut about).map_err(&fail)?;
        let about = about.trim_end();
        if about.ends_with(" missing") {
            return Ok(BlobAnswer::Missing);
        }
        let size: Option<u64> = about.rsplit(' ').next().and_then(|size| size.parse().ok());
        let Some(size) = size else {
            let reason = format!("it does not have {about}");
            return Err(GitError::new(&BlobReader::COMMAND, &reason));
        };
        let mut bytes = Vec::new();
        let mut content = self.answers.by_ref().take(size);
        content.by_ref().take(self.max_bytes).read_to_end(&mut bytes).map_err(&fail)?;
        io::copy(&mut content, &mut io::sink()).map_err(&fail)?;
        self.answers.read_exact(&mut [0]).map_err(&fail)?;
        Ok(BlobAnswer::Content { is_whole: size <= self.max_bytes, bytes })
    }
}

/// A process that dropping kills.
#[derive(Debug)]
struct Running(Child);

impl Running {
    /// Waits for its end.
    fn ended(&mut self, until: Option<Instant>) -> io::Result<ExitStatus> {
        let Some(until) = until else { return self.0.wait() };
        loop {
            match self.0.try_wait()? {
                Some(status) => return Ok(status),
                None if Instant::now() >= until => return Err(io::ErrorKind::TimedOut.into()),
                None => thread::sleep(time_limits::ANSWER_POLL),
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs a command to its end. Kills it when the time is over.
fn output_by(command: &mut Command, until: Option<Instant>) -> io::Result<Output> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map(Running)?;
    let (stdout, stderr) = (read_to_end(child.0.stdout.take()), read_to_end(child.0.stderr.take()));
    let late = || io::Error::from(io::ErrorKind::TimedOut);
    let stdout = by(stdout, until).ok_or_else(late)?;
    let stderr = by(stderr, until).ok_or_else(late)?;
    Ok(Output { status: child.ended(until)?, stdout, stderr })
}

/// Reads a pipe on a thread of its own: a process that outlives git can keep it open.
fn read_to_end(pipe: Option<impl Read + Send + 'static>) -> Started<Vec<u8>> {
    within::start(move || {
        let mut bytes = Vec::new();
        let _ = pipe.map(|mut pipe| pipe.read_to_end(&mut bytes));
        bytes
    })
}

fn by<T>(work: Started<T>, until: Option<Instant>) -> Option<T> {
    match until {
        Some(until) => work.by(until),
        None => work.wait(),
    }
}

/// Settings that replace the commands of all filters that the repository's configuration has, by the names of its settings.
fn without_filters(names: &str) -> Vec<(String, &'static str)> {
    let replaced = texts(names.as_bytes()).filter_map(|key| {
        let is_filter = key.starts_with("filter.");
        let (_, what) = key.rsplit_once('.').filter(|_| is_filter)?;
        Some((key.to_owned(), if what == "required" { "false" } else { "" }))
    });
    replaced.collect()
}

fn trusted(until: Option<Instant>) -> Result<Vec<String>, GitError> {
    let output = asked_of_user(&["config", "--null", "--get-all", "safe.directory"], until)?;
    Ok(texts(&output).map(str::to_owned).collect())
}

/// What the user's configuration says about the ends of lines, and the repository's own, with these names, does not.
fn line_ends(names: &str, until: Option<Instant>) -> Result<Vec<String>, GitError> {
    let question = ["config", "--null", "--get-regexp", r"^core\.(autocrlf|eol)$"];
    let output = asked_of_user(&question, until)?;
    let settings = texts(&output).filter_map(|setting| setting.split_once('\n'));
    let settings = settings.filter(|(key, _)| texts(names.as_bytes()).all(|own| own != *key));
    Ok(settings.map(|(key, value)| format!("{key}={value}")).collect())
}

/// Asks git for settings of the user. Run in the root folder: a repository must not answer for its user.
fn asked_of_user(question: &[&str], until: Option<Instant>) -> Result<Vec<u8>, GitError> {
    let mut command = Command::new("git");
    command.args(question).current_dir("/").stdin(Stdio::null());
    Ok(output_by(&mut command, until).map_err(GitError::io(question))?.stdout)
}

fn succeeded(arguments: &[&str], output: Output) -> Result<Vec<u8>, GitError> {
    match output.status.success() {
        true => Ok(output.stdout),
        false => Err(GitError::ended(arguments, output.status, &output.stderr)),
    }
}

/// Splits the output at zero bytes. Skips names that are not UTF-8, which no address can contain.
pub(crate) fn texts(output: &[u8]) -> impl Iterator<Item = &str> {
    let names = output.split(|&byte| byte == 0).filter_map(|name| std::str::from_utf8(name).ok());
    names.filter(|name| !name.is_empty())
}
