//! What a session of OpenCode leaves, which tells no end: when it is deleted or archived, when nobody says anything for long,
//! and when its process is gone.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::monitor::{bridge, info};
use crate::support::handoff_lab::{Lab, documents};

fn created(lab: &Lab, session: &str) {
    let properties = json!({"info": info(lab, session)});
    bridge(lab, json!({"type": "session.created", "properties": properties}));
}

/// The session is at rest after so many prompts, the last of which is about something.
fn rests(lab: &Lab, session: &str, prompts: i64, about: &str, more: Value) {
    let said = |n: i64| {
        let text = if n == prompts { about } else { "Go on." };
        [
            json!({"role": "user", "text": text, "at": n * 1_000}),
            json!({"role": "assistant", "text": format!("Done: {text}"), "at": n * 1_000 + 500}),
        ]
    };
    let messages: Vec<Value> = (1..=prompts).flat_map(said).collect();
    let mut info = info(lab, session);
    for (key, value) in more.as_object().unwrap() {
        info[key] = value.clone();
    }
    bridge(
        lab,
        json!({"type": "kgctx.rest", "sessionID": session, "info": info, "messages": messages}),
    );
}

fn over(lab: &Lab, session: &str, is_idle: bool) -> Value {
    bridge(lab, json!({"type": "kgctx.over", "sessionID": session, "idle": is_idle}))
}

fn count(lab: &Lab, sql: &str) -> i64 {
    lab.state().query_row(sql, [], |row| row.get(0)).unwrap()
}

/// Waits until no ending is left that is to be written.
fn settle(lab: &Lab) {
    let until = Instant::now() + Duration::from_secs(20);
    while count(lab, "SELECT count(*) FROM endings WHERE due IS NULL") > 0 {
        assert!(Instant::now() < until, "an ending is never written");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The number of handoffs that a session has left.
fn left(lab: &Lab, session: &str) -> i64 {
    count(
        lab,
        &format!("SELECT count(*) FROM handoffs WHERE session = '{session}' AND occasion = 'end'"),
    )
}

#[test]
fn a_deleted_or_archived_session_leaves_one_handoff_and_a_short_one_nothing() {
    let lab = Lab::new();
    created(&lab, "ses_long");
    rests(&lab, "ses_long", 9, "Sort the tiles.", json!({}));
    assert_eq!(left(&lab, "ses_long"), 0, "it may go on");
    over(&lab, "ses_long", false);
    settle(&lab);
    let document = lab.handoff(&["show"]);
    let body = document["body"].as_str().unwrap();
    assert_eq!((&document["type"], &document["session_id"]), (&json!("end"), &json!("ses_long")));
    assert!(body.contains("Sort the tiles.") && body.contains("Done: Sort the tiles."), "{body}");
    assert!(!body.contains("The whole conversation is in"), "{body}");
    let kept = lab.scratch.path().join("kgctx-home/state/said/ses_long.json");
    assert!(!kept.exists(), "what was said is kept no longer than it is needed");
    // Never twice.
    over(&lab, "ses_long", false);
    over(&lab, "ses_long", true);
    settle(&lab);
    assert_eq!(left(&lab, "ses_long"), 1);
    for (session, prompts, more) in [
        ("ses_short", 1, json!({})),
        ("ses_child", 9, json!({"parentID": "ses_long"})),
        ("ses_run", 9, json!({"permission": [{"permission": "question", "action": "deny"}]})),
    ] {
        created(&lab, session);
        rests(&lab, session, prompts, "Sort the tiles.", more);
        over(&lab, session, false);
        settle(&lab);
        assert_eq!(left(&lab, session), 0, "{session}");
        assert_eq!(count(&lab, "SELECT count(*) FROM endings"), 0, "{session}");
    }
}

#[test]
fn the_end_of_a_session_is_told_again_where_the_state_was_busy() {
    let lab = Lab::new();
    created(&lab, "ses_long");
    rests(&lab, "ses_long", 9, "Sort the tiles.", json!({}));
    let busy = lab.state();
    busy.execute_batch("BEGIN IMMEDIATE").unwrap();
    let answer = over(&lab, "ses_long", false);
    assert_eq!((&answer["action"], &answer["soon"]), (&json!("ask"), &json!(true)), "{answer}");
    busy.execute_batch("ROLLBACK").unwrap();
    assert_eq!(over(&lab, "ses_long", false)["action"], "none");
    settle(&lab);
    assert_eq!(left(&lab, "ses_long"), 1);
}

#[test]
fn what_its_tools_did_is_told_masked() {
    let lab = Lab::new();
    let key = "ghp_x7Kd93hTq0ZmB2vLs8RfYwN4aUeC6pJ1gXoI";
    created(&lab, "ses_a");
    let said = |n: i64, role: &str| json!({"role": role, "text": format!("Text {n}, {key}"), "at": n * 1_000});
    let messages: Vec<Value> =
        (0..9).map(|n| said(n, if n % 2 == 0 { "user" } else { "assistant" })).collect();
    let tools = json!([
        {"tool": "bash", "input": {"command": "make all"}, "exit": 2, "output": format!("error: bad key {key}\n")},
        {"tool": "bash", "input": {"command": "ls"}, "exit": 0, "output": "a"},
        {"tool": "edit", "input": {"filePath": "/elsewhere/tiles.rs"}},
        {"tool": "todowrite", "input": {"todos": [{"content": "Paint them", "status": "pending"}, {"content": "Sort", "status": "completed"}]}},
    ]);
    let info = info(&lab, "ses_a");
    bridge(
        &lab,
        json!({"type": "kgctx.rest", "sessionID": "ses_a", "info": info, "messages": messages, "tools": tools}),
    );
    over(&lab, "ses_a", false);
    settle(&lab);
    let document = lab.handoff(&["show"]);
    let body = document["body"].as_str().unwrap();
    for text in [
        "`make all` ended with exit code 2: error: bad key",
        "/elsewhere/tiles.rs",
        "## To do",
        "Paint them",
    ] {
        assert!(body.contains(text), "{text}: {body}");
    }
    assert!(!body.contains(key) && !body.contains("Sort") && !body.contains("`ls`"), "{body}");
    // The same before a compaction.
    let info = crate::monitor::info(&lab, "ses_b");
    bridge(
        &lab,
        json!({"type": "session.compacting", "sessionID": "ses_b", "info": info, "messages": messages, "tools": tools}),
    );
    let document = lab.handoff(&["list"]);
    let id = document["handoffs"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["session_id"] == "ses_b")
        .unwrap()["id"]
        .clone();
    let body = lab.handoff(&["show", id.as_str().unwrap()])["body"].as_str().unwrap().to_owned();
    assert!(body.contains("`make all` ended with exit code 2"), "{body}");
    // Nor is it kept anywhere.
    for document in documents(&lab.scratch) {
        let text = std::fs::read_to_string(document).unwrap();
        assert!(text.contains("make all") && !text.contains(key), "{text}");
    }
}

#[test]
fn a_session_that_is_idle_for_long_leaves_a_handoff_and_another_one_if_it_goes_on() {
    let lab = Lab::new();
    created(&lab, "ses_a");
    rests(&lab, "ses_a", 8, "Sort the tiles.", json!({}));
    rests(&lab, "ses_a", 9, "Paint the tiles.", json!({}));
    assert_eq!(count(&lab, "SELECT count(*) FROM endings"), 1);
    created(&lab, "ses_b");
    settle(&lab);
    assert_eq!(left(&lab, "ses_a"), 0, "it has only just come to rest");
    lab.sql("UPDATE endings SET due = 1");
    created(&lab, "ses_c");
    let until = Instant::now() + Duration::from_secs(20);
    while left(&lab, "ses_a") == 0 {
        assert!(Instant::now() < until, "no handoff was written");
        std::thread::sleep(Duration::from_millis(20));
    }
    over(&lab, "ses_a", true);
    settle(&lab);
    assert_eq!(left(&lab, "ses_a"), 1, "nothing was said since");
    let is_over = "SELECT count(*) FROM sessions WHERE session = 'ses_a' AND ended IS NOT NULL";
    assert_eq!(count(&lab, is_over), 0, "it can go on");
    rests(&lab, "ses_a", 10, "Sell the tiles.", json!({}));
    over(&lab, "ses_a", true);
    settle(&lab);
    assert_eq!(left(&lab, "ses_a"), 2);
    assert!(lab.handoff(&["show"])["body"].as_str().unwrap().contains("Sell the tiles."));
}

#[test]
fn a_session_whose_process_is_gone_leaves_a_handoff_and_what_it_left_itself_is_better() {
    let lab = Lab::new();
    created(&lab, "ses_gone");
    rests(&lab, "ses_gone", 9, "Sort the tiles.", json!({}));
    lab.sql("UPDATE sessions SET started = started + 1 WHERE session = 'ses_gone'");
    created(&lab, "ses_next");
    let until = Instant::now() + Duration::from_secs(20);
    while left(&lab, "ses_gone") == 0 {
        assert!(Instant::now() < until, "no handoff was written");
        std::thread::sleep(Duration::from_millis(20));
    }
    created(&lab, "ses_own");
    rests(&lab, "ses_own", 9, "Sort the tiles.", json!({}));
    lab.create(&["--session", "ses_own", "--body", "Mine."]);
    over(&lab, "ses_own", false);
    settle(&lab);
    assert_eq!(left(&lab, "ses_own"), 0);
}

#[test]
fn a_session_that_is_created_while_another_is_compacted_leaves_it_its_handoff() {
    let lab = Lab::new();
    created(&lab, "ses_a");
    let messages = json!([{"role": "user", "text": "Sort the tiles.", "at": 1_000}]);
    let info = info(&lab, "ses_a");
    bridge(
        &lab,
        json!({"type": "session.compacting", "sessionID": "ses_a", "info": info, "messages": messages}),
    );
    let id = lab.handoff(&["show"])["id"].as_str().unwrap().to_owned();
    created(&lab, "ses_b");
    assert_eq!(lab.status(&id).as_deref(), Some("active"));
}
