//! Other hosts that run Claude Code's hook: how they are recognised, and what they honour of an answer.
//!
//! Copilot CLI, VS Code and Cursor read Claude Code's settings, and people copy its hooks into the settings of others. A
//! variable like `CLAUDE_PROJECT_DIR` proves nothing: most of them set it, too.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::hook::{self, ClaudeCode};
use crate::core::host::Host;
use crate::hosts::words::{EventKind, HostWords, SessionEvent};
use crate::system::environment::Environment;

/// A host for which the hook was not installed. It gets context, and never a handoff, which would be lost wherever the
/// answer is dropped.
#[derive(Debug, PartialEq, Eq)]
pub struct Guest {
    /// The host whose limits hold.
    host: Host,
    form: Form,
}

/// Where a host looks for the text.
#[derive(Debug, PartialEq, Eq)]
enum Form {
    /// As Claude Code does.
    Envelope,
    /// Under this key, and nowhere else.
    TopLevel(&'static str),
}

static COPILOT: Guest = Guest { host: Host::Plain, form: Form::TopLevel("additionalContext") };
static CURSOR: Guest = Guest { host: Host::Plain, form: Form::TopLevel("additional_context") };
static CODEX: Guest = Guest { host: Host::Codex, form: Form::Envelope };
static OTHER: Guest = Guest { host: Host::Plain, form: Form::Envelope };

/// The variables that hosts set for their hooks. Qwen Code comes from Gemini CLI, and sets both.
static MARKS: [(&str, &Guest); 6] = [
    ("COPILOT_CLI", &COPILOT),
    ("QWEN_CODE_SESSION_ID", &OTHER),
    ("GEMINI_SESSION_ID", &OTHER),
    ("DROID_PROJECT_DIR", &OTHER),
    ("CURSOR_VERSION", &CURSOR),
    ("CRUSH", &OTHER),
];

/// What tells events of other hosts from those of Claude Code.
#[derive(Deserialize)]
struct Signs {
    session_id: Option<Value>,
    #[serde(rename = "hookEventName")]
    camel_case_name: Option<Value>,
    timestamp: Option<Value>,
    transcript_path: Option<Value>,
}

impl Guest {
    /// The host that really calls; `None` for Claude Code.
    pub(super) fn calling(json: &[u8], environment: &Environment) -> Option<&'static Guest> {
        let signs: Signs = serde_json::from_slice(json).ok()?;
        if is_claude_code(&signs, environment) {
            return None;
        }
        let marked = MARKS.iter().find(|(name, _)| environment.get(name).is_some());
        let transcript = signs.transcript_path.as_ref().and_then(Value::as_str);
        let file = transcript.and_then(|path| path.rsplit('/').next()).unwrap_or_default();
        match marked {
            Some((_, guest)) => Some(guest),
            // VS Code.
            None if signs.camel_case_name.is_some() => Some(&OTHER),
            None if file.starts_with("rollout-") => Some(&CODEX),
            None if signs.timestamp.is_some() && transcript.is_none() => Some(&COPILOT),
            // No event of Claude Code has a time.
            None if signs.timestamp.is_some() && environment.get("CLAUDECODE").is_none() => {
                Some(&OTHER)
            }
            None => None,
        }
    }

    pub fn host(&self) -> Host {
        self.host
    }
}

/// Whether Claude Code has certainly started this process. In the shell of another host's agent it inherits that host's
/// marks; and another host inherits Claude Code's from the shell of its agent, where both of these differ.
fn is_claude_code(signs: &Signs, environment: &Environment) -> bool {
    let variable = |name: &str| environment.get(name).and_then(|value| value.to_str());
    let session = variable("CLAUDE_CODE_SESSION_ID");
    let is_its_session =
        session.is_some() && session == signs.session_id.as_ref().and_then(Value::as_str);
    // `claude-code_2-1-138_harness`; in the agent's shell it ends with `_agent`.
    let is_its_hook = |agent: &str| agent.starts_with("claude-code") && agent.ends_with("_harness");
    is_its_session || variable("AI_AGENT").is_some_and(is_its_hook)
}

impl HostWords for Guest {
    /// Reads an event with keys in the spelling of Claude Code or of JavaScript.
    fn read(&self, json: &[u8]) -> Option<SessionEvent> {
        let mut event: Map<String, Value> = serde_json::from_slice(json).ok()?;
        for (theirs, ours) in [
            ("sessionId", "session_id"),
            ("hookEventName", "hook_event_name"),
            ("transcriptPath", "transcript_path"),
            ("agentId", "agent_id"),
        ] {
            if let Some(value) = event.remove(theirs) {
                event.entry(ours).or_insert(value);
            }
        }
        hook::event(serde_json::from_value(event.into()).ok()?)
    }

    fn context(&self, event: EventKind, text: &str) -> String {
        match self.form {
            Form::Envelope => ClaudeCode.context(event, text),
            Form::TopLevel(key) => format!(r#"{{"{key}":{}}}"#, hook::quoted(text)),
        }
    }

    fn is_guest(&self) -> bool {
        true
    }

    fn name_session(&self, session: &str) {
        ClaudeCode.name_session(session);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hosts::words::StartCause;

    const CLAUDE: &str = r#"{"session_id":"s","transcript_path":"/h/.claude/projects/p/s.jsonl","cwd":"/p","hook_event_name":"SessionStart","source":"startup"}"#;
    // Recorded with Copilot CLI 1.0.102.
    const COPILOTS: &str = r#"{"hook_event_name":"SessionStart","session_id":"s","timestamp":"2026-11-18T02:22:41.597Z","cwd":"/p","source":"new","initial_prompt":"hello"}"#;
    // As their documentation has it.
    const VS_CODE: &str = r#"{"timestamp":"2026-11-18T02:22:41.597Z","cwd":"/p","sessionId":"s","hookEventName":"SessionStart","transcript_path":"/t.json","source":"new"}"#;
    const GEMINI: &str = r#"{"session_id":"s","transcript_path":"/t.json","cwd":"/p","hook_event_name":"SessionStart","timestamp":"2026-11-18T02:22:41Z","source":"startup"}"#;
    const CODEXS: &str = r#"{"session_id":"s","transcript_path":"/h/.codex/sessions/2026/11/18/rollout-1.jsonl","cwd":"/p","hook_event_name":"SessionStart","model":"m","permission_mode":"default","source":"startup"}"#;

    #[track_caller]
    fn check(json: &str, variables: &[&str], expected: Option<&'static Guest>) {
        let variable = |text: &&str| {
            let (name, value) = text.split_once('=').unwrap();
            (name.into(), value.into())
        };
        let environment: Environment = variables.iter().map(variable).collect();
        assert_eq!(Guest::calling(json.as_bytes(), &environment), expected, "{json} {variables:?}");
    }

    #[test]
    fn the_caller_is_told_by_its_marks_and_its_words() {
        check(CLAUDE, &[], None);
        check(CLAUDE, &["CLAUDECODE=1", "CLAUDE_PROJECT_DIR=/p"], None);
        check(CLAUDE, &["COPILOT_CLI=1", "CLAUDE_PROJECT_DIR=/p"], Some(&COPILOT));
        check(CLAUDE, &["QWEN_CODE_SESSION_ID=s", "GEMINI_SESSION_ID=s"], Some(&OTHER));
        check(CLAUDE, &["DROID_PROJECT_DIR=/p"], Some(&OTHER));
        check(CLAUDE, &["CURSOR_VERSION=3"], Some(&CURSOR));
        check(CLAUDE, &["CRUSH=1"], Some(&OTHER));
        check(COPILOTS, &[], Some(&COPILOT));
        check(VS_CODE, &[], Some(&OTHER));
        check(GEMINI, &[], Some(&OTHER));
        check(CODEXS, &[], Some(&CODEX));
        // One host in the shell of another's agent.
        let outer = ["COPILOT_CLI=1", "CLAUDECODE=1", "CLAUDE_CODE_SESSION_ID=s"];
        check(CLAUDE, &outer, None);
        check(CLAUDE, &["COPILOT_CLI=1", "AI_AGENT=claude-code_2-1-138_harness"], None);
        let agent = ["COPILOT_CLI=1", "AI_AGENT=claude-code_2-1-138_agent"];
        check(COPILOTS, &agent, Some(&COPILOT));
        let inherited = ["COPILOT_CLI=1", "CLAUDECODE=1", "CLAUDE_CODE_SESSION_ID=outer"];
        check(COPILOTS, &inherited, Some(&COPILOT));
        // A later Claude Code may tell the time.
        check(GEMINI, &["CLAUDECODE=1"], None);
        for broken in ["", "{", "[]", "null", "7"] {
            check(broken, &["COPILOT_CLI=1"], None);
        }
    }

    #[test]
    fn every_caller_is_read_and_answered_in_its_own_words() {
        let start = EventKind::Started(StartCause::New);
        for json in [CLAUDE, COPILOTS, VS_CODE, GEMINI, CODEXS] {
            let SessionEvent { session, folder, kind, .. } = OTHER.read(json.as_bytes()).unwrap();
            assert_eq!((&*session, folder.to_str(), kind), ("s", Some("/p"), start), "{json}");
        }
        let resumed = COPILOTS.replace("\"new\"", "\"resume\"");
        let resumed = COPILOT.read(resumed.as_bytes()).unwrap();
        assert_eq!(resumed.kind, EventKind::Started(StartCause::Resumed));
        let child = COPILOTS.replacen('{', r#"{"agentId":"a","#, 1);
        assert_eq!(COPILOT.read(child.as_bytes()), None);
        assert_eq!(COPILOT.context(start, "a\n\"b\""), r#"{"additionalContext":"a\n\"b\""}"#);
        assert_eq!(CURSOR.context(start, "a"), r#"{"additional_context":"a"}"#);
        assert_eq!(CODEX.context(start, "a"), ClaudeCode.context(start, "a"));
        assert_eq!(COPILOT.notice("a"), None);
    }
}
