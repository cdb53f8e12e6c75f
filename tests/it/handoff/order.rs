//! Which of several handoffs waits, whatever else happened meanwhile: what was left on purpose is not lost to what came about
//! by itself, to a wrong clock or to somebody who died.

use std::fs;
use std::io::Write;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::git;
use crate::support::handoff_lab::{Lab, context, fire, given, talk, waiting};

const KILL_AT: &str = "KGCTX_TEST_KILL_AT";
const SECRET: &str = "ghp_x7Kd93hTq0ZmB2vLs8RfYwN4aUeC6pJ1gXoI";

/// Starts a session whose hook is killed on the way.
fn die_at(lab: &Lab, point: &str, session: &str) {
    let mut hook = lab.hook();
    hook.env(KILL_AT, point);
    let output = given(hook, &lab.event("start-startup", session));
    assert_eq!(output.status.code(), None, "{output:?}");
}

/// Ends a session after three prompts, and waits until everything is written.
fn end(lab: &Lab, session: &str) {
    talk(lab, session, 3);
    assert_eq!(lab.told("end-other", session), None);
    until(|| {
        let sql = "SELECT count(*) FROM endings";
        lab.state().query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap() == 0
    });
}

#[track_caller]
fn until(is_so: impl Fn() -> bool) {
    let until = Instant::now() + Duration::from_secs(15);
    while !is_so() {
        assert!(Instant::now() < until, "it took too long");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn what_was_left_on_purpose_outlives_a_dead_claimer_and_a_session_that_ends() {
    let lab = Lab::new();
    let left = lab.leave("On purpose.");
    die_at(&lab, "load:composed", "dead");
    end(&lab, "other");
    assert_eq!(lab.status(&left).as_deref(), Some("active"));
    assert!(lab.start("next").unwrap().contains(&left));
    // While somebody alive has it, an end is written; if that one dies then, it gets its place back.
    let left = lab.leave("On purpose again.");
    lab.sql(&format!("UPDATE handoffs SET status = 'claimed', token = 7 WHERE id = '{left}'"));
    let until = "CAST(strftime('%s', 'now') AS INTEGER) * 1000 + 14000";
    lab.sql(&format!(
        "INSERT INTO claims (session, moment, token, until) VALUES ('b', 'start', 7, {until})"
    ));
    end(&lab, "third");
    assert_eq!(lab.status(&left).as_deref(), Some("claimed"));
    lab.sql("DELETE FROM claims WHERE token = 7");
    assert!(lab.start("last").unwrap().contains(&left));
}

#[test]
fn an_end_that_was_killed_while_it_was_written_does_not_take_the_place_of_another() {
    let lab = Lab::new();
    let left = lab.leave("On purpose.");
    talk(&lab, "s", 3);
    let mut hook = lab.hook();
    hook.env(KILL_AT, "create:durable");
    given(hook, &lab.event("end-other", "s"));
    until(|| {
        let sql = "SELECT count(*) FROM handoffs WHERE status = 'draft'";
        lab.state().query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap() == 1
    });
    thread::sleep(Duration::from_millis(100));
    assert!(lab.start("next").unwrap().contains(&left));
}

#[test]
fn a_clock_that_was_set_back_does_not_block_what_is_left_then() {
    let lab = Lab::new();
    let ahead = lab.leave("From a wrong clock.");
    lab.sql(&format!("UPDATE handoffs SET created = created + 3600000 WHERE id = '{ahead}'"));
    let left = lab.leave("From the right one.");
    assert_eq!(lab.status(&ahead).as_deref(), Some("cleared"));
    assert!(lab.start("next").unwrap().contains(&left));
}

#[test]
fn of_two_sessions_the_one_that_ended_later_leaves_what_waits() {
    let lab = Lab::new();
    let slow = lab.scratch.write("summarise.sh", "grep -q SLOW && sleep 2\nexit 1\n");
    let settings = format!("[handoff]\nsummariser = [\"/bin/sh\", {slow:?}]\n");
    lab.scratch.write("kgctx-home/config.toml", settings);
    talk(&lab, "early", 3);
    let transcript = lab.transcript("early");
    let said = fs::read_to_string(&transcript).unwrap().replace("Thing 2", "SLOW");
    fs::write(&transcript, said).unwrap();
    assert_eq!(lab.told("end-other", "early"), None);
    thread::sleep(Duration::from_millis(300));
    end(&lab, "late");
    let sql = "SELECT session FROM handoffs WHERE status = 'active'";
    let waits: String = lab.state().query_row(sql, [], |row| row.get(0)).unwrap();
    assert_eq!(waits, "late");
}

#[test]
fn a_task_or_an_old_handoff_of_a_session_does_not_keep_its_end_from_being_written() {
    let lab = Lab::new();
    lab.start("s");
    lab.create(&["--session", "s", "--task", "--goal", "g", "--next", "n"]);
    end(&lab, "s");
    let ends = || {
        let sql = "SELECT count(*) FROM handoffs WHERE session = 's' AND occasion = 'end'";
        lab.state().query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap()
    };
    assert_eq!(ends(), 1);
    // Taken up again, it leaves one on purpose: that is enough.
    lab.told("start-resume", "s");
    let left = lab.create(&["--session", "s", "--body", "On purpose."]);
    end(&lab, "s");
    assert_eq!(ends(), 1);
    assert!(lab.start("t").unwrap().contains(&left));
    // Taken up once more, with that one used up, it leaves another.
    lab.told("start-resume", "s");
    end(&lab, "s");
    assert_eq!(ends(), 2);
}

#[test]
fn an_end_while_the_state_is_busy_is_not_lost() {
    let lab = Lab::new();
    lab.start("s");
    talk(&lab, "s", 3);
    let state = lab.state();
    state.execute_batch("BEGIN IMMEDIATE").unwrap();
    let started = Instant::now();
    assert_eq!(lab.told("end-other", "s"), None);
    assert!(started.elapsed() < Duration::from_millis(1_200), "{:?}", started.elapsed());
    thread::sleep(Duration::from_millis(300));
    state.execute_batch("COMMIT").unwrap();
    until(|| {
        let sql = "SELECT count(*) FROM handoffs WHERE session = 's' AND status = 'active'";
        lab.state().query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap() == 1
    });
}

#[test]
fn clear_and_show_see_what_a_dead_claimer_had() {
    let lab = Lab::new();
    let left = lab.leave("Text.");
    die_at(&lab, "load:composed", "dead");
    assert_eq!(lab.handoff(&["show"])["id"], json!(left));
    die_at(&lab, "load:claimed", "dead too");
    assert_eq!(lab.handoff(&["clear"])["cleared"], json!(left));
    assert_eq!(lab.start("next"), None);
}

#[test]
fn a_session_that_sums_up_another_one_uses_nothing_up() {
    let lab = Lab::new();
    let left = lab.leave("Text.");
    let mut hook = lab.hook();
    hook.env("KGCTX_SUMMARISER", "1");
    assert_eq!(context(&given(hook, &lab.event("start-startup", "s"))), None);
    let prompt = json!({ "event": "prompt:submit", "session_id": "s", "cwd": lab.folder() });
    let mut hook = lab.kgctx(["hook", "amplifier"]);
    hook.env("KGCTX_SUMMARISER", "1");
    let output = given(hook, &prompt);
    assert_eq!(output.stdout, b"{\"action\":\"continue\"}\n");
    assert_eq!(lab.status(&left).as_deref(), Some("active"));
}

#[test]
fn what_a_handoff_lists_is_read_where_its_session_works() {
    // P-3.15: not where a shell has gone.
    let lab = Lab::new();
    fs::write(lab.folder().join("a.txt"), "of zephyr").unwrap();
    let other = lab.scratch.path().join("other");
    fs::create_dir(&other).unwrap();
    git(&other, &["init", "--quiet"]);
    fs::write(other.join("a.txt"), "of another").unwrap();
    lab.start("s");
    lab.create(&["--task", "--goal", "g", "--next", "n", "--file", "a.txt"]);
    let mut pickup = lab.kgctx(["handoff", "pickup", "--auto", "--session", "s"]);
    let output = pickup.current_dir(&other).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("of zephyr") && !text.contains("of another"), "{text}");
    let mut create = lab.kgctx(["handoff", "create", "--session", "s", "--body", "b", "--json"]);
    let output = create.current_dir(&other).output().unwrap();
    let created: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let shown = lab.handoff(&["show", created["id"].as_str().unwrap()]);
    assert!(shown["working_dir"].as_str().unwrap().ends_with("/zephyr"), "{shown}");
}

#[test]
fn a_picked_up_handoff_carries_no_secrets_in_any_form() {
    let lab = Lab::new();
    fs::write(lab.folder().join("a.txt"), format!("token = {SECRET}\n")).unwrap();
    let body = format!("The token is {SECRET}.");
    let goal = format!("Use {SECRET}");
    for format in [&[][..], &["--json"]] {
        let arguments =
            ["--task", "--goal", &goal, "--next", "n", "--file", "a.txt", "--body", &body];
        let id = lab.create(&arguments);
        let output = lab.kgctx(["handoff", "pickup", &id]).args(format).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(!text.contains(SECRET), "{text}");
        assert_eq!(text.matches("[masked: github-token]").count(), 3, "{text}");
    }
}

#[test]
fn a_1_10_doctor_tells_of_a_handoff_that_no_session_will_be_given() {
    //
    let lab = Lab::new();
    let id = lab.leave("Text.");
    let doctor = || {
        let output = lab.kgctx(["doctor"]).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let is_it = |line: &&str| line.split_whitespace().nth(1) == Some("handoffs");
        text.lines().find(is_it).unwrap_or_default().to_owned()
    };
    assert!(doctor().starts_with("ok"), "{}", doctor());
    let path = lab.document(&id);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace(&id, "HO-20200101-000000-other")).unwrap();
    assert!(doctor().starts_with("warn") && doctor().contains("HO-20200101"), "{}", doctor());
    fs::remove_file(&path).unwrap();
    assert!(doctor().starts_with("warn"), "{}", doctor());
}

#[test]
fn release_tells_what_became_of_a_handoff() {
    let lab = Lab::new();
    let first = lab.leave("First.");
    lab.handoff(&["pickup", &first]);
    let second = lab.leave("Second.");
    let output = lab.kgctx(["handoff", "release", &first]).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("because another one waits"), "{said}");
    let (code, message) = lab.refused(&["pickup", &first]);
    assert_eq!(code, 1);
    assert!(message.contains(&second) && !message.contains("may have claimed it"), "{message}");
}

#[test]
fn nothing_is_used_up_that_could_not_be_shown_or_noted() {
    // a state that is busy at the wrong moment.
    let lab = Lab::new();
    let body = format!("## Log\n\n{}", "a long line of what was done\n".repeat(400));
    let id = lab.leave(&body);
    for n in 0..20 {
        let note = format!("# Zephyr {n}\n\nOf [[zephyr]] and [[thing {n}]].\n");
        lab.scratch.write(&format!("zephyr/docs/n{n}.md"), note);
    }
    lab.kgctx(["index"]).output().unwrap();
    let question = json!({ "protocol": 1, "event": { "type": "session.created",
        "properties": { "info": { "id": "ses_1", "directory": lab.folder() } } } });
    for (n, arguments) in [["hook", "claude-code"], ["hook", "opencode"]].iter().enumerate() {
        for wait_ms in (0..60).step_by(6) {
            let mut hook = lab.kgctx(arguments);
            hook.env("TOKEN_LIMIT", "120").stdin(Stdio::piped()).stdout(Stdio::piped());
            let session = format!("s{n}-{wait_ms}");
            let event = match n {
                0 => lab.event("start-startup", &session),
                _ => {
                    let mut question = question.clone();
                    question["event"]["properties"]["info"]["id"] = json!(session);
                    question
                }
            };
            let hook = fire(waiting(hook), &event);
            thread::sleep(Duration::from_millis(wait_ms));
            let state = lab.state();
            if state.execute_batch("BEGIN IMMEDIATE").is_ok() {
                thread::sleep(Duration::from_millis(320));
                state.execute_batch("COMMIT").unwrap();
            }
            let output = hook.wait_with_output().unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            assert!(!text.contains("HANDOFF LOADED"), "{text}");
            assert_ne!(lab.status(&id).as_deref(), Some("consumed"), "{arguments:?} {wait_ms}");
        }
    }
}

/// With 1,000 handoffs; the benchmark of the same name measures all commands, as they are released.
#[test]
fn p_3_34_a_thousand_handoffs_slow_no_command_down() {
    // P-3.34
    let lab = Lab::new();
    lab.leave("First.");
    let sql = "INSERT INTO handoffs SELECT printf('HO-20260101-000000-n%04d', value), scope, channel, 'task', occasion, \
               consume, value % 3, 'active', NULL, NULL, NULL, 'goal ' || value, NULL, created + value, 1, NULL, changed, 1, \
               NULL, NULL, NULL, NULL, NULL, audience FROM handoffs, (WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 \
               FROM n WHERE value < 1000) SELECT value FROM n)";
    lab.sql(sql);
    let first = lab.handoff(&["show"])["id"].as_str().unwrap().to_owned();
    let folder = lab.document(&first).parent().unwrap().to_path_buf();
    for n in 1..=1_000 {
        let id = format!("HO-20260101-000000-n{n:04}");
        let mut file = fs::File::create(folder.join(format!("{id}.md"))).unwrap();
        write!(file, "---\nid: \"{id}\"\nkind: \"task\"\n---\nText.\n").unwrap();
    }
    let id = "HO-20260101-000000-n0500";
    for arguments in [
        &["list"][..],
        &["list", "--all", "--json"],
        &["show", id],
        &["pickup", id],
        &["release", id],
        &["log"],
        &["create", "--body", "b"],
        &["prune"],
    ] {
        // The best of some: the machine may be busy.
        let best = (0..6)
            .map(|n| {
                if n > 0 && arguments[0] == "pickup" {
                    lab.kgctx(["handoff", "release", id]).output().unwrap();
                } else if n > 0 && arguments[0] == "release" {
                    lab.kgctx(["handoff", "pickup", id]).output().unwrap();
                }
                let started = Instant::now();
                let output = lab.kgctx(["handoff"]).args(arguments).output().unwrap();
                assert!(output.status.success(), "{arguments:?}: {output:?}");
                started.elapsed()
            })
            .min()
            .unwrap();
        assert!(best < Duration::from_millis(100), "{arguments:?} took {best:?}");
    }
}

#[test]
fn an_unusable_handoff_gives_its_place_to_the_one_before_it_and_to_no_older_one() {
    // H-0.5
    let lab = Lab::new();
    let oldest = lab.leave("Oldest.");
    let before = lab.leave("Before.");
    let newest = lab.leave("Newest.");
    fs::write(lab.document(&newest), "").unwrap();
    assert!(lab.start("a").unwrap().contains(&before));
    assert_eq!(lab.start("b"), None, "what {oldest} had to say was taken over long ago");
}

#[test]
fn the_id_of_one_that_is_gone_is_not_used_again() {
    //
    let lab = Lab::new();
    let mut ids = Vec::new();
    for _ in 0..8 {
        ids.push(lab.leave("Text."));
        lab.handoff(&["clear"]);
        lab.handoff(&["prune", "--keep", "1"]);
    }
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 8);
}
