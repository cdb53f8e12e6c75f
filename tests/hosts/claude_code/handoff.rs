//! What one session of the real Claude Code leaves for the next, by the hooks that `kgctx install claude-code` has put there
//! and the real `kgctx` behind them.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::lab::{Lab, program, program_of};
use super::window::ClaudeCodeWindow;

/// How every handoff begins in a context.
const BANNER: &str = "=== HANDOFF LOADED (ID: ";
/// How long what nobody waits for may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

fn lab() -> Lab {
    for_any(Lab::with_kgctx(None, &["install", "claude-code"]))
}

/// Leaves handoffs for scripted sessions, too: most tests run `claude -p` in the place of a window.
fn for_any(lab: Lab) -> Lab {
    lab.scratch.write("kgctx-home/config.toml", "[handoff]\naudience = \"any\"\n");
    lab
}

fn banner(id: &str) -> String {
    format!("{BANNER}{id}) ===")
}

/// Leaves a handoff from outside of any session.
fn leave(lab: &Lab, arguments: &[&str]) -> String {
    let create = ["handoff", "create", "--json", "--goal", "GOAL", "--next", "NEXT-STEP"];
    let created: Value =
        serde_json::from_str(&lab.type_kgctx(&[&create, arguments].concat())).unwrap();
    created["id"].as_str().unwrap().to_owned()
}

/// All handoffs of the project, the newest first among those that wait.
fn handoffs(lab: &Lab) -> Vec<Value> {
    let list = lab.type_kgctx(&["handoff", "list", "--all", "--json"]);
    let list: Value = serde_json::from_str(&list).unwrap();
    list["handoffs"].as_array().unwrap().clone()
}

fn handoff(lab: &Lab, id: &str) -> Value {
    handoffs(lab).into_iter().find(|handoff| handoff["id"] == id).unwrap()
}

/// The states that a handoff went through, the first one first.
fn states(lab: &Lab, id: &str) -> Vec<String> {
    let log = lab.type_kgctx(&["handoff", "log", id, "--json"]);
    let state = |line: &str| {
        let step: Value = serde_json::from_str(line).unwrap();
        step["to"].as_str().unwrap().to_owned()
    };
    log.lines().rev().map(state).collect()
}

/// Runs a prompt, and returns the session's id and what the model was told, a text per request.
fn prompted(lab: &Lab, arguments: &[&str]) -> (String, Vec<String>) {
    let json = ["-p", "hello", "--output-format", "json"];
    let said: Value = serde_json::from_str(&lab.run(&[&json, arguments].concat())).unwrap();
    (said["session_id"].as_str().unwrap().to_owned(), lab.model.told())
}

#[track_caller]
fn told(requests: &[String], id: &str) {
    let [request] = requests else { panic!("{} requests", requests.len()) };
    assert_eq!((request.matches(BANNER).count(), request.matches(&banner(id)).count()), (1, 1));
}

#[track_caller]
fn told_nothing(requests: &[String]) {
    assert!(!requests.is_empty() && requests.iter().all(|request| !request.contains(BANNER)));
}

/// The handoff that was written about a session when it had ended, waited for.
#[track_caller]
fn written_about(lab: &Lab, session: &str) -> Value {
    let end = Instant::now() + PATIENCE;
    loop {
        let written =
            |handoff: &Value| handoff["type"] == "end" && handoff["session_id"] == session;
        if let Some(handoff) = handoffs(lab).into_iter().find(written) {
            return handoff;
        }
        assert!(Instant::now() < end, "nothing was written about {session}");
        thread::sleep(Duration::from_millis(50));
    }
}

/// Longer than it takes to write about a session that has ended.
fn wait_in_vain() {
    thread::sleep(Duration::from_secs(2));
}

#[test]
fn h_0_1_the_next_session_is_told_what_was_left_and_no_other() {
    // H-0.1, A-1.13, A-1.18, A-1.45: beside the hooks of others, whose settings come back as they were.
    let settings = r#"{"hooks":{"SessionStart":[{"matcher":"startup","hooks":[{"type":"command","command":"echo OTHER-HOOK"}]}]}}"#;
    let lab = for_any(Lab::with_kgctx(Some(settings), &["install", "claude-code"]));
    told_nothing(&prompted(&lab, &[]).1);
    let id = leave(&lab, &[]);
    let (session, requests) = prompted(&lab, &[]);
    told(&requests, &id);
    for text in ["OTHER-HOOK", "GOAL", "NEXT-STEP"] {
        assert_eq!(requests[0].matches(text).count(), 1, "{text}");
    }
    let record = handoff(&lab, &id);
    assert_eq!(
        (&record["status"], &record["consumed_by_session"]),
        (&"consumed".into(), &session.into())
    );
    assert_eq!(states(&lab, &id), ["draft", "active", "claimed", "consumed"]);
    told_nothing(&prompted(&lab, &[]).1);

    lab.type_kgctx(&["uninstall", "claude-code"]);
    let left = fs::read_to_string(lab.scratch.home().join(".claude/settings.json")).unwrap();
    assert_eq!(left, settings);
    let id = leave(&lab, &[]);
    told_nothing(&prompted(&lab, &[]).1);
    assert_eq!(states(&lab, &id), ["draft", "active"]);
}

#[test]
fn h_0_24_a_handoff_that_is_kept_comes_to_every_session_once() {
    // H-0.24
    let lab = lab();
    let id = leave(&lab, &["--sticky"]);
    for _ in 0..2 {
        let (session, requests) = prompted(&lab, &[]);
        told(&requests, &id);
        let (resumed, requests) = prompted(&lab, &["--continue"]);
        assert_eq!(resumed, session);
        // It is still in the conversation, and not there a second time.
        told(&requests, &id);
    }
    assert_eq!(handoff(&lab, &id)["status"], "active");
}

#[test]
fn a_session_that_has_ended_leaves_a_handoff_for_the_next_one() {
    let lab = lab();
    let (short, _) = prompted(&lab, &[]);
    wait_in_vain();
    assert!(handoffs(&lab).is_empty(), "one prompt leaves nothing");
    let (session, requests) = prompted(&lab, &["--continue"]);
    assert_eq!(session, short);
    told_nothing(&requests);
    let written = written_about(&lab, &session);
    assert_eq!((&written["status"], &written["consume"]), (&"active".into(), &"sticky".into()));
    let (next, requests) = prompted(&lab, &[]);
    told(&requests, written["id"].as_str().unwrap());
    assert!(requests[0].contains(&format!("Previous Session: {session}")));
    assert_ne!(next, session);
    // The one who is told about is not told about itself.
    let (_, requests) = prompted(&lab, &["--resume", &session]);
    told_nothing(&requests);
}

#[test]
fn a_1_35_after_a_compaction_it_is_told_again() {
    // A-1.35
    let lab = lab();
    let id = leave(&lab, &[]);
    lab.run_prompts(&["one", "/compact", "two"]);
    let requests = lab.model.told();
    told(&requests[..1], &id);
    let last = requests.last().unwrap();
    assert!(last.contains("two") && !last.contains("\none\n"), "{last}");
    // A-1.32: what was written before the compaction, which names what came before it.
    let is_auto = |handoff: &Value| handoff["type"] == "auto";
    let auto = handoffs(&lab).into_iter().find(is_auto).unwrap();
    let auto = auto["id"].as_str().unwrap();
    told(&requests[requests.len() - 1..], auto);
    assert!(last.contains(&format!("It continued handoff {id}: GOAL")), "{last}");
    for id in [&id, auto] {
        assert_eq!(states(&lab, id), ["draft", "active", "claimed", "consumed"]);
    }
    // The summariser was told to keep it.
    let keep = format!("- Handoff: {auto}\n- Goal: one");
    assert!(
        requests[1..requests.len() - 1].iter().any(|told| told.contains(&keep)),
        "{requests:#?}"
    );
}

#[test]
fn the_monitor_tells_the_model_once_beside_the_result_of_a_tool() {
    // A-1.29, A-1.31
    let lab = Lab::with_kgctx(None, &["install", "claude-code", "--monitor"]);
    lab.run(&["-p", "[[tokens:700000]] [[bash:true]]"]);
    let mut requests = lab.model.told();
    lab.run(&["-p", "--continue", "once more [[bash:true]]"]);
    requests.extend(lab.model.told());
    let is_told = |request: &&String| request.contains("the context of this session is 70 % full");
    let first = requests.iter().position(|request| is_told(&request)).expect("the model was told");
    assert!(first > 0, "after the tool");
    let last = requests.last().unwrap();
    assert_eq!(last.matches("the context of this session is").count(), 1, "once, of four answers");
}

#[test]
fn a_1_35_who_clears_is_told_of_no_handoff_and_leaves_none() {
    // A-1.35
    let lab = lab();
    let kept = leave(&lab, &["--sticky"]);
    lab.run_prompts(&["one", "two", "/clear", "three"]);
    let requests = lab.model.told();
    told(&requests[..1], &kept);
    told_nothing(&requests[requests.len() - 1..]);
    wait_in_vain();
    assert_eq!(handoffs(&lab).len(), 1, "after clearing there was only one prompt");
}

#[test]
fn a_1_35_a_session_that_goes_on_is_told_what_another_one_left_meanwhile() {
    // A-1.35
    let lab = lab();
    // What the session leaves at its ends is another matter.
    fs::write(lab.project().join("kgctx.toml"), "[handoff]\nmin_turns = 99\n").unwrap();
    let first = leave(&lab, &[]);
    let (session, requests) = prompted(&lab, &[]);
    told(&requests, &first);
    let own = leave(&lab, &["--session", &session]);
    let (_, requests) = prompted(&lab, &["--resume", &session]);
    told(&requests, &first);
    assert_eq!(handoff(&lab, &own)["status"], "active");

    let newer = leave(&lab, &["--session", "another"]);
    let (resumed, requests) = prompted(&lab, &["--resume", &session]);
    assert_eq!(resumed, session);
    assert_eq!(requests.len(), 1);
    for id in [&first, &newer] {
        assert_eq!(requests[0].matches(&banner(id)).count(), 1, "{id}");
    }
    assert_eq!(handoff(&lab, &newer)["consumed_by_session"], session);
    let (_, requests) = prompted(&lab, &["--continue"]);
    assert_eq!(requests[0].matches(&banner(&newer)).count(), 1, "not a second time");
    told_nothing(&prompted(&lab, &[]).1);
}

#[test]
fn a_1_35_a_fork_is_told_what_another_one_left_meanwhile_and_nothing_twice() {
    // A-1.35
    let lab = lab();
    let kept = leave(&lab, &["--sticky"]);
    // How long nothing was said is told in whole seconds: what was left just before counts as left since.
    thread::sleep(Duration::from_secs(2));
    let (session, requests) = prompted(&lab, &[]);
    told(&requests, &kept);
    let fork = ["--resume", &session, "--fork-session"];
    let (forked, requests) = prompted(&lab, &fork);
    assert_ne!(forked, session);
    told(&requests, &kept);

    let newer = leave(&lab, &["--session", "another"]);
    let (forked, requests) = prompted(&lab, &fork);
    for id in [&kept, &newer] {
        assert_eq!(requests[0].matches(&banner(id)).count(), 1, "{id}");
    }
    assert_eq!(handoff(&lab, &newer)["consumed_by_session"], forked);
}

#[test]
fn commands_of_a_session_leave_its_handoff() {
    let lab = lab();
    let command = "kgctx handoff create --goal BY-MODEL --next NEXT";
    let prompt = format!("[[bash:{command}]]");
    let json = ["--output-format", "json", "--allowedTools=Bash"];
    let said = lab.run(&[&["-p", &prompt], &json[..]].concat());
    let said: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(lab.model.told().len(), 2, "the prompt, and the tool's result");
    let [left] = handoffs(&lab).try_into().unwrap();
    assert_eq!((&left["goal"], &left["session_id"]), (&"BY-MODEL".into(), &said["session_id"]));
    let (_, requests) = prompted(&lab, &[]);
    told(&requests, left["id"].as_str().unwrap());
}

#[test]
fn a_scripted_run_leaves_the_handoff_to_the_window() {
    let lab = Lab::with_kgctx(None, &["install", "claude-code"]);
    let id = leave(&lab, &[]);
    let (session, requests) = prompted(&lab, &[]);
    told_nothing(&requests);
    told_nothing(&prompted(&lab, &["--continue"]).1);
    lab.run_prompts(&["one", "two", "three"]);
    told_nothing(&lab.model.told());
    // From a window's own commands, whose variables say that a window began them.
    for version in [program().to_path_buf(), program_of("2.1.138")] {
        let mut nested = lab.command(&version);
        nested.env("CLAUDE_CODE_ENTRYPOINT", "cli").env("CLAUDECODE", "1");
        nested.env("CLAUDE_CODE_CHILD_SESSION", "1").env("CLAUDE_CODE_SESSION_ATTENDED", "1");
        lab.run_command(nested, &["-p", "hello"], "");
        told_nothing(&lab.model.told());
    }
    wait_in_vain();
    let [left] = handoffs(&lab).try_into().unwrap();
    assert_eq!((&left["id"], &left["status"]), (&id.clone().into(), &"active".into()), "{session}");
    let for_scripts = leave(&lab, &["--for", "any"]);
    told(&prompted(&lab, &[]).1, &for_scripts);
    let id = leave(&lab, &[]);
    let Some(window) = ClaudeCodeWindow::open(&lab) else { return };
    window.say("hello");
    window.wait_for("MOCK-REPLY");
    assert_eq!(lab.model.told().last().unwrap().matches(&banner(&id)).count(), 1);
    assert_eq!(handoff(&lab, &id)["status"], "consumed");
}
