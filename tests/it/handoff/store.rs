//! Where handoffs are kept: what is written down about each, how long they stay, and what is left of them when the state is
//! lost.

mod channels;

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use kgctx::core::handoff::Head;
use kgctx::core::handoff::life::{Actor, HandoffEvent, Home};
use kgctx::store::state::State;
use proptest::prelude::*;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::support::git;
use crate::support::handoff_lab::{Lab, assert_whole, documents};

const DAY_MS: i64 = 24 * 3_600_000;

fn is_time(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.ends_with('Z'))
}

/// The only one of all handoffs that has this id.
#[track_caller]
fn record(lab: &Lab, id: &str) -> Value {
    let all = lab.handoff(&["list", "--all"]);
    let mut found = all["handoffs"].as_array().unwrap().iter().filter(|one| one["id"] == id);
    let one = found.next().unwrap_or_else(|| panic!("{id} is not in {all}")).clone();
    assert!(found.next().is_none());
    one
}

/// Everything that is written in the state.
fn contents(lab: &Lab) -> Vec<String> {
    let state = lab.state();
    let mut rows = Vec::new();
    for table in
        ["handoffs", "handoff_receivers", "handoff_events", "sessions", "endings", "claims"]
    {
        let mut statement = state.prepare(&format!("SELECT * FROM {table}")).unwrap();
        let n_columns = statement.column_count();
        let mut found = statement.query([]).unwrap();
        while let Some(row) = found.next().unwrap() {
            let values = (0..n_columns).map(|n| format!("{:?}", row.get_ref(n).unwrap()));
            rows.push(format!("{table}: {}", values.collect::<Vec<_>>().join(", ")));
        }
    }
    rows
}

#[test]
fn a_1_3_a_record_says_who_wrote_it_and_what_became_of_it() {
    // A-1.3
    let lab = Lab::new();
    let id = lab.leave("Ship it.");
    let waiting = lab.handoff(&["show"]);
    for (key, expected) in [
        ("id", json!(id)),
        ("channel", json!("zephyr")),
        ("session_id", json!("author")),
        ("type", json!("manual")),
        ("status", json!("active")),
        ("working_dir", json!(lab.folder())),
    ] {
        assert_eq!(waiting[key], expected, "{key}");
    }
    assert!(is_time(&waiting["created_at"]) && waiting["created_by_pid"].as_u64() > Some(1));
    for key in ["consumed_at", "consumed_by_pid", "consumed_by_session", "expired_at", "cleared_at"]
    {
        assert_eq!(waiting.get(key), None, "{key}");
    }
    lab.start("reader");
    let consumed = record(&lab, &id);
    assert!(is_time(&consumed["consumed_at"]) && consumed["consumed_by_pid"].as_u64() > Some(1));
    assert_eq!(consumed["consumed_by_session"], "reader");
    assert_eq!(consumed["status"], "consumed");
    let id = lab.create(&["--type", "auto", "--body", "Go on."]);
    assert!(is_time(&record(&lab, &id)["expires_at"]));
    lab.sql("UPDATE handoffs SET created = created - 8000000, expires = expires - 8000000 WHERE status = 'active'");
    lab.start("late");
    assert!(is_time(&record(&lab, &id)["expired_at"]));
    let id = lab.leave("Clear it.");
    lab.handoff(&["clear"]);
    let cleared = record(&lab, &id);
    assert!(is_time(&cleared["cleared_at"]) && cleared["reason"] == "cleared", "{cleared}");
}

#[test]
fn a_1_5_no_reader_ever_sees_two_that_wait() {
    // A-1.5: and none that sees none, once there was one.
    let lab = Lab::new();
    lab.leave("The first.");
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let state = lab.state();
            let sql = "SELECT count(*) FROM handoffs WHERE kind = 'session' AND status = 'active'";
            let mut seen = Vec::new();
            while !is_done.load(Ordering::Relaxed) {
                seen.push(state.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap());
                thread::sleep(Duration::from_micros(200));
            }
            seen
        });
        let writers: Vec<_> = (0..4)
            .map(|n| {
                let lab = &lab;
                scope.spawn(move || (0..8).for_each(|m| drop(lab.leave(&format!("Text {n} {m}.")))))
            })
            .collect();
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        is_done.store(true, Ordering::Relaxed);
        let seen = reader.join().unwrap();
        assert!(seen.len() > 50 && seen.iter().all(|&n| n == 1), "{} looks", seen.len());
    });
    assert_eq!(documents(&lab.scratch).len(), 33);
}

#[test]
fn a_1_6_what_a_newer_one_takes_the_place_of_is_kept_and_says_so() {
    // A-1.6
    let lab = Lab::new();
    let old = lab.leave("The old one.");
    let created = lab.handoff(&["create", "--body", "The new one."]);
    assert_eq!(created["superseded"], *old);
    let superseded = record(&lab, &old);
    assert_eq!(superseded["status"], "cleared");
    assert_eq!(superseded["reason"], "superseded");
    assert_eq!(superseded["superseded_by"], created["id"]);
    assert!(fs::read_to_string(lab.document(&old)).unwrap().contains("The old one."));
    // A task takes nobody's place.
    lab.create(&["--task", "--goal", "Ship", "--next", "Test"]);
    assert_eq!(record(&lab, created["id"].as_str().unwrap())["status"], "active");
}

#[test]
fn a_1_8_odd_paths_come_back_byte_for_byte() {
    // A-1.8: through the record and through the document.
    let lab = Lab::new();
    let folder = lab.scratch.path().join("a \"b\" \\c\\ 'd'\n$e: #é😀");
    fs::create_dir(&folder).unwrap();
    git(&folder, &["init", "--quiet"]);
    let run = |arguments: &[&str]| {
        let output = lab.kgctx(["handoff"]).args(arguments).current_dir(&folder).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    let text =
        "\"quoted\" \\back\\slash\\\n\n  tabbed\t: - # [x] {y} 😀\u{2028}\n---\nnot a head\n";
    let session = "se\"ss\\ion\n😀";
    run(&["create", "--json", "--session", session, "--goal", "a: \"b\" \\\n#c", "--body", text]);
    let shown = run(&["show", "--json", "--session", session]);
    assert_eq!(shown["working_dir"], json!(folder));
    assert_eq!(shown["document"]["working_dir"], json!(folder));
    assert_eq!(shown["session_id"], session);
    assert_eq!(shown["document"]["session_id"], session);
    assert_eq!(shown["goal"], "a: \"b\" \\\n#c");
    assert_eq!(shown["document"]["goal"], "a: \"b\" \\\n#c");
    assert_eq!(shown["body"].as_str().unwrap(), text);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, max_shrink_iters: 30, ..ProptestConfig::default() })]

    #[test]
    fn a_1_8_any_text_comes_back(goal in "[^\\x00]{1,40}", body in "[^\\x00]{1,200}") {
        // A-1.8
        prop_assume!(!goal.trim().is_empty() && !body.trim().is_empty());
        let lab = Lab::new();
        let header = json!({ "goal": goal, "next_step": goal });
        let file = lab.scratch.write("input.md", format!("{header}\n{body}"));
        let created = lab.handoff(&["create", file.to_str().unwrap()]);
        let shown = lab.handoff(&["show", created["id"].as_str().unwrap()]);
        prop_assert_eq!(shown["body"].as_str().unwrap(), &body);
        prop_assert_eq!(shown["document"]["goal"].as_str().unwrap(), &goal);
        prop_assert_eq!(shown["document"]["next_step"].as_str().unwrap(), &goal);
        prop_assert_eq!(shown["goal"].as_str().unwrap(), &goal);
    }
}

#[test]
fn a_1_16_clearing_archives_and_looking_changes_nothing() {
    // A-1.16
    let lab = Lab::new();
    assert_eq!(lab.handoff(&["clear"])["cleared"], Value::Null, "nothing to clear is a success");
    let before = contents(&lab);
    assert_eq!(lab.handoff(&["clear"])["cleared"], Value::Null);
    assert_eq!(contents(&lab), before);
    let id = lab.leave("Ship it.");
    let before = contents(&lab);
    lab.handoff(&["show"]);
    lab.handoff(&["show", &id]);
    lab.handoff(&["list", "--all"]);
    lab.kgctx(["handoff", "log"]).output().unwrap();
    lab.kgctx(["handoff", "export"]).output().unwrap();
    lab.kgctx(["inject", "--session", "s", "--dry-run"]).output().unwrap();
    lab.kgctx(["explain", "--dry-run"]).output().unwrap();
    assert_eq!(contents(&lab), before);
    assert_eq!(lab.handoff(&["clear"])["cleared"], *id);
    assert_eq!(lab.status(&id).as_deref(), Some("cleared"));
    assert!(lab.document(&id).exists());
    assert_eq!(lab.start("s"), None, "what was cleared is not given");
}

#[test]
fn a_1_43_what_is_done_with_is_kept_for_seven_days_and_where_sessions_began_for_two_hours() {
    // A-1.43
    let lab = Lab::new();
    let tasks: Vec<String> =
        (0..5).map(|_| lab.create(&["--task", "--goal", "Ship", "--next", "Test"])).collect();
    for id in &tasks[..3] {
        lab.handoff(&["archive", id]);
    }
    lab.handoff(&["pickup", &tasks[3]]);
    for session in ["old", "young", "living"] {
        lab.told("start-clear", session);
    }
    lab.sql(&format!(
        "UPDATE handoffs SET created = created - {0}, changed = changed - {0}",
        30 * DAY_MS
    ));
    let young = 6 * DAY_MS + DAY_MS / 2;
    lab.sql(&format!(
        "UPDATE handoffs SET changed = changed + {} WHERE id = '{}'",
        30 * DAY_MS - young,
        tasks[2]
    ));
    let hours = |hours: i64, session: &str| {
        let pid = if session == "living" { "pid" } else { "NULL" };
        let at = hours * 3_600_000;
        lab.sql(&format!(
            "UPDATE sessions SET at = at - {at}, pid = {pid} WHERE session = '{session}'"
        ));
    };
    hours(3, "old");
    hours(1, "young");
    hours(30, "living");
    // Whoever writes the next one tidies up.
    lab.leave("Text.");
    let left: Vec<_> = tasks.iter().map(|id| lab.status(id)).collect();
    let kept = |status: &str| Some(status.to_owned());
    assert_eq!(left, [None, None, kept("cleared"), kept("claimed"), kept("active")]);
    assert_eq!(documents(&lab.scratch).len(), 4);
    let state = lab.state();
    let mut statement = state.prepare("SELECT session FROM sessions ORDER BY session").unwrap();
    let sessions = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
    assert_eq!(sessions.map(Result::unwrap).collect::<Vec<_>>(), ["living", "young"]);
}

#[test]
fn a_1_46_every_step_is_written_down_with_its_actor() {
    // A-1.46
    let lab = Lab::new();
    let text = ["--body", "Ship it. THE END", "--session", "author"];
    let task = lab.create(&[&["--task", "--goal", "Ship", "--next", "Test"], &text[..]].concat());
    lab.handoff(&["pickup", &task, "--session", "p"]);
    lab.handoff(&["release", "--session", "p"]);
    lab.handoff(&["archive", &task, "--session", "q"]);
    lab.create(&text);
    let current = lab.create(&text);
    lab.start("s");
    lab.handoff(&["prune", "--keep", "1", "--session", "r"]);
    let log = |id: &str| -> Vec<(Value, Value, Value)> {
        let output = lab.kgctx(["handoff", "log", id, "--json"]).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let events = text.lines().rev().map(|line| serde_json::from_str::<Value>(line).unwrap());
        events
            .inspect(|event| {
                assert!(is_time(&event["at"]) && event["pid"].as_u64() > Some(1), "{event}");
                assert_eq!(event["id"], id);
            })
            .map(|event| (event["from"].clone(), event["to"].clone(), event["session"].clone()))
            .collect()
    };
    let step = |from: &str, to: &str, session: &str| {
        let status = |name: &str| if name.is_empty() { Value::Null } else { json!(name) };
        (status(from), status(to), json!(session))
    };
    assert_eq!(
        log(&task),
        [
            step("", "draft", "author"),
            step("draft", "active", "author"),
            step("active", "claimed", "p"),
            step("claimed", "active", "p"),
            step("active", "cleared", "q"),
            step("cleared", "", "r"),
        ]
    );
    assert_eq!(
        log(&current)[2..],
        [step("active", "claimed", "s"), step("claimed", "consumed", "s")]
    );
    assert_whole(&lab);
}

#[test]
fn a_state_from_before_there_were_handoffs_is_migrated() {
    let lab = Lab::new();
    let folder = lab.scratch.path().join("kgctx-home/state");
    fs::create_dir_all(&folder).unwrap();
    let old = Connection::open(folder.join("state.db")).unwrap();
    for step in ["0001_receipts", "0002_claims", "0003_installations"] {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("schema/state/{step}.sql"));
        old.execute_batch(&fs::read_to_string(file).unwrap()).unwrap();
    }
    old.pragma_update(None, "application_id", 0x6b67_7374).unwrap();
    old.pragma_update(None, "user_version", 3).unwrap();
    old.execute_batch(
        "INSERT INTO claims (session, moment, token, until, settled) VALUES ('old', 'start', 1, 2, 3)",
    )
    .unwrap();
    drop(old);
    // Who only looks does not stumble over it.
    let output = lab.kgctx(["explain", "--dry-run", "--json"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(!String::from_utf8_lossy(&output.stdout).contains("no such table"), "{output:?}");
    assert_eq!(lab.start("old"), None, "it has its context");
    let id = lab.leave("Ship it. THE END");
    assert_eq!(lab.start("old"), None, "it has its context");
    assert!(lab.start("new").unwrap().contains(&id));
    let version: i64 =
        lab.state().pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    assert_eq!(version, 9);
    assert_whole(&lab);
}

#[test]
fn a_state_whose_handoffs_name_no_audience_is_migrated() {
    let lab = Lab::new();
    let id = lab.leave("Ship it. THE END");
    lab.state()
        .execute_batch("ALTER TABLE handoffs DROP COLUMN audience; DROP TABLE contexts; DROP TABLE rotations; DROP TABLE wraps; ALTER TABLE endings DROP COLUMN due; PRAGMA user_version = 4")
        .unwrap();
    // Who only looks does not stumble over it, and changes nothing.
    let output = lab.kgctx(["explain", "--dry-run", "--json"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(!String::from_utf8_lossy(&output.stdout).contains("no such column"), "{output:?}");
    let output = lab.kgctx(["doctor"]).output().unwrap();
    assert!(!String::from_utf8_lossy(&output.stdout).contains("no such column"), "{output:?}");
    assert!(lab.start("s").unwrap().contains(&id));
    assert_eq!(lab.handoff(&["show", &id])["audience"], "interactive");
    assert_whole(&lab);
}

#[test]
fn documents_that_the_state_has_lost_are_taken_in_again() {
    let lab = Lab::new();
    let text = ["--body", "Ship it. THE END"];
    let task = lab.create(&[&["--task", "--goal", "Ship", "--next", "Test"], &text[..]].concat());
    let ended = lab.create(&[&["--type", "end"], &text[..]].concat());
    let old = lab.create(&text);
    let current = lab.create(&text);
    fs::remove_dir_all(lab.scratch.path().join("kgctx-home/cache")).ok();
    for file in ["state.db", "state.db-wal", "state.db-shm"] {
        let _ = fs::remove_file(lab.scratch.path().join("kgctx-home/state").join(file));
    }
    assert_eq!(lab.handoff(&["list", "--all"])["handoffs"], json!([]));
    assert_eq!(lab.start("too-early"), None);
    let (code, said) = lab.refused(&["reconcile"]);
    assert!(code == 1 && said.contains("4 problems"), "{said}");
    assert_eq!(lab.handoff(&["list", "--all"])["handoffs"], json!([]), "it changes nothing");
    let repaired = lab.handoff(&["reconcile", "--repair"]);
    assert_eq!(repaired["adopted"].as_array().unwrap().len(), 4);
    let status = |id: &str| lab.status(id).unwrap();
    assert_eq!((status(&task), status(&current)), ("active".to_owned(), "active".to_owned()));
    // What may have been given already is put away.
    assert_eq!((status(&old), status(&ended)), ("cleared".to_owned(), "cleared".to_owned()));
    assert_whole(&lab);
    assert_eq!(lab.handoff(&["reconcile", "--repair"])["confirmed"], 4, "once is enough");
    assert!(lab.start("s").unwrap().contains(&current));
    assert_eq!(lab.handoff(&["pickup", "--auto"])["id"], *task);
}

#[test]
fn a_draft_that_somebody_else_brought_to_an_end_does_not_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let mut state = State::open(folder.path(), Duration::from_secs(5)).unwrap();
    let actor = Actor { session: None, now_ms: 1_000 };
    let home = Home { scope: "p-1", channel: "p" };
    let id = state.draft_handoff(&home, &Head::default(), |_| true, &actor).unwrap();
    assert_eq!(state.activate_handoff(&id, &actor).unwrap().0.as_str(), "active");
    state.step_handoff("p-1", &id, HandoffEvent::Archived("archived"), &actor).unwrap();
    assert_eq!(state.activate_handoff(&id, &actor).unwrap().0.as_str(), "cleared");
    assert_eq!(state.handoff_log("p-1", Some(&id), 9).unwrap().len(), 3);
}
