//! `kgctx hook opencode`: what a bridge is told, and that nothing it sends or meets disturbs the host.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::dead_mount::DeadMount;
use crate::support::{Scratch, atlas, stderr, valid};

/// A bridge waits for so long, and then kills.
const BRIDGE_PATIENCE: Duration = Duration::from_millis(1_400);

/// What the binary says to a bridge, which must be JSON, alone, and in time.
fn said(mut command: Command, input: &[u8]) -> Value {
    let started = Instant::now();
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It may answer without having read everything.
    let _ = child.stdin.take().unwrap().write_all(input);
    let output = child.wait_with_output().unwrap();
    let took = started.elapsed();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(stderr(&output), "");
    assert!(took < BRIDGE_PATIENCE, "{took:?}");
    let answer = serde_json::from_slice(&output.stdout).unwrap();
    valid("hook-opencode", &answer);
    answer
}

fn asked(scratch: &Scratch, event: &Value) -> Value {
    let input = json!({"protocol": 1, "bridge": "0.1.0", "directory": "/", "event": event});
    said(scratch.kgctx(["hook", "opencode"]), input.to_string().as_bytes())
}

fn info(scratch: &Scratch, id: &str) -> Value {
    json!({"id": id, "directory": scratch.path().join("atlas"), "title": "New session"})
}

fn created(scratch: &Scratch, id: &str) -> Value {
    created_as(&info(scratch, id))
}

fn created_as(info: &Value) -> Value {
    json!({"type": "session.created", "properties": {"sessionID": info["id"], "info": info}})
}

fn prompted(scratch: &Scratch, id: &str, n_messages: usize, marks: Value) -> Value {
    let stored = json!({"messages": n_messages, "complete": true, "marks": marks});
    json!({"type": "chat.message", "sessionID": id, "created": false, "info": info(scratch, id), "stored": stored})
}

fn settled(kind: &str, answer: &Value) -> Value {
    json!({"type": kind, "sessionID": "s", "receipt": answer["receipt"], "how": "part"})
}

#[test]
fn t_2_1_1_a_session_that_was_created_is_given_its_context_once() {
    let scratch = atlas();
    let first = asked(&scratch, &created(&scratch, "ses_1"));
    assert_eq!(first["action"], "inject");
    assert!(first["text"].as_str().unwrap().starts_with("## Knowledge Graph Context\n"));
    assert_eq!(first["delivery"], "auto");
    assert_eq!(first["metadata"]["moment"], "start");
    let tokens = first["metadata"]["tokens"].as_u64().unwrap();
    assert_eq!(first["notice"], json!({"as": "toast", "text": format!("kgctx: {tokens} tokens")}));
    // Until it is known to be there, somebody else may be told to wait, and nobody gets it a second time.
    assert_eq!(asked(&scratch, &created(&scratch, "ses_1"))["action"], "ask");
    asked(&scratch, &settled("kgctx.delivered", &first));
    assert_eq!(asked(&scratch, &created(&scratch, "ses_1"))["action"], "none");
    assert_eq!(asked(&scratch, &prompted(&scratch, "ses_1", 0, json!([])))["action"], "none");
    let receipt = scratch.json(["--dir", "atlas", "explain", "--session", "ses_1", "--json"]);
    assert_eq!(receipt["receipt"]["delivered"], true);
    // Another session is another matter.
    assert_eq!(asked(&scratch, &created(&scratch, "ses_2"))["action"], "inject");
}

#[test]
fn of_many_who_ask_for_one_session_at_once_one_is_given_its_context() {
    let scratch = atlas();
    asked(&scratch, &created(&scratch, "ses_0"));
    for n in 1..=5 {
        let question = created(&scratch, &format!("ses_{n}"));
        let answers: Vec<Value> = thread::scope(|scope| {
            let threads: Vec<_> =
                (0..6).map(|_| scope.spawn(|| asked(&scratch, &question))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let n_given = answers.iter().filter(|answer| answer["action"] == "inject").count();
        assert_eq!(n_given, 1, "{answers:#?}");
    }
}

#[test]
fn a_context_that_was_not_used_is_free_again() {
    let scratch = atlas();
    let first = asked(&scratch, &created(&scratch, "ses_1"));
    asked(&scratch, &settled("kgctx.released", &first));
    assert_eq!(asked(&scratch, &created(&scratch, "ses_1"))["action"], "inject");
}

#[test]
fn a_prompt_waits_for_another_process_that_is_giving_the_context() {
    let scratch = atlas();
    let first = asked(&scratch, &created(&scratch, "ses_1"));
    thread::scope(|scope| {
        let waiting = scope.spawn(|| asked(&scratch, &prompted(&scratch, "ses_1", 0, json!([]))));
        thread::sleep(Duration::from_millis(300));
        assert!(!waiting.is_finished());
        asked(&scratch, &settled("kgctx.delivered", &first));
        assert_eq!(waiting.join().unwrap()["action"], "none");
    });
    // One that never does it is not waited for beyond a bridge's patience.
    asked(&scratch, &created(&scratch, "ses_2"));
    assert_eq!(asked(&scratch, &prompted(&scratch, "ses_2", 0, json!([])))["action"], "none");
}

#[test]
fn children_undone_and_resumed_sessions_are_left_alone() {
    let scratch = atlas();
    let mut child = info(&scratch, "ses_child");
    child["parentID"] = json!("ses_parent");
    assert_eq!(asked(&scratch, &created_as(&child))["action"], "none");
    let mut undone = info(&scratch, "ses_undone");
    undone["revert"] = json!({"messageID": "msg_1"});
    assert_eq!(asked(&scratch, &created_as(&undone))["action"], "none");
    assert_eq!(asked(&scratch, &prompted(&scratch, "ses_old", 7, json!([])))["action"], "none");
    let ours = json!([{"kgctx": {"v": 1}}]);
    assert_eq!(asked(&scratch, &prompted(&scratch, "ses_ours", 7, ours))["action"], "none");
}

#[test]
fn a_fork_is_decided_by_what_it_took_over() {
    let scratch = atlas();
    let mut fork = info(&scratch, "ses_fork");
    fork["title"] = json!("About tiles (fork #2)");
    assert_eq!(asked(&scratch, &created_as(&fork))["action"], "ask");
    let mut question = prompted(&scratch, "ses_fork", 4, json!([{"kgctx": {"v": 1}}]));
    question["info"] = fork;
    question["created"] = json!(true);
    assert_eq!(asked(&scratch, &question)["action"], "none");
    question["stored"]["marks"] = json!([]);
    assert_eq!(asked(&scratch, &question)["action"], "inject");
}

#[test]
fn after_each_compaction_a_smaller_context_is_given_once() {
    let scratch = atlas();
    let compacted = |message: &str| json!([{"kgctx": {"v": 1}}, {"compaction": message}]);
    for message in ["msg_1", "msg_2"] {
        let question = prompted(&scratch, "ses_1", 6, compacted(message));
        let answer = asked(&scratch, &question);
        assert_eq!(answer["action"], "inject");
        assert_eq!(answer["metadata"]["moment"], format!("compaction:{message}"));
        assert!(answer["metadata"]["tokens"].as_u64().unwrap() <= 1_000);
        asked(&scratch, &settled("kgctx.delivered", &answer));
        assert_eq!(asked(&scratch, &question)["action"], "none");
    }
    let question = prompted(&scratch, "ses_2", 6, compacted("msg_3")).to_string();
    let input = format!(r#"{{"protocol":1,"event":{question}}}"#);
    let mut command = scratch.kgctx(["hook", "opencode"]);
    command.env("KGCTX_COMPACTION_TOKEN_LIMIT", "150");
    let tokens = said(command, input.as_bytes())["metadata"]["tokens"].as_u64().unwrap();
    assert!((100..=150).contains(&tokens), "{tokens}");
}

#[test]
fn a_context_that_an_undo_took_back_is_given_again() {
    let scratch = atlas();
    let first = asked(&scratch, &created(&scratch, "ses_1"));
    asked(&scratch, &settled("kgctx.delivered", &first));
    let question = prompted(&scratch, "ses_1", 0, json!([]));
    // What was stored just now may have been stored after the bridge looked.
    assert_eq!(asked(&scratch, &question)["action"], "none");
    thread::sleep(Duration::from_millis(3_100));
    let again = asked(&scratch, &question);
    assert_eq!(again["text"], first["text"]);
    // A bridge that saw it being removed need not wait.
    asked(&scratch, &settled("kgctx.delivered", &again));
    let mut removed = question;
    removed["removed"] = json!(true);
    assert_eq!(asked(&scratch, &removed)["text"], first["text"]);
}

#[test]
fn a_context_that_no_model_saw_is_given_again_with_its_handoff() {
    let scratch = atlas();
    let create = ["--dir", "atlas", "handoff", "create", "--goal", "G", "--next", "N", "--json"];
    let id = scratch.json(create)["id"].as_str().unwrap().to_owned();
    let first = asked(&scratch, &created(&scratch, "ses_1"));
    assert!(first["text"].as_str().unwrap().contains(&id), "{first}");
    asked(&scratch, &settled("kgctx.delivered", &first));
    // A prompt and its reply are stored. The bridge leaves out the mark of a hidden part that it cannot show.
    let mut question = prompted(&scratch, "ses_1", 2, json!([]));
    question["created"] = json!(true);
    assert_eq!(asked(&scratch, &question)["action"], "none");
    for is_new in [true, false] {
        question["removed"] = json!(true);
        question["created"] = json!(is_new);
        let again = asked(&scratch, &question);
        assert_eq!(again["text"], first["text"], "{again}");
        asked(&scratch, &settled("kgctx.delivered", &again));
    }
    assert!(
        asked(&scratch, &created(&scratch, "ses_2"))["text"]
            .as_str()
            .is_some_and(|text| !text.contains(&id))
    );
}

#[test]
fn a_dry_run_takes_nothing_from_the_session_that_it_names() {
    let scratch = atlas();
    let first = asked(&scratch, &created(&scratch, "ses_1"));
    scratch.run(["--dir", "atlas", "inject", "--session", "ses_1", "--dry-run"]);
    asked(&scratch, &settled("kgctx.delivered", &first));
    assert_eq!(asked(&scratch, &created(&scratch, "ses_1"))["action"], "none");
}

#[test]
fn a_state_that_is_being_written_is_no_reason_to_give_anything_twice() {
    let scratch = atlas();
    asked(&scratch, &created(&scratch, "ses_1"));
    let state = scratch.path().join("kgctx-home/state/state.db");
    let writer = rusqlite::Connection::open(&state).unwrap();
    writer.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert_eq!(asked(&scratch, &created(&scratch, "ses_2"))["action"], "ask");
    thread::scope(|scope| {
        let waiting = scope.spawn(|| asked(&scratch, &prompted(&scratch, "ses_2", 0, json!([]))));
        thread::sleep(Duration::from_millis(300));
        writer.execute_batch("ROLLBACK").unwrap();
        let given = waiting.join().unwrap();
        assert_eq!(given["action"], "inject", "{given}");
        assert!(given["receipt"].is_i64(), "{given}");
    });
}

#[test]
fn a_session_whose_notes_are_not_ready_is_asked_about_again() {
    let scratch = atlas();
    asked(&scratch, &created(&scratch, "ses_1"));
    // There is no index, and another process is about to make one.
    let stores = scratch.path().join("kgctx-home/cache/index");
    let index = fs::read_dir(stores).unwrap().next().unwrap().unwrap().path();
    let lock = fs::File::open(index.join("lock")).unwrap();
    lock.lock().unwrap();
    fs::remove_file(index.join("index.db")).unwrap();
    let unready = asked(&scratch, &created(&scratch, "ses_2"));
    assert_eq!((&unready["action"], &unready["soon"]), (&json!("ask"), &json!(true)), "{unready}");
    // A prompt cannot wait any longer.
    let prompt = prompted(&scratch, "ses_2", 0, json!([]));
    assert_eq!(asked(&scratch, &prompt)["action"], "none");
    lock.unlock().unwrap();
    assert_eq!(asked(&scratch, &created(&scratch, "ses_2"))["action"], "inject");
}

#[test]
fn a_state_of_a_newer_version_costs_no_context_and_explain_says_why_there_is_no_handoff() {
    let scratch = atlas();
    asked(&scratch, &created(&scratch, "ses_1"));
    let state = scratch.path().join("kgctx-home/state/state.db");
    let newer = rusqlite::Connection::open(&state).unwrap();
    let version: i64 = newer.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    newer.pragma_update(None, "user_version", 99).unwrap();
    let given = asked(&scratch, &created(&scratch, "ses_2"));
    assert_eq!((&given["action"], &given["receipt"]), (&json!("inject"), &Value::Null), "{given}");
    let explained = scratch.json(["--dir", "atlas", "explain", "--session", "ses_2", "--json"]);
    let faults = explained["receipt"]["faults"].to_string();
    assert!(faults.contains("was written by a newer version of kgctx"), "{faults}");
    // The newer version goes on where it was, and takes over what this one could not write.
    newer.pragma_update(None, "user_version", version).unwrap();
    let explained = scratch.json(["--dir", "atlas", "explain", "--session", "ses_2", "--json"]);
    assert!(explained["receipt"]["faults"].to_string().contains("newer version"), "{explained}");
    assert!(scratch.path().join("kgctx-home/state/unsaved").read_dir().unwrap().next().is_none());
    assert_eq!(asked(&scratch, &created(&scratch, "ses_3"))["receipt"].as_i64(), Some(3));
}

#[test]
fn settings_decide_and_wrong_ones_do_not_cost_the_context() {
    let scratch = atlas();
    let ask = |id: &str, variables: &[(&str, &str)]| {
        let input = json!({"protocol": 1, "event": created(&scratch, id)});
        let mut command = scratch.kgctx(["hook", "opencode"]);
        command.envs(variables.iter().copied());
        said(command, input.to_string().as_bytes())
    };
    assert_eq!(ask("ses_1", &[("SESSION_START_ENABLED", "false")])["action"], "none");
    let given = ask("ses_1", &[("KGCTX_DELIVERY", "part"), ("KGCTX_NOTICE", "off")]);
    assert_eq!((&given["delivery"], &given["notice"]), (&json!("part"), &Value::Null));
    let file = "token_limit = \"many\"\ndelivery = \"part\"\nnotice = \"off\"\nfoo = 1\n";
    fs::write(scratch.path().join("atlas/kgctx.toml"), file).unwrap();
    let given = ask("ses_2", &[("TOKEN_LIMIT", "lots")]);
    // What the user is shown is none of the project's business.
    assert_eq!((&given["delivery"], &given["notice"]["as"]), (&json!("part"), &json!("toast")));
    fs::remove_file(scratch.path().join("atlas/kgctx.toml")).unwrap();
    let receipt = scratch.json(["--dir", "atlas", "explain", "--session", "ses_2", "--json"]);
    let faults = receipt["receipt"]["faults"].to_string();
    assert!(faults.contains("kgctx.toml:4:1: there is no setting foo"), "{faults}");
    assert!(faults.contains("TOKEN_LIMIT"), "{faults}");
}

#[test]
fn nothing_that_comes_in_disturbs_the_host() {
    let scratch = atlas();
    let long = vec![b'['; 5 * 1024 * 1024];
    let deep =
        format!(r#"{{"protocol":1,"event":{{"type":"x","properties":{}1"#, "[".repeat(9_000));
    for input in [
        &b""[..],
        b"null",
        b"{\"protocol\":1}",
        b"\xff\xfe\x00",
        br#"{"protocol":1,"event":{"type":"session.created","properties":{"info":{"id":"ses_1"}}}}"#,
        br#"{"protocol":1,"event":{"type":"session.created","properties":{"info":{"id":"","directory":"\u0000"}}}}"#,
        br#"{"protocol":1,"event":{"type":"kgctx.delivered","receipt":9223372036854775807}}"#,
        br#"{"protocol":99,"event":{"type":"session.created"}}"#,
        &long,
        deep.as_bytes(),
    ] {
        let answer = said(scratch.kgctx(["hook", "opencode"]), input);
        assert_eq!(answer["action"], "none", "{answer}");
    }
}

#[test]
fn nothing_that_is_broken_here_disturbs_the_host() {
    let scratch = atlas();
    let ask = |id: &str| asked(&scratch, &created(&scratch, id));
    // Without a state there is no receipt, and the bridge alone sees to it that the session gets it once.
    let home = scratch.path().join("kgctx-home");
    fs::create_dir_all(home.join("state/state.db")).unwrap();
    let given = ask("ses_1");
    assert_eq!((&given["action"], &given["receipt"]), (&json!("inject"), &Value::Null));
    fs::remove_dir(home.join("state/state.db")).unwrap();
    let mut gone = info(&scratch, "ses_2");
    gone["directory"] = json!("/nowhere/at/all");
    assert_eq!(asked(&scratch, &created_as(&gone))["action"], "none");
    let mut command = scratch.kgctx(["hook", "opencode"]);
    command.env_remove("HOME").env_remove("KGCTX_HOME");
    let question = json!({"protocol": 1, "event": created(&scratch, "ses_3")}).to_string();
    assert_eq!(said(command, question.as_bytes())["action"], "none");
    let memory = scratch.path().join("home/elsewhere");
    fs::create_dir_all(&memory).unwrap();
    let Some(_dead) = DeadMount::at(&memory) else {
        eprintln!("skipped: this user may not mount a file system");
        return;
    };
    scratch.write("kgctx-home/config.toml", "[[vault]]\npath = \"~/elsewhere\"\n");
    let given = ask("ses_4");
    assert_eq!(given["action"], "inject", "the project's own notes are there: {given}");
}

#[test]
fn a_host_that_never_closes_its_end_gets_an_answer_in_time() {
    let scratch = atlas();
    let started = Instant::now();
    let mut child = scratch
        .kgctx(["hook", "opencode"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let stdin = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    drop(stdin);
    assert!(output.status.success() && started.elapsed() < BRIDGE_PATIENCE);
    valid("hook-opencode", &serde_json::from_slice(&output.stdout).unwrap());
}
