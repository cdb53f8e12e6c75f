//! A home with maenifold in it: a real memory, a database that the stand-in made of it, and the stand-in as the program.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::SystemTime;

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::vault_generator;
use super::{Scratch, git, maenifold, stderr, valid};

/// The afternoon on which all this happens.
pub(crate) const NOW: &str = "2026-02-19T14:00:00Z";
/// The same in seconds.
pub(crate) const NOW_SECONDS: u64 = 1_771_509_600;
pub(crate) const HOUR: u64 = 3_600;

/// The notes of `fixtures/maenifold/memory`, and how many hours ago each was written.
pub(crate) const NOTES: [(&str, u64); 16] = [
    ("zephyr.md", 6),
    ("rigging/mast.md", 4),
    ("rigging/sail.md", 3),
    ("rigging/stay.md", 27),
    ("hull/keel.md", 2),
    ("hull/planks.md", 6_000),
    ("decisions/no-engine.md", 1),
    ("thinking/sequential/2026/02/18/session-1771408800000-1.md", 5),
    ("harbour/pier.md", 9_000),
    ("harbour/crane.md", 8_300),
    ("harbour/buoy.md", 7_600),
    ("harbour/lighthouse.md", 6_900),
    ("harbour/ferry.md", 6_200),
    ("harbour/dock.md", 5_500),
    ("harbour/customs.md", 4_800),
    ("harbour/market.md", 4_100),
];

/// A home with maenifold in it, and a project called zephyr.
pub(crate) struct Lab {
    pub(crate) scratch: Scratch,
}

impl Lab {
    /// maenifold's notes, and neither database nor program.
    pub(crate) fn without_maenifold() -> Lab {
        let lab = Lab { scratch: Scratch::new() };
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/maenifold/memory");
        for (note, hours_ago) in NOTES {
            let text = fs::read_to_string(fixtures.join(note)).unwrap();
            lab.note(note, &text, hours_ago * HOUR);
        }
        fs::create_dir_all(lab.scratch.path().join("zephyr")).unwrap();
        git(&lab.scratch.path().join("zephyr"), &["init", "-q"]);
        lab
    }

    /// All of maenifold.
    pub(crate) fn new() -> Lab {
        let lab = Lab::without_maenifold();
        lab.sync();
        lab.install();
        lab
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.scratch.path().join("home/maenifold")
    }

    pub(crate) fn log(&self) -> PathBuf {
        self.scratch.path().join("calls.log")
    }

    /// Writes a note of maenifold's memory.
    pub(crate) fn note(&self, note: &str, text: &str, seconds_ago: u64) {
        let path = self.root().join("memory").join(note);
        let name = path.file_name().unwrap().to_str().unwrap();
        vault_generator::write(path.parent().unwrap(), name, text, NOW_SECONDS - seconds_ago);
    }

    /// Brings maenifold's database up to date, as its user does.
    pub(crate) fn sync(&self) {
        let mut command = Command::new(maenifold());
        command.args(["--tool", "Sync", "--payload", "{}"]).env_clear();
        command.env("HOME", self.scratch.home()).env("STAND_IN_NOW", NOW);
        let output = command.output().unwrap();
        assert!(String::from_utf8_lossy(&output.stdout).contains("FILES processed"), "{output:?}");
    }

    /// Puts the program on the PATH.
    pub(crate) fn install(&self) {
        fs::create_dir_all(self.scratch.path().join("bin")).unwrap();
        symlink(maenifold(), self.scratch.path().join("bin/maenifold")).unwrap();
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.scratch.kgctx([&["--dir", "zephyr"], arguments].concat());
        let bin = self.scratch.path().join("bin");
        command.env("PATH", format!("{}:/usr/bin:/bin", bin.display()));
        command.env("STAND_IN_NOW", NOW).env("STAND_IN_LOG", self.log());
        // What is told here does not depend on how busy the machine is; time has tests of its own.
        command.env("KGCTX_DEADLINE_MS", "60000").env("CLI_TIMEOUT", "20000");
        command
    }

    /// The injection, about to be made.
    pub(crate) fn injection(&self, more: &[&str]) -> Command {
        let common = ["inject", "--session", "s", "--dry-run", "--format", "json", "--now", NOW];
        self.command(&[&common, more].concat())
    }

    /// What is injected, which must succeed in silence.
    pub(crate) fn inject(&self, more: &[&str]) -> Value {
        answer(&self.injection(more).output().unwrap())
    }

    /// The same with a program that misbehaves.
    pub(crate) fn inject_with(&self, stand_in: &str, more: &[&str]) -> Value {
        answer(&self.injection(more).env("STAND_IN", stand_in).output().unwrap())
    }

    /// The calls of the program so far, in the order in which they began.
    pub(crate) fn calls(&self) -> Vec<Value> {
        let log = fs::read_to_string(self.log()).unwrap_or_default();
        let lines = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.filter(|line| line["tool"].is_string()).collect()
    }

    /// The payloads of the calls of one tool.
    pub(crate) fn payloads(&self, tool: &str) -> Vec<Value> {
        let calls = self.calls().into_iter().filter(|call| call["tool"] == tool);
        calls.map(|call| call["payload"].clone()).collect()
    }
}

pub(crate) fn answer(output: &Output) -> Value {
    assert_eq!((output.status.code(), stderr(output).as_str()), (Some(0), ""));
    let answer = serde_json::from_slice(&output.stdout).unwrap();
    valid("inject", &answer);
    answer
}

pub(crate) fn text(answer: &Value) -> &str {
    answer["text"].as_str().unwrap()
}

/// Who answered, and why.
pub(crate) fn source(answer: &Value) -> (&str, &str) {
    let source = &answer["source"];
    (source["source"].as_str().unwrap(), source["because"].as_str().unwrap())
}

/// All that went wrong, in one text.
pub(crate) fn faults(answer: &Value) -> String {
    let faults = answer["faults"].as_array().unwrap().iter();
    let line = |fault: &Value| {
        format!("{}: {}\n", fault["source"].as_str().unwrap(), fault["reason"].as_str().unwrap())
    };
    faults.map(line).collect()
}

/// The lines of one part of a context.
pub(crate) fn part<'a>(text: &'a str, title: &str) -> Vec<&'a str> {
    let after = text.split(&format!("**{title}")).nth(1).unwrap_or_default();
    after.lines().skip(1).take_while(|line| line.starts_with("- ")).collect()
}

/// Every file and folder, with its time and what is in it.
pub(crate) fn everything(root: &Path) -> BTreeMap<PathBuf, (SystemTime, Vec<u8>)> {
    let mut all = BTreeMap::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        all.insert(folder.clone(), (folder.metadata().unwrap().modified().unwrap(), Vec::new()));
        for entry in fs::read_dir(&folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let hash = Sha256::digest(fs::read(&path).unwrap()).to_vec();
                all.insert(path, (entry.metadata().unwrap().modified().unwrap(), hash));
            }
        }
    }
    all
}
