//! Rotation in OpenCode, by what a bridge asks and tells.

use std::fs;
use std::process::Output;

use serde_json::{Value, json};

use crate::monitor::{bridge, info};
use crate::support::handoff_lab::{KILL_AT, Lab, given};
use crate::support::stderr;

fn created(lab: &Lab, session: &str) -> Value {
    let properties = json!({"info": info(lab, session)});
    bridge(lab, json!({"type": "session.created", "properties": properties}))
}

/// Runs the command in a shell of the session, as a bridge of today sets it up, or an earlier one.
fn rotate(lab: &Lab, is_current: bool) -> Output {
    let mut command = lab.kgctx(["handoff", "rotate", "--goal", "GOAL", "--json"]);
    command.env("KGCTX_SESSION_ID", "ses_old");
    if is_current {
        command.env("KGCTX_ROTATES", "ses_old");
    }
    command.output().unwrap()
}

fn schedule(lab: &Lab) -> String {
    let output = rotate(lab, true);
    assert!(output.status.success(), "{output:?}");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    answer["handoff"].as_str().unwrap().to_owned()
}

fn idle(lab: &Lab) -> Value {
    bridge(lab, json!({"type": "session.idle", "sessionID": "ses_old"}))
}

/// The bridge has made the new session.
fn made(lab: &Lab, token: &Value) -> Value {
    let properties = json!({"info": info(lab, "ses_new")});
    bridge(
        lab,
        json!({"type": "kgctx.rotated", "sessionID": "ses_new", "token": token, "properties": properties}),
    )
}

fn ended(lab: &Lab, token: &Value, error: Value) {
    bridge(
        lab,
        json!({"type": "kgctx.rotation", "sessionID": "ses_old", "token": token, "error": error}),
    );
}

fn state(lab: &Lab) -> String {
    let sql = "SELECT state FROM rotations ORDER BY id DESC LIMIT 1";
    lab.state().query_row(sql, [], |row| row.get(0)).unwrap()
}

#[test]
fn r_4_31_a_session_goes_on_in_the_one_that_the_bridge_makes() {
    //
    let lab = Lab::new();
    created(&lab, "ses_old");
    assert_eq!(idle(&lab)["action"], "none");
    let id = schedule(&lab);
    let answer = idle(&lab);
    assert_eq!((&answer["action"], &answer["title"]), (&json!("rotate"), &json!("GOAL")));
    assert!(answer["prompt"].as_str().unwrap().contains(&id), "{answer}");
    assert_eq!(idle(&lab)["action"], "none", "once");
    assert_eq!(state(&lab), "clearing");
    let given = made(&lab, &answer["token"]);
    assert_eq!(given["action"], "inject", "{given}");
    assert!(given["text"].as_str().unwrap().contains(&id), "{given}");
    bridge(
        &lab,
        json!({"type": "kgctx.delivered", "sessionID": "ses_new", "receipt": given["receipt"]}),
    );
    ended(&lab, &answer["token"], json!(null));
    assert_eq!((state(&lab).as_str(), lab.status(&id).as_deref()), ("done", Some("consumed")));
}

#[test]
fn a_state_that_is_busy_at_the_end_of_the_turn_is_asked_again() {
    let lab = Lab::new();
    created(&lab, "ses_old");
    let id = schedule(&lab);
    let busy = lab.state();
    busy.execute_batch("BEGIN IMMEDIATE").unwrap();
    let answer = idle(&lab);
    assert_eq!((&answer["action"], &answer["soon"]), (&json!("ask"), &json!(true)), "{answer}");
    busy.execute_batch("ROLLBACK").unwrap();
    assert!(idle(&lab)["prompt"].as_str().unwrap().contains(&id));
}

#[test]
fn r_4_14_a_prompt_that_comes_before_the_new_session_keeps_the_old_one() {
    // the bridge says so.
    let lab = Lab::new();
    created(&lab, "ses_old");
    let id = schedule(&lab);
    ended(&lab, &idle(&lab)["token"], json!("a prompt came before it"));
    assert_eq!((state(&lab).as_str(), lab.status(&id).as_deref()), ("scheduled", Some("claimed")));
    assert!(idle(&lab)["prompt"].as_str().unwrap().contains(&id));
}

#[test]
fn r_4_20_a_handoff_whose_document_is_gone_makes_no_session() {
    //
    let lab = Lab::new();
    created(&lab, "ses_old");
    let id = schedule(&lab);
    let document = lab.document(&id);
    let kept = document.with_extension("kept");
    fs::rename(&document, &kept).unwrap();
    assert_eq!(idle(&lab)["action"], "none");
    assert_eq!(state(&lab), "scheduled");
    let output = lab.kgctx(["handoff", "rotate", "--status"]).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("its handoff cannot be read; restore the file"), "{said}");
    fs::rename(kept, document).unwrap();
    assert!(idle(&lab)["prompt"].as_str().unwrap().contains(&id));
}

#[test]
fn r_4_31_a_child_session_rotates_neither_itself_nor_its_parent() {
    // kgctx gave it no context, and so does not know it.
    let lab = Lab::new();
    created(&lab, "ses_old");
    let mut info = info(&lab, "ses_child");
    info["parentID"] = json!("ses_old");
    let properties = json!({"info": info});
    bridge(&lab, json!({"type": "session.created", "properties": properties}));
    let mut command = lab.kgctx(["handoff", "rotate", "--goal", "GOAL"]);
    command.env("KGCTX_SESSION_ID", "ses_child").env("KGCTX_ROTATES", "ses_child");
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(stderr(&output).contains("there is no live session ses_child"), "{output:?}");
    assert_eq!(idle(&lab)["action"], "none");
}

#[test]
fn r_4_6_an_earlier_bridge_is_refused_with_the_way_out() {
    // it would never ask, and the rotation never come.
    let lab = Lab::new();
    created(&lab, "ses_old");
    let output = rotate(&lab, false);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = stderr(&output);
    assert!(said.contains("kgctx install opencode") && said.contains("restart OpenCode"), "{said}");
    let count = |sql: &str| lab.state().query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(
        count("SELECT (SELECT count(*) FROM rotations) + (SELECT count(*) FROM handoffs)"),
        0
    );
}

#[test]
fn an_opencode_that_is_killed_on_the_way_leaves_the_handoff_to_the_next_session() {
    // Before the answer was there, before the context was stored, before the first prompt was told.
    for step in ["idle", "made", "delivered"] {
        let lab = Lab::new();
        created(&lab, "ses_old");
        let id = schedule(&lab);
        let token = idle(&lab)["token"].clone();
        if step != "idle" {
            let given = made(&lab, &token);
            assert!(given["text"].as_str().unwrap().contains(&id), "{given}");
            if step == "delivered" {
                bridge(
                    &lab,
                    json!({"type": "kgctx.delivered", "sessionID": "ses_new", "receipt": given["receipt"]}),
                );
                assert_eq!(lab.status(&id).as_deref(), Some("consumed"));
            }
        }
        lab.sql("UPDATE rotations SET host_started = host_started + 1, owner_started = owner_started + 1");
        lab.sql("UPDATE sessions SET started = started + 1");
        lab.state().execute("UPDATE handoffs SET owner_started = owner_started + 1", []).unwrap();
        lab.state().execute("UPDATE claims SET owner_started = owner_started + 1", []).unwrap();
        lab.handoff(&["list"]);
        assert_eq!(
            (state(&lab).as_str(), lab.status(&id).as_deref()),
            ("dropped", Some("active")),
            "{step}"
        );
        let output = lab.kgctx(["handoff", "rotate", "--status"]).output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), "No rotation is under way.\n");
        let given = created(&lab, "ses_third");
        assert!(given["text"].as_str().unwrap_or_default().contains(&id), "{step}: {given}");
    }
}

#[test]
fn r_4_34_what_a_session_scheduled_ends_with_its_deletion() {
    //
    let lab = Lab::new();
    created(&lab, "ses_old");
    let id = schedule(&lab);
    bridge(&lab, json!({"type": "kgctx.over", "sessionID": "ses_old"}));
    assert_eq!((state(&lab).as_str(), lab.status(&id).as_deref()), ("dropped", Some("active")));
}

#[test]
fn an_opencode_that_cannot_make_the_session_is_asked_again_ten_times() {
    let lab = Lab::new();
    created(&lab, "ses_old");
    let id = schedule(&lab);
    for n in 1..=11 {
        let answer = idle(&lab);
        assert_eq!(answer["action"], "rotate", "{n}: {answer}");
        ended(&lab, &answer["token"], json!("no session could be made"));
        assert_eq!(state(&lab), if n < 11 { "scheduled" } else { "stuck" }, "{n}");
    }
    assert_eq!(idle(&lab)["action"], "none");
    let output = lab.kgctx(["handoff", "rotate", "--status"]).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("11 turns ended without it: no session could be made"), "{said}");
    let retry = lab.kgctx(["handoff", "rotate", "--retry"]).output().unwrap();
    assert!(retry.status.success(), "{retry:?}");
    assert!(idle(&lab)["prompt"].as_str().unwrap().contains(&id));
}

/// Asks a kgctx that is killed at a point of its way: OpenCode gets no answer.
fn killed(lab: &Lab, point: &str, event: &Value) {
    let mut hook = lab.kgctx(["hook", "opencode"]);
    hook.env(KILL_AT, point);
    let question =
        json!({"protocol": 1, "bridge": "0.1.0", "directory": lab.folder(), "event": event});
    let output = given(hook, &question);
    assert!(!output.status.success() && output.stdout.is_empty(), "{point}: {output:?}");
}

/// Lets a rotation be as if its last step was made that much earlier.
fn age(lab: &Lab, milliseconds: i64) {
    lab.sql(&format!("UPDATE rotations SET prompted_tick = prompted_tick - {milliseconds}"));
}

#[test]
fn a_clock_that_jumps_makes_no_second_session() {
    for sign in ["-", "+"] {
        let lab = Lab::new();
        created(&lab, "ses_old");
        let id = schedule(&lab);
        let answer = idle(&lab);
        // As if the clock had been set while the bridge makes the session.
        lab.sql(&format!("UPDATE rotations SET changed = changed {sign} 864000000"));
        assert_eq!(idle(&lab)["action"], "none", "{sign}");
        assert_eq!(rotate(&lab, true).status.code(), Some(1), "{sign}: it is under way");
        assert!(made(&lab, &answer["token"])["text"].as_str().unwrap().contains(&id), "{sign}");
        ended(&lab, &answer["token"], json!(null));
        assert_eq!(state(&lab), "done", "{sign}");
    }
}

#[test]
fn r_4_24_an_answer_that_never_arrives_delays_a_rotation_by_seconds() {
    // OpenCode lives on, and has made no session.
    let event = json!({"type": "session.idle", "sessionID": "ses_old"});
    for point in ["rotate:reserved", "rotate:clearing"] {
        let lab = Lab::new();
        created(&lab, "ses_old");
        let id = schedule(&lab);
        killed(&lab, point, &event);
        // It may still be on its way.
        assert_eq!(idle(&lab)["action"], "none", "{point}");
        age(&lab, 11_000);
        let answer = idle(&lab);
        assert_eq!(answer["action"], "rotate", "{point}: {answer}");
        assert!(made(&lab, &answer["token"])["text"].as_str().unwrap().contains(&id), "{point}");
        ended(&lab, &answer["token"], json!(null));
        assert_eq!(state(&lab), "done", "{point}");

        // A person need not wait for that.
        let lab = Lab::new();
        created(&lab, "ses_old");
        let id = schedule(&lab);
        killed(&lab, point, &event);
        let output = lab.kgctx(["handoff", "rotate", "--cancel"]).output().unwrap();
        assert!(output.status.success(), "{point}: {output:?}");
        assert_eq!(
            (state(&lab).as_str(), lab.status(&id).as_deref()),
            ("cancelled", Some("active"))
        );

        // Nor is another rotation in its way.
        let lab = Lab::new();
        created(&lab, "ses_old");
        schedule(&lab);
        killed(&lab, point, &event);
        age(&lab, 11_000);
        let id = schedule(&lab);
        assert!(idle(&lab)["prompt"].as_str().unwrap().contains(&id), "{point}");
    }
}

#[test]
fn a_new_session_whose_context_never_arrives_is_told_how_to_read_its_handoff() {
    //
    let lab = Lab::new();
    created(&lab, "ses_old");
    let id = schedule(&lab);
    let answer = idle(&lab);
    let properties = json!({"info": info(&lab, "ses_new")});
    let event = json!({"type": "kgctx.rotated", "sessionID": "ses_new", "token": answer["token"],
        "properties": properties});
    killed(&lab, "rotate:confirmed", &event);
    assert_eq!(state(&lab), "cleared");
    // The bridge sends this prompt then.
    let prompt = answer["unread"].as_str().unwrap();
    assert!(prompt.contains(&format!("kgctx handoff show {id}")), "{answer}");
    ended(&lab, &answer["token"], json!(null));
    assert_eq!((state(&lab).as_str(), lab.status(&id).as_deref()), ("done", Some("consumed")));
    let given = created(&lab, "ses_third");
    assert!(!given["text"].as_str().unwrap_or_default().contains(&id), "{given}");
}
