//! `kgctx serve` and `kgctx inject` beside the real OpenCode, alone and together with the bridge: everybody gets the context,
//! nobody gets it twice.

use std::io::{BufRead, BufReader};
use std::process::{Child, Output, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::found::Version;
use super::lab::Lab;
use super::provider::Call;
use super::server::Server;
use super::{on_both_versions, until};

on_both_versions!(
    a_session_that_is_created_ahead_is_given_its_context,
    bridge_service_and_command_together_give_it_once,
    the_command_says_why_it_does_not_deliver,
);

const HEADING: &str = "## Knowledge Graph Context";

/// A running service, ended when it is dropped.
pub(super) struct Service {
    child: Child,
}

impl Service {
    pub(super) fn start(lab: &Lab, server: &str) -> Service {
        let mut child = lab
            .command(env!("CARGO_BIN_EXE_kgctx"))
            .args(["serve", "--server", server])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.next().unwrap().unwrap().starts_with("listening on "));
        Service { child }
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Gives a session its context by command.
pub(super) fn inject(lab: &Lab, server: &Server, session: &str, arguments: &[&str]) -> Output {
    lab.command(env!("CARGO_BIN_EXE_kgctx"))
        .args(["inject", "--session", session, "--server", &server.http.url()])
        .args(arguments)
        .output()
        .unwrap()
}

/// Waits until the service hears its server.
pub(super) fn wait_for_connection(lab: &Lab) {
    let connected = || status(lab)["servers"][0]["connected"].as_bool().filter(|&is| is);
    until("the connection", connected);
}

fn status(lab: &Lab) -> Value {
    let mut command = lab.command(env!("CARGO_BIN_EXE_kgctx"));
    let output = command.args(["serve", "--status", "--json"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let status = serde_json::from_slice(&output.stdout).unwrap();
    crate::support::valid("serve-status", &status);
    status
}

fn marks(server: &Server, session: &str) -> usize {
    let messages = server.messages(session);
    let parts = messages.iter().flat_map(|message| message["parts"].as_array().unwrap());
    parts.filter(|part| part["metadata"]["kgctx"].is_object()).count()
}

fn wait_for_context(server: &Server, session: &str) {
    until("the context", || (marks(server, session) > 0).then_some(()));
}

#[track_caller]
fn one_reply_with_context(calls: &[Call], prompt: &str) {
    assert_eq!(calls.len(), 1, "one call for {prompt}");
    assert_eq!(calls[0].count(HEADING), 1, "{prompt}: {}", calls[0].conversation());
    assert!(calls[0].in_order(HEADING, prompt), "{}", calls[0].conversation());
}

fn a_session_that_is_created_ahead_is_given_its_context(version: Version) {
    let lab = Lab::new(version).password("sesame");
    let server = lab.serve();
    let _service = Service::start(&lab, &server.http.url());
    wait_for_connection(&lab);
    let plan = json!({"agent": "plan", "model": {"providerID": "mock", "id": "m2"}});
    let sessions: Vec<String> = (0..5).map(|_| server.create(&plan)).collect();
    for session in &sessions {
        wait_for_context(&server, session);
        assert!(server.chats(session).is_empty(), "nobody replies to the context");
        server.send(session, "PROMPT", &json!({}));
        let calls = server.chats(session);
        one_reply_with_context(&calls, "PROMPT");
        let stored = &server.user_messages(session)[0];
        assert_eq!(stored["info"]["agent"], "plan");
        assert_eq!(stored["info"]["model"]["modelID"], "m2");
        assert_eq!(stored["parts"][0]["synthetic"], true);
        server.wait_for_title(session);
    }
    // A session that is prompted at once is given it when it is idle, for which the model is not asked again.
    let busy = server.create(&json!({}));
    server.say(&busy, "[[slow:1500]] AT-ONCE");
    wait_for_context(&server, &busy);
    thread::sleep(Duration::from_millis(500));
    assert_eq!(server.chats(&busy).len(), 1);
    // After a compaction it is given again, once.
    server.summarize(&busy);
    until("the context again", || (marks(&server, &busy) == 2).then_some(()));
    server.say(&busy, "AFTER");
    one_reply_with_context(&server.chats(&busy)[1..], "AFTER");
    assert_eq!(status(&lab)["servers"][0]["delivered"], 7);
}

fn bridge_service_and_command_together_give_it_once(version: Version) {
    let lab =
        Lab::new(version).plugin(concat!(env!("CARGO_MANIFEST_DIR"), "/bridges/opencode/kgctx.ts"));
    let server = lab.serve();
    let _service = Service::start(&lab, &server.http.url());
    let one = |number: usize| {
        let session = server.create(&json!({}));
        let prompt = format!("PROMPT-{number}.");
        thread::scope(|scope| {
            scope.spawn(|| inject(&lab, &server, &session, &["--wait"]));
            // Some prompts come at once, some late.
            thread::sleep(Duration::from_millis(number as u64 * 40));
            server.say(&session, &prompt);
        });
        (session, prompt)
    };
    let all: Vec<_> = (0..12).map(one).collect();
    // Whoever would come late has come by then.
    thread::sleep(Duration::from_secs(6));
    for (session, prompt) in all {
        assert_eq!(marks(&server, &session), 1, "{prompt}");
        one_reply_with_context(&server.chats(&session), &prompt);
    }
}

#[test]
fn a_service_that_is_killed_again_and_again_misses_nothing_and_doubles_nothing() {
    let lab = Lab::new(Version::Pinned);
    let server = lab.serve();
    let sessions: Vec<String> = thread::scope(|scope| {
        let creating = scope.spawn(|| {
            let create = |_| {
                thread::sleep(Duration::from_millis(150));
                server.create(&json!({}))
            };
            (0..40).map(create).collect()
        });
        for pause in [700, 1_300, 400, 1_000, 600] {
            let service = Service::start(&lab, &server.http.url());
            thread::sleep(Duration::from_millis(pause));
            service.kill();
        }
        let _service = Service::start(&lab, &server.http.url());
        let sessions: Vec<String> = creating.join().unwrap();
        for session in &sessions {
            wait_for_context(&server, session);
        }
        thread::sleep(Duration::from_secs(2));
        sessions
    });
    for session in &sessions {
        assert_eq!(marks(&server, session), 1);
        assert!(server.chats(session).is_empty());
    }
}

#[test]
fn a_server_that_was_restarted_is_followed_again() {
    let lab = Lab::new(Version::Pinned);
    let server = lab.serve();
    let url = server.http.url();
    let undone = server.create(&json!({}));
    server.say(&undone, "UNDONE");
    server.revert(&undone, &server.user_messages(&undone)[0]);
    let _service = Service::start(&lab, &url);
    let first = server.create(&json!({}));
    wait_for_context(&server, &first);
    drop(server);
    until("the loss", || (status(&lab)["servers"][0]["connected"] == false).then_some(()));
    let server = lab.serve_at(&url);
    // Created before the service is back, and after.
    let early = server.create(&json!({}));
    wait_for_context(&server, &early);
    let late = server.create(&json!({}));
    wait_for_context(&server, &late);
    thread::sleep(Duration::from_secs(3));
    for session in [&first, &early, &late] {
        assert_eq!(marks(&server, session), 1);
    }
    server.unrevert(&undone);
    assert_eq!(server.user_messages(&undone).len(), 1, "the undo was still pending");
    assert_eq!(marks(&server, &undone), 0);
}

#[test]
fn a_long_fork_has_its_context_even_where_nobody_looks_that_far_back() {
    let lab = Lab::new(Version::Pinned);
    let server = lab.serve();
    let session = server.create(&json!({}));
    assert!(inject(&lab, &server, &session, &[]).status.success());
    let path = format!("/session/{session}/message");
    let body = json!({"noReply": true, "parts": [{"type": "text", "text": "MORE"}]});
    for _ in 0..110 {
        server.http.call("POST", &path, Some(&body)).json();
    }
    let _service = Service::start(&lab, &server.http.url());
    wait_for_connection(&lab);
    let fork = server.fork(&session);
    let refused = inject(&lab, &server, &fork, &[]);
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    thread::sleep(Duration::from_secs(4));
    assert_eq!(marks(&server, &fork), 1);
    // A short one that has none is as good as new.
    let plain = server.create(&json!({}));
    let short = server.fork(&plain);
    for session in [&plain, &short] {
        wait_for_context(&server, session);
    }
}

fn the_command_says_why_it_does_not_deliver(version: Version) {
    let lab = Lab::new(version).password("sesame");
    let server = lab.serve();
    let refused = |session: &str, arguments: &[&str], code: i32, reason: &str| {
        let output = inject(&lab, &server, session, arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(said.contains(reason), "{reason}: {said}");
    };
    let session = server.create(&json!({}));
    let output = inject(&lab, &server, &session, &["--format", "json"]);
    assert!(output.status.success(), "{output:?}");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    crate::support::valid("inject", &answer);
    assert_eq!(server.user_messages(&session)[0]["info"]["id"], answer["message"]);
    refused(&session, &[], 1, "already has its context");
    refused("ses_nobody", &[], 1, "Session not found");
    server.say(&session, "[[task]] PROMPT");
    let child = server.http.call("GET", &format!("/session/{session}/children"), None).json();
    refused(child[0]["id"].as_str().unwrap(), &[], 1, "is a child session");

    let undone = server.create(&json!({}));
    server.say(&undone, "FIRST");
    server.say(&undone, "SECOND");
    let second = server.user_messages(&undone)[1].clone();
    server.revert(&undone, &second);
    refused(&undone, &[], 1, "an undo is pending");
    server.unrevert(&undone);
    assert_eq!(server.user_messages(&undone).len(), 2, "the undo could be taken back");

    let busy = server.create(&json!({}));
    thread::scope(|scope| {
        scope.spawn(|| server.say(&busy, "[[slow:2500]] PROMPT"));
        until("the model", || (!server.chats(&busy).is_empty()).then_some(()));
        refused(&busy, &[], 1, "is busy");
        let waited = inject(&lab, &server, &busy, &["--wait"]);
        assert!(waited.status.success(), "{waited:?}");
    });
    thread::sleep(Duration::from_millis(500));
    assert_eq!(server.chats(&busy).len(), 1, "the model was not asked about the context");

    let mut stranger = lab.command(env!("CARGO_BIN_EXE_kgctx"));
    stranger.env("OPENCODE_SERVER_PASSWORD", "wrong");
    let url = server.http.url();
    let output = stranger.args(["inject", "--session", &busy, "--server", &url]).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&output.stderr).contains("OPENCODE_SERVER_PASSWORD"));
    // Below another path there is only the web page, which answers to everything.
    let mut astray = lab.command(env!("CARGO_BIN_EXE_kgctx"));
    let url = format!("{url}/somewhere/else");
    let output = astray.args(["inject", "--session", &busy, "--server", &url]).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{output:?}");

    // An agent that is gone would make the next prompt fail.
    let odd = json!({"model": {"providerID": "mock", "id": "m9"}});
    let odd = server.create(&odd);
    refused(&odd, &[], 1, "the model \"mock/m9\"");
    assert!(server.messages(&odd).is_empty());
}
