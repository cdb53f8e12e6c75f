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

use super::guest::Guest;
use crate::hosts::words::{EventKind, HostWords, SessionEvent, StartCause};
use crate::system::environment::Environment;

/// What starts Claude Code without a person, besides the SDKs.
const SCRIPTED: [&str; 3] = ["claude-code-github-action", "mcp", "bench"];

#[derive(Deserialize)]
pub(super) struct RawEvent {
    /// A cleared session gets a new id.
    session_id: String,
    cwd: PathBuf,
    transcript_path: Option<PathBuf>,
    /// The sub-agent of the session that the event is about.
    agent_id: Option<String>,
    seconds_since_last_response: Option<Value>,
    timestamp: Option<Value>,
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
    PreCompact {},
    PostToolUse {},
    Stop {
        #[serde(default)]
        background_tasks: Value,
        last_assistant_message: Option<String>,
    },
    #[serde(other)]
    Other,
}

pub struct ClaudeCode;

impl HostWords for ClaudeCode {
    fn read(&self, json: &[u8]) -> Option<SessionEvent> {
        let raw: RawEvent = serde_json::from_slice(json).ok()?;
        // An event of Copilot CLI.
        if raw.timestamp.is_some() && raw.transcript_path.is_none() {
            return None;
        }
        event(raw)
    }

    fn guest(&self, json: &[u8], environment: &Environment) -> Option<&'static Guest> {
        Guest::calling(json, environment)
    }

    /// Replies with one line of JSON without a line break.
    fn context(&self, event: EventKind, text: &str) -> String {
        let event = match event {
            EventKind::Prompted => "UserPromptSubmit",
            EventKind::ToolUsed => "PostToolUse",
            _ => "SessionStart",
        };
        let text = quoted(text);
        format!(
            r#"{{"hookSpecificOutput":{{"hookEventName":"{event}","additionalContext":{text}}}}}"#
        )
    }

    /// Plain text, which follows the user's own instructions.
    fn to_summariser(&self, text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    fn notice(&self, text: &str) -> Option<String> {
        Some(format!(r#"{{"systemMessage":{}}}"#, quoted(text)))
    }

    /// Claude Code names what started it: `cli` is its window, `sdk-cli` is `claude -p`, `sdk-ts` and `sdk-py` are
    /// programs. Names of editors, desktops and later versions count as interactive. A `claude -p` that inherits `cli`
    /// from a window's shell overwrites it.
    fn is_scripted(&self, environment: &Environment) -> bool {
        let by = environment.get("CLAUDE_CODE_ENTRYPOINT").and_then(|name| name.to_str());
        by.is_some_and(|by| by.starts_with("sdk-") || SCRIPTED.contains(&by))
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

/// What an event means; `None` for one that is about a sub-agent, or about no session.
pub(super) fn event(raw: RawEvent) -> Option<SessionEvent> {
    // Without an id, sessions cannot be distinguished.
    if raw.agent_id.is_some() || raw.session_id.trim().is_empty() {
        return None;
    }
    let (mut said, mut answer) = (None, None);
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
        RawKind::PreCompact {} => EventKind::Compacting,
        RawKind::PostToolUse {} => EventKind::ToolUsed,
        RawKind::Stop { background_tasks, last_assistant_message } => {
            answer = last_assistant_message;
            EventKind::TurnEnded {
                is_working: background_tasks.as_array().is_some_and(|tasks| !tasks.is_empty()),
                has_agents: has_agents(&background_tasks),
            }
        }
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
        answer,
        max_chars: None,
    })
}

/// Whether any task in the background is more than a shell or something that is watched: these outlive a clearing.
fn has_agents(tasks: &Value) -> bool {
    let outlives = |kind: &str| ["shell", "bash", "monitor"].iter().any(|word| kind.contains(word));
    let is_agent = |task: &Value| !task["type"].as_str().is_some_and(outlives);
    tasks.as_array().is_some_and(|tasks| tasks.iter().any(is_agent))
}

/// A text as JSON, on one line.
pub(super) fn quoted(text: &str) -> String {
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
        assert_eq!(recorded.len(), 18);
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
                "pre-compact-manual" => EventKind::Compacting,
                "post-tool-use" => EventKind::ToolUsed,
                "stop" => EventKind::TurnEnded { is_working: false, has_agents: false },
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
    fn events_of_copilot_are_passed_over() {
        // Recorded with Copilot CLI 1.0.102.
        let head = r#""session_id":"3412ff1e","timestamp":"2026-11-17T23:04:53.948Z","cwd":"/p""#;
        for event in [
            r#""hook_event_name":"SessionStart","source":"new","initial_prompt":"hello""#,
            r#""hook_event_name":"UserPromptSubmit","prompt":"hello""#,
            r#""hook_event_name":"SessionEnd","reason":"complete""#,
        ] {
            assert_eq!(read(&format!("{{{head},{event}}}")), None, "{event}");
            let with_transcript = format!(r#"{{{head},{event},"transcript_path":"/t.jsonl"}}"#);
            assert!(read(&with_transcript).is_some(), "{event}");
        }
    }

    #[test]
    fn events_of_other_versions_are_passed_over_and_their_sources_are_new_starts() {
        assert_eq!(read(r#"{"hook_event_name":"Stop","session_id":7}"#), None);
        assert_eq!(read(r#"{"hook_event_name":"SubagentStop","session_id":"s","cwd":"/p"}"#), None);
        let start = read(
            r#"{"hook_event_name":"SessionStart","session_id":"s","cwd":"/p","source":"moon",
                "transcript_path":"","agent_id":null,"seconds_since_last_response":-0.5,"new":{"deep":[1]}}"#,
        );
        let (session, folder, kind) =
            ("s".to_owned(), "/p".into(), EventKind::Started(StartCause::New));
        let (transcript, silence, prompt, answer, max_chars) = (None, None, None, None, None);
        let expected =
            SessionEvent { session, folder, transcript, silence, kind, prompt, answer, max_chars };
        assert_eq!(start, Some(expected));
    }

    #[test]
    fn r_4_10_agents_in_the_background_are_told_from_shells() {
        // R-4.10
        let stop = |more: &str| {
            let json = format!(r#"{{"hook_event_name":"Stop","session_id":"s","cwd":"/p"{more}}}"#);
            read(&json).map(|event| event.kind)
        };
        let ended = |is_working, has_agents| Some(EventKind::TurnEnded { is_working, has_agents });
        assert_eq!(stop(""), ended(false, false));
        assert_eq!(stop(r#","stop_hook_active":true,"background_tasks":[]"#), ended(false, false));
        let task = |kind: &str| {
            stop(&format!(
                r#","background_tasks":[{{"id":"b1","type":"{kind}","status":"running"}}]"#
            ))
        };
        assert_eq!((task("shell"), task("local_bash")), (ended(true, false), ended(true, false)));
        assert_eq!(
            (task("subagent"), task("of a later version")),
            (ended(true, true), ended(true, true))
        );
        assert_eq!(stop(r#","background_tasks":7"#), ended(false, false));
        // That of a sub-agent ends no turn of the session.
        assert_eq!(stop(r#","agent_id":"a""#), None);
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
