//! The recorded calls of five versions: against the stand-in, against our readers, and against the databases that the same
//! versions left.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use kgctx::sources::maenifold::replies;
use serde_json::{Value, json};

use crate::support::maenifold_lab::{answer, faults, part, source, text};
use crate::support::maenifold_real::{VERSIONS, json_lines, unpack};
use crate::support::{Scratch, git, maenifold};

const NOW: &str = "2026-11-17T09:00:00Z";
/// The versions whose searches have no JSON.
const WITHOUT_JSON: [&str; 2] = ["1.0.3", "1.0.4"];
/// The versions whose recent activity names files; the earlier ones name folders.
const WITH_FILES: [&str; 2] = ["1.0.6", "8b93684"];

/// A home with what a version left, a project called billing-api, and the calls.
fn recorded(version: &str) -> (Scratch, Vec<Value>) {
    let scratch = Scratch::new();
    let root = scratch.home().join("maenifold");
    unpack(version, &root);
    let calls = json_lines(root.join("calls.jsonl"));
    fs::remove_file(root.join("calls.jsonl")).unwrap();
    fs::create_dir(scratch.path().join("billing-api")).unwrap();
    git(&scratch.path().join("billing-api"), &["init", "-q"]);
    (scratch, calls)
}

fn arguments(call: &Value) -> Vec<&str> {
    call["args"].as_array().unwrap().iter().map(|argument| argument.as_str().unwrap()).collect()
}

/// The calls of a tool that ask something, after the last one that changed anything.
fn questions<'a>(calls: &'a [Value], tool: &'a str) -> impl Iterator<Item = &'a Value> {
    let from = calls.iter().rposition(|call| arguments(call)[1] == "Sync").unwrap();
    calls[from..].iter().filter(move |call| arguments(call)[1] == tool)
}

fn stdout(call: &Value) -> &str {
    call["stdout"].as_str().unwrap()
}

#[test]
fn the_stand_in_says_what_the_real_one_said() {
    for version in VERSIONS {
        let (scratch, calls) = recorded(version);
        let told = |call: &Value| {
            let mut command = Command::new(maenifold());
            command.args(arguments(call)).env_clear().env("HOME", scratch.home());
            let output = command.env("STAND_IN_NOW", NOW).env("TZ", "UTC").output().unwrap();
            assert_eq!(output.status.code(), Some(0), "{output:?}");
            String::from_utf8(output.stdout).unwrap()
        };
        let mut n_calls = 0;
        let names_files = WITH_FILES.contains(&version);
        let tools = ["BuildContext"].into_iter().chain(names_files.then_some("RecentActivity"));
        for tool in tools {
            for call in questions(&calls, tool) {
                assert_eq!(told(call), stdout(call), "{version}: {:?}", arguments(call));
                n_calls += 1;
            }
        }
        assert_eq!(n_calls, if names_files { 10 } else { 6 }, "{version}");
        // The real one had a model and found notes by meaning, too; of those that have the words, both say the same.
        let with_words = |said: &str| -> BTreeMap<String, Value> {
            let envelope: Value = serde_json::from_str(said).unwrap();
            let results = envelope["data"]["results"].as_array().unwrap().iter();
            let has_words = results.filter(|result| result["textScore"] != json!(0));
            let told = |result: &Value| {
                let path = result["path"].as_str().unwrap().to_owned();
                (path, json!([result["title"], result["textScore"], result["snippet"]]))
            };
            has_words.map(told).collect()
        };
        if WITHOUT_JSON.contains(&version) {
            continue;
        }
        for call in questions(&calls, "SearchMemories") {
            if arguments(call).contains(&"--json") && arguments(call)[3].contains("Hybrid") {
                let (ours, theirs) = (with_words(&told(call)), with_words(stdout(call)));
                assert!(theirs.len() >= 3, "{version}: {theirs:#?}");
                assert_eq!(ours, theirs, "{version}");
            }
        }
    }
}

#[test]
fn all_that_was_said_is_understood() {
    for version in VERSIONS {
        let (_scratch, calls) = recorded(version);
        let mut n_notes = 0;
        for call in questions(&calls, "SearchMemories") {
            n_notes += replies::search(stdout(call).as_bytes()).unwrap().len();
        }
        for call in questions(&calls, "RecentActivity") {
            n_notes += replies::recent(stdout(call).as_bytes()).unwrap().len();
        }
        assert!(n_notes > 30, "{version}: {n_notes}");
        for call in questions(&calls, "BuildContext") {
            let relations = replies::context(stdout(call).as_bytes()).unwrap();
            let is_unknown = arguments(call)[3].contains("nobody");
            assert_eq!(relations.is_empty(), is_unknown, "{version}");
        }
    }
}

/// Up to 1.0.5, RecentActivity names a folder of a note (`**2026**`, and `**1970**` for sessions) in place of its file.
#[test]
fn the_answers_of_every_version_make_a_context_without_a_fault() {
    for version in VERSIONS {
        let (scratch, calls) = recorded(version);
        let mut script = "#!/bin/sh\ncase \"$2\" in\n".to_owned();
        for tool in ["SearchMemories", "RecentActivity", "BuildContext"] {
            let is_asked = |call: &&Value| arguments(call).contains(&"--json");
            let call = questions(&calls, tool).find(is_asked).unwrap();
            let said = scratch.write(&format!("said/{tool}"), stdout(call));
            script += &format!("{tool}) cat {} ;;\n", said.display());
        }
        script += "esac\n";
        let program = scratch.write("bin/maenifold", script);
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        fs::create_dir_all(scratch.home().join("maenifold/assets/models")).unwrap();
        let inject =
            ["--dir", "billing-api", "inject", "--session", "s", "--dry-run", "--format", "json"];
        let mut command = scratch.kgctx([&inject[..], &["--now", NOW, "--source", "cli"]].concat());
        command.env("KGCTX_MAENIFOLD_BIN", &program).env("KGCTX_DEADLINE_MS", "60000");
        let answer = answer(&command.output().unwrap());
        assert_eq!((source(&answer).0, faults(&answer).as_str()), ("cli", ""), "{version}");
        let recent = part(text(&answer), "Recent Activity");
        // A note that 1.0.3 and 1.0.4 know is gone; all others are found by their titles.
        assert_eq!(recent.len(), 8, "{version}: {}", text(&answer));
        assert!(
            recent.iter().any(|line| line.contains("(memory://assumptions/2026/11/assumption-")),
            "{recent:#?}"
        );
        assert!(recent.iter().any(|line| line.starts_with("- Dashboard v2 - ")), "{recent:#?}");
    }
}

#[test]
fn the_database_of_every_version_answers_as_the_program_did() {
    for version in VERSIONS {
        let (scratch, calls) = recorded(version);
        for call in questions(&calls, "BuildContext") {
            let payload: Value = serde_json::from_str(arguments(call)[3]).unwrap();
            let concept = payload["conceptName"].as_str().unwrap();
            let context = ["context", concept, "--source", "database", "--max-entities", "10"];
            let command = [&["--dir", "billing-api"], &context[..], &["--json", "--now", NOW]];
            let output = scratch.kgctx(command.concat()).output().unwrap();
            let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
            let ours = answer["relatedConcepts"].as_array().unwrap().iter();
            // Of neighbours that are equally strong, others may be the last.
            let ours: Vec<u64> = ours.map(|related| related["files"].as_u64().unwrap()).collect();
            let theirs = replies::context(stdout(call).as_bytes()).unwrap().into_iter();
            let theirs: Vec<u64> = theirs.map(|related| u64::from(related.files)).collect();
            assert_eq!(ours, theirs, "{version}: {concept}");
        }
        let inject =
            ["--dir", "billing-api", "inject", "--session", "s", "--dry-run", "--format", "json"];
        let mut command =
            scratch.kgctx([&inject[..], &["--now", NOW, "--source", "database"]].concat());
        let answer = answer(&command.output().unwrap());
        assert_eq!(source(&answer).0, "database", "{version}");
        // Their last Sync failed.
        let is_behind = ["1.0.3", "1.0.4"].contains(&version);
        assert_eq!(
            faults(&answer).contains("memory.db is behind its notes"),
            is_behind,
            "{version}: {}",
            faults(&answer)
        );
        let graph = part(text(&answer), "Graph Connections");
        assert!(
            graph[0].starts_with("- [[billing-api]] → [[idempotency-keys]], "),
            "{version}: {graph:#?}"
        );
    }
}
