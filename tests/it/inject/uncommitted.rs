//! Uncommitted files: what they change in a context, what the receipt says of them, and what never depends on them.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use super::Zephyr;
use crate::support::{git, stderr, valid};

const NOW: &str = "2026-11-15T12:00:00Z";
const DAY: u64 = 24 * 3_600;
const RAISED: &str = "memory://docs/rigging";

/// A committed project with more notes than a context holds. The oldest names `src/ropes.rs`.
struct Committed(Zephyr);

impl Committed {
    fn new() -> Committed {
        let zephyr = Zephyr::new();
        for n in 0..220 {
            let text =
                format!("# Part {n}\n\nThe part number {n} of the ship is built of oak and ash.");
            zephyr.write(&format!("part-{n}.md"), &text, (10 + n) * DAY);
        }
        let text = "# Rigging\n\nWhat holds the mast: see `src/ropes.rs` and its blocks.";
        zephyr.write("rigging.md", text, 900 * DAY);
        let committed = Committed(zephyr);
        committed.code("src/ropes.rs", "fn hemp() {}\n");
        committed.code("src/other.rs", "fn other() {}\n");
        committed.git(&["add", "."]);
        committed.git(&["commit", "-q", "-m", "all"]);
        committed
    }

    fn git(&self, arguments: &[&str]) {
        git(&self.0.scratch.path().join("zephyr"), arguments);
    }

    fn code(&self, path: &str, text: &str) {
        let file = self.0.scratch.path().join("zephyr").join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    fn command(&self, setting: &str, arguments: &[&str]) -> Command {
        let mut command = self.0.scratch.kgctx([&["--dir", "zephyr"], arguments].concat());
        command.env_remove("KGCTX_RANK");
        if !setting.is_empty() {
            command.env("KGCTX_UNCOMMITTED_FILES", setting);
        }
        command
    }

    fn run(&self, setting: &str, arguments: &[&str]) -> String {
        let output = self.command(setting, arguments).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        // An index without the names of files is made anew where they are asked for.
        let said = stderr(&output);
        assert!(said.is_empty() || said.contains("rebuilt"), "{said}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn text(&self, setting: &str) -> String {
        self.run(setting, &["inject", "--session", "s", "--dry-run", "--now", NOW])
    }

    fn explained(&self, setting: &str) -> Value {
        let arguments = ["explain", "--dry-run", "--json", "--now", NOW];
        let explained = serde_json::from_str(&self.run(setting, &arguments)).unwrap();
        valid("explain", &explained);
        explained
    }
}

#[test]
fn a_record_leaves_the_context_and_says_what_would_change() {
    let project = Committed::new();
    let clean = project.text("");
    assert!(!clean.contains(RAISED), "{clean}");
    let record = project.explained("record")["receipt"]["uncommitted"].clone();
    let nothing = json!({"counted": false, "files": [], "raised": [], "added": [], "removed": []});
    assert_eq!(record, nothing);
    project.code("src/ropes.rs", "fn hemp_and_sisal() {}\n");
    project.code("src/other.rs", "fn another() {}\n");
    assert_eq!(project.text(""), clean);
    assert_eq!(project.text("record"), clean);
    assert_eq!(project.text("off"), clean);
    let explained = project.explained("record");
    let record = &explained["receipt"]["uncommitted"];
    assert_eq!(record["counted"], false);
    assert_eq!(record["files"], json!(["src/ropes.rs"]), "no note names the other file");
    assert_eq!(record["raised"], json!([{"uri": RAISED, "file": "src/ropes.rs"}]));
    assert_eq!(record["added"], json!([RAISED]));
    assert_eq!(record["removed"].as_array().unwrap().len(), 1, "{record}");
    assert!(!explained["lines"].to_string().contains("uncommitted"), "{}", explained["lines"]);
    let words = project.run("record", &["explain", "--dry-run", "--now", NOW]);
    assert!(words.contains("uncommitted, and named by notes: src/ropes.rs\n"), "{words}");
    let expect =
        format!("they would raise 1 note; would come in: {RAISED}; would fall out: memory");
    assert!(words.contains(&expect), "{words}");
    for setting in ["", "off"] {
        let receipt = &project.explained(setting)["receipt"];
        assert!(receipt.get("uncommitted").is_none(), "nobody looked for them: {receipt}");
    }
}

#[test]
fn notes_that_name_a_changed_file_come_earlier_where_that_is_asked_for() {
    let project = Committed::new();
    let clean = project.text("on");
    assert_eq!(clean, project.text("off"), "nothing is changed yet");
    project.code("src/ropes.rs", "fn hemp_and_sisal() {}\n");
    let text = project.text("on");
    assert!(text.contains(RAISED), "{text}");
    let explained = project.explained("on");
    let record = &explained["receipt"]["uncommitted"];
    assert_eq!((&record["counted"], &record["added"]), (&json!(true), &json!([RAISED])));
    let lines = explained["lines"].as_array().unwrap();
    let line = lines.iter().find(|line| line["text"].as_str().unwrap().contains(RAISED)).unwrap();
    let reason = line["reason"].as_str().unwrap();
    assert!(reason.contains("names src/ropes.rs, which has uncommitted changes"), "{reason}");
    let entries = explained["receipt"]["entries"].to_string();
    assert!(entries.contains(RAISED), "the receipt has the note: {entries}");
    let answer = ["inject", "--session", "s", "--dry-run", "--format", "json", "--now", NOW];
    let answer: Value = serde_json::from_str(&project.run("on", &answer)).unwrap();
    valid("inject", &answer);
    assert_eq!(&answer["uncommitted"], record);
    project.git(&["commit", "-q", "-a", "-m", "ropes"]);
    assert_eq!(project.text("on"), clean, "it is committed");
}

#[test]
fn the_files_are_found_without_git() {
    let project = Committed::new();
    project.code("src/ropes.rs", "fn hemp_and_sisal() {}\n");
    let expect = project.text("on");
    assert!(expect.contains(RAISED), "{expect}");
    let mut command =
        project.command("on", &["inject", "--session", "s", "--dry-run", "--now", NOW]);
    let output = command.env("PATH", "/nonexistent").output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), expect);
    let index = project.0.scratch.path().join("zephyr/.git/index");
    fs::write(&index, "damaged").unwrap();
    assert_eq!(project.text("on"), project.text("off"), "a damaged index says nothing");
    assert!(project.explained("on")["receipt"].get("uncommitted").is_none());
}

#[test]
fn a_secret_in_the_path_of_a_changed_file_is_masked() {
    let project = Committed::new();
    let secret = format!("ghp_{}", "0a1B2c3D4e5F6g7H8i9J".repeat(2).get(..36).unwrap());
    let path = format!("src/{secret}/ropes.rs");
    project.code(&path, "fn hemp() {}\n");
    project.git(&["add", "."]);
    project.git(&["commit", "-q", "-m", "ropes"]);
    project.code(&path, "fn hemp_and_sisal() {}\n");
    for setting in ["record", "on"] {
        let explained = project.explained(setting).to_string();
        assert!(explained.contains("[masked: github-token]/ropes.rs"), "{explained}");
        assert!(!explained.contains(&secret), "{explained}");
    }
}

#[test]
fn a_check_does_not_depend_on_uncommitted_files() {
    let project = Committed::new();
    project.code("kgctx.toml", "uncommitted_files = \"on\"\n");
    project.git(&["add", "."]);
    project.git(&["commit", "-q", "-m", "settings"]);
    let check = || {
        let output = project.command("", &["check", "--format", "json"]).output().unwrap();
        assert_eq!(stderr(&output), "");
        String::from_utf8(output.stdout).unwrap()
    };
    let clean = check();
    assert!(clean.contains("tokens"), "{clean}");
    project.code("src/ropes.rs", "fn hemp_and_sisal() {}\n");
    assert_eq!(check(), clean);
}
