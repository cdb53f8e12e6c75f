//! A repository with handoffs, and the binary working on them.

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::support::{Scratch, git, stderr, valid};

/// A repository called `atlas` with two files, and an empty store beside it.
pub(crate) struct Project {
    pub(crate) scratch: Scratch,
}

/// What a command said.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Project {
    pub(crate) fn new() -> Project {
        let project = Project { scratch: Scratch::new() };
        project.write("docs/tiles.md", "# Tiles\n");
        project.write("src/render.rs", "fn render() {}\n");
        git(&project.path(), &["init", "--quiet"]);
        git(&project.path(), &["add", "."]);
        git(&project.path(), &["commit", "--quiet", "--message", "Tiles"]);
        project
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.scratch.path().join("atlas")
    }

    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) -> PathBuf {
        self.scratch.write(&format!("atlas/{path}"), content)
    }

    /// `kgctx handoff`, about to run in the repository.
    pub(crate) fn command<S: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = S>,
    ) -> Command {
        let mut command = self.scratch.kgctx(["handoff"]);
        command.args(arguments).current_dir(self.path()).stdin(Stdio::null());
        command
    }

    /// Runs `kgctx handoff`.
    pub(crate) fn say<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Said {
        said(&self.command(arguments).output().unwrap())
    }

    /// Runs `kgctx handoff` with something on its standard input.
    pub(crate) fn pipe(&self, arguments: &[&str], input: impl AsRef<[u8]>) -> Said {
        fed(self.command(arguments), input.as_ref())
    }

    /// Runs `kgctx handoff`, expects it to succeed in silence, and returns what it printed.
    #[track_caller]
    pub(crate) fn done<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> String {
        self.say(arguments).done()
    }

    /// Runs `kgctx handoff` and reads its answer, which has the form that a schema tells.
    #[track_caller]
    pub(crate) fn json(&self, schema: &str, arguments: &[&str]) -> Value {
        let answer = serde_json::from_str(&self.done(arguments)).unwrap();
        valid(schema, &answer);
        answer
    }

    /// Leaves a document for a session, and returns its id.
    #[track_caller]
    pub(crate) fn leave(&self, session: &str, document: &str) -> String {
        let said = self.pipe(&["create", "--json", "--session", session], document);
        let created: Value = serde_json::from_str(&said.done()).unwrap();
        valid("handoff-create", &created);
        created["id"].as_str().unwrap().to_owned()
    }

    /// Leaves a task, and returns its id.
    #[track_caller]
    pub(crate) fn task(&self, session: &str, priority: &str) -> String {
        let header = json!({
            "kind": "task", "priority": priority, "goal": format!("Goal of {session}"), "next_step": "Go on",
        });
        self.leave(session, &format!("{header}\nBody of {session}\n"))
    }

    /// Leaves a task that lists files, and returns its id.
    #[track_caller]
    pub(crate) fn listing(&self, specs: &[&str], files: &[&str]) -> String {
        let header = json!({
            "kind": "task", "goal": "Draw tiles", "next_step": "Read", "specs": specs, "files": files,
        });
        self.leave("lists", &format!("{header}\nBody\n"))
    }

    /// The status of every handoff, by its id.
    pub(crate) fn statuses(&self) -> Vec<(String, String)> {
        let listed = self.json("handoff-list", &["list", "--all", "--json"]);
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let handoffs = listed["handoffs"].as_array().unwrap().iter();
        let mut all: Vec<_> =
            handoffs.map(|one| (text(&one["id"]), text(&one["status"]))).collect();
        all.sort();
        all
    }

    #[track_caller]
    pub(crate) fn status(&self, id: &str) -> String {
        self.json("handoff-show", &["show", "--json", id])["status"].as_str().unwrap().to_owned()
    }

    /// Every file here that is not the store's, with what stands in it.
    pub(crate) fn outside(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found = Vec::new();
        collect(&self.scratch.path(), &self.store(), &mut found);
        found.sort();
        found
    }

    /// Every document in the store.
    pub(crate) fn documents(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found = Vec::new();
        collect(&self.store().join("handoffs"), Path::new("/none"), &mut found);
        found.sort();
        found
    }

    fn store(&self) -> PathBuf {
        self.scratch.path().join("kgctx-home/state")
    }

    /// A text without what differs from run to run: times, processes, the scratch folder and the project's key.
    pub(crate) fn normal(&self, text: &str) -> String {
        let text = text.replace(&*self.scratch.path().to_string_lossy(), "~");
        let text = replaced(&text, "HO-00000000-000000-", "HO-20260131-120000-");
        let text = replaced(&text, "0000-00-00T00:00:00", "2026-01-31T12:00:00");
        let text = after_mark(&text, "T12:00:00.", "5");
        let text = after_mark(&text, "process ", "7");
        after_mark(&text, "/handoffs/atlas-", "0123abcd")
    }
}

impl Said {
    /// What was printed, by a command that succeeded in silence.
    #[track_caller]
    pub(crate) fn done(self) -> String {
        assert_eq!((self.code, self.err.as_str()), (0, ""), "{}", self.out);
        self.out
    }

    /// The message of a command that printed no answer and ended so.
    #[track_caller]
    pub(crate) fn refused(self, code: i32) -> String {
        assert_eq!((self.code, self.out.as_str()), (code, ""), "{}", self.err);
        assert!(!self.err.contains("panicked"), "{}", self.err);
        self.err
    }
}

pub(crate) fn said(output: &Output) -> Said {
    Said {
        code: output.status.code().unwrap(),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: stderr(output),
    }
}

/// Runs a command with something on its standard input.
pub(crate) fn fed(mut command: Command, input: &[u8]) -> Said {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // Who does not read it has ended already.
    let _ = child.stdin.take().unwrap().write_all(input);
    said(&child.wait_with_output().unwrap())
}

fn collect(folder: &Path, but: &Path, found: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let kind = entry.file_type().unwrap();
        if path == but {
            continue;
        } else if kind.is_dir() {
            collect(&path, but, found);
        } else if kind.is_file() {
            let content = fs::read(&path).unwrap();
            found.push((path, content));
        } else {
            found.push((path, Vec::new()));
        }
    }
}

/// Replaces whatever fits a pattern, in which 0 is any digit.
fn replaced(text: &str, pattern: &str, instead: &str) -> String {
    let fits = |text: &[u8]| {
        text.len() >= pattern.len()
            && text.iter().zip(pattern.bytes()).all(|(byte, wanted)| match wanted {
                b'0' => byte.is_ascii_digit(),
                wanted => *byte == wanted,
            })
    };
    let mut normal = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let n_taken = if fits(rest.as_bytes()) {
            normal.push_str(instead);
            pattern.len()
        } else {
            normal.push(c);
            c.len_utf8()
        };
        rest = &rest[n_taken..];
    }
    normal
}

/// Replaces the number behind every mark.
fn after_mark(text: &str, mark: &str, instead: &str) -> String {
    let mut parts = text.split(mark);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |normal, part| {
        let part = part.trim_start_matches(|c: char| c.is_ascii_hexdigit());
        format!("{normal}{mark}{instead}{part}")
    })
}
