//! What tests share: a scratch folder with a home of its own, and the binary run in it.

#![allow(dead_code, reason = "no test target uses all of it")]

pub(crate) mod dead_mount;
pub(crate) mod explained_page;
pub(crate) mod full_disk;
pub(crate) mod handoff_lab;
pub(crate) mod handoff_project;
pub(crate) mod harbour;
pub(crate) mod hostile_text;
pub(crate) mod index_snapshot;
pub(crate) mod link_counts;
pub(crate) mod maenifold_db;
pub(crate) mod maenifold_lab;
pub(crate) mod maenifold_memory;
pub(crate) mod maenifold_real;
pub(crate) mod naive_markdown;
pub(crate) mod rotation_lab;
pub(crate) mod skips;
pub(crate) mod terminal;
pub(crate) mod token_texts;
pub(crate) mod vault_generator;
pub(crate) mod web_page;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::SystemTime;

use kgctx::workspace::refresh::{Mode, Patience, Refreshed, refresh};
use kgctx::workspace::{Request, Workspace};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use serde_json::Value;
use tempfile::TempDir;

/// A folder that is gone after the test, with nothing of the user's in reach.
pub(crate) struct Scratch {
    folder: TempDir,
}

impl Scratch {
    pub(crate) fn new() -> Scratch {
        let scratch = Scratch { folder: tempfile::tempdir().unwrap() };
        fs::create_dir(scratch.home()).unwrap();
        scratch
    }

    /// The folder, as the system names it.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    /// An empty home folder.
    pub(crate) fn home(&self) -> PathBuf {
        self.path().join("home")
    }

    /// Writes a file, with its folders.
    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    /// Opens the vault called `vault` here.
    pub(crate) fn workspace(&self, vault: &Path) -> Workspace {
        let request = Request {
            dir: Some(self.path()),
            vaults: vec![vault.to_path_buf()],
            home: Some(self.path().join("kgctx-home")),
            ..Request::default()
        };
        Workspace::find(&request).unwrap().0
    }

    /// The binary, about to run in this folder. Contexts are ranked by frequency, whose lines most tests know by heart;
    /// tests of the default remove `KGCTX_RANK`.
    pub(crate) fn kgctx<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kgctx"));
        command.args(arguments).current_dir(self.path()).env_clear();
        command.env("HOME", self.home()).env("KGCTX_HOME", self.path().join("kgctx-home"));
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("KGCTX_RANK", "frequency");
        command
    }

    /// Runs the binary and expects it to succeed in silence.
    pub(crate) fn run<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> String {
        let output = self.kgctx(arguments).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        assert_eq!(stderr(&output), "");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs the binary and reads its answer as JSON.
    pub(crate) fn json<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Value {
        serde_json::from_str(&self.run(arguments)).unwrap()
    }

    /// Runs the binary in silence, and reads its answer as JSON: yes, or no.
    pub(crate) fn answer<S: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = S>,
    ) -> (i32, Value) {
        let output = self.kgctx(arguments).output().unwrap();
        assert_eq!(stderr(&output), "");
        (output.status.code().unwrap(), serde_json::from_slice(&output.stdout).unwrap())
    }

    /// Runs the binary, expects it to fail, and returns exit code and message.
    pub(crate) fn fail<S: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = S>,
    ) -> (i32, String) {
        let output = self.kgctx(arguments).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "", "a failure prints no answer");
        (output.status.code().unwrap(), stderr(&output))
    }
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Runs the binary, and does something while it is held at a point, if it comes there.
pub(crate) fn output_meanwhile(
    mut command: Command,
    point: &str,
    meanwhile: impl FnOnce(),
) -> Output {
    command.env("KGCTX_TEST_HOLD_AT", point).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let pid = Pid::from_child(&child);
    let news = WaitIdOptions::STOPPED | WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    if waitid(WaitId::Pid(pid), news).unwrap().unwrap().stopped() {
        meanwhile();
        kill_process(pid, Signal::CONT).unwrap();
    }
    child.wait_with_output().unwrap()
}

/// Brings an index up to date.
pub(crate) fn refreshed(workspace: &Workspace, mode: Mode) -> Refreshed {
    refresh(workspace, mode, Patience::Wait, &mut |_, _| {}).unwrap().1
}

/// Runs git in a folder, with nobody's configuration.
pub(crate) fn git(folder: &Path, arguments: &[&str]) {
    let output = Command::new("git")
        .args([
            "-c",
            "user.name=Test",
            "-c",
            "user.email=test@example.com",
            "-c",
            "init.defaultBranch=main",
        ])
        .args(["-c", "protocol.file.allow=always", "-c", "commit.gpgsign=false"])
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .output()
        .unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", stderr(&output));
}

/// The folder with public test data beside the checkout, where there is one.
pub(crate) fn shared(file: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared").join(file);
    path.exists().then_some(path)
}

/// A scratch place with the fixture project, its notes written at known times.
pub(crate) fn atlas() -> Scratch {
    let scratch = Scratch::new();
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/projects/atlas");
    let copied = Command::new("cp")
        .arg("-R")
        .arg(fixture)
        .arg(scratch.path().join("atlas"))
        .status()
        .unwrap();
    assert!(copied.success());
    for (file, days_ago) in [
        ("README.md", 120),
        ("docs/overview.md", 90),
        ("docs/decisions/0001-stale-while-revalidate.md", 60),
        ("docs/decisions/0002-rate-limiting.md", 40),
        (".kgctx/memory/tech/tile-cache-sizing.md", 9),
        (".kgctx/memory/tech/renderer-queue.md", 2),
        (".kgctx/memory/session-notes.md", 0),
    ] {
        let path = scratch.path().join("atlas").join(file);
        let text = fs::read_to_string(&path).unwrap();
        let written = vault_generator::END_SECONDS - days_ago * 86_400 - 3_600;
        vault_generator::write(
            path.parent().unwrap(),
            path.file_name().unwrap().to_str().unwrap(),
            &text,
            written,
        );
    }
    scratch
}

/// Validates an answer against its schema, in which every field is named.
#[track_caller]
pub(crate) fn valid(schema: &str, answer: &Value) {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("schema/json/{schema}.schema.json"));
    let schema: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    if let Err(error) = jsonschema::validate(&schema, answer) {
        panic!("{error}\n{answer:#}");
    }
}

/// Writes a note as if so many seconds before the generated vaults' end.
pub(crate) fn write_ago(folder: &Path, name: &str, text: &str, seconds_ago: u64) {
    fs::create_dir_all(folder).unwrap();
    vault_generator::write(folder, name, text, vault_generator::END_SECONDS - seconds_ago);
}

/// The stand-in for maenifold. Whoever runs one test alone has not built it, or built it before it was changed.
pub(crate) fn maenifold() -> PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(built_maenifold).clone()
}

fn built_maenifold() -> PathBuf {
    let profile = Path::new(env!("CARGO_BIN_EXE_kgctx")).parent().unwrap();
    let program = profile.join("examples/maenifold-stand-in");
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stand-in");
    let built = fs::metadata(&program).and_then(|metadata| metadata.modified());
    if built.is_ok_and(|built| built >= last_change(&sources)) {
        return program;
    }
    let name = match profile.file_name().unwrap().to_str().unwrap() {
        "debug" => "dev",
        name => name,
    };
    let output = Command::new(env!("CARGO"))
        .args(["build", "--offline", "--example", "maenifold-stand-in", "--profile", name])
        .arg("--target-dir")
        .arg(profile.parent().unwrap())
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    program
}

/// When something in a folder was last written.
fn last_change(folder: &Path) -> SystemTime {
    fs::read_dir(folder)
        .unwrap()
        .flatten()
        .map(|entry| match entry.path() {
            path if path.is_dir() => last_change(&path),
            path => fs::metadata(path).unwrap().modified().unwrap(),
        })
        .max()
        .unwrap()
}
