//! Our client, asking the real server: every question, every event, every refusal.

use std::path::Path;
use std::pin::pin;
use std::thread;
use std::time::Duration;

use futures::{Stream, StreamExt};
use kgctx::hosts::opencode::{Event, NoReply, OpencodeServer, Scope, ServerAddress, ServerError};
use kgctx::system::environment::Environment;
use serde_json::{Value, json};

use super::found::Version;
use super::lab::Lab;
use super::pool::plain;
use super::server::Server;
use super::{PATIENCE, on_both_versions, until};

on_both_versions!(
    a_busy_session_is_busy_in_its_own_folder,
    a_message_without_reply_is_found_again_and_changes_nothing_else,
    a_server_that_is_ended_is_lost_and_then_unreachable,
    events_are_heard_in_one_folder_and_in_all,
    every_refusal_is_told_from_the_others,
    sessions_of_every_folder_are_listed,
);

fn client(url: &str, password: Option<&str>) -> OpencodeServer {
    let variables = password.map(|password| ("OPENCODE_SERVER_PASSWORD".into(), password.into()));
    let environment: Environment = variables.into_iter().collect();
    let address: ServerAddress = url.parse().unwrap();
    let credentials = address.credentials(&environment);
    OpencodeServer::new(address, credentials, PATIENCE)
}

fn ask<T>(question: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(2 * PATIENCE, question).await.unwrap() })
}

fn folder(server: &Server, session: &str) -> String {
    server.session(session)["directory"].as_str().unwrap().to_string()
}

/// A session beside the project, in a folder whose name a query has to encode.
fn create_elsewhere(server: &Server, project: &str) -> String {
    let directory = Path::new(project).parent().unwrap().join("a b&ü");
    let directory = directory.to_str().unwrap();
    std::fs::create_dir_all(directory).unwrap();
    let encoded = directory.replace(' ', "%20").replace('&', "%26").replace('ü', "%C3%BC");
    let path = format!("/session?directory={encoded}");
    let session = server.http.call("POST", &path, Some(&json!({}))).json();
    assert_eq!(session["directory"], directory);
    session["id"].as_str().unwrap().to_string()
}

fn a_message_without_reply_is_found_again_and_changes_nothing_else(version: Version) {
    let server = plain(version);
    let model = json!({"id": "m2", "providerID": "mock", "variant": "high"});
    let session = server.create(&json!({"agent": "plan", "model": model}));
    let client = client(&server.http.url(), None);
    ask(async {
        let health = client.health().await.unwrap();
        assert_eq!((health.healthy, health.version.as_str()), (true, version.number()));

        let before = client.session(&session).await.unwrap();
        assert_eq!((before.id.as_str(), before.agent.as_deref()), (&*session, Some("plan")));
        assert!(before.parent_id.is_none() && before.revert.is_none() && !before.is_fork());
        let agents = client.agents(&before.directory).await.unwrap();
        assert!(agents.iter().any(|agent| agent.name == "plan"));
        let agents = server.http.call("GET", "/agent", None).json();
        let is_plan = |agent: &Value| agent["name"] == "plan" && agent["mode"] == "primary";
        assert!(agents.as_array().unwrap().iter().any(is_plan));
        let providers = client.providers(&before.directory).await.unwrap();
        let mock = providers.iter().find(|provider| provider.id == "mock").unwrap();
        assert!(mock.models.keys().eq(["m1", "m2", "small"]), "{mock:?}");

        let text = "ü\"\n".repeat(20_000);
        let note = NoReply::echoing(&before, text.clone(), json!({"v": 1, "receipt": 7}));
        let id = client.inject(&session, &note).await.unwrap();
        let stored = client.messages(&session, 2).await.unwrap();
        assert_eq!((stored.len(), &stored[0].info.id), (1, &id));
        assert_eq!(stored[0].parts[0].mark(), Some(&json!({"v": 1, "receipt": 7})));
        let stored = &server.messages(&session)[0];
        let part = &stored["parts"][0];
        assert_eq!((part["text"].as_str(), &part["synthetic"]), (Some(&*text), &json!(true)));
        let model = &stored["info"]["model"];
        assert_eq!((&model["modelID"], &model["variant"]), (&json!("m2"), &json!("high")));

        let after = client.session(&session).await.unwrap();
        assert_eq!((&after.agent, &after.model), (&before.agent, &before.model));
        assert!(after.time.updated > before.time.updated);
        assert!(!client.statuses(&before.directory).await.unwrap().contains_key(&session));

        client.inject(&session, &note).await.unwrap();
        assert_ne!(client.messages(&session, 1).await.unwrap()[0].info.id, id, "the last one");
    });
    assert!(server.chats(&session).is_empty());
}

fn sessions_of_every_folder_are_listed(version: Version) {
    let server = plain(version);
    let here = server.create(&json!({}));
    let elsewhere = create_elsewhere(&server, &folder(&server, &here));
    let client = client(&server.http.url(), None);
    ask(async {
        let created = client.session(&elsewhere).await.unwrap().time.created;
        let earlier = client.sessions_since(0).await.unwrap();
        for id in [&here, &elsewhere] {
            assert!(earlier.iter().any(|session| session.id == *id), "{id}");
        }
        let later = client.sessions_since(created).await.unwrap();
        assert!(later.iter().any(|session| session.id == elsewhere));
        assert!(later.iter().all(|session| session.time.updated >= created));
    });
}

fn a_busy_session_is_busy_in_its_own_folder(version: Version) {
    let server = plain(version);
    let session = server.create(&json!({}));
    let directory = folder(&server, &session);
    let elsewhere = folder(&server, &create_elsewhere(&server, &directory));
    let client = client(&server.http.url(), None);
    thread::scope(|scope| {
        scope.spawn(|| server.say(&session, "[[slow:1500]] PROMPT-A"));
        let is_busy = |directory: &str| {
            let statuses = ask(client.statuses(directory)).unwrap();
            statuses.get(&session).is_some_and(|status| status.is_busy())
        };
        until("the session to be busy", || is_busy(&directory).then_some(()));
        assert!(!is_busy(&elsewhere), "only its own folder knows");
    });
    assert!(!ask(client.statuses(&directory)).unwrap().contains_key(&session));
}

fn events_are_heard_in_one_folder_and_in_all(version: Version) {
    /// Waits for an event, and returns all that came until then.
    async fn heard(
        events: &mut (impl Stream<Item = Result<Event, ServerError>> + Unpin),
        is_last: impl Fn(&Event) -> bool,
    ) -> Vec<Event> {
        let mut all = Vec::new();
        loop {
            all.push(events.next().await.unwrap().unwrap());
            if all.last().is_some_and(&is_last) {
                return all;
            }
        }
    }
    let server = plain(version);
    let here = folder(&server, &server.create(&json!({})));
    let beside = folder(&server, &create_elsewhere(&server, &here));
    let client = client(&server.http.url(), None);
    ask(async {
        let mut all = pin!(client.events(&Scope::Everywhere).await.unwrap());
        let mut own = pin!(client.events(&Scope::OwnFolder).await.unwrap());
        let mut other = pin!(client.events(&Scope::Folder(beside.clone())).await.unwrap());
        for first in [all.next().await, own.next().await, other.next().await] {
            assert_eq!(first.unwrap().unwrap().kind, "server.connected");
        }
        // This route is connected a moment before it hears anything; a heartbeat, after ten seconds, shows that it does.
        heard(&mut all, |event| event.kind == "server.heartbeat").await;
        let session = server.create(&json!({"agent": "plan"}));
        let elsewhere = create_elsewhere(&server, &here);
        let is_created = |event: &Event, id: &str| {
            event.kind == "session.created" && event.session_id() == Some(id)
        };
        let event = heard(&mut own, |event| is_created(event, &session)).await.pop().unwrap();
        assert_eq!(event.session().unwrap().agent.as_deref(), Some("plan"));
        heard(&mut all, |event| is_created(event, &session)).await;
        let event = heard(&mut all, |event| is_created(event, &elsewhere)).await.pop().unwrap();
        assert_eq!(event.directory.as_deref(), Some(&*beside));
        let events = heard(&mut other, |event| is_created(event, &elsewhere)).await;
        assert!(!events.iter().any(|event| is_created(event, &session)), "another folder's");
    });
}

fn every_refusal_is_told_from_the_others(version: Version) {
    let lab = Lab::new(version).password("a secret/ü");
    let server = lab.serve();
    let session = server.create(&json!({}));
    let url = server.http.url();
    let friend = client(&url, lab.password.as_deref());
    ask(async {
        friend.health().await.unwrap();
        let named = url.replace("http://", "http://opencode:a%20secret%2F%C3%BC@");
        client(&named, None).health().await.unwrap();
        for password in [None, Some("another")] {
            let stranger = client(&url, password);
            let error = stranger.health().await.unwrap_err();
            assert!(matches!(error, ServerError::Unauthorized { .. }), "{error}");
            let error = stranger.events(&Scope::Everywhere).await.err().unwrap();
            assert!(matches!(error, ServerError::Unauthorized { .. }), "{error}");
        }

        let note = NoReply { text: "N".into(), agent: None, model: None, mark: json!({"v": 1}) };
        let error = friend.session("ses_none").await.unwrap_err();
        assert!(matches!(error, ServerError::NotFound { .. }), "{error}");
        let error = friend.inject("ses_none", &note).await.unwrap_err();
        assert!(matches!(error, ServerError::NotFound { .. }), "{error}");
        let error = friend.messages(&session, usize::MAX).await.unwrap_err();
        assert!(matches!(error, ServerError::Rejected { status: 400, .. }), "{error}");
        let nobody = NoReply { agent: Some("nobody".into()), ..note };
        let error = friend.inject(&session, &nobody).await.unwrap_err();
        assert!(matches!(error, ServerError::Failed { status: 500, .. }), "{error}");
        assert!(error.to_string().contains("ref err_"), "{error}");

        let page = client(&format!("{url}/no/such/route"), lab.password.as_deref());
        let error = page.health().await.unwrap_err();
        assert!(matches!(error, ServerError::NotApi { .. }), "{error}");
        let error = page.events(&Scope::OwnFolder).await.err().unwrap();
        assert!(matches!(error, ServerError::NotApi { .. }), "{error}");
    });
    assert!(server.messages(&session).is_empty());
}

fn a_server_that_is_ended_is_lost_and_then_unreachable(version: Version) {
    let lab = Lab::new(version);
    let server = lab.serve();
    let client = client(&server.http.url(), None);
    ask(async {
        let mut events = pin!(client.events(&Scope::OwnFolder).await.unwrap());
        events.next().await.unwrap().unwrap();
        drop(server);
        let end = tokio::time::timeout(Duration::from_secs(20), async {
            while let Some(event) = events.next().await {
                if let Err(fault) = event {
                    return Some(fault);
                }
            }
            None
        });
        let fault = end.await.unwrap();
        assert!(matches!(fault, Some(ServerError::Lost { .. })), "{fault:?}");
        let error = client.health().await.unwrap_err();
        assert!(matches!(error, ServerError::Unreachable { .. }), "{error}");
    });
}
