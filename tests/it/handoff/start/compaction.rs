//! What a session leaves before a compaction, and is given back after it.

use std::fs;
use std::fs::OpenOptions;
use std::io::Write;

use kgctx::app::handoff::now;
use kgctx::core::time::Timestamp;
use serde_json::{Value, json};

use super::session_end::ended;
use crate::support::handoff_lab::{KILL_AT, Lab, documents, given, talk};
use crate::support::{stderr, valid};

/// What the summariser is told before a compaction. On a busy machine a hook may have no time, and then says nothing;
/// it may be called any number of times.
#[track_caller]
fn compacting(lab: &Lab, session: &str) -> String {
    let said = (0..5).map(|_| announced(lab, session)).find(|said| !said.is_empty());
    said.expect("the summariser is told nothing")
}

/// What one call of the hook tells.
#[track_caller]
fn announced(lab: &Lab, session: &str) -> String {
    let output = given(lab.hook(), &lab.event("pre-compact-manual", session));
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(stderr(&output), "");
    let said = String::from_utf8(output.stdout).unwrap();
    // Nothing of what it says can stop the compaction.
    assert!(!said.starts_with('{'), "A-1.34: {said}");
    said
}

/// Something is said in a session, so many seconds from now.
fn say(lab: &Lab, session: &str, text: &str, seconds: i64) {
    let at = Timestamp::from_milliseconds(now().milliseconds() + seconds * 1_000).to_string();
    let message = json!({"role": "user", "content": text});
    let line = json!({"type": "user", "timestamp": at, "message": message});
    let file = lab.transcript(session);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let mut file = OpenOptions::new().append(true).create(true).open(file).unwrap();
    writeln!(file, "{line}").unwrap();
}

/// The id of the handoff that waits.
fn waiting(lab: &Lab) -> String {
    lab.handoff(&["show"])["id"].as_str().unwrap().to_owned()
}

#[test]
fn a_1_32_a_session_gets_back_what_was_written_before_its_compaction() {
    //
    let lab = Lab::new();
    lab.start("s");
    say(&lab, "s", "Serve old tiles.", -120);
    say(&lab, "s", "Now the renderer.", -60);
    let said = compacting(&lab, "s");
    let id = waiting(&lab);
    assert!(said.contains(&id) && said.contains("- Goal: Serve old tiles."), "{said}");
    let document = lab.handoff(&["show", &id]);
    assert_eq!((&document["type"], &document["session_id"]), (&json!("auto"), &json!("s")));
    assert!(document["body"].as_str().unwrap().contains("> Now the renderer."), "{document}");
    // It may come again, and come to nothing: as long as nothing is said, it is the same one.
    assert_eq!(compacting(&lab, "s"), said);
    assert_eq!(documents(&lab.scratch).len(), 1);
    let text = lab.told("start-compact", "s").unwrap();
    assert!(text.contains(&id) && text.contains("> Now the renderer."), "{text}");
    assert_eq!(lab.status(&id).as_deref(), Some("consumed"));
    assert_eq!(lab.start("stranger"), None);
}

#[test]
fn a_session_that_starts_before_a_compaction_is_over_takes_nothing_from_it() {
    // one process can have several sessions.
    let lab = Lab::new();
    lab.start("s");
    say(&lab, "s", "Serve old tiles.", -60);
    compacting(&lab, "s");
    let id = waiting(&lab);
    let told = lab.start("meanwhile").unwrap_or_default();
    assert!(!told.contains("HANDOFF LOADED"), "{told}");
    assert_eq!(lab.status(&id).as_deref(), Some("active"));
    assert!(lab.told("start-compact", "s").unwrap().contains("> Serve old tiles."));
    assert_eq!(lab.status(&id).as_deref(), Some("consumed"));
    // One whose session ended before it had it back is for the next one.
    say(&lab, "s", "Now the renderer.", 60);
    compacting(&lab, "s");
    let id = waiting(&lab);
    lab.sql("UPDATE sessions SET ended = 1 WHERE session = 's'");
    assert!(lab.start("next").unwrap().contains(&id));
}

#[test]
fn a_1_32_a_huge_transcript_is_read_at_both_ends() {
    //
    let lab = Lab::new();
    lab.start("s");
    say(&lab, "s", "Serve old tiles.", -120);
    let file = lab.transcript("s");
    let said = json!({"role": "assistant", "content": "Thinking. ".repeat(100_000)});
    let long = format!("{}\n", json!({"type": "assistant", "message": said})).repeat(17);
    OpenOptions::new().append(true).open(&file).unwrap().write_all(long.as_bytes()).unwrap();
    say(&lab, "s", "And now?", -60);
    let said = compacting(&lab, "s");
    assert!(said.contains("- Goal: Serve old tiles."), "{said}");
    let document = lab.handoff(&["show"]);
    let body = document["body"].as_str().unwrap();
    assert!(body.contains("> And now?") && body.contains("had at least 1 prompt "), "{body}");
}

#[test]
fn a_1_32_what_was_said_since_is_in_a_later_one() {
    let lab = Lab::new();
    lab.start("s");
    say(&lab, "s", "First.", -60);
    compacting(&lab, "s");
    let first = waiting(&lab);
    say(&lab, "s", "Second.", 60);
    let said = compacting(&lab, "s");
    let second = waiting(&lab);
    assert!(first != second && said.contains(&second), "{said}");
    assert_eq!(lab.status(&first).as_deref(), Some("cleared"));
    let text = lab.told("start-compact", "s").unwrap();
    assert!(text.contains(&second) && text.contains("> Second."), "{text}");
}

#[test]
fn a_1_32_what_the_agent_wrote_is_kept_and_extended() {
    //
    let lab = Lab::new();
    lab.start("s");
    let own = lab.create(&[
        "--session",
        "s",
        "--goal",
        "Old tiles",
        "--next",
        "Measure",
        "--body",
        "My own words.",
    ]);
    // Nothing was said since: there is nothing to add.
    say(&lab, "s", "Before.", -60);
    assert!(compacting(&lab, "s").contains(&own));
    say(&lab, "s", "Afterwards.", 60);
    let said = compacting(&lab, "s");
    let id = waiting(&lab);
    assert!(id != own && said.contains(&id), "{said}");
    assert!(said.contains("- Goal: Old tiles\n- Next step: Measure"), "{said}");
    let document = lab.handoff(&["show", &id]);
    let body = document["body"].as_str().unwrap();
    assert!(body.starts_with("My own words.") && body.contains("> Afterwards."), "{body}");
    assert_eq!(document["type"], "manual");
    // Its session sees it, and whoever comes next gets it. The former id finds it, too.
    let text = lab.told("start-compact", "s").unwrap();
    assert!(text.contains("My own words.") && text.contains("it still waits"), "{text}");
    assert_eq!(lab.status(&id).as_deref(), Some("active"));
    assert!(lab.start("next").unwrap().contains("My own words."));
}

#[test]
fn what_a_session_went_on_with_is_named() {
    let lab = Lab::new();
    let first = lab.create(&["--session", "author", "--goal", "Serve old tiles", "--next", "Go"]);
    assert!(lab.start("s").unwrap().contains(&first));
    say(&lab, "s", "Go on.", -60);
    compacting(&lab, "s");
    let text = lab.told("start-compact", "s").unwrap();
    let line = format!("- It continued handoff {first}: Serve old tiles\n");
    assert!(text.contains(&line), "{text}");
}

#[test]
fn what_others_left_on_purpose_keeps_its_place() {
    let lab = Lab::new();
    lab.start("s");
    let left = lab.leave("On purpose.");
    say(&lab, "s", "Go on.", -60);
    let said = compacting(&lab, "s");
    assert_eq!(waiting(&lab), left);
    let text = lab.told("start-compact", "s").unwrap();
    assert!(text.contains("> Go on.") && !text.contains("On purpose."), "{text}");
    let id = said.split("Handoff: ").nth(1).unwrap().split_whitespace().next().unwrap();
    assert!(text.contains(id), "{text}");
    assert!(lab.start("next").unwrap().contains("On purpose."));
}

#[test]
fn an_end_tells_what_was_done_since_the_last_compaction() {
    let lab = Lab::new();
    lab.start("s");
    say(&lab, "s", "First.", -60);
    say(&lab, "s", "Second.", -30);
    compacting(&lab, "s");
    // Nothing was said since: what was written before the compaction is all there is.
    lab.told("end-other", "s");
    assert_eq!(ended(&lab, "s", false), None);
    say(&lab, "s", "Third.", 60);
    lab.told("end-other", "s");
    let end = ended(&lab, "s", true).unwrap();
    assert!(end["body"].as_str().unwrap().contains("> Third."), "{end}");
}

#[test]
fn the_end_of_another_session_does_not_take_the_place_of_what_a_compaction_needs() {
    let lab = Lab::new();
    lab.start("s");
    say(&lab, "s", "First.", -60);
    compacting(&lab, "s");
    let id = waiting(&lab);
    talk(&lab, "other", 3);
    lab.told("end-other", "other");
    assert_eq!(ended(&lab, "other", false), None);
    assert_eq!(waiting(&lab), id);
    // Unless nobody came back for it in time.
    lab.sql("UPDATE handoffs SET expires = 1 WHERE occasion = 'auto'");
    talk(&lab, "later", 3);
    lab.told("end-other", "later");
    assert!(ended(&lab, "later", true).is_some());
}

#[test]
fn a_hook_that_is_killed_before_a_compaction_loses_nothing() {
    for (point, is_there) in [
        ("create:reserved", false),
        ("create:durable", true),
        ("create:activated", true),
        ("state:uncommitted", false),
    ] {
        let lab = Lab::new();
        lab.start("s");
        say(&lab, "s", "First.", -60);
        let mut hook = lab.hook();
        hook.env(KILL_AT, point);
        let output = given(hook, &lab.event("pre-compact-manual", "s"));
        assert!(output.stdout.is_empty(), "{point}: {output:?}");
        let text = lab.told("start-compact", "s").unwrap_or_default();
        assert_eq!(text.contains("> First."), is_there, "{point}: {text}");
        // The next one is whole.
        say(&lab, "s", "Second.", 60);
        assert!(compacting(&lab, "s").contains("- Handoff: HO-"), "{point}");
    }
}

#[test]
fn a_1_33_bad_input_costs_no_compaction_and_what_is_off_writes_nothing() {
    // nothing can be read.
    let lab = Lab::new();
    lab.start("s");
    assert!(compacting(&lab, "s").contains("- Handoff: HO-"));
    let body = lab.handoff(&["show"])["body"].as_str().unwrap().to_owned();
    assert!(body.contains("No recent context extracted"), "{body}");
    for settings in ["[handoff]\nenabled = false\n", "enabled = false\n"] {
        let lab = Lab::new();
        lab.scratch.write("kgctx-home/config.toml", settings);
        say(&lab, "s", "First.", -60);
        assert_eq!(announced(&lab, "s"), "", "{settings}");
        assert!(documents(&lab.scratch).is_empty());
    }
    // A scripted session leaves nothing, as at its end; nor does a sub-agent.
    let lab = Lab::new();
    say(&lab, "s", "First.", -60);
    let mut hook = lab.hook();
    hook.env("CLAUDE_CODE_ENTRYPOINT", "sdk-cli");
    assert!(given(hook, &lab.event("pre-compact-manual", "s")).stdout.is_empty());
    let mut event = lab.event("pre-compact-manual", "s");
    event["agent_id"] = json!("a1");
    assert!(given(lab.hook(), &event).stdout.is_empty());
    assert!(documents(&lab.scratch).is_empty());
    // A store that cannot be written.
    lab.scratch.write("kgctx-home/state/handoffs", "in the way");
    assert_eq!(announced(&lab, "s"), "");
}

#[test]
fn before_a_compaction_a_handoff_is_written_and_the_summariser_told() {
    //
    let lab = Lab::new();
    let folder = lab.folder().to_str().unwrap().to_owned();
    let ask = |more: Value, messages: Value| {
        let mut info = json!({"id": "ses_c", "directory": folder, "title": "t"});
        for (key, value) in more.as_object().unwrap() {
            info[key] = value.clone();
        }
        let event = json!({"type": "session.compacting", "sessionID": "ses_c", "info": info, "messages": messages});
        let question =
            json!({"protocol": 1, "bridge": "0.1.0", "directory": folder, "event": event});
        let output = given(lab.kgctx(["hook", "opencode"]), &question);
        assert!(output.status.success(), "{output:?}");
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        valid("hook-opencode", &answer);
        answer
    };
    let said = json!([
        {"role": "user", "text": "Serve old tiles.", "at": 1_000},
        {"role": "assistant", "text": "They are served.", "at": 2_000},
    ]);
    for unsuitable in [
        json!({"parentID": "ses_p"}),
        json!({"permission": [{"permission": "question", "action": "deny"}]}),
    ] {
        assert_eq!(ask(unsuitable, said.clone())["action"], "none");
    }
    let told = ask(json!({}), said.clone());
    assert_eq!(told["action"], "keep", "{told}");
    let document = lab.handoff(&["show"]);
    let (id, body) = (document["id"].as_str().unwrap(), document["body"].as_str().unwrap());
    assert!(
        told["text"]
            .as_str()
            .unwrap()
            .contains(&format!("- Handoff: {id}\n- Goal: Serve old tiles.")),
        "{told}"
    );
    assert_eq!((&document["type"], &document["session_id"]), (&json!("auto"), &json!("ses_c")));
    assert!(body.contains("> They are served."), "{body}");
    assert_eq!(ask(json!({}), said), told, "nothing was said since");
    assert!(ask(json!({}), json!(7))["reason"].as_str().unwrap().contains("cannot be read"));
}

#[test]
fn a_compaction_that_comes_to_nothing_leaves_nothing_to_others_after_a_clear() {
    let lab = Lab::new();
    lab.start("s");
    say(&lab, "s", "Serve old tiles.", -60);
    compacting(&lab, "s");
    let stale = waiting(&lab);
    lab.told("end-clear", "s");
    assert_eq!(lab.status(&stale).as_deref(), Some("cleared"));
    // What the next session leaves is newer, and is what its successor gets.
    lab.told("start-clear", "t");
    talk(&lab, "t", 3);
    lab.told("end-other", "t");
    ended(&lab, "t", true);
    let text = lab.start("u").unwrap_or_default();
    assert!(text.contains("Thing 2") && !text.contains(&stale), "{text}");
}

#[test]
fn what_was_written_before_a_compaction_gives_way_once_its_session_is_over() {
    let lab = Lab::new();
    lab.start("s");
    say(&lab, "s", "Serve old tiles.", -60);
    compacting(&lab, "s");
    let stale = waiting(&lab);
    // Its host is gone without a word.
    lab.sql("UPDATE sessions SET started = started + 1 WHERE session = 's'");
    lab.start("t");
    talk(&lab, "t", 3);
    lab.told("end-other", "t");
    ended(&lab, "t", true);
    assert_ne!(waiting(&lab), stale);
}
