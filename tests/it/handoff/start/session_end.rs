//! What is left of a session when it ends.

use std::fs;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::handoff_lab::{Lab, context, documents, given, talk};

/// The document that was written when a session had ended; waits for it, or makes sure that there is none.
pub(super) fn ended(lab: &Lab, session: &str, is_expected: bool) -> Option<Value> {
    let until = Instant::now() + Duration::from_secs(10);
    loop {
        let state = lab.state();
        let n_endings: i64 =
            state.query_row("SELECT count(*) FROM endings", [], |row| row.get(0)).unwrap();
        let sql =
            "SELECT id FROM handoffs WHERE session = ?1 AND occasion = 'end' AND status = 'active'";
        let id: Option<String> = state.query_row(sql, [session], |row| row.get(0)).ok();
        match id {
            Some(id) if n_endings == 0 => return Some(lab.handoff(&["show", &id])),
            None if n_endings == 0 && !is_expected => return None,
            _ => {}
        }
        assert!(Instant::now() < until, "{n_endings} endings are not written");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn h_0_22_an_end_is_noted_at_once_and_its_document_is_there_soon_after() {
    // H-0.22
    let lab = Lab::new();
    lab.start("s");
    talk(&lab, "s", 3);
    let slow = lab.scratch.write(
        "summarise.sh",
        "cat > /dev/null\nsleep 1\nprintf '## Accomplished\\n- Half.\\n\\n## In progress\\n- More.\\n\\n## Decisions\\n- Rust, \
         for speed.\\n\\n## Next steps\\n- The rest.\\n'\n",
    );
    let settings = format!("[handoff]\nsummariser = [\"/bin/sh\", {slow:?}]\n");
    lab.scratch.write("kgctx-home/config.toml", settings);
    let output = given(lab.hook(), &lab.event("end-prompt-input-exit", "s"));
    assert_eq!(context(&output), None);
    assert!(documents(&lab.scratch).is_empty(), "the summariser is still at it");
    let document = ended(&lab, "s", true).unwrap();
    assert_eq!((&document["type"], &document["consume"]), (&json!("end"), &json!("sticky")));
    assert_eq!(document["session_id"], "s");
    let body = document["body"].as_str().unwrap();
    for section in ["## Accomplished", "## In progress", "## Decisions", "## Next steps"] {
        assert!(body.contains(section), "{body}");
    }
    // It is given to one session after the other, but not to its own, and to none twice.
    let id = document["id"].as_str().unwrap();
    for session in ["t", "u"] {
        let text = lab.start(session).unwrap();
        assert!(text.contains(id) && text.contains("- The rest."), "{text}");
        assert_eq!(lab.start(session), None, "H-0.24");
    }
    assert_eq!(lab.start("s"), None);
    assert_eq!(lab.status(id).as_deref(), Some("active"));
    // Until there is a newer one.
    let newer = lab.leave("Newer.");
    assert!(lab.start("v").unwrap().contains(&newer));
    assert_eq!(lab.start("w"), None);
    // The best of some: the machine may be busy.
    let took = |n: u32| {
        let event = lab.event("end-prompt-input-exit", &format!("e{n}"));
        let started = Instant::now();
        assert_eq!(context(&given(lab.hook(), &event)), None);
        started.elapsed()
    };
    let best = (0..5).map(took).min().unwrap();
    assert!(best < Duration::from_millis(300), "{best:?}");
}

#[test]
fn h_0_18_without_a_summary_a_session_leaves_what_is_known_of_it() {
    // H-0.18: no summariser, one that fails, one that says nothing of use, one that is not there.
    for summariser in [
        "[]",
        r#"["/bin/sh", "-c", "echo half; exit 3"]"#,
        r#"["/bin/sh", "-c", "echo I will not"]"#,
        r#"["/none/such"]"#,
    ] {
        let lab = Lab::new();
        let settings = format!("[handoff]\nsummariser = {summariser}\n");
        lab.scratch.write("kgctx-home/config.toml", settings);
        talk(&lab, "s", 12);
        assert_eq!(lab.told("end-logout", "s"), None);
        let document = ended(&lab, "s", true).unwrap();
        let body = document["body"].as_str().unwrap();
        assert!(body.contains("12 prompts"), "{summariser}: {body}");
        assert_eq!(body.matches("src/f").count(), 10, "{summariser}: {body}");
        assert!(body.contains(lab.transcript("s").to_str().unwrap()), "{summariser}: {body}");
        assert!(lab.start("t").unwrap().contains("12 prompts"), "{summariser}");
    }
}

#[test]
fn h_0_22_a_summariser_that_hangs_is_in_nobodys_way() {
    // H-0.22, H-0.18
    let lab = Lab::new();
    lab.scratch.write(
        "kgctx-home/config.toml",
        "[handoff]\nsummariser = [\"/bin/sh\", \"-c\", \"echo $$ > ../hung; exec sleep 300\"]\n",
    );
    talk(&lab, "s", 3);
    let start = Instant::now();
    assert_eq!(lab.told("end-other", "s"), None);
    assert!(start.elapsed() < Duration::from_millis(1_200), "{:?}", start.elapsed());
    let hung = lab.scratch.path().join("hung");
    let until = Instant::now() + Duration::from_secs(10);
    let pid = loop {
        let pid = fs::read_to_string(&hung).unwrap_or_default();
        if pid.ends_with('\n') {
            break pid.trim().to_owned();
        }
        assert!(Instant::now() < until, "the summariser was never started");
        thread::sleep(Duration::from_millis(10));
    };
    // Others start and leave what they like meanwhile.
    assert_eq!(lab.start("t"), None);
    let id = lab.leave("On purpose.");
    assert!(Command::new("kill").args(["-9", &pid]).status().unwrap().success());
    // What was left on purpose waits on: what is known of the session does not take its place.
    let until = Instant::now() + Duration::from_secs(10);
    while documents(&lab.scratch).len() < 2 || n_endings(&lab) > 0 {
        assert!(Instant::now() < until, "it was given up");
        thread::sleep(Duration::from_millis(20));
    }
    assert!(lab.start("u").unwrap().contains(&id));
}

fn n_endings(lab: &Lab) -> i64 {
    lab.state().query_row("SELECT count(*) FROM endings", [], |row| row.get(0)).unwrap()
}

#[test]
fn h_0_22_an_end_that_nobody_could_write_is_written_when_the_next_session_starts() {
    // H-0.22: the worker was killed, or could not be started.
    let lab = Lab::new();
    lab.start("s");
    talk(&lab, "s", 3);
    let state = lab.state();
    let sql = "INSERT INTO endings (session, folder, transcript, at, owner_pid, owner_started) \
               VALUES (?1, ?2, ?3, unixepoch() * 1000, 1, 1)";
    let folder = lab.folder().to_str().unwrap().as_bytes();
    let transcript = lab.transcript("s");
    let transcript = transcript.to_str().unwrap().as_bytes();
    state.execute(sql, rusqlite::params!["s", folder, transcript]).unwrap();
    // One that can never be written is not in the way.
    state.execute(sql, rusqlite::params!["never", folder, b"/none/such"]).unwrap();
    assert_eq!(lab.start("t"), None);
    let document = ended(&lab, "s", true).unwrap();
    assert!(lab.start("u").unwrap().contains(document["id"].as_str().unwrap()));
}

#[test]
fn h_0_16_a_short_session_leaves_nothing_and_what_waits_stays() {
    // H-0.16: fewer than two prompts, or nothing said.
    let lab = Lab::new();
    let id = lab.leave("It waits.");
    talk(&lab, "short", 1);
    fs::write(lab.transcript("mute"), "").unwrap();
    for session in ["short", "mute", "unwritten"] {
        assert_eq!(lab.told("end-other", session), None);
        assert_eq!(ended(&lab, session, false), None, "{session}");
    }
    assert_eq!(lab.status(&id).as_deref(), Some("active"));
    // Two are enough, and fewer where the settings say so.
    lab.handoff(&["clear"]);
    talk(&lab, "long", 2);
    lab.told("end-other", "long");
    assert!(ended(&lab, "long", true).is_some());
    lab.scratch.write("kgctx-home/config.toml", "[handoff]\nmin_turns = 1\n");
    lab.told("end-other", "short");
    assert!(ended(&lab, "short", true).is_some());
}

#[test]
fn a_session_that_was_taken_up_again_leaves_what_it_did_since() {
    let lab = Lab::new();
    talk(&lab, "s", 2);
    lab.told("end-other", "s");
    let first = ended(&lab, "s", true).unwrap();
    lab.told("start-resume", "s");
    talk(&lab, "s", 5);
    thread::sleep(Duration::from_millis(5));
    lab.told("end-other", "s");
    let until = Instant::now() + Duration::from_secs(10);
    while documents(&lab.scratch).len() < 2 || n_endings(&lab) > 0 {
        assert!(Instant::now() < until, "nothing was written");
        thread::sleep(Duration::from_millis(20));
    }
    let second = lab.handoff(&["show"]);
    assert_ne!(first["id"], second["id"]);
    assert!(second["body"].as_str().unwrap().contains("5 prompts"), "{second}");
    // What it left itself is better than what could be written about it.
    lab.told("start-resume", "s");
    let own = lab.create(&["--session", "s", "--body", "My own words."]);
    lab.told("end-other", "s");
    assert_eq!(ended(&lab, "s", false), None);
    assert!(lab.start("t").unwrap().contains(&own));
}

#[test]
fn h_0_20_without_a_session_nothing_is_written() {
    // H-0.20
    let lab = Lab::new();
    talk(&lab, "", 3);
    let mut event = lab.event("end-other", "");
    assert_eq!(context(&given(lab.hook(), &event)), None);
    event.as_object_mut().unwrap().remove("session_id");
    assert_eq!(context(&given(lab.hook(), &event)), None);
    for wrong in [json!(7), json!(null), json!({}), json!([])] {
        event["session_id"] = wrong;
        assert_eq!(context(&given(lab.hook(), &event)), None);
    }
    thread::sleep(Duration::from_millis(300));
    assert!(documents(&lab.scratch).is_empty());
}
