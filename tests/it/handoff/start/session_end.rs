//! What is left of a session when it ends.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::support::git;
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

/// Puts the project into the state in which a recorded session left it, and its record beside it.
fn recorded_work(lab: &Lab, session: &str) {
    let file = "fixtures/transcripts/claude-code-2.1.325-work.jsonl";
    let record = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
    let transcript = lab.transcript(session);
    fs::create_dir_all(transcript.parent().unwrap()).unwrap();
    let folder = lab.folder().to_str().unwrap();
    fs::write(transcript, record.replace("/home/ada/atlas", folder)).unwrap();
    let write = |name: &str, text: &str| fs::write(lab.folder().join(name), text).unwrap();
    let commit = |message: &str, at: &str| {
        git(lab.folder(), &["add", "-A"]);
        let mut command = Command::new("git");
        command.args([
            "-c",
            "user.name=Ada",
            "-c",
            "user.email=ada@example.org",
            "commit",
            "--quiet",
            "-m",
            message,
        ]);
        command.env("GIT_COMMITTER_DATE", at).env("GIT_AUTHOR_DATE", at).current_dir(lab.folder());
        assert!(command.status().unwrap().success());
    };
    write("atlas.toml", "limit_seconds = 600\n");
    commit("feat: atlas", "2026-11-01T00:00:00Z");
    write("cache.py", &"line\n".repeat(17));
    write("test_cache.py", &"line\n".repeat(11));
    commit("feat(cache): the age limit of tiles is a setting", "2026-11-18T01:52:40Z");
    write("atlas.toml", "limit_seconds = 600\nlimit_tiles = 9\n");
    write("render.py", "from cache import TileCache\n");
    let written = UNIX_EPOCH + Duration::from_secs(1_794_967_000);
    for name in ["atlas.toml", "render.py"] {
        let file = fs::File::options().write(true).open(lab.folder().join(name)).unwrap();
        file.set_modified(written).unwrap();
    }
}

#[test]
fn a_recorded_session_leaves_a_handoff_that_is_worth_reading() {
    let lab = Lab::new();
    recorded_work(&lab, "s");
    assert_eq!(lab.told("end-prompt-input-exit", "s"), None);
    let document = ended(&lab, "s", true).unwrap();
    let text = lab.start("t").unwrap();
    let (id, transcript) = (document["id"].as_str().unwrap(), lab.transcript("s"));
    let text = text.replace(id, "HO-ID").replace(transcript.to_str().unwrap(), "TRANSCRIPT");
    let hash = Command::new("git")
        .args(["rev-parse", "--short", "HEAD"])
        .current_dir(lab.folder())
        .output();
    let hash = String::from_utf8(hash.unwrap().stdout).unwrap();
    insta::assert_snapshot!("recorded_session_end", text.replace(hash.trim(), "COMMIT"));
}

#[test]
fn what_is_secret_is_masked_in_what_a_session_leaves() {
    const SECRET: &str = "ghp_x7Kd93hTq0ZmB2vLs8RfYwN4aUeC6pJ1gXoI";
    let lab = Lab::new();
    recorded_work(&lab, "s");
    let said = |text: &str| {
        let message = json!({"role": "user", "content": text});
        json!({"type": "user", "timestamp": "2026-11-18T02:00:00Z", "message": message})
    };
    let file = lab.transcript("s");
    let before = fs::read_to_string(&file).unwrap();
    let last = said(&format!("Push it with {SECRET}, please."));
    fs::write(&file, format!("{before}{last}\n")).unwrap();
    lab.told("end-prompt-input-exit", "s");
    let document = ended(&lab, "s", true).unwrap();
    let kept = fs::read_to_string(lab.document(document["id"].as_str().unwrap())).unwrap();
    assert!(kept.contains("Push it with [masked") && !kept.contains(SECRET), "{kept}");
}

#[test]
fn h_0_18_what_a_summariser_says_is_kept_whatever_its_headings() {
    let lab = Lab::new();
    let script = r##"["/bin/sh", "-c", "echo '# Was getan ist'; echo 'The dam HOLDS.'; echo '# Next step'; echo '- Paint it.'"]"##;
    lab.scratch.write("kgctx-home/config.toml", format!("[handoff]\nsummariser = {script}\n"));
    talk(&lab, "s", 3);
    assert_eq!(lab.told("end-logout", "s"), None);
    let document = ended(&lab, "s", true).unwrap();
    let body = document["body"].as_str().unwrap();
    assert!(body.starts_with("# Was getan ist\nThe dam HOLDS.\n# Next step\n"), "{body}");
    assert!(body.contains("3 prompts"), "{body}");
    assert_eq!(document["document"]["next_step"], "Paint it.");
    assert!(lab.start("t").unwrap().contains("The dam HOLDS."));
}

#[test]
fn h_0_18_a_summariser_that_fails_is_told_by_log_show_and_doctor() {
    let doctor = |lab: &Lab| {
        let output = lab.kgctx(["doctor", "--json"]).output().unwrap();
        let said: Value = serde_json::from_slice(&output.stdout).unwrap();
        let checks = said["checks"].as_array().unwrap().iter();
        checks.clone().find(|check| check["name"] == "summariser").cloned().unwrap()
    };
    for (script, reason, is_found) in [
        (r#"["/bin/sh", "-c", "echo half; exit 3"]"#, "it ended with code 3", true),
        (r#"["/bin/sh", "-c", "echo; echo '## Accomplished'"]"#, "it printed nothing", true),
        (r#"["/none/such"]"#, "it cannot be started: No such file", false),
    ] {
        let lab = Lab::new();
        let settings = |script: &str| {
            let settings = format!("[handoff]\nsummariser = {script}\n");
            lab.scratch.write("kgctx-home/config.toml", settings);
        };
        settings(script);
        assert_eq!(doctor(&lab)["verdict"], if is_found { "ok" } else { "warn" });
        talk(&lab, "s", 3);
        assert_eq!(lab.told("end-logout", "s"), None);
        let document = ended(&lab, "s", true).unwrap();
        let id = document["id"].as_str().unwrap();
        let output = lab.kgctx(["handoff", "show", id]).output().unwrap();
        let shown = String::from_utf8(output.stdout).unwrap();
        assert!(shown.contains(reason), "{shown}");
        let output = lab.kgctx(["handoff", "log", id]).output().unwrap();
        let log = String::from_utf8(output.stdout).unwrap();
        assert!(log.contains(reason) && log.contains("the summariser"), "{log}");
        let check = doctor(&lab);
        assert_eq!(check["verdict"], "warn", "{check}");
        let expected = if is_found { reason } else { "/none/such is not found" };
        assert!(check["found"].as_str().unwrap().contains(expected), "{check}");
        // A session that is given the handoff changes nothing about that.
        assert!(lab.start("reader").unwrap().contains(id));
        assert_eq!(doctor(&lab), check);
        // What another program did says nothing of this one.
        settings(r#"["/bin/cat"]"#);
        assert_eq!(doctor(&lab)["verdict"], "ok");
        // One that works again has no fault any more.
        settings(r#"["/bin/sh", "-c", "echo All is well."]"#);
        talk(&lab, "t", 3);
        assert_eq!(lab.told("end-logout", "t"), None);
        let document = ended(&lab, "t", true).unwrap();
        assert_eq!(doctor(&lab)["verdict"], "ok");
        assert!(lab.start("u").unwrap().contains(document["id"].as_str().unwrap()));
        let check = doctor(&lab);
        assert_eq!(check["verdict"], "ok", "{check}");
    }
}

#[test]
fn nobody_waits_for_a_transcript_that_is_a_pipe() {
    let lab = Lab::new();
    let transcript = lab.transcript("s");
    fs::create_dir_all(transcript.parent().unwrap()).unwrap();
    assert!(Command::new("mkfifo").arg(&transcript).status().unwrap().success());
    lab.leave("Before.");
    assert_eq!(lab.told("end-other", "s"), None);
    let until = Instant::now() + Duration::from_secs(10);
    while n_endings(&lab) > 0 {
        assert!(Instant::now() < until, "its handoff is still being written");
        thread::sleep(Duration::from_millis(20));
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
fn a_session_that_ends_twice_leaves_a_second_handoff_only_if_something_was_said() {
    let lab = Lab::new();
    recorded_work(&lab, "s");
    let end = || {
        lab.start("s");
        thread::sleep(Duration::from_millis(20));
        assert_eq!(lab.told("end-prompt-input-exit", "s"), None);
        ended(&lab, "s", true).unwrap()["id"].clone()
    };
    let first = end();
    assert_eq!(end(), first);
    assert_eq!(documents(&lab.scratch).len(), 1);
    let at = kgctx::core::time::Timestamp::from_milliseconds(
        kgctx::app::handoff::now().milliseconds() + 60_000,
    );
    let message = json!({"role": "user", "content": "One more thing."});
    let line = json!({"type": "user", "timestamp": at.to_string(), "message": message});
    let file = lab.transcript("s");
    let before = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("{before}{line}\n")).unwrap();
    assert_ne!(end(), first);
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
