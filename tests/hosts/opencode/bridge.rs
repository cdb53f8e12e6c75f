//! Our bridge in the real OpenCode, with the real `kgctx`: what a user may count on.

use std::fs;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::found::Version;
use super::lab::Lab;
use super::pool::{bridge, bridged};
use super::provider::{Call, Kind};
use super::server::Server;
use super::{on_both_versions, until};
use crate::support::harbour;

on_both_versions!(
    a_child_session_gets_nothing_and_its_parent_keeps_its_own,
    a_fork_gets_nothing_new,
    a_pending_undo_stays_pending,
    a_plan_stays_a_plan_and_its_model_stays,
    a_run_and_its_continuations_have_the_context_once,
    after_a_compaction_the_next_prompt_carries_the_context_once,
    after_a_compaction_by_opencode_itself_too,
    commands_of_a_session_know_it,
    fifty_sessions_in_a_row_have_the_context_before_one_reply,
    one_plugin_in_two_folders_injects_once,
    t_2_1_1_event_hook_receives_session_created,
    the_first_prompt_brings_the_notes_that_fit_it_once,
    t_2_5_1_context_injected_with_no_reply_true,
    ten_sessions_at_once_have_the_context_before_one_reply,
    the_title_is_made_without_the_context,
    the_way_of_delivery_can_be_forced,
    the_window_shows_nothing_of_the_context_and_keeps_its_agent,
    undoing_the_first_prompt_leaves_the_context_there_once,
    what_is_switched_off_injects_nothing,
);

/// How every context begins.
pub(super) const HEADING: &str = "## Knowledge Graph Context";

/// What we know of our parts in a session, in order.
fn marks(server: &Server, session: &str) -> Vec<Value> {
    let messages = server.messages(session);
    let parts = messages.iter().flat_map(|message| message["parts"].as_array().unwrap());
    parts.map(|part| part["metadata"]["kgctx"].clone()).filter(|mark| !mark.is_null()).collect()
}

/// Waits until the context of a session that has no prompt yet is stored.
fn wait_for_context(server: &Server, session: &str) {
    until("the context", || marks(server, session).pop());
}

#[track_caller]
fn one_reply_with_context(calls: &[Call], prompt: &str) {
    assert_eq!(calls.len(), 1, "one call for {prompt}");
    let call = &calls[0];
    assert_eq!(call.count(HEADING), 1, "{prompt}: {}", call.conversation());
    assert!(call.in_order(HEADING, prompt), "{}", call.conversation());
}

fn fifty_sessions_in_a_row_have_the_context_before_one_reply(version: Version) {
    let server = bridged(version);
    let sessions: Vec<_> = (0..50)
        .map(|number| {
            let session = server.create(&json!({}));
            server.say(&session, &format!("PROMPT-{number}."));
            session
        })
        .collect();
    for (number, session) in sessions.iter().enumerate() {
        one_reply_with_context(&server.chats(session), &format!("PROMPT-{number}."));
    }
}

fn ten_sessions_at_once_have_the_context_before_one_reply(version: Version) {
    let server = bridged(version);
    let one = |number: usize| {
        let session = server.create(&json!({}));
        server.say(&session, &format!("PROMPT-{number}."));
        server.wait_for_title(&session);
        session
    };
    let sessions: Vec<_> = thread::scope(|scope| {
        let all: Vec<_> = (0..10).map(|number| scope.spawn(move || one(number))).collect();
        all.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for (number, session) in sessions.iter().enumerate() {
        one_reply_with_context(&server.chats(session), &format!("PROMPT-{number}."));
    }
}

/// By either way of delivery, one session after the other and several at once.
fn the_title_is_made_without_the_context(version: Version) {
    let server = bridged(version);
    let one = |ahead: bool| {
        let session = server.create(&json!({}));
        if ahead {
            wait_for_context(&server, &session);
        }
        server.say(&session, "PROMPT-A");
        server.wait_for_title(&session);
        one_reply_with_context(&server.chats(&session), "PROMPT-A");
        let titles = server.provider.of(&session, Kind::Title);
        assert_eq!(titles.len(), 1);
        let asked = titles[0].conversation();
        assert!(asked.contains("PROMPT-A") && !asked.contains(HEADING), "ahead: {ahead}: {asked}");
    };
    for number in 0..6 {
        one(number % 2 == 0);
    }
    thread::scope(|scope| {
        for number in 0..4 {
            let one = &one;
            scope.spawn(move || one(number % 2 == 0));
        }
    });
}

fn a_run_and_its_continuations_have_the_context_once(version: Version) {
    let lab = Lab::new(version).plugin(bridge());
    lab.run("PROMPT-RUN", &[]);
    let turns = lab.provider.turns("PROMPT-RUN");
    one_reply_with_context(&turns, "PROMPT-RUN");
    let session = &turns[0].session;
    let titles = lab.provider.of(session, Kind::Title);
    assert_eq!((titles.len(), titles[0].count(HEADING)), (1, 0));

    lab.run("PROMPT-CONTINUE", &["--continue"]);
    one_reply_with_context(&lab.provider.turns("PROMPT-CONTINUE"), "PROMPT-CONTINUE");
    lab.run("PROMPT-SESSION", &["--session", session]);
    one_reply_with_context(&lab.provider.turns("PROMPT-SESSION"), "PROMPT-SESSION");

    let server = lab.serve();
    server.say(session, "PROMPT-SERVER");
    assert_eq!(server.chats(session).len(), 4);
    one_reply_with_context(&lab.provider.turns("PROMPT-SERVER"), "PROMPT-SERVER");
    assert_eq!(marks(&server, session).len(), 1);
}

fn the_window_shows_nothing_of_the_context_and_keeps_its_agent(version: Version) {
    let lab = Lab::new(version).plugin(bridge());
    let Some(window) = lab.window() else { return };
    window.key("Tab");
    window.wait_for("Plan");
    let turns = window.turn("PROMPT-WINDOW");
    one_reply_with_context(&turns, "PROMPT-WINDOW");
    let seen = window.text();
    assert!(seen.contains("PROMPT-WINDOW") && seen.contains("Plan"), "{seen}");
    let context = turns[0].conversation();
    for line in context.lines().take_while(|line| !line.contains("PROMPT-WINDOW")) {
        assert!(line.trim().len() < 8 || !seen.contains(line.trim()), "{line} is seen in\n{seen}");
    }

    let turns = window.turn("PROMPT-AGAIN");
    one_reply_with_context(&turns, "PROMPT-AGAIN");
    assert!(turns[0].asked().contains("Plan Mode"), "{}", turns[0].asked());
}

fn a_plan_stays_a_plan_and_its_model_stays(version: Version) {
    let server = bridged(version);
    let plan = json!({"agent": "plan", "model": {"providerID": "mock", "id": "m2"}});
    let session = server.create(&plan);
    wait_for_context(&server, &session);
    let stored = server.session(&session);
    assert_eq!((&stored["agent"], &stored["model"]["id"]), (&json!("plan"), &json!("m2")));
    let note = &server.messages(&session)[0]["info"];
    assert_eq!((&note["agent"], &note["model"]["modelID"]), (&json!("plan"), &json!("m2")));
    let prompted = json!({"agent": "plan", "model": {"providerID": "mock", "modelID": "m2"}});
    server.send(&session, "PROMPT-A", &prompted);
    let chats = server.chats(&session);
    one_reply_with_context(&chats, "PROMPT-A");
    assert_eq!(chats[0].body["model"], "m2");
    let stored = server.session(&session);
    assert_eq!((&stored["agent"], &stored["model"]["id"]), (&json!("plan"), &json!("m2")));
    server.wait_for_title(&session);
}

fn a_pending_undo_stays_pending(version: Version) {
    let server = bridged(version);
    let session = server.create(&json!({}));
    server.say(&session, "PROMPT-A");
    server.summarize(&session);
    server.say(&session, "PROMPT-B");
    server.summarize(&session);
    let all = server.messages(&session);
    let meant = |message: &&Value| message["parts"].to_string().contains("PROMPT-B");
    server.revert(&session, all.iter().find(meant).unwrap());
    // Longer than we would need to put something in.
    thread::sleep(Duration::from_millis(700));
    assert!(server.session(&session)["revert"].is_object());
    server.unrevert(&session);
    assert_eq!(server.messages(&session).len(), all.len());
}

fn a_child_session_gets_nothing_and_its_parent_keeps_its_own(version: Version) {
    let server = bridged(version);
    let events = server.events();
    let session = server.create(&json!({}));
    server.say(&session, "[[task]] PROMPT-A");
    let child = events.first(|event| {
        event["type"] == "session.created"
            && event["properties"]["info"]["parentID"] == session.as_str()
    });
    let child = child["properties"]["sessionID"].as_str().unwrap();
    let chats = server.chats(child);
    assert_eq!((chats.len(), chats[0].count(HEADING)), (1, 0));
    assert_eq!(marks(&server, child), Vec::<Value>::new());
    let chats = server.chats(&session);
    assert_eq!(chats.len(), 2, "the tool's call, and the answer after it");
    assert!(chats.iter().all(|call| call.count(HEADING) == 1));
}

fn a_fork_gets_nothing_new(version: Version) {
    let server = bridged(version);
    let session = server.create(&json!({}));
    server.say(&session, "PROMPT-A");
    let fork = server.fork(&session);
    server.say(&fork, "PROMPT-B");
    one_reply_with_context(&server.chats(&fork), "PROMPT-B");
    assert_eq!(marks(&server, &fork).len(), 1);
}

fn after_a_compaction_the_next_prompt_carries_the_context_once(version: Version) {
    let server = bridged(version);
    let session = server.create(&json!({}));
    server.say(&session, "PROMPT-A");
    let first = marks(&server, &session);
    assert_eq!(first.len(), 1);
    server.summarize(&session);
    assert_eq!(marks(&server, &session).len(), 1, "nothing before there is a prompt");
    server.say(&session, "PROMPT-B");
    let second = marks(&server, &session);
    assert_eq!(second.len(), 2);
    assert!(second[1]["moment"].as_str().unwrap().starts_with("compaction"), "{}", second[1]);
    assert!(second[1]["tokens"].as_u64().unwrap() <= 1_000, "{}", second[1]);
    server.say(&session, "PROMPT-C");
    assert_eq!(marks(&server, &session).len(), 2);

    let chats = server.chats(&session);
    assert_eq!(chats.len(), 3);
    one_reply_with_context(&chats[1..2], "PROMPT-B");
    assert!(chats[1].in_order("MOCK-SUMMARY", HEADING));
    one_reply_with_context(&chats[2..3], "PROMPT-C");
}

fn after_a_compaction_by_opencode_itself_too(version: Version) {
    let server = bridged(version);
    let session = server.create(&json!({}));
    server.say(&session, "[[tokens:99000]] PROMPT-A");
    until("the turn that follows by itself", || server.chats(&session).into_iter().nth(1));
    server.say(&session, "PROMPT-B");
    server.say(&session, "PROMPT-C");
    assert_eq!(server.provider.of(&session, Kind::Compaction).len(), 1);
    let chats = server.chats(&session);
    assert_eq!(chats.len(), 4);
    one_reply_with_context(&chats[2..3], "PROMPT-B");
    one_reply_with_context(&chats[3..4], "PROMPT-C");
    assert_eq!(marks(&server, &session).len(), 2);
}

fn undoing_the_first_prompt_leaves_the_context_there_once(version: Version) {
    let server = bridged(version);
    // At once, or ahead of the prompt: the context is in the prompt's message or in one of its own.
    for ahead in [false, true] {
        let session = server.create(&json!({}));
        if ahead {
            wait_for_context(&server, &session);
        }
        server.say(&session, "PROMPT-A");
        let messages = server.user_messages(&session);
        server.revert(&session, messages.last().unwrap());
        server.say(&session, "PROMPT-B");
        assert_eq!(marks(&server, &session).len(), 1);
        // The message of our own can be undone too.
        server.revert(&session, &server.user_messages(&session)[0]);
        server.say(&session, "PROMPT-C");
        let chats = server.chats(&session);
        assert_eq!(chats.len(), 3);
        one_reply_with_context(&chats[1..2], "PROMPT-B");
        one_reply_with_context(&chats[2..3], "PROMPT-C");
        assert_eq!(chats[2].count("PROMPT-B"), 0);
    }
}

fn what_is_switched_off_injects_nothing(version: Version) {
    let lab = Lab::new(version).plugin(bridge()).env("SESSION_START_ENABLED", "false");
    let server = lab.serve();
    let session = server.create(&json!({}));
    thread::sleep(Duration::from_millis(700));
    server.say(&session, "PROMPT-A");
    let chats = server.chats(&session);
    assert_eq!((chats.len(), chats[0].count(HEADING)), (1, 0));
    assert_eq!(server.messages(&session).len(), 2);
    assert!(!lab.log().contains("kgctx: "), "{}", lab.log());
}

fn one_plugin_in_two_folders_injects_once(version: Version) {
    let lab = Lab::new(version).plugin(bridge()).recorded();
    let folder = lab.config().join("plugin");
    fs::create_dir(&folder).unwrap();
    fs::copy(bridge(), folder.join("kgctx.ts")).unwrap();
    let server = lab.serve();
    let session = server.create(&json!({}));
    server.say(&session, "PROMPT-A");
    one_reply_with_context(&server.chats(&session), "PROMPT-A");
    let ahead = server.create(&json!({}));
    wait_for_context(&server, &ahead);
    server.say(&ahead, "PROMPT-B");
    one_reply_with_context(&server.chats(&ahead), "PROMPT-B");
    for session in [session, ahead] {
        assert_eq!(marks(&server, &session).len(), 1);
    }
    let asked = lab.questions();
    let created = asked.iter().filter(|asked| asked["event"]["type"] == "session.created");
    assert_eq!(created.count(), 2, "one question for each session");
}

fn the_first_prompt_brings_the_notes_that_fit_it_once(version: Version) {
    let limit = harbour::TOKEN_LIMIT.to_string();
    let lab = Lab::new(version).plugin(bridge()).env("TOKEN_LIMIT", limit);
    harbour::write_notes(&lab.project());
    let server = lab.serve();
    // One that has its context before the prompt, and one whose prompt carries it.
    let ahead = server.create(&json!({}));
    wait_for_context(&server, &ahead);
    for session in [ahead, server.create(&json!({}))] {
        server.say(&session, harbour::ABOUT_MOORING);
        server.say(&session, "PROMPT-B");
        let chats = server.chats(&session);
        assert_eq!(chats.len(), 2);
        for chat in &chats {
            assert_eq!((chat.count(HEADING), chat.count(harbour::HEADING)), (1, 1));
            assert!(chat.in_order(HEADING, harbour::HEADING), "{}", chat.conversation());
            assert!(chat.in_order(harbour::MOORING, harbour::ABOUT_MOORING));
        }
        let moments: Vec<Value> =
            marks(&server, &session).iter().map(|mark| mark["moment"].clone()).collect();
        assert_eq!(moments, ["start", "prompt"]);
        let delivered = || {
            let mut command = lab.command(env!("CARGO_BIN_EXE_kgctx"));
            let output =
                command.args(["explain", "--session", &session, "--json"]).output().unwrap();
            let explained: Value = serde_json::from_slice(&output.stdout).ok()?;
            (explained["supplement"]["receipt"]["delivered"] == true).then_some(())
        };
        until("the supplement to be known as delivered", delivered);
    }
}

fn t_2_1_1_event_hook_receives_session_created(version: Version) {
    let lab = Lab::new(version).plugin(bridge()).recorded();
    let server = lab.serve();
    let sent = server.events();
    let session = server.create(&json!({"title": "A session"}));
    let delivered = |asked: &Value| asked["event"]["type"] == "kgctx.delivered";
    until("the delivery", || lab.questions().into_iter().find(delivered));
    let asked = lab.questions();
    assert_eq!(asked.len(), 2);
    assert_eq!(asked[0]["protocol"], 1);
    assert_eq!(asked[0]["directory"], lab.project().to_str().unwrap());
    assert_eq!(asked[0]["event"]["type"], "session.created");
    let sent = sent.first(|event| event["type"] == "session.created");
    assert_eq!(sent["properties"]["sessionID"], session.as_str());
    assert_eq!(asked[0]["event"]["properties"], sent["properties"], "as OpenCode sent it");
    assert_eq!(asked[1]["event"]["how"], "noreply");
    assert_eq!(asked[1]["event"]["sessionID"], session.as_str());
}

fn t_2_5_1_context_injected_with_no_reply_true(version: Version) {
    let server = bridged(version);
    let session = server.create(&json!({}));
    wait_for_context(&server, &session);
    // A reply would have been asked for by now.
    thread::sleep(Duration::from_millis(500));
    let messages = server.messages(&session);
    assert_eq!(messages.len(), 1);
    assert_eq!(messages[0]["info"]["role"], "user");
    let parts = messages[0]["parts"].as_array().unwrap();
    assert_eq!(parts.len(), 1);
    assert_eq!(parts[0]["type"], "text");
    assert_eq!(parts[0]["synthetic"], true);
    assert!(parts[0]["text"].as_str().unwrap().contains(HEADING));
    assert_eq!(parts[0]["metadata"]["kgctx"]["v"], 1);
    assert_eq!(parts[0]["metadata"]["kgctx"]["moment"], "start");
    assert!(server.provider.calls().iter().all(|call| call.session != session));
}

fn commands_of_a_session_know_it(version: Version) {
    let server = bridged(version);
    let session = server.create(&json!({}));
    server.say(&session, "[[bash:echo \"<$KGCTX_SESSION_ID>\"]]");
    let told = server.chats(&session).pop().unwrap().conversation();
    assert!(told.contains(&format!("<{session}>")), "{told}");
}

fn the_way_of_delivery_can_be_forced(version: Version) {
    for (delivery, n_messages) in [("part", 1), ("noreply", 2)] {
        let lab = Lab::new(version).plugin(bridge()).env("KGCTX_DELIVERY", delivery);
        let server = lab.serve();
        // The first session of a server is slow, and tells less about the order of things.
        server.say(&server.create(&json!({})), "WARM-UP");
        for pause in [0, 1_000] {
            let session = server.create(&json!({}));
            thread::sleep(Duration::from_millis(pause));
            server.say(&session, "PROMPT");
            one_reply_with_context(&server.chats(&session), "PROMPT");
            let stored = server.user_messages(&session);
            assert_eq!(stored.len(), n_messages, "{delivery} after {pause} ms");
            assert_eq!(marks(&server, &session).len(), 1);
            server.wait_for_title(&session);
        }
    }
}
