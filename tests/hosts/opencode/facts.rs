//! What we rely on in OpenCode, seen in the real one: a change of any of it moves the ground that the bridge stands on.

use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::found::Version;
use super::lab::Lab;
use super::pool::plain;
use super::provider::Kind;
use super::{on_both_versions, until};

on_both_versions!(
    a_child_session_names_its_parent_and_a_fork_does_not,
    a_compaction_takes_earlier_messages_from_the_model,
    a_late_note_costs_a_second_call,
    a_note_commits_a_pending_undo,
    a_note_is_in_the_request_for_a_title_unless_it_is_ignored,
    a_note_is_stored_without_a_call_and_read_before_the_prompt,
    a_note_that_is_not_synthetic_prevents_the_title,
    a_note_without_an_agent_changes_the_agent,
    a_prompt_in_a_server_costs_one_call_and_makes_a_title,
    a_run_and_a_window_cost_one_call_a_prompt_and_make_titles,
    a_server_with_a_password_tells_strangers_nothing,
    a_shell_of_a_session_has_the_environment_of_the_server,
    an_unknown_route_is_a_web_page,
);

/// The body of a message that nobody answers.
fn note(text: &str, synthetic: bool) -> Value {
    json!({"noReply": true, "parts": [{"type": "text", "text": text, "synthetic": synthetic,
        "metadata": {"kgctx": {"v": 1}}}]})
}

fn a_prompt_in_a_server_costs_one_call_and_makes_a_title(version: Version) {
    let server = plain(version);
    let session = server.create(&json!({}));
    server.say(&session, "PROMPT-A");
    server.wait_for_title(&session);
    let chats = server.chats(&session);
    assert_eq!(chats.len(), 1);
    assert_eq!(chats[0].asked(), "PROMPT-A");
    assert_eq!(server.provider.of(&session, Kind::Title).len(), 1);
}

fn a_run_and_a_window_cost_one_call_a_prompt_and_make_titles(version: Version) {
    let lab = Lab::new(version);
    lab.run("PROMPT-RUN", &[]);
    let turns = lab.provider.turns("PROMPT-RUN");
    assert_eq!(turns.len(), 1);
    assert_eq!(lab.provider.of(&turns[0].session, Kind::Title).len(), 1);

    let Some(window) = lab.window() else { return };
    let turns = window.turn("PROMPT-WINDOW");
    assert_eq!(turns.len(), 1);
    assert_eq!(lab.provider.of(&turns[0].session, Kind::Title).len(), 1);
    assert_eq!(lab.provider.turns("").len(), 2);
}

fn a_note_is_stored_without_a_call_and_read_before_the_prompt(version: Version) {
    let server = plain(version);
    let session = server.create(&json!({}));
    let path = format!("/session/{session}/message");
    let stored = server.http.call("POST", &path, Some(&note("NOTE-A", true))).json();
    assert_eq!(stored["parts"][0]["metadata"]["kgctx"]["v"], 1);
    assert_eq!(server.messages(&session).len(), 1);
    assert!(server.provider.calls().iter().all(|call| call.session != session));

    server.say(&session, "PROMPT-B");
    let chats = server.chats(&session);
    assert_eq!(chats.len(), 1);
    assert!(chats[0].in_order("NOTE-A", "PROMPT-B"));
    server.wait_for_title(&session);
}

fn a_note_is_in_the_request_for_a_title_unless_it_is_ignored(version: Version) {
    let server = plain(version);
    for (ignored, n) in [(false, 1), (true, 0)] {
        let session = server.create(&json!({}));
        let mut note = note("NOTE-A", true);
        note["parts"][0]["ignored"] = json!(ignored);
        server.http.call("POST", &format!("/session/{session}/message"), Some(&note)).json();
        server.say(&session, "PROMPT-B");
        server.wait_for_title(&session);
        let titles = server.provider.of(&session, Kind::Title);
        assert_eq!((titles.len(), titles[0].count("NOTE-A")), (1, n));
        assert_eq!(server.chats(&session)[0].count("NOTE-A"), n, "without a plugin that shows it");
    }
}

fn a_note_that_is_not_synthetic_prevents_the_title(version: Version) {
    let server = plain(version);
    let session = server.create(&json!({}));
    let path = format!("/session/{session}/message");
    server.http.call("POST", &path, Some(&note("NOTE-A", false))).json();
    server.say(&session, "PROMPT-B");
    server.say(&session, "PROMPT-C");
    assert_eq!(server.chats(&session).len(), 2);
    assert!(server.provider.of(&session, Kind::Title).is_empty());
}

fn a_note_without_an_agent_changes_the_agent(version: Version) {
    let server = plain(version);
    let plan = json!({"agent": "plan", "model": {"providerID": "mock", "id": "m2"}});
    let path = |session: &str| format!("/session/{session}/message");
    let session = server.create(&plan);
    server.http.call("POST", &path(&session), Some(&note("NOTE-A", true))).json();
    assert_eq!(server.session(&session)["agent"], "build");

    let session = server.create(&plan);
    let mut echo = note("NOTE-A", true);
    echo["agent"] = json!("plan");
    echo["model"] = json!({"providerID": "mock", "modelID": "m2"});
    server.http.call("POST", &path(&session), Some(&echo)).json();
    assert_eq!(server.session(&session)["agent"], "plan");
    assert_eq!(server.session(&session)["model"]["id"], "m2");
}

fn a_late_note_costs_a_second_call(version: Version) {
    let server = plain(version);
    let session = server.create(&json!({}));
    thread::scope(|scope| {
        scope.spawn(|| server.say(&session, "[[slow:1500]] PROMPT-A"));
        until("the first call", || server.chats(&session).pop());
        let path = format!("/session/{session}/message");
        server.http.call("POST", &path, Some(&note("NOTE-A", true))).json();
    });
    let chats = server.chats(&session);
    assert_eq!(chats.len(), 2);
    assert_eq!((chats[0].count("NOTE-A"), chats[1].count("NOTE-A")), (0, 1));
    assert!(chats[1].at - chats[0].at >= Duration::from_millis(1_500), "in the same turn");
}

fn a_note_commits_a_pending_undo(version: Version) {
    let server = plain(version);
    let session = server.create(&json!({}));
    server.say(&session, "PROMPT-A");
    server.say(&session, "PROMPT-B");
    server.revert(&session, &server.user_messages(&session)[1]);
    assert_eq!(server.messages(&session).len(), 4);
    let path = format!("/session/{session}/message");
    server.http.call("POST", &path, Some(&note("NOTE-A", true))).json();
    server.unrevert(&session);
    assert_eq!(server.messages(&session).len(), 3, "the undone prompt is gone, the note is there");
}

fn a_child_session_names_its_parent_and_a_fork_does_not(version: Version) {
    let server = plain(version);
    let events = server.events();
    let session = server.create(&json!({}));
    server.say(&session, "[[task]] PROMPT-A");
    let created = |of: &dyn Fn(&Value) -> bool| {
        events.first(|event| event["type"] == "session.created" && of(&event["properties"]["info"]))
    };
    let child = created(&|info| info["parentID"] == session.as_str());
    let child = child["properties"]["sessionID"].as_str().unwrap();
    assert_eq!(server.chats(child).len(), 1);
    assert_eq!(server.chats(child)[0].asked(), "child prompt");

    let fork = server.fork(&session);
    let event = created(&|info| info["id"] == fork.as_str());
    assert_eq!(event["properties"]["info"]["parentID"], Value::Null);
    assert!(event["properties"]["info"]["title"].as_str().unwrap().contains("(fork #1)"));
    let copied = until("the copied messages", || server.user_messages(&fork).pop());
    assert_eq!(copied["parts"][0]["text"], "[[task]] PROMPT-A");
}

fn a_compaction_takes_earlier_messages_from_the_model(version: Version) {
    let server = plain(version);
    let session = server.create(&json!({}));
    server.say(&session, "PROMPT-A");
    server.summarize(&session);
    assert_eq!(server.provider.of(&session, Kind::Compaction).len(), 1);
    let marks = server.user_messages(&session);
    assert!(marks.iter().any(|message| message["parts"][0]["type"] == "compaction"));
    server.say(&session, "PROMPT-B");
    let chats = server.chats(&session);
    let last = chats.last().unwrap();
    assert!(last.in_order("MOCK-SUMMARY", "PROMPT-B"));
    assert_eq!(last.count("PROMPT-A"), 0);
}

fn an_unknown_route_is_a_web_page(version: Version) {
    let server = plain(version);
    let answer = server.http.call("GET", "/nope", None);
    assert_eq!(answer.status, 200);
    assert!(answer.content_type.starts_with("text/html"), "{}", answer.content_type);
    assert_eq!(server.http.call("GET", "/session/ses_none", None).status, 404);
}

fn a_server_with_a_password_tells_strangers_nothing(version: Version) {
    let lab = Lab::new(version).password("a secret");
    let server = lab.serve();
    let stranger = server.http.stranger();
    for path in ["/session", "/event", "/global/health", "/doc"] {
        let answer = stranger.call("GET", path, None);
        assert_eq!((answer.status, answer.body.as_str()), (401, ""), "{path}");
    }
    server.create(&json!({}));
}

fn a_shell_of_a_session_has_the_environment_of_the_server(version: Version) {
    let lab = Lab::new(version).env("KGCTX_PROBE", "a value");
    let server = lab.serve();
    let session = server.create(&json!({}));
    server.say(&session, "[[bash:echo \"<$KGCTX_PROBE>\"]]");
    let chats = server.chats(&session);
    assert_eq!(chats.len(), 2, "the tool's call, and the answer after it");
    assert!(chats[1].messages().last().unwrap().1.contains("<a value>"));

    let line = json!({"service": "kgctx", "level": "warn", "message": "kgctx: a line"});
    server.http.call("POST", "/log", Some(&line)).json();
    until("the line", || lab.log().contains("kgctx: a line").then_some(()));
}
