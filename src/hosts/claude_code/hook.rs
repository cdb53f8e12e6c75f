//! Claude Code's hooks: their input, and the output that Claude Code accepts.
//!
//! The real program shows three surprises: it silently drops an envelope without `hookEventName`,
//! it never shows standard output that is one JSON object as text, and it moves a text of more than
//! 10,000 UTF-16 units into a file and shows the model the first 2,000.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use crate::hosts::words::{EventKind, HostWords, SessionEvent, StartCause};

#[derive(Deserialize)]
struct RawEvent {
    /// A cleared session gets a new id.
    session_id: String,
    cwd: PathBuf,
    transcript_path: Option<PathBuf>,
    /// The sub-agent of the session that the event is about.
    agent_id: Option<String>,
    seconds_since_last_response: Option<Value>,
    #[serde(flatten)]
    kind: RawKind,
}

#[derive(Deserialize)]
#[serde(tag = "hook_event_name")]
enum RawKind {
    SessionStart {
        source: String,
    },
    UserPromptSubmit {
        prompt: String,
    },
    SessionEnd {
        reason: String,
    },
    #[serde(other)]
    Other,
}

pub struct ClaudeCode;

impl HostWords for ClaudeCode {
    fn read(&self, json: &[u8]) -> Option<SessionEvent> {
        let raw: RawEvent = serde_json::from_slice(json).ok()?;
        // Without an id, sessions cannot be distinguished.
        if raw.agent_id.is_some() || raw.session_id.trim().is_empty() {
            return None;
        }
        let mut said = None;
        let kind = match raw.kind {
            RawKind::UserPromptSubmit { prompt } => {
                said = Some(prompt);
                EventKind::Prompted
            }
            RawKind::SessionStart { source } => EventKind::Started(match source.as_str() {
                "resume" | "fork" => StartCause::Resumed,
                "clear" => StartCause::Cleared,
                "compact" => StartCause::Compacted,
                // `startup`, which the VS Code extension is said to report after `/clear`, too, or
                // a source of a newer version.
                _ => StartCause::New,
            }),
            // Others are `resume`, `logout`, `prompt_input_exit`, `other`, or of a newer version.
            RawKind::SessionEnd { reason } => EventKind::Ended { is_cleared: reason == "clear" },
            RawKind::Other => return None,
        };
        let seconds = raw.seconds_since_last_response.and_then(|seconds| seconds.as_u64());
        Some(SessionEvent {
            session: raw.session_id,
            folder: raw.cwd,
            transcript: raw.transcript_path.filter(|path| !path.as_os_str().is_empty()),
            silence: seconds.map(Duration::from_secs),
            kind,
            prompt: said,
        })
    }

    /// Replies with one line of JSON without a line break.
    fn context(&self, event: EventKind, text: &str) -> String {
        let event = match event {
            EventKind::Prompted => "UserPromptSubmit",
            EventKind::Started(_) | EventKind::Ended { .. } => "SessionStart",
        };
        let text = quoted(text);
        format!(
            r#"{{"hookSpecificOutput":{{"hookEventName":"{event}","additionalContext":{text}}}}}"#
        )
    }

    fn notice(&self, text: &str) -> Option<String> {
        Some(format!(r#"{{"systemMessage":{}}}"#, quoted(text)))
    }

    /// Through the file in which a hook sets variables for its session's shells. Ignores failures:
    /// the shells then lack the variable.
    fn name_session(&self, session: &str) {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let file = std::env::var_os("CLAUDE_ENV_FILE").filter(|file| !file.is_empty());
        if let Some(file) = file
            && !session.is_empty()
            && session.chars().all(is_plain)
        {
            let opened = OpenOptions::new().append(true).create(true).open(file);
            let line = format!("export KGCTX_SESSION_ID={session}\n");
            let _ = opened.and_then(|mut file| file.write_all(line.as_bytes()));
        }
    }
}

/// A text as JSON, on one line.
fn quoted(text: &str) -> String {
    let text = Value::from(text).to_string();
    // Some readers treat these characters as line breaks.
    text.replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use proptest::prelude::*;

    use super::*;

    fn recorded() -> Vec<(String, Vec<u8>)> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/events/claude-code");
        let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
        let events = files.filter(|file| file.extension().is_some_and(|ending| ending == "json"));
        let name = |file: &Path| file.file_stem().unwrap().to_str().unwrap().to_owned();
        events.map(|file| (name(&file), fs::read(&file).unwrap())).collect()
    }

    fn read(json: &str) -> Option<SessionEvent> {
        ClaudeCode.read(json.as_bytes())
    }

    #[test]
    fn every_recorded_event_is_understood() {
        let folder = Path::new("/home/ada/.claude/projects/-home-ada-atlas");
        let recorded = recorded();
        assert_eq!(recorded.len(), 15);
        for (name, json) in recorded {
            let Some(event) = ClaudeCode.read(&json) else {
                assert_eq!(name, "session-start-subagent");
                continue;
            };
            let expected = match name.trim_end_matches("-window") {
                "session-start-startup" | "session-start-vscode" => {
                    EventKind::Started(StartCause::New)
                }
                "session-start-resume" | "session-start-fork" => {
                    EventKind::Started(StartCause::Resumed)
                }
                "session-start-clear" => EventKind::Started(StartCause::Cleared),
                "session-start-compact" => EventKind::Started(StartCause::Compacted),
                "user-prompt-submit" => EventKind::Prompted,
                name => {
                    assert!(name.starts_with("session-end-"), "{name}");
                    EventKind::Ended { is_cleared: name == "session-end-clear" }
                }
            };
            assert_eq!(event.kind, expected, "{name}");
            let asked = (name == "user-prompt-submit").then_some("Why do the tiles flicker?");
            assert_eq!(event.prompt.as_deref(), asked, "{name}");
            let goes_on = event.kind == EventKind::Started(StartCause::Resumed);
            assert_eq!(event.silence, goes_on.then_some(Duration::from_secs(14)), "{name}");
            assert_eq!(event.folder, Path::new("/home/ada/atlas"), "{name}");
            let place = folder.join(format!("{}.jsonl", event.session));
            assert_eq!(event.transcript, Some(place), "{name}");
        }
    }

    #[test]
    fn events_of_other_versions_are_passed_over_and_their_sources_are_new_starts() {
        assert_eq!(read(r#"{"hook_event_name":"Stop","session_id":7}"#), None);
        assert_eq!(read(r#"{"hook_event_name":"Stop","session_id":"s","cwd":"/p"}"#), None);
        let start = read(
            r#"{"hook_event_name":"SessionStart","session_id":"s","cwd":"/p","source":"moon",
                "transcript_path":"","agent_id":null,"seconds_since_last_response":-0.5,"new":{"deep":[1]}}"#,
        );
        let (session, folder, kind) =
            ("s".to_owned(), "/p".into(), EventKind::Started(StartCause::New));
        let (transcript, silence, prompt) = (None, None, None);
        let expected = SessionEvent { session, folder, transcript, silence, kind, prompt };
        assert_eq!(start, Some(expected));
    }

    #[test]
    fn broken_input_is_no_event() {
        for broken in [
            "",
            "[]",
            "null",
            "{",
            "{}",
            r#"{"hook_event_name":3}"#,
            r#"{"hook_event_name":"SessionStart"}"#,
            r#"{"hook_event_name":"SessionStart","session_id":"s","cwd":"/p"}"#,
            r#"{"hook_event_name":"SessionEnd","session_id":"s","cwd":["/p"],"reason":"x"}"#,
            r#"{"hook_event_name":"SessionEnd","session_id":"\ud800","cwd":"/p","reason":"x"}"#,
            "\u{0}",
        ] {
            assert_eq!(read(broken), None, "{broken:?}");
        }
        assert_eq!(ClaudeCode.read(&[b'['; 100_000]), None);
        assert_eq!(ClaudeCode.read(b"\xff\xfe"), None);
    }

    proptest! {
        #[test]
        fn no_input_makes_the_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = ClaudeCode.read(&bytes);
        }

        /// A-1.18
        #[test]
        fn a_1_18_any_text_comes_through_as_one_line_of_json(
            text in "(\\PC|[\u{0}-\u{20}\"\\\\\u{7f}\u{85}\u{2028}\u{2029}😀]){0,200}"
        ) {
            check_envelope(&text);
        }
    }

    fn check_envelope(text: &str) {
        let json = ClaudeCode.context(EventKind::Started(StartCause::New), text);
        // Without the name Claude Code drops the text; any byte around the object turns all of it
        // into plain text.
        let read: Value = serde_json::from_str(&json).unwrap();
        let expected = serde_json::json!({"hookSpecificOutput":
            {"hookEventName": "SessionStart", "additionalContext": text}});
        assert_eq!(read, expected);
        assert!(json.starts_with('{') && json.ends_with('}'));
        let breaks = |c: char| c.is_ascii_control() || matches!(c, '\u{2028}' | '\u{2029}');
        assert!(!json.contains(|c| breaks(c) && c != '\u{7f}'), "{json:?}");
    }

    #[test]
    fn a_1_18_a_megabyte_comes_through() {
        // A-1.18
        check_envelope(&"\u{1}\"\\\n\u{2028}é😀x".repeat(80_000));
    }
}
