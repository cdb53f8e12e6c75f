//! Amplifier's hook: its events and the replies to them.
//!
//! Only a reply to a prompt reaches the model: Amplifier discards the reply to a session's start.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::json;

use crate::hosts::words::{HostWords, SessionEvent};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AmplifierEventKind {
    PromptSubmitted,
    SessionStarted,
    Other,
}

/// An event of Amplifier. Every field can be missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AmplifierEvent {
    pub kind: AmplifierEventKind,
    pub session_id: Option<String>,
    /// The session that started this one; set for a sub-agent.
    pub parent_id: Option<String>,
    pub directory: Option<PathBuf>,
}

#[derive(Deserialize)]
struct RawEvent {
    event: Option<String>,
    hook_event_name: Option<String>,
    session_id: Option<String>,
    parent_id: Option<String>,
    working_directory: Option<PathBuf>,
    cwd: Option<PathBuf>,
}

impl AmplifierEvent {
    pub(super) fn parse(json: &[u8]) -> Result<AmplifierEvent, serde_json::Error> {
        let raw: RawEvent = serde_json::from_slice(json)?;
        let told = |text: Option<String>| text.filter(|text| !text.is_empty());
        let kind = match raw.event.or(raw.hook_event_name).as_deref() {
            Some("prompt:submit") => AmplifierEventKind::PromptSubmitted,
            Some("session:start") => AmplifierEventKind::SessionStarted,
            _ => AmplifierEventKind::Other,
        };
        let mut directories = [raw.working_directory, raw.cwd].into_iter().flatten();
        Ok(AmplifierEvent {
            kind,
            session_id: told(raw.session_id),
            parent_id: told(raw.parent_id),
            directory: directories.find(|folder| !folder.as_os_str().is_empty()),
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AmplifierReply {
    Inject(String),
    Continue,
}

impl AmplifierReply {
    /// Formats the reply as one line of JSON.
    pub(super) fn to_json(&self) -> String {
        match self {
            AmplifierReply::Inject(text) => json!({
                "action": "inject_context",
                "context_injection": text,
                "context_injection_role": "system",
            }),
            AmplifierReply::Continue => json!({ "action": "continue" }),
        }
        .to_string()
    }
}

pub struct Amplifier;

impl HostWords for Amplifier {
    fn read(&self, json: &[u8]) -> Option<SessionEvent> {
        let event = AmplifierEvent::parse(json).ok()?;
        if event.kind != AmplifierEventKind::PromptSubmitted || event.parent_id.is_some() {
            return None;
        }
        let folder = event.directory.unwrap_or_else(|| PathBuf::from("."));
        Some(SessionEvent::Prompted { session: event.session_id?, folder })
    }

    fn context(&self, text: &str) -> String {
        AmplifierReply::Inject(text.to_owned()).to_json()
    }

    fn nothing(&self) -> Option<String> {
        Some(AmplifierReply::Continue.to_json())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn h_0_21_events_are_read_as_far_as_they_tell() {
        // H-0.21
        #[track_caller]
        fn check(json: &str, kind: AmplifierEventKind, told: [Option<&str>; 3]) {
            let [session_id, parent_id, directory] = told.map(|text| text.map(str::to_owned));
            let expect = AmplifierEvent {
                kind,
                session_id,
                parent_id,
                directory: directory.map(PathBuf::from),
            };
            assert_eq!(AmplifierEvent::parse(json.as_bytes()).unwrap(), expect, "{json}");
        }
        check(
            r#"{"event":"prompt:submit","session_id":"s","working_directory":"/w","prompt":"x","data":{}}"#,
            AmplifierEventKind::PromptSubmitted,
            [Some("s"), None, Some("/w")],
        );
        check(
            r#"{"hook_event_name":"session:start","session_id":"s","parent_id":"p","cwd":"/c"}"#,
            AmplifierEventKind::SessionStarted,
            [Some("s"), Some("p"), Some("/c")],
        );
        check(
            r#"{"event":"tool:pre","session_id":null,"parent_id":"","working_directory":"","cwd":"/c"}"#,
            AmplifierEventKind::Other,
            [None, None, Some("/c")],
        );
        check("{}", AmplifierEventKind::Other, [None, None, None]);
        for broken in ["", "[]x", "{", "7", r#"{"session_id":7}"#, "\0"] {
            assert!(AmplifierEvent::parse(broken.as_bytes()).is_err(), "{broken:?}");
        }
    }

    #[test]
    fn h_0_21_answers_are_as_amplifier_takes_them() {
        // H-0.21
        assert_eq!(AmplifierReply::Continue.to_json(), r#"{"action":"continue"}"#);
        assert_eq!(
            AmplifierReply::Inject("a\n\"b\"\u{1b}".to_owned()).to_json(),
            r#"{"action":"inject_context","context_injection":"a\n\"b\"\u001b","context_injection_role":"system"}"#
        );
    }
}
