//! What Amplifier's hook asks, and what it is told.
//!
//! Only what is answered to a prompt reaches a model: Amplifier throws away what is answered to a session's start.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::json;

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Happening {
    /// A prompt is about to be sent.
    PromptSubmitted,
    /// A session has begun.
    SessionStarted,
    /// Something that concerns nobody.
    Other,
}

/// An event of Amplifier. It tells what it likes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// What happened.
    pub happening: Happening,
    /// To which session.
    pub session_id: Option<String>,
    /// The session that started this one, which is its helper then.
    pub parent_id: Option<String>,
    /// The folder that the session works in.
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

impl Event {
    /// Reads what the hook sent.
    pub fn parse(json: &[u8]) -> Result<Event, serde_json::Error> {
        let raw: RawEvent = serde_json::from_slice(json)?;
        let told = |text: Option<String>| text.filter(|text| !text.is_empty());
        let happening = match raw.event.or(raw.hook_event_name).as_deref() {
            Some("prompt:submit") => Happening::PromptSubmitted,
            Some("session:start") => Happening::SessionStarted,
            _ => Happening::Other,
        };
        let mut directories = [raw.working_directory, raw.cwd].into_iter().flatten();
        Ok(Event {
            happening,
            session_id: told(raw.session_id),
            parent_id: told(raw.parent_id),
            directory: directories.find(|folder| !folder.as_os_str().is_empty()),
        })
    }
}

/// What the hook is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// Give the session this text.
    Inject(String),
    /// Go on.
    Continue,
}

impl Answer {
    /// The answer as one line of JSON.
    pub fn to_json(&self) -> String {
        match self {
            Answer::Inject(text) => json!({
                "action": "inject_context",
                "context_injection": text,
                "context_injection_role": "system",
            }),
            Answer::Continue => json!({ "action": "continue" }),
        }
        .to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn h_0_21_events_are_read_as_far_as_they_tell() {
        // H-0.21
        #[track_caller]
        fn check(json: &str, happening: Happening, told: [Option<&str>; 3]) {
            let [session_id, parent_id, directory] = told.map(|text| text.map(str::to_owned));
            let expect =
                Event { happening, session_id, parent_id, directory: directory.map(PathBuf::from) };
            assert_eq!(Event::parse(json.as_bytes()).unwrap(), expect, "{json}");
        }
        check(
            r#"{"event":"prompt:submit","session_id":"s","working_directory":"/w","prompt":"x","data":{}}"#,
            Happening::PromptSubmitted,
            [Some("s"), None, Some("/w")],
        );
        check(
            r#"{"hook_event_name":"session:start","session_id":"s","parent_id":"p","cwd":"/c"}"#,
            Happening::SessionStarted,
            [Some("s"), Some("p"), Some("/c")],
        );
        check(
            r#"{"event":"tool:pre","session_id":null,"parent_id":"","working_directory":"","cwd":"/c"}"#,
            Happening::Other,
            [None, None, Some("/c")],
        );
        check("{}", Happening::Other, [None, None, None]);
        for broken in ["", "[]x", "{", "7", r#"{"session_id":7}"#, "\0"] {
            assert!(Event::parse(broken.as_bytes()).is_err(), "{broken:?}");
        }
    }

    #[test]
    fn h_0_21_answers_are_as_amplifier_takes_them() {
        // H-0.21
        assert_eq!(Answer::Continue.to_json(), r#"{"action":"continue"}"#);
        assert_eq!(
            Answer::Inject("a\n\"b\"\u{1b}".to_owned()).to_json(),
            r#"{"action":"inject_context","context_injection":"a\n\"b\"\u001b","context_injection_role":"system"}"#
        );
    }
}
