//! `kgctx explain --list`: the last context of each session of a project.

use serde_json::{Value, json};

use crate::support::handoff_lab::Lab;
use crate::support::valid;

fn listed(lab: &Lab) -> (String, Value) {
    let run = |arguments: &[&str]| {
        let output = lab.kgctx(["explain", "--list"]).args(arguments).output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let answer = serde_json::from_str(&run(&["--json"])).unwrap();
    valid("explain-list", &answer);
    (run(&[]), answer)
}

#[test]
fn each_session_has_one_line_the_newest_first() {
    let lab = Lab::new();
    lab.scratch.write("zephyr/docs/cache.md", "# Cache\n\nThe [[Tile Cache]].\n");
    lab.start("one");
    lab.start("two");
    lab.told("start-compact", "one");
    let (text, answer) = listed(&lab);
    let contexts = answer["contexts"].as_array().unwrap();
    let sessions: Vec<&Value> = contexts.iter().map(|context| &context["session"]).collect();
    assert_eq!(sessions, ["one", "two"]);
    assert!(contexts[0]["moment"].as_str().unwrap().starts_with("compaction:"), "{answer:#}");
    assert_eq!(contexts[1]["moment"], "start");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 2, "{text}");
    assert!(lines[0].ends_with(" of 1,000 tokens  claude-code  one"), "{text}");
    assert!(lines[1].ends_with(" of 4,000 tokens  claude-code  two"), "{text}");
    // Another project has its own.
    lab.scratch.write("other/docs/cache.md", "# Cache\n");
    let output = lab.kgctx(["explain", "--list", "--json", "--dir", "../other"]).output().unwrap();
    let other: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(other, json!({"project": "other", "contexts": []}));
}

#[test]
fn where_there_is_none_it_says_what_to_do() {
    let (text, answer) = listed(&Lab::new());
    assert!(text.starts_with("No session of this project has a context yet."), "{text}");
    assert!(text.contains("kgctx explain --dry-run"), "{text}");
    assert_eq!(answer["contexts"], json!([]));
}
