//! Tests of piped input: what is accepted, and the errors for the rest.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::core::handoff::{Document, Head, Kind, Occasion, Priority};

#[track_caller]
fn refused(text: &str, expect: &str) {
    let message = input(text).unwrap_err().to_string();
    assert!(message.contains(expect), "{text:?}: {message}");
}

#[test]
fn p_3_25_a_json_header_or_front_matter_or_plain_markdown() {
    // P-3.25
    let head = Head {
        kind: Kind::Task,
        occasion: Some(Occasion::Manual),
        priority: Priority::High,
        goal: Some("a: #b".to_owned()),
        files: vec!["x y".to_owned()],
        other: vec![("zeta".to_owned(), json!({"k": 1})), ("alpha".to_owned(), json!(null))],
        ..Head::default()
    };
    let expect = Document { head, body: "\n# Body\r\n".to_owned() };
    for text in [
        "{\"kind\":\"task\",\"type\":\"manual\",\"priority\":\"high\",\"zeta\":{\"k\":1},\"goal\":\"a: #b\",\
         \"alpha\":null,\"files\":[\"x y\"]}\n\n# Body\r\n",
        "\u{feff} \n{\"kind\":\"task\",\"type\":\"manual\",\r\n\"priority\":\"high\",\"zeta\":{\"k\":1},\
         \"goal\":\"a: #b\",\"alpha\":null,\"files\":[\"x y\"]} \r\n\n# Body\r\n",
        "---\nkind: task\ntype: manual\npriority: high\nzeta: {k: 1}\ngoal: 'a: #b'\nalpha:\nfiles: [x y]\n---\n\
         \n# Body\r\n",
        "\n---\r\nkind: task\r\ntype: manual\r\npriority: high\r\nzeta: {k: 1}\r\ngoal: 'a: #b'\r\nalpha:\r\n\
         files: [x y]\r\n---\r\n\n# Body\r\n",
    ] {
        assert_eq!(
            input(text),
            Ok(Input { document: expect.clone(), ignored: Vec::new() }),
            "{text}"
        );
    }
    for text in ["# Body\n", " \n text", "--- a ---\n", "----\n", "<!-- HANDOFF-ID: x -->\n"] {
        let taken = input(text).unwrap().document;
        assert_eq!(taken, Document { head: Head::default(), body: text.to_owned() });
    }
    assert_eq!(input("{\"goal\":\"g\"}").unwrap().document.body, "");
}

#[test]
fn p_3_25_what_is_wrong_is_named() {
    // P-3.25
    for empty in ["", " \r\n\t", "\u{feff}"] {
        assert_eq!(input(empty), Err(InputError::Empty));
    }
    refused("{\"goal\": \"a\"", "the JSON header cannot be read");
    refused("{goal: a}\nbody", "the JSON header cannot be read");
    refused("{\"goal\": \"a\"} body", "on the next line");
    refused("---\ngoal: [\n---\n", "the front matter cannot be read");
    refused("---\n- a\n---\n", "the front matter cannot be read");
    refused("---\ngoal: a\nbody", "a line ---");
    refused(
        "{\"priority\": \"urgent\"}",
        "priority is \"urgent\", which is unknown; write high, medium or low",
    );
    refused("{\"kind\": \"x\"}", "write session or task");
    refused("{\"consume\": \"x\"}", "write once or sticky");
    refused("{\"priority\": 1}", "priority is a number, not a text");
    refused("{\"goal\": 7}", "goal is a number, not a text");
    refused("---\ngoal: 7\n---\n", "goal is a number, not a text");
    refused("{\"branch\": true}", "branch is a yes or no, not a text");
    refused("{\"files\": \"a\"}", "files is a text, not a list of texts");
    refused("{\"tags\": {}}", "tags is a map, not a list of texts");
    refused("{\"specs\": [\"a\", 1]}", "specs has a number as item 2, not a text");
    refused("{\"files\": [\"a\\u0000b\"]}", "files names a file with a NUL character");
    refused("{\"specs\": [\"\"]}", "specs names a file without a name");
    refused("{\"working_dir\": \"\\u0000\"}", "working_dir names a file with a NUL character");
    refused("{\"goal\": \"a\", \"goal\": \"b\"}", "goal appears twice");
    refused("---\ngoal: a\ngoal: b\n---\n", "goal appears twice");
    refused("{\"branch\": \"a\", \"git_ref\": \"b\"}", "branch appears twice, or under two names");
    refused(&format!("{{\"x\": {}{}}}", "[".repeat(100), "]".repeat(100)), "too large");
    refused(&format!("{{\"x\": {}", "[".repeat(100_000)), "the JSON header cannot be read");
    refused(&format!("{{\"x\": \"{}\"}}", "x".repeat(2 << 20)), "too large");
}

#[test]
fn p_3_26_a_task_says_its_goal_and_its_next_step() {
    // P-3.26
    let head = |text: &str| input(text).unwrap().document.head;
    let error = check_complete(&head("{\"kind\": \"task\"}")).unwrap_err();
    assert_eq!(error.missing, ["goal", "next_step"]);
    assert!(error.to_string().starts_with("a task needs goal and next_step"), "{error}");
    let error =
        check_complete(&head("{\"kind\": \"task\", \"goal\": \"a\", \"next_step\": \" \"}"))
            .unwrap_err();
    assert_eq!(error.missing, ["next_step"]);
    assert_eq!(
        check_complete(&head("{\"kind\":\"task\",\"goal\":\"a\",\"next_step\":\"b\"}")),
        Ok(())
    );
    assert_eq!(check_complete(&head("{\"goal\":\"a\"}")), Ok(()));
}

#[test]
fn p_3_28_what_kgctx_fills_in_cannot_be_set() {
    // P-3.28
    let taken = input(
        "{\"id\":1,\"created_at\":\"x\",\"session_id\":\"s\",\"expires_at\":null,\"goal\":\"g\"}\nbody",
    )
    .unwrap();
    assert_eq!(taken.ignored, ["id", "created_at", "session_id", "expires_at"]);
    let head = Head { goal: Some("g".to_owned()), ..Head::default() };
    assert_eq!(taken.document, Document { head, body: "body".to_owned() });
    let taken = input("---\ntimestamp: x\nagent_session_id: y\n---\nb").unwrap();
    assert_eq!(taken.ignored, ["timestamp", "agent_session_id"]);
    assert_eq!(taken.document.head, Head::default());
}

proptest! {
    #[test]
    fn p_3_26_any_body_and_any_text_are_taken_verbatim(
        goal: String, key in "[a-z]{1,2}x[a-z]{0,2}", value: String, body: String, crlf: bool,
    ) {
        // P-3.26
        let end = if crlf { "\r\n" } else { "\n" };
        let header = Value::from_iter([("goal", json!(goal)), (&key, json!([value]))]);
        let taken = input(&format!("{header}{end}{body}")).unwrap().document;
        prop_assert_eq!(taken.head.goal, Some(goal));
        prop_assert_eq!(taken.head.other, [(key, json!([value]))]);
        prop_assert_eq!(taken.body, body);
    }

    #[test]
    fn p_3_25_any_text_is_taken_so_that_it_can_be_kept_or_refused(
        start in prop::sample::select(vec!["", "{", "---\n", "{\"goal\":", "---\ngoal: "]), text: String,
        end in prop::sample::select(vec!["", "}", "\n---\n"]),
    ) {
        // P-3.25
        if let Ok(taken) = input(&format!("{start}{text}{end}")) {
            prop_assert_eq!(read(write(&taken.document).as_bytes()).unwrap().document, taken.document);
        }
    }
}
