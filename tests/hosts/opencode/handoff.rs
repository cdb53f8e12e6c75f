//! What one session of the real OpenCode leaves for the next: it comes before the first prompt, to one session, once.

mod lost;

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::found::Version;
use super::lab::Lab;
use super::pool::bridge;
use super::provider::{Call, Kind};
use super::server::Server;
use super::service::{Service, inject, wait_for_connection};
use super::{on_both_versions, until};
use crate::support::git;

on_both_versions!(
    a_handoff_that_is_kept_comes_to_every_session_once,
    after_a_compaction_a_handoff_comes_again_to_its_session_alone,
    after_an_undo_a_handoff_comes_again_to_its_session_alone,
    an_opencode_that_does_not_show_hidden_parts_gets_the_handoff_openly,
    bridge_service_and_command_together_give_a_handoff_once,
    commands_of_a_session_leave_its_handoff,
    h_0_1_the_next_session_is_told_what_the_last_one_left,
    h_0_10_a_child_session_is_told_nothing_and_consumes_nothing,
    a_run_without_a_person_leaves_the_handoff_to_one,
    the_command_and_the_service_give_a_handoff_without_a_bridge,
    the_handoff_comes_by_either_way,
);

/// How every handoff begins in a context.
const BANNER: &str = "=== HANDOFF LOADED (ID: ";
const KGCTX: &str = env!("CARGO_BIN_EXE_kgctx");

fn banner(id: &str) -> String {
    format!("{BANNER}{id}) ===")
}

fn kgctx(lab: &Lab, arguments: &[&str]) -> String {
    let output = lab.command(KGCTX).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Leaves a handoff from outside of any session.
fn leave(lab: &Lab, goal: &str, arguments: &[&str]) -> String {
    let create = ["handoff", "create", "--json", "--goal", goal, "--next", "NEXT-STEP"];
    let created = kgctx(lab, &[&create, arguments].concat());
    let created: Value = serde_json::from_str(&created).unwrap();
    created["id"].as_str().unwrap().to_string()
}

/// All handoffs of the project.
fn handoffs(lab: &Lab) -> Vec<Value> {
    let list: Value =
        serde_json::from_str(&kgctx(lab, &["handoff", "list", "--all", "--json"])).unwrap();
    list["handoffs"].as_array().unwrap().clone()
}

fn handoff(lab: &Lab, id: &str) -> Value {
    handoffs(lab).into_iter().find(|handoff| handoff["id"] == id).unwrap()
}

/// The states that a handoff went through, and for which session; the first one first.
fn steps(lab: &Lab, id: &str) -> Vec<(String, Option<String>)> {
    let log = kgctx(lab, &["handoff", "log", id, "--json"]);
    let step = |line: &str| {
        let step: Value = serde_json::from_str(line).unwrap();
        let session = step["session"].as_str().map(str::to_string);
        (step["to"].as_str().unwrap().to_string(), session)
    };
    let mut steps: Vec<_> = log.lines().map(step).collect();
    steps.reverse();
    steps
}

/// The names of those states.
fn states(lab: &Lab, id: &str) -> Vec<String> {
    steps(lab, id).into_iter().map(|(state, _)| state).collect()
}

/// Waits until a handoff is done with, which the bridge tells when nobody waits for it any more.
#[track_caller]
fn consumed_by(lab: &Lab, id: &str, session: &str) {
    let record = until("the handoff to be consumed", || {
        Some(handoff(lab, id)).filter(|record| record["status"] == "consumed")
    });
    assert_eq!(record["consumed_by_session"], session, "{record}");
    assert!(record["consumed_at"].is_string() && record["consumed_by_pid"].is_u64(), "{record}");
}

/// Waits until a session was noted as one that has a handoff which stays.
#[track_caller]
fn given_to(lab: &Lab, id: &str, session: &str) {
    let given = ("active".to_string(), Some(session.to_string()));
    until("the handoff to be given", || steps(lab, id).contains(&given).then_some(()));
}

#[track_caller]
fn told_once(call: &Call, id: &str, prompt: &str) {
    assert_eq!(call.count(BANNER), 1, "{prompt}: {}", call.conversation());
    assert!(call.in_order(&banner(id), prompt), "{}", call.conversation());
}

#[track_caller]
fn told_nothing(calls: &[Call]) {
    assert!(!calls.is_empty());
    for call in calls {
        assert_eq!(call.count(BANNER), 0, "{}", call.conversation());
    }
}

/// A session with one prompt, and what the model was told then.
fn prompted(server: &Server, prompt: &str) -> (String, Vec<Call>) {
    let session = server.create(&json!({}));
    server.say(&session, prompt);
    let calls = server.chats(&session);
    (session, calls)
}

/// Our parts in a session, in order.
fn parts(server: &Server, session: &str) -> Vec<Value> {
    let messages = server.messages(session).into_iter();
    let parts = messages.flat_map(|message| message["parts"].as_array().unwrap().clone());
    parts.filter(|part| part["metadata"]["kgctx"].is_object()).collect()
}

/// A second working copy of the project.
fn worktree(lab: &Lab) -> PathBuf {
    let folder = lab.path().join("second");
    git(&lab.project(), &["worktree", "add", "--quiet", folder.to_str().unwrap()]);
    folder
}

fn a_run_without_a_person_leaves_the_handoff_to_one(version: Version) {
    let lab = Lab::new(version).plugin(bridge());
    let id = leave(&lab, "GOAL-PERSON", &[]);
    lab.run("PROMPT-RUN", &[]);
    told_nothing(&lab.provider.turns("PROMPT-RUN"));
    assert_eq!(states(&lab, &id), ["draft", "active"]);
    let server = lab.serve();
    let (session, calls) = prompted(&server, "PROMPT-PERSON");
    told_once(&calls[0], &id, "PROMPT-PERSON");
    consumed_by(&lab, &id, &session);
    let id = leave(&lab, "GOAL-ANY", &["--for", "any"]);
    lab.run("PROMPT-SCRIPT", &[]);
    let turns = lab.provider.turns("PROMPT-SCRIPT");
    told_once(&turns[0], &id, "PROMPT-SCRIPT");
    consumed_by(&lab, &id, &turns[0].session);
}

fn h_0_1_the_next_session_is_told_what_the_last_one_left(version: Version) {
    // H-0.1, A-1.13: left by a session in its own shell, given in another worktree before the first prompt, and then gone.
    let lab = Lab::new(version).plugin(bridge());
    let second = worktree(&lab);
    let server = lab.serve();
    let leaving =
        format!("[[bash:'{KGCTX}' handoff create --goal GOAL-ONE --next NEXT-ONE --json]]");
    let (first, calls) = prompted(&server, &leaving);
    told_nothing(&calls);
    let [left] = handoffs(&lab).try_into().unwrap();
    let id = left["id"].as_str().unwrap();
    assert_eq!((&left["status"], &left["session_id"]), (&json!("active"), &json!(first)));
    server.say(&first, "AGAIN");
    told_nothing(&server.chats(&first));

    let next = server.create_in(&second);
    server.say_in(&second, &next, "PROMPT-NEXT");
    let calls = server.chats(&next);
    assert_eq!(calls.len(), 1);
    told_once(&calls[0], id, "PROMPT-NEXT");
    let told = calls[0].conversation();
    for fact in ["GOAL-ONE", "NEXT-ONE", &format!("Previous Session: {first}")] {
        assert!(told.contains(fact), "{fact}: {told}");
    }
    consumed_by(&lab, id, &next);
    server.say_in(&second, &next, "PROMPT-MORE");
    told_once(&server.chats(&next)[1], id, "PROMPT-MORE");

    for folder in [&second, &lab.project()] {
        let later = server.create_in(folder);
        server.say_in(folder, &later, "PROMPT-LATER");
        told_nothing(&server.chats(&later));
    }
    server.say(&first, "ONCE-MORE");
    told_nothing(&server.chats(&first));
    let expected = [
        ("draft", &first), // by whom it was written
        ("active", &first),
        ("claimed", &next),
        ("consumed", &next),
    ];
    let expected = expected.map(|(state, session)| (state.to_string(), Some(session.clone())));
    assert_eq!(steps(&lab, id), expected);
}

fn a_handoff_that_is_kept_comes_to_every_session_once(version: Version) {
    // H-0.24: to each session once, however often it is prompted.
    let lab = Lab::new(version).plugin(bridge()).env("KGCTX_NOTICE", "log");
    let server = lab.serve();
    let id = leave(&lab, "GOAL", &["--sticky"]);
    for prompt in ["PROMPT-1", "PROMPT-2", "PROMPT-3"] {
        let (session, calls) = prompted(&server, prompt);
        assert_eq!(calls.len(), 1);
        told_once(&calls[0], &id, prompt);
        server.say(&session, "MORE");
        told_once(&server.chats(&session)[1], &id, "MORE");
        assert_eq!(parts(&server, &session).len(), 1);
        given_to(&lab, &id, &session);
    }
    assert_eq!(handoff(&lab, &id)["status"], "active");
    assert_eq!(states(&lab, &id), ["draft", "active", "active", "active", "active"]);
    until("the notice", || lab.log().contains(&format!(", handoff {id}")).then_some(()));

    let newer = leave(&lab, "NEWER", &[]);
    let (session, calls) = prompted(&server, "PROMPT-NEWER");
    told_once(&calls[0], &newer, "PROMPT-NEWER");
    consumed_by(&lab, &newer, &session);
    let replaced = handoff(&lab, &id);
    assert_eq!(
        (&replaced["status"], &replaced["superseded_by"]),
        (&json!("cleared"), &json!(newer))
    );
}

fn h_0_10_a_child_session_is_told_nothing_and_consumes_nothing(version: Version) {
    // H-0.10
    let lab = Lab::new(version).plugin(bridge());
    let server = lab.serve();
    let (parent, _) = prompted(&server, "PROMPT-PARENT");
    let id = leave(&lab, "GOAL", &[]);
    server.say(&parent, "[[task]] PROMPT-TASK");
    let children = server.http.call("GET", &format!("/session/{parent}/children"), None).json();
    let child = children[0]["id"].as_str().unwrap();
    told_nothing(&server.chats(child));
    told_nothing(&server.chats(&parent));
    assert_eq!(states(&lab, &id), ["draft", "active"]);

    // The older OpenCode tells of what plugins show only there.
    let events = server.http.events("/global/event");
    let (next, calls) = prompted(&server, "PROMPT-NEXT");
    told_once(&calls[0], &id, "PROMPT-NEXT");
    consumed_by(&lab, &id, &next);
    let toast = events.first(|event| event["payload"]["type"] == "tui.toast.show");
    let message = toast["payload"]["properties"]["message"].as_str().unwrap();
    assert!(message.starts_with("kgctx: "), "{message}");
    assert!(message.ends_with(&format!(", handoff {id}")), "{message}");
}

fn after_an_undo_a_handoff_comes_again_to_its_session_alone(version: Version) {
    for delivery in ["part", "noreply"] {
        let lab = Lab::new(version).plugin(bridge()).env("KGCTX_DELIVERY", delivery);
        let server = lab.serve();
        let id = leave(&lab, "GOAL", &[]);
        let session = server.create(&json!({}));
        if delivery == "noreply" {
            consumed_by(&lab, &id, &session);
        }
        server.say(&session, "PROMPT-A");
        told_once(&server.chats(&session)[0], &id, "PROMPT-A");
        consumed_by(&lab, &id, &session);
        server.revert(&session, server.user_messages(&session).last().unwrap());
        told_nothing(&prompted(&server, "PROMPT-OTHER").1);
        server.say(&session, "PROMPT-B");
        // The message that has nothing but the context can be undone too.
        server.revert(&session, &server.user_messages(&session)[0]);
        told_nothing(&prompted(&server, "PROMPT-OTHER").1);
        server.say(&session, "PROMPT-C");
        let calls = server.chats(&session);
        for (call, prompt) in calls[1..].iter().zip(["PROMPT-B", "PROMPT-C"]) {
            told_once(call, &id, prompt);
            assert_eq!(call.count("PROMPT-"), 1, "{}", call.conversation());
        }
        assert_eq!((calls.len(), parts(&server, &session).len()), (3, 1));
        assert_eq!(states(&lab, &id), ["draft", "active", "claimed", "consumed"]);
    }
}

/// Writes a bridge whose transform hook has a name that OpenCode does not know.
fn write_blind_bridge(file: &Path) {
    let bridge = fs::read_to_string(bridge()).unwrap();
    let blind = bridge.replace("\"experimental.chat.messages.transform\"", "\"kgctx.unknown\"");
    assert_ne!(blind, bridge);
    fs::write(file, blind).unwrap();
}

fn an_opencode_that_does_not_show_hidden_parts_gets_the_handoff_openly(version: Version) {
    for delivery in ["part", "noreply"] {
        let lab = Lab::new(version).env("KGCTX_DELIVERY", delivery);
        let file = lab.path().join("bridge.ts");
        let lab = lab.plugin(&file);
        // One session begins where parts are shown, and goes on where they are not; another begins there.
        fs::copy(bridge(), &file).unwrap();
        let server = lab.serve();
        let shown = leave(&lab, "GOAL", &[]);
        let (resumed, calls) = prompted(&server, "PROMPT-A");
        told_once(&calls[0], &shown, "PROMPT-A");
        consumed_by(&lab, &shown, &resumed);
        drop(server);
        write_blind_bridge(&file);
        let server = lab.serve();
        let unseen = leave(&lab, "GOAL", &[]);
        let (begun, _) = prompted(&server, "PROMPT-B");
        consumed_by(&lab, &unseen, &begun);
        for (session, id) in [(&begun, &unseen), (&resumed, &shown)] {
            for prompt in ["PROMPT-C", "PROMPT-D"] {
                server.say(session, prompt);
                told_once(server.chats(session).last().unwrap(), id, prompt);
            }
            assert_eq!(states(&lab, id), ["draft", "active", "claimed", "consumed"]);
        }
    }
}

fn after_a_compaction_a_handoff_comes_again_to_its_session_alone(version: Version) {
    let lab = Lab::new(version).plugin(bridge());
    let server = lab.serve();
    let id = leave(&lab, "GOAL", &[]);
    let (session, calls) = prompted(&server, "PROMPT-A");
    told_once(&calls[0], &id, "PROMPT-A");
    consumed_by(&lab, &id, &session);
    let (other, calls) = prompted(&server, "PROMPT-OTHER");
    told_nothing(&calls);

    // a session gets what was written before its compaction, though a newer one waits for others.
    let newer = leave(&lab, "NEWER", &[]);
    server.summarize(&session);
    server.summarize(&other);
    server.say(&session, "PROMPT-C");
    let call = server.chats(&session).pop().unwrap();
    let auto = |session: &str| {
        let is_it = |it: &&Value| it["type"] == "auto" && it["session_id"] == session;
        let all = handoffs(&lab);
        all.iter().find(is_it).unwrap()["id"].as_str().unwrap().to_owned()
    };
    told_once(&call, &auto(&session), "PROMPT-C");
    assert!(call.in_order("MOCK-SUMMARY", BANNER), "{}", call.conversation());
    assert!(call.conversation().contains(&format!("It continued handoff {id}")));
    let asked = server.provider.of(&session, Kind::Compaction).pop().unwrap();
    assert_eq!(asked.count(&format!("- Handoff: {}", auto(&session))), 1, "the summariser is told");
    let small = parts(&server, &session).pop().unwrap();
    let told = &small["metadata"]["kgctx"];
    assert!(told["moment"].as_str().unwrap().starts_with("compaction"), "{told}");
    assert!(told["tokens"].as_u64().unwrap() <= 1_000, "{told}");
    server.say(&other, "PROMPT-D");
    told_once(&server.chats(&other).pop().unwrap(), &auto(&other), "PROMPT-D");

    assert_eq!(states(&lab, &id), ["draft", "active", "claimed", "consumed"]);
    assert_eq!(states(&lab, &newer), ["draft", "active"]);
    let (next, calls) = prompted(&server, "PROMPT-NEXT");
    told_once(&calls[0], &newer, "PROMPT-NEXT");
    consumed_by(&lab, &newer, &next);
}

fn the_handoff_comes_by_either_way(version: Version) {
    for (delivery, n_messages) in [("part", 1), ("noreply", 2)] {
        let lab = Lab::new(version).plugin(bridge()).env("KGCTX_DELIVERY", delivery);
        let server = lab.serve();
        // The first session of a server is slow, and tells less about the order of things.
        prompted(&server, "WARM-UP");
        for pause in [0, 1_000] {
            let id = leave(&lab, "GOAL", &[]);
            let session = server.create(&json!({}));
            thread::sleep(Duration::from_millis(pause));
            server.say(&session, "PROMPT");
            let calls = server.chats(&session);
            assert_eq!(calls.len(), 1);
            told_once(&calls[0], &id, "PROMPT");
            assert_eq!(server.user_messages(&session).len(), n_messages, "{delivery}, {pause} ms");
            consumed_by(&lab, &id, &session);
            server.wait_for_title(&session);
        }
    }
}

fn the_command_and_the_service_give_a_handoff_without_a_bridge(version: Version) {
    let lab = Lab::new(version);
    let server = lab.serve();
    // By command alone.
    let id = leave(&lab, "GOAL", &[]);
    let session = server.create(&json!({}));
    assert!(inject(&lab, &server, &session, &[]).status.success());
    assert_eq!(handoff(&lab, &id)["consumed_by_session"], session);
    assert_eq!(inject(&lab, &server, &session, &[]).status.code(), Some(1), "it has its context");
    server.say(&session, "PROMPT-COMMAND");
    told_once(&server.chats(&session)[0], &id, "PROMPT-COMMAND");
    // By the service alone.
    let _service = Service::start(&lab, &server.http.url());
    wait_for_connection(&lab);
    let id = leave(&lab, "GOAL", &[]);
    let session = server.create(&json!({}));
    consumed_by(&lab, &id, &session);
    server.say(&session, "PROMPT-SERVICE");
    told_once(&server.chats(&session)[0], &id, "PROMPT-SERVICE");
    let later = server.create(&json!({}));
    until("the context", || parts(&server, &later).pop());
    server.say(&later, "PROMPT-LATER");
    told_nothing(&server.chats(&later));
}

fn bridge_service_and_command_together_give_a_handoff_once(version: Version) {
    let lab = Lab::new(version).plugin(bridge());
    let server = lab.serve();
    let _service = Service::start(&lab, &server.http.url());
    prompted(&server, "WARM-UP");
    // Some prompts come at once, some late.
    for number in 0..6_u64 {
        let id = leave(&lab, "GOAL", &[]);
        let session = server.create(&json!({}));
        let prompt = format!("PROMPT-{number}.");
        thread::scope(|scope| {
            scope.spawn(|| inject(&lab, &server, &session, &["--wait"]));
            thread::sleep(Duration::from_millis(number * 80));
            server.say(&session, &prompt);
        });
        let calls = server.chats(&session);
        assert_eq!(calls.len(), 1, "{prompt}");
        told_once(&calls[0], &id, &prompt);
        consumed_by(&lab, &id, &session);
        assert_eq!(states(&lab, &id), ["draft", "active", "claimed", "consumed"]);
        assert_eq!(parts(&server, &session).len(), 1);
    }
}

fn commands_of_a_session_leave_its_handoff(version: Version) {
    // The model's commands and the user's own: both know for which session they run, the user's also from another folder.
    let lab = Lab::new(version).plugin(bridge());
    let server = lab.serve();
    let session = server.create(&json!({}));
    let create = |goal: &str| format!("'{KGCTX}' handoff create --goal {goal} --next NEXT");
    server.say(&session, &format!("[[bash:{}]]", create("BY-MODEL")));
    server.shell(&session, &format!("cd / && {}", create("BY-USER")));
    let left = handoffs(&lab);
    for goal in ["BY-MODEL", "BY-USER"] {
        let left = left.iter().find(|handoff| handoff["goal"] == goal);
        assert_eq!(left.unwrap_or_else(|| panic!("{goal}"))["session_id"], session, "{goal}");
    }
}
