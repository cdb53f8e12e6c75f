//! The input of a Claude Code hook and the output that Claude Code accepts. Makes no decisions.
//!
//! The real program shows three surprises: it silently drops an envelope without `hookEventName`,
//! it never shows standard output that is one JSON object as text, and it moves a text of more than
//! 10,000 UTF-16 units into a file and shows the model the first 2,000.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The longest text that reaches the model whole. Claude Code counts UTF-16 units: a character
/// beyond the first plane counts as two.
const MAX_CONTEXT_UNITS: usize = 10_000;

/// An event of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClaudeCodeEvent {
    /// The session starts or continues.
    Start {
        /// A cleared session gets a new id.
        session: String,
        cwd: PathBuf,
        source: StartSource,
        /// The transcript's path. The file may not exist yet.
        transcript: Option<PathBuf>,
        /// The time since the last response, in whole seconds.
        silence: Option<Duration>,
        /// Whether the event is about a sub-agent of the session.
        is_subagent: bool,
    },
    End {
        session: String,
        cwd: PathBuf,
        /// `clear`, `resume`, `logout`, `prompt_input_exit`, `other`, or a reason of a newer
        /// version.
        reason: String,
        transcript: Option<PathBuf>,
        /// Whether the event is about a sub-agent of the session.
        is_subagent: bool,
    },
    /// Another event, by its `hook_event_name`.
    Other(String),
}

/// Why a session starts.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub enum StartSource {
    /// Claude Code was started. The VS Code extension is said to report this after `/clear`, too.
    Startup,
    Resume,
    /// The user ran `/clear`.
    Clear,
    /// A summary replaced the conversation.
    Compact,
    Fork,
    /// A source of a newer version.
    Other(String),
}

impl From<String> for StartSource {
    fn from(name: String) -> StartSource {
        match name.as_str() {
            "startup" => StartSource::Startup,
            "resume" => StartSource::Resume,
            "clear" => StartSource::Clear,
            "compact" => StartSource::Compact,
            "fork" => StartSource::Fork,
            _ => StartSource::Other(name),
        }
    }
}

#[derive(Debug, Error)]
#[error("what Claude Code told the hook cannot be read: {0}")]
pub struct EventError(#[from] serde_json::Error);

#[derive(Deserialize)]
struct Named {
    hook_event_name: String,
}

#[derive(Deserialize)]
struct Common {
    session_id: String,
    cwd: PathBuf,
    transcript_path: Option<PathBuf>,
    agent_id: Option<String>,
}

#[derive(Deserialize)]
struct Started {
    #[serde(flatten)]
    common: Common,
    source: StartSource,
    seconds_since_last_response: Option<serde_json::Value>,
}

#[derive(Deserialize)]
struct Ended {
    #[serde(flatten)]
    common: Common,
    reason: String,
}

impl ClaudeCodeEvent {
    /// Parses a hook's standard input.
    pub fn parse(json: &[u8]) -> Result<ClaudeCodeEvent, EventError> {
        let Named { hook_event_name } = serde_json::from_slice(json)?;
        Ok(match hook_event_name.as_str() {
            "SessionStart" => {
                let Started { common, source, seconds_since_last_response } =
                    serde_json::from_slice(json)?;
                let Common { session_id: session, cwd, transcript_path, agent_id } = common;
                let (transcript, is_subagent) = (named(transcript_path), agent_id.is_some());
                let seconds = seconds_since_last_response.and_then(|seconds| seconds.as_u64());
                let silence = seconds.map(Duration::from_secs);
                ClaudeCodeEvent::Start { session, cwd, source, transcript, silence, is_subagent }
            }
            "SessionEnd" => {
                let Ended { common, reason } = serde_json::from_slice(json)?;
                let Common { session_id: session, cwd, transcript_path, agent_id } = common;
                let (transcript, is_subagent) = (named(transcript_path), agent_id.is_some());
                ClaudeCodeEvent::End { session, cwd, reason, transcript, is_subagent }
            }
            _ => ClaudeCodeEvent::Other(hook_event_name),
        })
    }
}

fn named(path: Option<PathBuf>) -> Option<PathBuf> {
    path.filter(|path| !path.as_os_str().is_empty())
}

/// Formats the reply to a session's start that injects `text`: one line of JSON without a line
/// break.
pub fn additional_context(text: &str) -> String {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Output<'a> {
        hook_specific_output: Specific<'a>,
    }
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Specific<'a> {
        hook_event_name: &'static str,
        additional_context: &'a str,
    }
    let hook_specific_output =
        Specific { hook_event_name: "SessionStart", additional_context: text };
    // Serialising strings cannot fail.
    let json = serde_json::to_string(&Output { hook_specific_output }).unwrap_or_default();
    // Some readers treat these characters as line breaks.
    json.replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

pub fn fits(text: &str) -> bool {
    text.encode_utf16().count() <= MAX_CONTEXT_UNITS
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    fn recorded() -> Vec<(String, Vec<u8>)> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/events/claude-code");
        let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
        let events = files.filter(|file| file.extension().is_some_and(|ending| ending == "json"));
        let name = |file: &Path| file.file_stem().unwrap().to_str().unwrap().to_owned();
        events.map(|file| (name(&file), fs::read(&file).unwrap())).collect()
    }

    #[test]
    fn every_recorded_event_is_understood() {
        let folder = Path::new("/home/ada/.claude/projects/-home-ada-atlas");
        let recorded = recorded();
        assert_eq!(recorded.len(), 14);
        for (name, json) in recorded {
            let (id, place, told, subagent) = match ClaudeCodeEvent::parse(&json).unwrap() {
                ClaudeCodeEvent::Start {
                    session,
                    cwd,
                    source,
                    transcript,
                    silence,
                    is_subagent,
                } => {
                    let goes_on = matches!(source, StartSource::Resume | StartSource::Fork);
                    assert!(!goes_on || silence == Some(Duration::from_secs(14)), "{name}");
                    assert_eq!(cwd, Path::new("/home/ada/atlas"));
                    assert!(!matches!(source, StartSource::Other(_)), "{name}");
                    let source = format!("{source:?}").to_lowercase();
                    (session, transcript, format!("session-start-{source}"), is_subagent)
                }
                ClaudeCodeEvent::End { session, cwd, reason, transcript, is_subagent } => {
                    assert_eq!(cwd, Path::new("/home/ada/atlas"));
                    let reason = reason.replace('_', "-");
                    (session, transcript, format!("session-end-{reason}"), is_subagent)
                }
                ClaudeCodeEvent::Other(other) => panic!("{name}: {other}"),
            };
            assert_eq!(place, Some(folder.join(format!("{id}.jsonl"))), "{name}");
            assert_eq!(subagent, name == "session-start-subagent", "{name}");
            let expected = match name.as_str() {
                "session-start-subagent" | "session-start-vscode" => "session-start-startup",
                name => name.trim_end_matches("-window"),
            };
            assert_eq!(told, expected);
        }
    }

    #[test]
    fn events_and_sources_of_other_versions_are_named() {
        let parse = |json: &str| ClaudeCodeEvent::parse(json.as_bytes()).unwrap();
        let stop = parse(r#"{"hook_event_name":"Stop","session_id":7}"#);
        assert_eq!(stop, ClaudeCodeEvent::Other("Stop".to_owned()));
        let start = parse(
            r#"{"hook_event_name":"SessionStart","session_id":"s","cwd":"/p","source":"moon",
                "transcript_path":"","agent_id":null,"seconds_since_last_response":-0.5,"new":{"deep":[1]}}"#,
        );
        assert_eq!(
            start,
            ClaudeCodeEvent::Start {
                session: "s".to_owned(),
                cwd: "/p".into(),
                source: StartSource::Other("moon".to_owned()),
                transcript: None,
                silence: None,
                is_subagent: false,
            }
        );
    }

    #[test]
    fn broken_input_is_an_error_that_says_so() {
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
            let error = ClaudeCodeEvent::parse(broken.as_bytes()).unwrap_err().to_string();
            assert!(error.starts_with("what Claude Code told the hook"), "{broken:?}: {error}");
        }
        assert!(ClaudeCodeEvent::parse(&[b'['; 100_000]).is_err());
        assert!(ClaudeCodeEvent::parse(b"\xff\xfe").is_err());
    }

    proptest! {
        #[test]
        fn no_input_makes_the_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = ClaudeCodeEvent::parse(&bytes);
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
        let json = additional_context(text);
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

    #[test]
    fn room_is_counted_as_claude_code_counts() {
        assert!(fits(&"ü".repeat(10_000)) && !fits(&"a".repeat(10_001)));
        assert!(fits(&"😀".repeat(5_000)) && !fits(&"😀".repeat(5_001)));
    }
}
