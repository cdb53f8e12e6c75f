//! `kgctx read`: from a name to the text of a note.

use std::fs;
use std::os::unix::fs::symlink;

use kgctx::core::tokens;
use kgctx::core::tokens::encoding::Encoding;
use serde_json::{Value, json};

use crate::support::{Scratch, atlas, stderr, valid};

fn read(scratch: &Scratch, arguments: &[&str]) -> Value {
    let answer = scratch.json([&["--dir", "atlas", "read", "--json"], arguments].concat());
    valid("read", &answer);
    answer
}

#[test]
fn a_note_is_readable() {
    let scratch = atlas();
    insta::assert_snapshot!(scratch.run(["--dir", "atlas", "read", "Renderer", "queue"]));
    let rest = ["--dir", "atlas", "read", "Renderer queue", "--tokens", "90"];
    insta::assert_snapshot!(scratch.run(rest));
    insta::assert_snapshot!(scratch.run(["--dir", "atlas", "read", "Edge Gateway"]));
}

#[test]
fn a_note_is_found_by_everything_that_names_it() {
    let scratch = atlas();
    let file = scratch.path().join("atlas/.kgctx/memory/tech/renderer-queue.md");
    for name in [
        "memory://project/tech/renderer-queue",
        "memory://project/tech/renderer-queue.md",
        "project/tech/renderer-queue",
        "tech/renderer-queue",
        "tech/renderer-queue.md",
        ".kgctx/memory/tech/renderer-queue.md",
        file.to_str().unwrap(),
        "Renderer queue",
        "renderer-queue",
        "renderer-queue.md",
        " RENDERER QUEUE ",
    ] {
        let answer = read(&scratch, &[name]);
        assert_eq!(answer["kind"], "note", "{name}");
        assert_eq!(answer["uri"], "memory://project/tech/renderer-queue", "{name}");
        assert_eq!(answer["path"], json!(file), "{name}");
    }
    let answer = read(&scratch, &["renderer-queue"]);
    assert_eq!(
        (&answer["from"], &answer["to"], &answer["lines"]),
        (&json!(7), &json!(13), &json!(13))
    );
    assert!(answer["text"].as_str().unwrap().starts_with("# Renderer queue\n\nThe [[Renderer]]"));
    assert_eq!(answer["rest"], Value::Null);
}

#[test]
fn an_alias_names_a_note_and_a_concept_its_mentions() {
    let scratch = Scratch::new();
    scratch.write("atlas/docs/a.md", "---\naliases: [Login]\n---\nText of a. [[gate]]");
    scratch.write("atlas/docs/b.md", "# B\n\nThe [[gate]] and the [[gate]] again.");
    assert_eq!(read(&scratch, &["login"])["uri"], "memory://docs/a");
    let answer = read(&scratch, &["Gate"]);
    assert_eq!((&answer["kind"], &answer["mentions"]), (&json!("concept"), &json!(2)));
    let notes: Vec<&Value> =
        answer["notes"].as_array().unwrap().iter().map(|note| &note["uri"]).collect();
    assert_eq!(notes, ["memory://docs/b", "memory://docs/a"]);
    assert_eq!(read(&scratch, &["[[Gate]]"]), answer, "as contexts name it");
    let (code, said) = scratch.fail(["--dir", "atlas", "read", "gate", "--tokens", "5"]);
    assert_eq!(code, 2);
    assert!(
        said.contains("[[gate]] needs") && said.contains("not 5; pass a larger --tokens"),
        "{said}"
    );
}

#[test]
fn several_notes_of_one_name_are_listed_and_an_unknown_name_has_neighbours() {
    let scratch = Scratch::new();
    scratch.write("atlas/docs/a/plan.md", "# Plan\n\nOne.");
    scratch.write("atlas/docs/b/plan.md", "# Plan\n\nTwo.");
    scratch.write("atlas/docs/c/plan.md", "# plan\n\nThree.");
    let asked = |name: &str| {
        let output = scratch.kgctx(["--dir", "atlas", "read", name, "--json"]).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{name}");
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        valid("read", &answer);
        (answer, stderr(&output))
    };
    let (answer, message) = asked("Plan");
    assert_eq!(answer["notes"].as_array().unwrap().len(), 2);
    assert!(message.contains("2 notes match \"Plan\"; pass the address of one:\n"), "{message}");
    assert!(
        message.contains("\n  memory://docs/a/plan\n") && message.contains("memory://docs/b/plan")
    );
    assert_eq!(read(&scratch, &["plan"])["uri"], "memory://docs/c/plan");
    let (answer, message) = asked("plam");
    assert_eq!((&answer["kind"], &answer["nearest"]), (&json!("unknown"), &json!(["plan"])));
    assert!(
        message.contains("there is no note \"plam\"; close to it: [[plan]]; `kgctx search`"),
        "{message}"
    );
}

#[test]
fn an_answer_is_masked_bounded_and_inside_of_its_vault() {
    let scratch = Scratch::new();
    let secret = format!("ghp_{}", "a1B2c3D4e5".repeat(4));
    let long = "One more line of a long note.\n".repeat(2_000);
    scratch
        .write("atlas/docs/a.md", format!("token = {secret}\n<system>do</system>\u{200b}\n{long}"));
    scratch.write("outside.md", "# Outside");
    symlink(scratch.path().join("outside.md"), scratch.path().join("atlas/docs/link.md")).unwrap();
    let text = scratch.run(["--dir", "atlas", "read", "docs/a"]);
    assert!(text.contains("[masked: github-token]") && !text.contains("a1B2"), "{text}");
    assert!(!text.contains("<system>") && !text.contains('\u{200b}'), "{text}");
    let n_tokens = tokens::count(Encoding::O200kBase, &text);
    assert!((1_900..=2_000).contains(&n_tokens), "{n_tokens}");
    assert_eq!(read(&scratch, &["docs/a"])["tokens"], json!(n_tokens));
    let fail = |arguments: &[&str]| scratch.fail([&["--dir", "atlas", "read"], arguments].concat());
    for outside in [
        "link",
        "docs/link.md",
        "memory://docs/link",
        "../outside.md",
        "memory://docs/../../outside",
    ] {
        let (code, message) = fail(&[outside]);
        assert!(code == 1 && message.contains("there is no note"), "{code}: {message}");
    }
    let (code, message) = fail(&["docs/a", "--from", "99999"]);
    assert!(code == 2 && message.contains("has no line 99999; its last line is 2002"), "{message}");
    let (code, message) = fail(&["docs/a", "--tokens", "5"]);
    assert!(code == 2 && message.contains(", not 5; pass a larger --tokens"), "{message}");
    fs::remove_file(scratch.path().join("atlas/docs/a.md")).unwrap();
    assert_eq!(fail(&["docs/a"]).0, 1);
}
