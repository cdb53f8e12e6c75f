//! One throw-away machine for Amplifier: a home, a project with notes, the real `kgctx` installed into it, and sessions of the real
//! kernel, each run in a process of its own.

use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::skips::skipped;
use crate::support::{Scratch, git};

/// The version of amplifier-core. Installing it is `.ci/amplifier`'s work.
const VERSION: &str = "2.0.2";
/// How long what nobody waits for may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// The Python that has amplifier-core; `None`, and a word about it, where it cannot be had.
fn python() -> Option<PathBuf> {
    static PYTHON: OnceLock<Option<PathBuf>> = OnceLock::new();
    PYTHON.get_or_init(|| python_of(VERSION)).clone()
}

/// The same for another version.
fn python_of(version: &str) -> Option<PathBuf> {
    let mut command = Command::new("bash");
    command.args([".ci/amplifier", version]).current_dir(env!("CARGO_MANIFEST_DIR"));
    let output = command.output().unwrap();
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        skipped(&format!("amplifier-core {version} cannot be had here: {why}"));
        return None;
    }
    Some(PathBuf::from(String::from_utf8(output.stdout).unwrap().trim()))
}

pub(super) struct Lab {
    pub(super) scratch: Scratch,
    python: PathBuf,
}

/// What a run of the kernel has shown.
pub(super) struct Seen {
    pub(super) results: Vec<Value>,
    /// The messages of each request to the model.
    pub(super) requests: Vec<Vec<Value>>,
    /// The session of each request.
    pub(super) sessions: Vec<String>,
    /// What a user was shown.
    pub(super) shown: Vec<Value>,
    /// How long the event loop was blocked at most.
    pub(super) longest_gap: Duration,
}

impl Seen {
    /// The messages of a request that have a text in them: place and role.
    pub(super) fn places(&self, request: usize, text: &str) -> Vec<(usize, String)> {
        let messages = self.requests[request].iter().enumerate();
        let found = messages.filter(|(_, message)| content(message).contains(text));
        found.map(|(n, message)| (n, message["role"].as_str().unwrap().to_owned())).collect()
    }

    /// How often a text is in a request.
    pub(super) fn count(&self, request: usize, text: &str) -> usize {
        self.requests[request].iter().map(|message| content(message).matches(text).count()).sum()
    }
}

pub(super) fn content(message: &Value) -> &str {
    message["content"].as_str().unwrap()
}

impl Lab {
    /// `None` where amplifier-core cannot be had.
    pub(super) fn new() -> Option<Lab> {
        Lab::with_settings(None)
    }

    pub(super) fn with_settings(settings: Option<&str>) -> Option<Lab> {
        Some(Lab::with_python(python()?, settings))
    }

    /// A machine with another version of the kernel.
    pub(super) fn of_version(version: &str) -> Option<Lab> {
        Some(Lab::with_python(python_of(version)?, None))
    }

    fn with_python(python: PathBuf, settings: Option<&str>) -> Lab {
        let lab = Lab { python, scratch: Scratch::new() };
        fs::create_dir(lab.project()).unwrap();
        git(&lab.project(), &["init", "--quiet"]);
        let notes = [("renderer", "tile-cache"), ("tile-cache", "renderer")];
        for (note, other) in notes {
            let text = format!("# {note}\n\nThe [[{note}]] fills the [[{other}]].\n");
            lab.scratch.write(&format!("atlas/.kgctx/memory/{note}.md"), text);
        }
        if let Some(settings) = settings {
            lab.scratch.write("home/.amplifier/settings.yaml", settings);
        }
        lab.scratch.write("bin/none", "");
        symlink(env!("CARGO_BIN_EXE_kgctx"), lab.scratch.path().join("bin/kgctx")).unwrap();
        lab.kgctx(&["install", "amplifier"]);
        lab
    }

    pub(super) fn project(&self) -> PathBuf {
        self.scratch.path().join("atlas")
    }

    fn prepared(&self, mut command: Command) -> Command {
        let path = format!("{}:/usr/bin:/bin", self.scratch.path().join("bin").display());
        command.current_dir(self.project()).env_clear().env("PATH", path);
        command.env("HOME", self.scratch.home());
        command.env("KGCTX_HOME", self.scratch.path().join("kgctx-home"));
        command
    }

    /// Runs `kgctx` in the project, and returns what it printed.
    pub(super) fn kgctx(&self, arguments: &[&str]) -> String {
        let mut command = self.prepared(Command::new(env!("CARGO_BIN_EXE_kgctx")));
        let output = command.args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Leaves a handoff with a mark in it, and returns its id.
    pub(super) fn leave(&self, mark: &str) -> String {
        let create = ["handoff", "create", "--json", "--goal", "Serve old tiles", "--next", mark];
        let created: Value = serde_json::from_str(&self.kgctx(&create)).unwrap();
        created["id"].as_str().unwrap().to_owned()
    }

    /// All handoffs of the project.
    pub(super) fn handoffs(&self) -> Vec<Value> {
        let list = self.kgctx(&["handoff", "list", "--all", "--json"]);
        let list: Value = serde_json::from_str(&list).unwrap();
        list["handoffs"].as_array().unwrap().clone()
    }

    pub(super) fn status(&self, id: &str) -> String {
        let found = self.handoffs().into_iter().find(|handoff| handoff["id"] == id).unwrap();
        found["status"].as_str().unwrap().to_owned()
    }

    /// The handoffs that were written when sessions had ended, waited for until there are as many.
    #[track_caller]
    pub(super) fn ends(&self, n: usize) -> Vec<Value> {
        let until = Instant::now() + PATIENCE;
        loop {
            let mut ends = self.handoffs();
            ends.retain(|handoff| handoff["type"] == "end");
            if ends.len() >= n || Instant::now() > until {
                assert_eq!(ends.len(), n, "{ends:#?}");
                return ends;
            }
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// Runs steps in a process of the kernel.
    #[track_caller]
    pub(super) fn drive(&self, steps: &Value) -> Seen {
        let (seen, said) = self.drive_and_hear(steps);
        assert_eq!(said, "");
        seen
    }

    /// The same, with what was printed as an error.
    #[track_caller]
    pub(super) fn drive_and_hear(&self, steps: &Value) -> (Seen, String) {
        let output = self.drive_to_its_end(steps);
        assert!(output.status.success(), "{output:?}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let seen: Value = serde_json::from_slice(&output.stdout).unwrap();
        let requests = seen["requests"].as_array().unwrap();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let seen = Seen {
            results: seen["results"].as_array().unwrap().clone(),
            requests: requests
                .iter()
                .map(|request| request["messages"].as_array().unwrap().clone())
                .collect(),
            sessions: requests.iter().map(|request| text(&request["session"])).collect(),
            shown: seen["shown"].as_array().unwrap().clone(),
            longest_gap: Duration::from_secs_f64(seen["longest_gap"].as_f64().unwrap()),
        };
        (seen, said)
    }

    /// The same for a process that may fail, or be killed.
    pub(super) fn drive_to_its_end(&self, steps: &Value) -> Output {
        let mut command = self.prepared(Command::new(&self.python));
        let driver = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/hosts/amplifier/drive.py");
        command.args(["-B", driver]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(steps.to_string().as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    }

    /// Runs a new session with some prompts, and ends it.
    #[track_caller]
    pub(super) fn session(&self, id: &str, prompts: &[&str]) -> Seen {
        let mut steps = vec![json!({"do": "start", "id": id})];
        steps.extend(prompts.iter().map(|text| json!({"do": "prompt", "id": id, "text": text})));
        steps.push(json!({"do": "end", "id": id}));
        self.drive(&Value::from(steps))
    }
}
