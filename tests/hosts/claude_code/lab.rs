//! One throw-away machine for Claude Code: a home, a project, a model that is none, and either the real `kgctx` or one that
//! writes down what it is told.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use kgctx::hosts::claude_code::ClaudeCode;
use kgctx::hosts::words::{EventKind, HostWords, StartCause};
use serde_json::{Value, json};

use super::model::Model;
use crate::support::skips::skipped;
use crate::support::{Scratch, git};

/// The version that the fixtures were recorded with. Installing it is `.ci/claude-code`'s work.
const VERSION: &str = "2.1.325";
/// How long a run may take on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// What stands for a key to a model that asks for none.
pub(crate) const KEY: &str = "none";

pub(crate) fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| program_of(VERSION))
}

/// The program of another version.
pub(crate) fn program_of(version: &str) -> PathBuf {
    let mut command = Command::new("bash");
    command.args([".ci/claude-code", version]).current_dir(env!("CARGO_MANIFEST_DIR"));
    let output = command.output().unwrap();
    assert!(output.status.success(), "no Claude Code {version}: {output:?}");
    PathBuf::from(String::from_utf8(output.stdout).unwrap().trim())
}

/// A machine on which Claude Code was never run before.
pub(crate) struct Lab {
    pub(crate) model: Model,
    pub(crate) scratch: Scratch,
}

impl Lab {
    /// A machine on which a `kgctx` that only writes down what it is told takes the place of the real one, after that has
    /// installed its hooks: the settings are what `kgctx install claude-code` has made of `settings`.
    pub(crate) fn new(settings: Option<&str>) -> Lab {
        Lab::installed(settings, &["install", "claude-code"])
    }

    pub(crate) fn installed(settings: Option<&str>, install: &[&str]) -> Lab {
        let lab = Lab::with_kgctx(settings, install);
        let scratch = &lab.scratch;
        let kgctx = lab.kgctx();
        fs::remove_file(&kgctx).unwrap();
        // One line per call, in one write: two hooks may run at the same time.
        let place = scratch.path().display().to_string();
        let script = format!(
            "#!/bin/sh\ntold=$(cat)\nprintf '%s\\t%s\\n' \"$*\" \"$told\" >> '{place}/heard'\n\
             case $told in *'\"SessionStart\"'*) cat '{place}/answer' ;; esac\n"
        );
        scratch.write("bin/kgctx", script);
        fs::set_permissions(&kgctx, fs::Permissions::from_mode(0o755)).unwrap();
        lab.answer_with_context("");
        lab
    }

    /// A machine with the real `kgctx`, which has installed its hooks into `settings`.
    pub(crate) fn with_kgctx(settings: Option<&str>, install: &[&str]) -> Lab {
        let lab = Lab { model: Model::start(), scratch: Scratch::new() };
        fs::create_dir(lab.project()).unwrap();
        git(&lab.project(), &["init", "--quiet"]);
        if let Some(settings) = settings {
            lab.scratch.write("home/.claude/settings.json", settings);
        }
        fs::create_dir(lab.kgctx().parent().unwrap()).unwrap();
        symlink(env!("CARGO_BIN_EXE_kgctx"), lab.kgctx()).unwrap();
        lab.type_kgctx(install);
        lab
    }

    fn kgctx(&self) -> PathBuf {
        self.scratch.path().join("bin/kgctx")
    }

    /// Lets every kgctx that the host runs, and what that starts, be killed at a point of its way; `None`: no longer.
    pub(crate) fn kill_at(&self, point: Option<&str>) {
        let line = point.map(|point| format!("export KGCTX_TEST_KILL_AT={point}\n"));
        self.begin_kgctx_by(&line.unwrap_or_default());
    }

    /// Lets the clock jump before every kgctx that the host runs, days ahead and days back in turns. Skips the test where nothing
    /// can do that.
    #[must_use]
    pub(crate) fn jump_clock(&self) -> bool {
        // Its own program would stand between the host and kgctx.
        let mut asked = Command::new("faketime");
        let Ok(preload) = asked.args(["-f", "+0", "sh", "-c", "echo $LD_PRELOAD"]).output() else {
            skipped("no `faketime` to set another clock with");
            return false;
        };
        let preload = String::from_utf8(preload.stdout).unwrap();
        let ahead = self.scratch.path().join("ahead");
        self.begin_kgctx_by(&format!(
            "if rm '{0}' 2> /dev/null; then by=-3d; else : > '{0}'; by=+3d; fi\n\
             export LD_PRELOAD='{1}' FAKETIME=$by DONT_FAKE_MONOTONIC=1\n",
            ahead.display(),
            preload.trim()
        ));
        true
    }

    /// Lets every kgctx that the host runs begin with some lines of shell.
    fn begin_kgctx_by(&self, lines: &str) {
        let script = format!("#!/bin/sh\n{lines}exec {} \"$@\"\n", env!("CARGO_BIN_EXE_kgctx"));
        // Not written in place: it may be running.
        let new = self.scratch.write("bin/kgctx.new", script);
        fs::set_permissions(&new, fs::Permissions::from_mode(0o755)).unwrap();
        fs::rename(new, self.kgctx()).unwrap();
    }

    /// Runs the real `kgctx` in the project, and returns what it printed.
    pub(crate) fn type_kgctx(&self, arguments: &[&str]) -> String {
        let output = self.try_kgctx(arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs the real `kgctx` in the project, which may refuse.
    pub(crate) fn try_kgctx(&self, arguments: &[&str]) -> Output {
        let mut command = self.scratch.kgctx(arguments);
        command.current_dir(self.project()).env("PATH", self.search_path());
        command.output().unwrap()
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.scratch.path().join("app")
    }

    fn search_path(&self) -> String {
        format!("{}:/usr/bin:/bin", self.scratch.path().join("bin").display())
    }

    /// What the hook says from now on at a session's start.
    pub(crate) fn answer(&self, text: &str) {
        self.scratch.write("answer", text);
    }

    /// Answers as kgctx does.
    pub(crate) fn answer_with_context(&self, text: &str) {
        self.answer(&ClaudeCode.context(EventKind::Started(StartCause::New), text));
    }

    /// Runs Claude Code with a prompt, and returns what it printed.
    pub(crate) fn run(&self, arguments: &[&str]) -> String {
        self.run_program(program(), arguments, "")
    }

    /// Runs Claude Code with prompts that follow each other in one process.
    pub(crate) fn run_prompts(&self, prompts: &[&str]) -> String {
        let line = |prompt: &&str| {
            let line = json!({"type": "user", "message": {"role": "user", "content": prompt}});
            format!("{line}\n")
        };
        let input: String = prompts.iter().map(line).collect();
        let stream = ["--input-format", "stream-json", "--output-format", "stream-json"];
        self.run_program(program(), &[&["-p", "--verbose"], &stream[..]].concat(), &input)
    }

    /// A program, about to run in the project. Nothing of whoever runs the tests is in reach: no login, no settings, no
    /// other server.
    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.project()).env_clear();
        command.env("HOME", self.scratch.home()).env("PATH", self.search_path());
        command.env("KGCTX_HOME", self.scratch.path().join("kgctx-home"));
        command.env("ANTHROPIC_BASE_URL", self.model.url()).env("ANTHROPIC_API_KEY", KEY);
        command
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            .env("DISABLE_AUTOUPDATER", "1");
        command
    }

    /// Runs the Claude Code of some version.
    pub(crate) fn run_program(&self, program: &Path, arguments: &[&str], input: &str) -> String {
        self.run_command(self.command(program), arguments, input)
    }

    /// Runs a command of `command`, to which the caller may have added variables.
    pub(crate) fn run_command(
        &self,
        mut command: Command,
        arguments: &[&str],
        input: &str,
    ) -> String {
        let (stdin, stdout) =
            (self.scratch.write("stdin", input), self.scratch.write("stdout", ""));
        command.args(arguments);
        command.stdin(fs::File::open(stdin).unwrap());
        command.stdout(fs::File::create(&stdout).unwrap()).stderr(Stdio::inherit());
        let mut child = command.spawn().unwrap();
        let end = Instant::now() + PATIENCE;
        while child.try_wait().unwrap().is_none() {
            if Instant::now() > end {
                child.kill().unwrap();
                panic!(
                    "claude {arguments:?} does not end: {}",
                    fs::read_to_string(stdout).unwrap()
                );
            }
            thread::sleep(Duration::from_millis(20));
        }
        fs::read_to_string(stdout).unwrap()
    }

    /// What the hooks were told of starts and ends since this was asked last.
    pub(crate) fn heard(&self) -> Vec<Value> {
        let is_other = |heard: &Value| {
            let name = heard["hook_event_name"].as_str().unwrap();
            ["UserPromptSubmit", "PreCompact"].contains(&name)
        };
        self.heard_all().into_iter().filter(|heard| !is_other(heard)).collect()
    }

    /// What the hooks were told since this was asked last.
    pub(crate) fn heard_all(&self) -> Vec<Value> {
        let file = self.scratch.path().join("heard");
        let text = fs::read_to_string(&file).unwrap_or_default();
        let _ = fs::remove_file(file);
        let told = |line: &str| {
            let (arguments, told) = line.split_once('\t').unwrap();
            assert_eq!(arguments, "hook claude-code");
            serde_json::from_str(told).unwrap()
        };
        text.lines().map(told).collect()
    }
}
