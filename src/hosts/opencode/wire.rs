//! OpenCode's JSON. Ignores fields that kgctx does not need, and those that a newer OpenCode adds.

use std::collections::BTreeMap;

use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use crate::core::session::Moment;

/// The metadata key under which kgctx stores its own data.
pub(super) const MARK: &str = "kgctx";

/// A session, as in `session.created`, `session.updated` and the session routes.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Session {
    /// `ses_…`, unique among all servers of one user.
    pub id: String,
    /// The session that started this one. Only a sub-agent's session has it, a fork does not.
    #[serde(rename = "parentID")]
    pub parent_id: Option<String>,
    pub directory: String,
    /// `New session - <time>` until OpenCode generates a title; a fork's title ends in `(fork #N)`.
    #[serde(default)]
    pub title: String,
    /// The chosen agent; a session created through the API can lack one.
    pub agent: Option<String>,
    /// The chosen model; a session created through the API can lack one.
    #[serde(default, deserialize_with = "known_or_none")]
    pub model: Option<SessionModel>,
    /// What a pending undo would remove. Any message makes the undo final.
    pub revert: Option<Value>,
    /// The session's own rules, beside those of the settings.
    #[serde(default)]
    pub permission: Value,
    #[serde(default)]
    pub time: SessionTime,
}

impl Session {
    /// Whether `opencode run` started the session, also on a server that it attached to. It forbids questions,
    /// because nobody would answer; `opencode run --interactive` does not.
    pub fn is_scripted(&self) -> bool {
        let forbids = |rule: &Value| rule["permission"] == "question" && rule["action"] == "deny";
        self.permission.as_array().is_some_and(|rules| rules.iter().any(forbids))
    }

    /// Whether the session started as a copy of another one. Only its title shows that.
    pub fn is_fork(&self) -> bool {
        let number =
            self.title.rsplit_once(" (fork #").and_then(|(_, rest)| rest.strip_suffix(')'));
        number.is_some_and(|number| number.parse::<u32>().is_ok())
    }
}

/// A session's model. A prompt names the same model differently.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct SessionModel {
    /// The provider's name for the model.
    pub id: String,
    #[serde(rename = "providerID")]
    pub provider_id: String,
    /// A variant of the model, such as its reasoning effort.
    pub variant: Option<String>,
}

/// Times in milliseconds since 1970.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct SessionTime {
    pub created: u64,
    /// Storing a message updates it.
    pub updated: u64,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Message {
    pub info: MessageInfo,
    /// Can be empty for a moment after the message was stored.
    #[serde(default)]
    pub parts: Vec<Part>,
}

/// The fields of a message that do not belong to a part.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct MessageInfo {
    /// `msg_…`.
    pub id: String,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Part {
    /// `text`, `tool`, `compaction` and others.
    #[serde(rename = "type")]
    pub kind: String,
    /// Data that programs store with the part.
    pub metadata: Option<Value>,
}

impl Part {
    /// The data that kgctx stored with its own text.
    pub fn mark(&self) -> Option<&Value> {
        self.metadata.as_ref()?.get(MARK)
    }
}

/// Whether a mark is that of a context. A supplement goes with a prompt, and does not replace the context.
pub fn is_of_context(mark: &Value) -> bool {
    mark["moment"] != json!(Moment::Prompt)
}

/// An event of a server.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// `session.created`, `session.idle`, `server.heartbeat` and others.
    pub kind: String,
    pub properties: Value,
    /// The event's folder; only the route for all folders provides it.
    pub directory: Option<String>,
}

/// An event in either form: plain, or wrapped by the route for all folders.
#[derive(Deserialize)]
struct RawEvent {
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    properties: Value,
    directory: Option<String>,
    payload: Option<Box<RawEvent>>,
}

impl Event {
    /// Parses an event in either form. Returns `None` for events that kgctx ignores, such as
    /// `sync`, which is for OpenCode's own clients.
    pub fn parse(json: &str) -> Result<Option<Event>, serde_json::Error> {
        let mut event: RawEvent = serde_json::from_str(json)?;
        let directory = event.directory.take();
        if let Some(payload) = event.payload.take() {
            event = *payload;
        }
        let Some(kind) = event.kind.filter(|kind| kind != "sync") else { return Ok(None) };
        Ok(Some(Event { kind, properties: event.properties, directory }))
    }

    pub fn session_id(&self) -> Option<&str> {
        self.properties.get("sessionID")?.as_str()
    }

    /// The current session, for `session.created` and `session.updated`.
    pub fn session(&self) -> Option<Session> {
        Session::deserialize(self.properties.get("info")?).ok()
    }
}

/// The reply to a health request.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Health {
    pub healthy: bool,
    #[serde(default)]
    pub version: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct SessionStatus {
    /// `idle`, `busy` or `retry`.
    #[serde(rename = "type")]
    pub kind: String,
}

impl SessionStatus {
    /// Whether a model is running or about to run: it would answer a message that is stored now.
    pub fn is_busy(&self) -> bool {
        self.kind != "idle"
    }
}

/// An agent that a prompt can name.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Agent {
    pub name: String,
}

/// A provider of models. Drops its other fields, which include API keys.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Provider {
    pub id: String,
    /// By their names.
    #[serde(default)]
    pub models: BTreeMap<String, IgnoredAny>,
}

/// The reply of `GET /config/providers`.
#[derive(Deserialize)]
pub(super) struct Providers {
    pub(super) providers: Vec<Provider>,
}

/// The body of an error reply. Its shape differs between routes.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Refusal {
    pub(super) message: Option<String>,
    pub(super) data: RefusalData,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct RefusalData {
    pub(super) message: Option<String>,
    /// The id of the entry in the server's log.
    #[serde(rename = "ref")]
    pub(super) reference: Option<String>,
}

/// Reads a value of an unknown shape as `None`: an unknown model must not make a session
/// unreadable.
fn known_or_none<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    input: D,
) -> Result<Option<T>, D::Error> {
    Ok(serde_json::from_value(Value::deserialize(input)?).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SESSION: &str = r#"{"id":"ses_e1c0c15c9ffeOaqG","slug":"witty-wizard","projectID":"81bf","directory":"/p",
        "path":"","cost":0,"tokens":{"input":0,"cache":{"read":0}},"title":"New session","agent":"plan",
        "model":{"id":"m2","providerID":"mock","variant":"high"},"version":"1.18.33",
        "time":{"created":1794825775670,"updated":1794825777081,"archived":1.5}}"#;

    #[test]
    fn a_session_is_read_as_it_was_sent() {
        let session: Session = serde_json::from_str(SESSION).unwrap();
        assert_eq!(session.id, "ses_e1c0c15c9ffeOaqG");
        assert_eq!(session.agent.as_deref(), Some("plan"));
        let model = SessionModel {
            id: "m2".into(),
            provider_id: "mock".into(),
            variant: Some("high".into()),
        };
        assert_eq!(session.model, Some(model));
        assert_eq!((session.parent_id, session.revert), (None, None));
        assert_eq!(session.time, SessionTime { created: 1794825775670, updated: 1794825777081 });
    }

    #[test]
    fn a_session_needs_only_an_id_and_a_folder() {
        let bare: Session = serde_json::from_str(r#"{"id":"ses_1","directory":"/p"}"#).unwrap();
        assert_eq!((bare.title.as_str(), bare.agent, bare.model), ("", None, None));
        for model in ["null", "\"mock/m1\"", "{\"id\":\"m1\"}", "7"] {
            let json =
                format!(r#"{{"id":"ses_1","directory":"/p","revert":null,"model":{model}}}"#);
            let session: Session = serde_json::from_str(&json).unwrap();
            assert_eq!((session.model, session.revert), (None, None), "{model}");
        }
        let child =
            r#"{"id":"ses_1","directory":"/p","parentID":"ses_0","revert":{"messageID":"msg_1"}}"#;
        let child: Session = serde_json::from_str(child).unwrap();
        assert_eq!(child.parent_id.as_deref(), Some("ses_0"));
        assert!(child.revert.is_some());
    }

    #[test]
    fn a_message_tells_our_part_from_others() {
        let json = r#"[{"info":{"id":"msg_1","sessionID":"ses_1","role":"user","time":{"created":5},"agent":"plan",
              "model":{"providerID":"mock","modelID":"m2","variant":"high"}},
              "parts":[{"id":"prt_1","type":"text","text":"X","synthetic":true,"metadata":{"kgctx":{"v":1}}},
                       {"type":"text","text":"Y","metadata":null},{"type":"tool","state":{"output":"long"}}]},
             {"info":{"id":"msg_2","role":"assistant","modelID":"m2","providerID":"mock"}}]"#;
        let messages: Vec<Message> = serde_json::from_str(json).unwrap();
        let marks: Vec<_> =
            messages[0].parts.iter().map(|part| part.mark().map(Value::to_string)).collect();
        assert_eq!(marks, [Some(r#"{"v":1}"#.to_owned()), None, None]);
        assert!(messages[1].parts.is_empty());
    }

    #[test]
    fn an_event_is_read_bare_and_wrapped() {
        let bare = format!(
            r#"{{"id":"evt_1","type":"session.created","properties":{{"sessionID":"ses_e1c0c15c9ffeOaqG","info":{SESSION}}}}}"#
        );
        let event = Event::parse(&bare).unwrap().unwrap();
        assert_eq!((event.kind.as_str(), &event.directory), ("session.created", &None));
        assert_eq!(event.session_id(), Some("ses_e1c0c15c9ffeOaqG"));
        assert_eq!(event.session().unwrap().directory, "/p");
        let wrapped = format!(r#"{{"directory":"/q","project":"81bf","payload":{bare}}}"#);
        let wrapped = Event::parse(&wrapped).unwrap().unwrap();
        assert_eq!(wrapped, Event { directory: Some("/q".into()), ..event });
    }

    #[test]
    fn what_is_no_event_for_us_is_passed_over() {
        for json in [
            r#"{"directory":"/q","payload":{"type":"sync","name":"session.created.1","properties":{}}}"#,
            r#"{"payload":{}}"#,
            "{}",
        ] {
            assert_eq!(Event::parse(json).unwrap(), None, "{json}");
        }
        let heartbeat =
            Event::parse(r#"{"payload":{"type":"server.heartbeat"}}"#).unwrap().unwrap();
        assert_eq!(heartbeat.session_id(), None);
        assert!(Event::parse("<html>").is_err());
    }

    #[test]
    fn of_a_provider_only_names_are_kept() {
        let json = r#"{"providers":[{"id":"mock","options":{"apiKey":"sk-1"},"models":{"m2":{"id":"m2"},"m1":{}}},
                       {"id":"bare"}],"default":{}}"#;
        let providers: Providers = serde_json::from_str(json).unwrap();
        assert!(providers.providers[0].models.keys().eq(["m1", "m2"]));
        assert!(!format!("{:?}", providers.providers).contains("sk-1"));
    }

    #[test]
    fn a_refusal_is_read_in_every_form() {
        let read = |json| serde_json::from_str::<Refusal>(json).unwrap();
        let busy = read(r#"{"_tag":"SessionBusyError","message":"Session is busy"}"#);
        assert_eq!((busy.message.as_deref(), busy.data.message), (Some("Session is busy"), None));
        let failed = read(r#"{"name":"UnknownError","data":{"message":"Oh","ref":"err_1"}}"#);
        let (message, reference) = (failed.data.message, failed.data.reference);
        assert_eq!((message.as_deref(), reference.as_deref()), (Some("Oh"), Some("err_1")));
        assert!(!SessionStatus { kind: "idle".into() }.is_busy());
        assert!(SessionStatus { kind: "retry".into() }.is_busy());
    }
}
