//! Amplifier's hook: its events and the replies to them.
//!
//! Only a reply to a prompt reaches the model: Amplifier discards the reply to a session's start.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::hosts::words::{EventKind, HostWords, SessionEvent};

/// An event of Amplifier. Every field can be missing.
#[derive(Deserialize)]
struct RawEvent {
    event: Option<String>,
    hook_event_name: Option<String>,
    session_id: Option<String>,
    /// The session that started this one; set for a sub-agent.
    parent_id: Option<String>,
    working_directory: Option<PathBuf>,
    cwd: Option<PathBuf>,
    prompt: Option<Value>,
}

pub struct Amplifier;

impl HostWords for Amplifier {
    fn read(&self, json: &[u8]) -> Option<SessionEvent> {
        let raw: RawEvent = serde_json::from_slice(json).ok()?;
        let name = raw.event.or(raw.hook_event_name)?;
        if name != "prompt:submit" || raw.parent_id.is_some_and(|parent| !parent.is_empty()) {
            return None;
        }
        let mut folders = [raw.working_directory, raw.cwd].into_iter().flatten();
        let folder = folders.find(|folder| !folder.as_os_str().is_empty());
        Some(SessionEvent {
            session: raw.session_id.filter(|session| !session.is_empty())?,
            folder: folder.unwrap_or_else(|| PathBuf::from(".")),
            transcript: None,
            silence: None,
            kind: EventKind::Prompted,
            prompt: raw.prompt.and_then(|prompt| prompt.as_str().map(str::to_owned)),
        })
    }

    fn starts_at_prompt(&self) -> bool {
        true
    }

    fn context(&self, _event: EventKind, text: &str) -> String {
        let reply = json!({
            "action": "inject_context",
            "context_injection": text,
            "context_injection_role": "system",
        });
        reply.to_string()
    }

    fn nothing(&self) -> Option<String> {
        Some(json!({ "action": "continue" }).to_string())
    }

    fn notice(&self, text: &str) -> Option<String> {
        Some(json!({ "action": "continue", "user_message": text }).to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn h_0_21_events_are_read_as_far_as_they_tell() {
        // H-0.21
        #[track_caller]
        fn check(json: &str, told: Option<(&str, &str)>) {
            let prompt = json.contains(r#""prompt":"x""#).then(|| "x".to_owned());
            let expect = told.map(|(session, folder)| SessionEvent {
                session: session.to_owned(),
                folder: folder.into(),
                transcript: None,
                silence: None,
                kind: EventKind::Prompted,
                prompt,
            });
            assert_eq!(Amplifier.read(json.as_bytes()), expect, "{json}");
        }
        check(
            r#"{"event":"prompt:submit","session_id":"s","working_directory":"/w","prompt":"x","data":{}}"#,
            Some(("s", "/w")),
        );
        check(
            r#"{"hook_event_name":"prompt:submit","session_id":"s","parent_id":"","working_directory":"","cwd":"/c"}"#,
            Some(("s", "/c")),
        );
        check(r#"{"event":"prompt:submit","session_id":"s"}"#, Some(("s", ".")));
        for nothing in [
            r#"{"hook_event_name":"session:start","session_id":"s","parent_id":"p","cwd":"/c"}"#,
            r#"{"hook_event_name":"session:start","session_id":"s","cwd":"/c"}"#,
            r#"{"event":"prompt:submit","session_id":"s","parent_id":"p","cwd":"/c"}"#,
            r#"{"event":"tool:pre","session_id":null,"parent_id":"","working_directory":"","cwd":"/c"}"#,
            r#"{"event":"prompt:submit","session_id":null,"cwd":"/c"}"#,
            r#"{"event":"prompt:submit","session_id":"","cwd":"/c"}"#,
            "{}",
        ] {
            check(nothing, None);
        }
        for broken in ["", "[]x", "{", "7", r#"{"event":"prompt:submit","session_id":7}"#, "\0"] {
            check(broken, None);
        }
    }

    #[test]
    fn h_0_21_answers_are_as_amplifier_takes_them() {
        // H-0.21
        assert_eq!(Amplifier.nothing().unwrap(), r#"{"action":"continue"}"#);
        assert_eq!(
            Amplifier.context(EventKind::Prompted, "a\n\"b\"\u{1b}"),
            r#"{"action":"inject_context","context_injection":"a\n\"b\"\u001b","context_injection_role":"system"}"#
        );
    }
}
