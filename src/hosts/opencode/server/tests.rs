//! Tests every request against replies recorded from OpenCode, and against wrong ones.

use std::io::Write;
use std::pin::pin;
use std::time::Duration;

use futures::StreamExt;
use serde_json::json;

use super::*;
use crate::hosts::opencode::loopback_for_tests as loopback;

const LIMIT: Duration = Duration::from_secs(20);
const JSON: &str = "application/json";

fn server(address: ServerAddress) -> OpencodeServer {
    OpencodeServer::new(address, None, LIMIT)
}

/// A server with one reply, and a function that returns the first line of the next request.
fn answering(kind: &str, body: &str) -> (OpencodeServer, impl Fn() -> String + use<>) {
    let (address, requests) = loopback::recording(kind, body);
    let first_line = move || requests.recv().unwrap().lines().next().unwrap().to_owned();
    (server(address), first_line)
}

#[tokio::test]
async fn every_question_goes_to_its_route() {
    let (server, asked) = answering(JSON, r#"{"healthy":true,"version":"1.18.33"}"#);
    let health = server.health().await.unwrap();
    assert_eq!((health.healthy, health.version.as_str()), (true, "1.18.33"));
    assert_eq!(asked(), "GET /global/health HTTP/1.1");

    let (server, asked) = answering(JSON, r#"{"id":"ses_1","directory":"/p"}"#);
    assert_eq!(server.session("ses_1").await.unwrap().directory, "/p");
    assert_eq!(asked(), "GET /session/ses_1 HTTP/1.1");

    let (server, asked) = answering(JSON, r#"[{"info":{"id":"msg_1","role":"user"}}]"#);
    assert_eq!(server.messages("ses_1", 100).await.unwrap().len(), 1);
    assert_eq!(asked(), "GET /session/ses_1/message?limit=100 HTTP/1.1");

    let (server, asked) = answering(JSON, r#"{"ses_1":{"type":"busy"}}"#);
    assert!(server.statuses("/a b&c").await.unwrap()["ses_1"].is_busy());
    assert_eq!(asked(), "GET /session/status?directory=%2Fa%20b%26c HTTP/1.1");

    let (server, asked) = answering(JSON, r#"[{"name":"plan","mode":"primary","native":true}]"#);
    assert_eq!(server.agents("/p").await.unwrap()[0].name, "plan");
    assert_eq!(asked(), "GET /agent?directory=%2Fp HTTP/1.1");

    let (server, asked) = answering(JSON, r#"{"providers":[{"id":"mock","models":{"m1":{}}}]}"#);
    assert!(server.providers("/p").await.unwrap()[0].models.keys().eq(["m1"]));
    assert_eq!(asked(), "GET /config/providers?directory=%2Fp HTTP/1.1");
}

#[tokio::test]
async fn an_injection_is_posted_whole_and_its_id_returned() {
    let stored = r#"{"info":{"id":"msg_7","role":"user"},"parts":[]}"#;
    let (address, requests) = loopback::recording(JSON, stored);
    let text = "ü\"\n".repeat(20_000);
    let message = NoReply { text, agent: Some("plan".into()), model: None, mark: json!({"v": 1}) };
    assert_eq!(server(address).inject("ses_1", &message).await.unwrap(), "msg_7");
    let request = requests.recv().unwrap();
    assert!(request.starts_with("POST /session/ses_1/message HTTP/1.1\r\n"));
    let (_, body) = request.split_once("\r\n\r\n").unwrap();
    let body: serde_json::Value = serde_json::from_str(body).unwrap();
    assert_eq!(body, serde_json::to_value(&message).unwrap());
}

#[tokio::test]
async fn sessions_of_all_folders_are_asked_for_first() {
    let sessions = json!([
        {"id": "ses_1", "directory": "/p", "time": {"updated": 7}},
        {"id": "ses_2", "directory": "/p", "time": {"updated": 6}},
        {"id": "ses_3", "directory": "/p", "time": {"updated": 9}, "parentID": "ses_1"},
    ])
    .to_string();
    let (all, asked) = answering(JSON, &sessions);
    let found = all.sessions_since(7).await.unwrap();
    assert_eq!(found.iter().map(|session| session.id.as_str()).collect::<Vec<_>>(), ["ses_1"]);
    assert_eq!(asked(), "GET /experimental/session?start=7&roots=true&limit=1000 HTTP/1.1");

    let own = server(loopback::serving(move |request, stream| {
        let is_old_route = request.starts_with("GET /session?start=7&roots=true&limit=1000 ");
        let answer = match is_old_route {
            true => loopback::answer(200, JSON, &sessions),
            false => loopback::answer(200, "text/html", "<!doctype html>"),
        };
        stream.write_all(answer.as_bytes()).unwrap();
    }));
    assert_eq!(own.sessions_since(7).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_refusal_is_not_taken_for_a_missing_route() {
    let refusing = server(loopback::serving(|request, stream| {
        let status = if request.starts_with("GET /experimental/") { 401 } else { 200 };
        stream.write_all(loopback::answer(status, JSON, "[]").as_bytes()).unwrap();
    }));
    let error = refusing.sessions_since(0).await.unwrap_err();
    assert!(matches!(error, ServerError::Unauthorized { .. }), "{error}");
}

#[tokio::test]
async fn json_of_another_shape_is_broken() {
    for body in ["[]", "{", "", r#"{"id":7,"directory":"/p"}"#, "\u{0}"] {
        let (server, _asked) = answering(JSON, body);
        let error = server.session("ses_1").await.unwrap_err();
        assert!(matches!(error, ServerError::Broken { .. }), "{body}: {error}");
    }
}

#[tokio::test]
async fn what_is_no_id_is_never_sent() {
    // No process listens on this port, so sending a request would give another error.
    let server = server("http://127.0.0.1:1".parse().unwrap());
    let message = NoReply { text: String::new(), agent: None, model: None, mark: json!(null) };
    for id in ["", "ses_", "ses_../x", "ses_1?x", "msg_1", "ses_1/message", "ses_ü", "ses_1\r\n"] {
        let is_refused = |error: ServerError| matches!(error, ServerError::NoSessionId { .. });
        assert!(is_refused(server.session(id).await.unwrap_err()), "{id:?}");
        assert!(is_refused(server.messages(id, 1).await.unwrap_err()), "{id:?}");
        assert!(is_refused(server.inject(id, &message).await.unwrap_err()), "{id:?}");
    }
}

#[tokio::test]
async fn events_come_from_the_route_of_their_scope() {
    for (scope, line) in [
        (Scope::Everywhere, "GET /global/event HTTP/1.1"),
        (Scope::OwnFolder, "GET /event HTTP/1.1"),
        (Scope::Folder("/a b".into()), "GET /event?directory=%2Fa%20b HTTP/1.1"),
    ] {
        let (server, asked) = answering("text/event-stream", "data: {\"type\":\"a\"}\n\n");
        let mut events = pin!(server.events(&scope).await.unwrap());
        assert_eq!(events.next().await.unwrap().unwrap().kind, "a");
        assert!(events.next().await.is_none());
        assert_eq!(asked(), line);
    }
}

#[tokio::test]
async fn what_is_no_event_stream_is_told_why() {
    for (status, kind, expected) in
        [(200, "text/html", "NotApi"), (401, "", "Unauthorized"), (500, JSON, "Failed")]
    {
        let server = server(loopback::serving(move |_, stream| {
            stream.write_all(loopback::answer(status, kind, "{}").as_bytes()).unwrap();
        }));
        let error = server.events(&Scope::OwnFolder).await.err().unwrap();
        assert!(format!("{error:?}").starts_with(expected), "{error:?}");
    }
}
