//! Amplifier's hook: what our module in it asks, and the replies.
//!
//! Amplifier discards the reply to a session's start, so the module puts the text in itself, and reports what became of it. A hook of
//! somebody else's that passes `prompt:submit` on is answered in Amplifier's own words.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::hosts::amplifier::transcript;
use crate::hosts::words::{EventKind, HostWords, SessionEvent, StartCause};
use crate::system::environment::Environment;

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
    /// The version of our module, if that asks.
    module: Option<String>,
    /// Why our module asks: `startup`, `resume` or `clear`.
    source: Option<String>,
    max_chars: Option<usize>,
    receipt: Option<i64>,
}

impl RawEvent {
    fn kind(&self) -> Option<EventKind> {
        let name = self.event.as_ref().or(self.hook_event_name.as_ref())?.as_str();
        if self.module.is_none() {
            // Only the reply to a prompt reaches the model of somebody else's hook.
            return (name == "prompt:submit").then_some(EventKind::Prompted);
        }
        let receipt = |kind: fn(i64) -> EventKind| self.receipt.map(kind);
        match (name, self.source.as_deref()) {
            ("session:start", _) => Some(EventKind::Started(StartCause::New)),
            ("session:resume", _) | ("prompt:submit", Some("resume")) => {
                Some(EventKind::Started(StartCause::Resumed))
            }
            ("prompt:submit", Some("clear")) => Some(EventKind::Started(StartCause::Cleared)),
            ("session:end", _) => Some(EventKind::Ended { is_cleared: false }),
            ("kgctx.delivered", _) => receipt(|receipt| EventKind::Delivered { receipt }),
            ("kgctx.released", _) => receipt(|receipt| EventKind::Released { receipt }),
            _ => None,
        }
    }
}

pub struct Amplifier;

impl HostWords for Amplifier {
    fn read(&self, json: &[u8]) -> Option<SessionEvent> {
        let raw: RawEvent = serde_json::from_slice(json).ok()?;
        let kind = raw.kind()?;
        if raw.parent_id.is_some_and(|parent| !parent.is_empty()) {
            return None;
        }
        let mut folders = [raw.working_directory, raw.cwd].into_iter().flatten();
        let folder = folders.find(|folder| !folder.as_os_str().is_empty());
        Some(SessionEvent {
            session: raw.session_id.filter(|session| !session.is_empty())?,
            folder: folder.unwrap_or_else(|| PathBuf::from(".")),
            transcript: None,
            silence: None,
            kind,
            prompt: raw.prompt.and_then(|prompt| prompt.as_str().map(str::to_owned)),
            answer: None,
            max_chars: raw.max_chars,
        })
    }

    fn starts_at_prompt(&self) -> bool {
        true
    }

    fn is_confirmed(&self, event: EventKind) -> bool {
        matches!(event, EventKind::Started(_))
    }

    /// The command line keeps no message of the system, and a session that is cleared keeps its id.
    fn keeps_context(&self) -> bool {
        false
    }

    fn transcript(
        &self,
        environment: &Environment,
        folder: &Path,
        session: &str,
    ) -> Option<PathBuf> {
        transcript::place(environment, folder, session)
    }

    fn context(&self, _event: EventKind, text: &str) -> String {
        let reply = json!({
            "action": "inject_context",
            "context_injection": text,
            "context_injection_role": "system",
        });
        reply.to_string()
    }

    fn confirmed_context(&self, _event: EventKind, text: &str, receipt: Option<i64>) -> String {
        let reply = json!({
            "action": "inject_context",
            "context_injection": text,
            "context_injection_role": "system",
            "receipt": receipt,
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
    use std::time::Duration;

    use super::*;
    use crate::core::time_limits;

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
                answer: None,
                max_chars: None,
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
    fn the_module_waits_longer_than_a_hook_takes() {
        let module =
            include_str!("../../../bridges/amplifier/amplifier_module_hooks_kgctx/__init__.py");
        let seconds = module.split_once("TIMEOUT_SECONDS = ").unwrap().1.lines().next().unwrap();
        let timeout = Duration::from_secs_f64(seconds.parse().unwrap());
        assert!(time_limits::HOOK + Duration::from_millis(200) < timeout);
        let bundle = include_str!("../../../bridges/amplifier/bundle.yaml");
        assert!(bundle.ends_with(&format!("timeout: {}\n", timeout.as_secs())), "{bundle}");
    }

    #[test]
    fn what_our_module_asks_is_told_apart() {
        let read = |event: &str| {
            let asked = format!(
                r#"{{"event":{event},"session_id":"s","parent_id":null,"working_directory":"/w","max_chars":90,"module":"0.1.0"}}"#
            );
            Amplifier.read(asked.as_bytes()).map(|event| {
                assert_eq!((event.session.as_str(), event.folder), ("s", "/w".into()));
                assert_eq!(event.max_chars, Some(90));
                event.kind
            })
        };
        let started = |cause| Some(EventKind::Started(cause));
        for (event, kind) in [
            (r#""session:start","source":"startup""#, started(StartCause::New)),
            (r#""session:resume","source":"resume""#, started(StartCause::Resumed)),
            (r#""prompt:submit","source":"resume""#, started(StartCause::Resumed)),
            (r#""prompt:submit","source":"clear""#, started(StartCause::Cleared)),
            (r#""prompt:submit""#, None),
            (r#""session:end""#, Some(EventKind::Ended { is_cleared: false })),
            (r#""kgctx.delivered","receipt":7"#, Some(EventKind::Delivered { receipt: 7 })),
            (r#""kgctx.released","receipt":7"#, Some(EventKind::Released { receipt: 7 })),
            (r#""kgctx.released","receipt":null"#, None),
            (r#""session:fork""#, None),
        ] {
            assert_eq!(read(event), kind, "{event}");
        }
        let confirmed = EventKind::Started(StartCause::New);
        assert!(Amplifier.is_confirmed(confirmed) && !Amplifier.is_confirmed(EventKind::Prompted));
        let reply: Value =
            serde_json::from_str(&Amplifier.confirmed_context(confirmed, "a", Some(7))).unwrap();
        assert_eq!((&reply["receipt"], &reply["context_injection"]), (&json!(7), &json!("a")));
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
