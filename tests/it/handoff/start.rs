//! What a session is given of handoffs when it starts.

mod compaction;
mod documents;
mod failures;
mod session_end;
mod tasks;
mod text;

use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use kgctx::core::handoff::choice::{HandoffChoice, HandoffQuery, HandoffRequest};
use kgctx::core::handoff::life::{Actor, Home};
use kgctx::core::handoff::{Consume, Head, Occasion};
use kgctx::core::time::{Timespan, Timestamp};
use kgctx::store::state::State;
use serde_json::{Value, json};

use crate::support::handoff_lab::{Lab, context, documents as all_documents, given, talk};
use crate::support::stderr;
use session_end::ended;

/// The whole of a handoff's text stands between these.
const OPENING: &str = "=== HANDOFF LOADED (ID: ";
const CLOSING: &str = "=== END HANDOFF ===";

#[test]
fn h_0_1_a_session_is_given_the_whole_text_once_and_before_its_first_prompt() {
    // H-0.1, A-1.13, H-0.24
    let lab = Lab::new();
    let body = "# Goal\nShip it.\n\n## Done\n- half of it\n\n## Next steps\nThe other half.";
    let id = lab.leave(body);
    let text = lab.start("s").unwrap();
    assert_eq!(text.matches(OPENING).count(), 1);
    assert_eq!(text.matches(body).count(), 1, "{text}");
    for (when, session) in [("again", "s"), ("to another session", "t")] {
        assert_eq!(lab.start(session), None, "{when}");
    }
    assert_eq!(lab.status(&id).as_deref(), Some("consumed"));
    assert!(lab.document(&id).exists(), "it is archived");
}

#[test]
fn h_0_2_of_several_the_one_written_last_is_given_whatever_its_file_says() {
    // H-0.2, H-0.9
    let lab = Lab::new();
    let old = lab.leave("The old one.");
    let new = lab.leave("The new one.");
    // A copied or touched file is no newer.
    let touched = fs::File::options().append(true).open(lab.document(&old)).unwrap();
    touched.set_modified(std::time::SystemTime::now() + Duration::from_secs(60)).unwrap();
    let text = lab.start("s").unwrap();
    assert!(text.contains(&new) && text.contains("The new one."), "{text}");
    assert!(!text.contains("The old one."), "{text}");
    assert_eq!(text.matches(OPENING).count(), 1, "H-0.9");
    assert_eq!(lab.start("t"), None, "H-0.9: the old one is over");
    // One that is taken in later but was written earlier does not take the place of what waits.
    let waits = lab.leave("It waits.");
    let earlier =
        lab.scratch.write("old.md", "---\ncreated_at: 2020-01-01T00:00:00Z\n---\nEarlier.\n");
    lab.handoff(&["import", earlier.to_str().unwrap()]);
    assert!(lab.start("u").unwrap().contains(&waits));
}

#[test]
fn h_0_3_where_nothing_was_left_nothing_is_said() {
    // H-0.3
    let lab = Lab::new();
    assert_eq!(lab.start("s"), None);
}

#[test]
fn h_0_4_looking_makes_no_folder() {
    // H-0.4
    let lab = Lab::new();
    let store = lab.scratch.path().join("kgctx-home/state/handoffs");
    let output = lab.kgctx(["inject", "--session", "s", "--dry-run"]).output().unwrap();
    assert!(output.status.success() && output.stdout.is_empty(), "{output:?}");
    let output = lab.kgctx(["explain", "--dry-run"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(lab.start("s"), None);
    for arguments in [&["list"][..], &["clear"], &["prune"], &["reconcile"]] {
        lab.handoff(arguments);
    }
    assert!(!store.exists());
}

#[test]
fn h_0_10_a_subagent_is_given_nothing_and_uses_nothing_up() {
    // H-0.10
    let lab = Lab::new();
    let id = lab.leave("Ship it.");
    assert_eq!(lab.told("start-subagent", "s"), None);
    assert_eq!(lab.status(&id).as_deref(), Some("active"));
    let mut ended = lab.event("end-other", "s");
    ended["agent_id"] = json!("a1");
    talk(&lab, "s", 3);
    assert_eq!(context(&given(lab.hook(), &ended)), None);
    let amplifier = |event: Value| {
        let output = given(lab.kgctx(["hook", "amplifier"]), &event);
        assert!(output.status.success() && stderr(&output).is_empty(), "{output:?}");
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    let mut event = json!({ "event": "prompt:submit", "session_id": "child", "cwd": lab.folder() });
    event["parent_id"] = json!("parent");
    assert_eq!(amplifier(event.clone()), json!({ "action": "continue" }));
    assert_eq!(lab.status(&id).as_deref(), Some("active"));
    event["parent_id"] = Value::Null;
    let answer = amplifier(event.clone());
    assert!(answer["context_injection"].as_str().unwrap().contains(&id), "{answer}");
    assert_eq!(amplifier(event), json!({ "action": "continue" }), "H-0.24");
    assert_eq!(lab.status(&id).as_deref(), Some("consumed"));
    assert_eq!(all_documents(&lab.scratch).len(), 1, "the subagent has left nothing");
}

#[test]
fn h_0_11_what_is_switched_off_is_off() {
    // H-0.11
    for (settings, is_given, is_written) in [
        ("", true, true),
        ("[handoff]\nenabled = false\n", false, false),
        ("[handoff]\ninject_on_start = false\n", false, true),
        ("enabled = false\n", false, false),
    ] {
        let lab = Lab::new();
        lab.scratch.write("kgctx-home/config.toml", settings);
        let id = lab.leave("Ship it.");
        assert_eq!(lab.start("s").is_some(), is_given, "{settings}");
        let expected = if is_given { "consumed" } else { "active" };
        assert_eq!(lab.status(&id).as_deref(), Some(expected), "{settings}");
        talk(&lab, "s", 3);
        lab.handoff(&["clear"]);
        assert_eq!(lab.told("end-other", "s"), None);
        assert_eq!(ended(&lab, "s", is_written).is_some(), is_written, "{settings}");
    }
}

/// Makes what waits older by so many seconds.
fn age(lab: &Lab, seconds: i64) {
    let ms = seconds * 1_000;
    lab.sql(&format!(
        "UPDATE handoffs SET created = created - {ms}, expires = expires - {ms} WHERE status = 'active'"
    ));
}

#[test]
fn h_0_23_what_stays_for_further_sessions_does_not_stay_for_ever() {
    // H-0.23
    let lab = Lab::new();
    let id = lab.create(&["--type", "end", "--session", "author", "--body", "Ship it."]);
    age(&lab, 7 * 86_400 - 60);
    assert!(lab.start("s").unwrap().contains("Ship it."));
    age(&lab, 120);
    let text = lab.start("t").unwrap();
    let line = text.lines().find(|line| line.contains(&id)).unwrap();
    assert!(line.contains("was not loaded") && line.contains("written 20"), "{line}");
    assert!(!text.contains("Ship it."), "{text}");
    // As long as the settings say; and a sticky one without an end of its own, too.
    lab.scratch.write("kgctx-home/config.toml", "[handoff]\nmax_age_days = 2\n");
    let id = lab.create(&["--sticky", "--session", "author", "--body", "Sticky."]);
    age(&lab, 2 * 86_400 - 60);
    assert!(lab.start("u").unwrap().contains("Sticky."));
    age(&lab, 120);
    let text = lab.start("v").unwrap();
    assert!(text.contains(&id) && !text.contains("Sticky."), "{text}");
}

#[test]
fn a_1_9_only_what_waits_and_is_what_it_says_is_given() {
    //
    let lab = Lab::new();
    for status in ["claimed", "consumed", "expired", "cleared", "draft", "later"] {
        let id = lab.leave("Ship it.");
        lab.sql(&format!("UPDATE handoffs SET status = '{status}' WHERE id = '{id}'"));
        let text = lab.start(&format!("s-{status}")).unwrap_or_default();
        assert!(!text.contains("Ship it."), "{status}: {text}");
    }
}

/// A handoff that was written at 0, and what a session is given at some later time.
fn choice_at(occasion: Occasion, expires_ms: Option<i64>, now_ms: i64) -> HandoffChoice {
    let folder = tempfile::tempdir().unwrap();
    let mut state = State::open(folder.path(), Duration::from_secs(5)).unwrap();
    let actor = Actor { session: None, now_ms: 0 };
    let head = Head {
        consume: Some(occasion.consume()),
        occasion: Some(occasion),
        created_at: Some(Timestamp::from_milliseconds(0)),
        expires_at: expires_ms.map(Timestamp::from_milliseconds),
        ..Head::default()
    };
    let home = Home { scope: "p-1", channel: "p" };
    let id = state.draft_handoff(&home, &head, |_| true, &actor).unwrap();
    state.activate_handoff(&id, &actor).unwrap();
    let query = HandoffQuery {
        scope: "p-1",
        session: "s",
        request: HandoffRequest::First,
        is_scripted: false,
        max_age: Timespan::from_hours(7 * 24),
        now_ms,
        unusable: &[],
    };
    state.preview_handoff(&query, None).unwrap()
}

#[test]
fn a_1_11_exactly_at_its_end_one_is_still_given() {
    // 7,200 s, to the millisecond. H-0.23: 7 days.
    let lifetime = |occasion: &Occasion| {
        let end =
            occasion.lifetime().map(|lifetime| Timestamp::from_milliseconds(0).after(lifetime));
        end.map(Timestamp::milliseconds)
    };
    assert_eq!(lifetime(&Occasion::Auto), Some(7_200_000));
    assert_eq!(Occasion::End.consume(), Consume::Sticky);
    for (occasion, end) in [(Occasion::Auto, 7_200_000), (Occasion::End, 7 * 86_400_000)] {
        let expires = lifetime(&occasion);
        let choice = |at| choice_at(occasion.clone(), expires, at);
        assert!(matches!(choice(end), HandoffChoice::Given(_)), "{occasion}");
        assert!(matches!(choice(end + 1), HandoffChoice::TooOld(_)), "{occasion}");
    }
    // The age of one that stays for further sessions is counted even where it has no end of its own.
    assert!(matches!(choice_at(Occasion::End, None, 7 * 86_400_000), HandoffChoice::Given(_)));
    assert!(matches!(choice_at(Occasion::End, None, 7 * 86_400_000 + 1), HandoffChoice::TooOld(_)));
}

#[test]
fn a_1_11_an_automatic_one_is_given_for_two_hours_and_told_of_then() {
    //
    let lab = Lab::new();
    let id = lab.create(&["--type", "auto", "--session", "author", "--body", "Go on."]);
    age(&lab, 7_190);
    assert!(lab.start("s").unwrap().contains("Go on."));
    assert_eq!(lab.status(&id).as_deref(), Some("consumed"));
    let lab = Lab::new();
    for occasion in ["auto", "rotation"] {
        let id = lab.create(&["--type", occasion, "--session", "author", "--body", "Go on."]);
        age(&lab, 7_201);
        for session in ["t", "u"] {
            let text = lab.start(&format!("{session}-{occasion}")).unwrap();
            assert!(!text.contains("Go on."), "{text}");
            let line = text.lines().find(|line| line.contains(&id)).unwrap();
            assert!(
                line.contains("older than 2 hours") && line.contains("handoff pickup"),
                "{line}"
            );
            assert_eq!(lab.status(&id).as_deref(), Some("expired"));
        }
        assert!(lab.document(&id).exists());
        assert_eq!(lab.handoff(&["pickup", &id])["id"], *id, "by hand it can still be had");
        assert_eq!(lab.start(&format!("v-{occasion}")), None, "somebody has it");
    }
    // What was left on purpose has no end.
    for occasion in ["manual", "bye"] {
        let id = lab.create(&["--type", occasion, "--session", "author", "--body", "For ever."]);
        age(&lab, 400 * 86_400);
        assert!(lab.start(occasion).unwrap().contains(&id));
    }
}

/// A host of its own for a session, as alive as Claude Code: a shell would be looked past.
#[cfg(target_os = "linux")]
struct Host(std::process::Child);

#[cfg(target_os = "linux")]
impl Host {
    fn with_session(lab: &Lab, session: &str) -> Host {
        let shell = fs::canonicalize("/bin/sh").unwrap();
        let program = lab.scratch.path().join("agent");
        if !program.exists() {
            fs::copy(shell, &program).unwrap();
        }
        let event = lab.event("start-startup", session).to_string();
        let event = lab.scratch.write(&format!("{session}.json"), event);
        let kgctx = lab.hook();
        let mut host = Command::new(program);
        host.args([
            "-c",
            "\"$0\" hook claude-code < \"$1\"; echo started; while :; do sleep 1; done",
        ]);
        host.arg(kgctx.get_program()).arg(event).env_clear();
        host.envs(kgctx.get_envs().filter_map(|(name, value)| Some((name, value?))));
        host.current_dir(lab.folder()).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut host = host.spawn().unwrap();
        let mut line = String::new();
        let mut out = std::io::BufReader::new(host.stdout.take().unwrap());
        std::io::BufRead::read_line(&mut out, &mut line).unwrap();
        assert_eq!(line, "started\n", "it was not to be given anything");
        Host(host)
    }
}

#[cfg(target_os = "linux")]
impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_1_20_what_is_for_who_goes_on_is_kept_while_somebody_else_is_at_work() {
    //
    let lab = Lab::new();
    let host = Host::with_session(&lab, "other");
    let id = lab.create(&["--type", "auto", "--session", "other", "--body", "Go on."]);
    for session in ["s", "t"] {
        let text = lab.start(session).unwrap();
        assert!(text.contains("=== PARALLEL SESSION (Channel: zephyr) ==="), "{text}");
        assert!(text.contains(&id) && !text.contains("Go on."), "{text}");
        assert_eq!(lab.status(&id).as_deref(), Some("active"));
    }
    // What was left on purpose, or for everybody, is given all the same.
    lab.handoff(&["clear"]);
    let sticky = lab.create(&["--type", "end", "--session", "author", "--body", "For all."]);
    assert!(lab.start("u").unwrap().contains(&sticky));
    let manual = lab.leave("On purpose.");
    assert!(lab.start("v").unwrap().contains(&manual));
    // Once the other one has ended, the work goes on.
    let id = lab.create(&["--type", "auto", "--session", "other", "--body", "Go on."]);
    assert!(lab.start("w").unwrap().contains("PARALLEL SESSION"));
    drop(host);
    let text = lab.start("x").unwrap();
    assert!(text.contains(&id) && text.contains("Go on."), "{text}");
    // One that has said good-bye does not count, though its process lives.
    let _host = Host::with_session(&lab, "third");
    assert_eq!(lab.told("end-clear", "third"), None);
    let id = lab.create(&["--type", "auto", "--session", "third", "--body", "Go on."]);
    assert!(lab.start("y").unwrap().contains(&id));
}

#[test]
fn a_1_35_every_source_of_a_start_has_its_own_meaning() {
    //
    let lab = Lab::new();
    let first = lab.leave("The first.");
    // Who clears wants to be rid of it, and is given notes alone; a fork and a session that is taken up again have what they had.
    for source in ["start-clear", "start-resume", "start-fork"] {
        talk(&lab, source, 1);
        assert_eq!(lab.told(source, source), None, "{source}");
    }
    assert_eq!(lab.status(&first).as_deref(), Some("active"));
    let text = lab.told("start-vscode", "s").unwrap();
    assert!(text.contains(&first), "startup loads");
    // After a compaction it is shown again, and nothing else is used up.
    let second = lab.leave("The second.");
    let text = lab.told("start-compact", "s").unwrap();
    assert!(text.contains(&first) && !text.contains("The second."), "{text}");
    assert_eq!(lab.told("start-compact", "s"), None, "the same one, told of twice");
    assert_eq!(lab.told("start-compact", "without"), None, "who had none has none");
    assert_eq!(lab.status(&second).as_deref(), Some("active"));
    // Taken up again, it gets what somebody else has left since, once.
    let text = lab.told("start-resume", "s").unwrap();
    assert!(text.contains(&second) && !text.contains("The first."), "{text}");
    assert_eq!(lab.told("start-resume", "s"), None);
    assert_eq!(lab.status(&second).as_deref(), Some("consumed"));
    // What it has left itself is not for it.
    let own = lab.create(&["--session", "s", "--body", "My own."]);
    assert_eq!(lab.told("start-resume", "s"), None);
    assert_eq!(lab.status(&own).as_deref(), Some("active"));
    // A session of which only its transcript is known.
    talk(&lab, "unknown", 1);
    let file = fs::File::options().append(true).open(lab.transcript("unknown")).unwrap();
    file.set_modified(std::time::SystemTime::now() + Duration::from_secs(60)).unwrap();
    assert_eq!(lab.told("start-fork", "unknown"), None, "it is newer than what was left");
    talk(&lab, "older", 1);
    let file = fs::File::options().append(true).open(lab.transcript("older")).unwrap();
    file.set_modified(std::time::SystemTime::now() - Duration::from_secs(60)).unwrap();
    assert!(lab.told("start-resume", "older").unwrap().contains(&own));
    // A fork has no transcript yet: how long nothing was said is told.
    let fourth = lab.leave("The fourth.");
    for (silence, expected) in [(json!("long"), false), (json!(u64::MAX), false), (json!(14), true)]
    {
        let mut fork = lab.event("start-fork", &format!("forked-{silence}"));
        fork["seconds_since_last_response"] = silence;
        let text = context(&given(lab.hook(), &fork));
        assert_eq!(text.is_some_and(|text| text.contains(&fourth)), expected, "{fork}");
    }
    // Whoever wants it after a clear says so, and no end is left by one.
    let third = lab.leave("The third.");
    lab.scratch.write("kgctx-home/config.toml", "[handoff]\ninject_on_clear = true\n");
    assert!(lab.told("start-clear", "cleared").unwrap().contains(&third));
    talk(&lab, "cleared", 3);
    assert_eq!(lab.told("end-clear", "cleared"), None);
    assert_eq!(ended(&lab, "cleared", false), None);
}
