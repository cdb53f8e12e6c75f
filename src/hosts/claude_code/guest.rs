//! Other hosts that run Claude Code's hook: how they are recognised, and what they honour of an answer.
//!
//! Copilot CLI, VS Code, Continue and Cursor read Claude Code's settings, and people copy its hooks into the settings of others. A
//! variable like `CLAUDE_PROJECT_DIR` proves nothing: most of them set it, too. So Claude Code has to show itself.

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

/// The variables that hosts set for their hooks or in their agents' shells. Qwen Code comes from Gemini CLI, and sets both.
static MARKS: [(&str, &Guest); 12] = [
    ("COPILOT_CLI", &COPILOT),
    ("COPILOT_PROJECT_DIR", &COPILOT),
    ("QWEN_CODE_SESSION_ID", &OTHER),
    ("GEMINI_SESSION_ID", &OTHER),
    ("GEMINI_PROJECT_DIR", &OTHER),
    ("GEMINI_CLI", &OTHER),
    ("DROID_PROJECT_DIR", &OTHER),
    ("FACTORY_PROJECT_DIR", &OTHER),
    ("CURSOR_VERSION", &CURSOR),
    ("CURSOR_PROJECT_DIR", &CURSOR),
    ("CODEX_SESSION_ID", &CODEX),
    ("CRUSH", &OTHER),
];

/// The keys of an event that tell who calls.
#[derive(Deserialize)]
struct Signs {
    session_id: Option<Value>,
    transcript_path: Option<Value>,
    /// VS Code.
    #[serde(rename = "hookEventName")]
    camel_case_name: Option<Value>,
    /// No event of Claude Code has a time, and those of Copilot CLI, Gemini CLI and Qwen Code have one.
    timestamp: Option<Value>,
    cursor_version: Option<Value>,
    conversation_id: Option<Value>,
    workspace_roots: Option<Value>,
    model: Option<Value>,
}

impl Signs {
    fn session(&self) -> Option<&str> {
        self.session_id.as_ref().and_then(Value::as_str)
    }

    fn transcript(&self) -> Option<&str> {
        self.transcript_path.as_ref().and_then(Value::as_str)
    }

    /// The host whose words these are, if they cannot be Claude Code's.
    fn guest(&self) -> Option<&'static Guest> {
        let cursors = [&self.cursor_version, &self.conversation_id, &self.workspace_roots];
        let file = self.transcript().and_then(|path| path.rsplit('/').next()).unwrap_or_default();
        match self.transcript() {
            _ if cursors.iter().any(|sign| sign.is_some()) => Some(&CURSOR),
            _ if self.camel_case_name.is_some() => Some(&OTHER),
            _ if file.starts_with("rollout-") => Some(&CODEX),
            None if self.timestamp.is_some() => Some(&COPILOT),
            _ if self.timestamp.is_some() => Some(&OTHER),
            // Codex may not write its sessions down.
            None if self.model.is_some() => Some(&CODEX),
            _ => None,
        }
    }
}

impl Guest {
    /// The host that really calls; `None` for Claude Code. Whoever does not show to be Claude Code is a guest.
    pub(super) fn calling(json: &[u8], environment: &Environment) -> Option<&'static Guest> {
        let signs: Signs = serde_json::from_slice(json).ok()?;
        if is_certainly_claude_code(&signs, environment) {
            return None;
        }
        let marked = || MARKS.iter().find(|(name, _)| environment.get(name).is_some());
        let words = signs.guest();
        match words.filter(|guest| **guest == CURSOR).or_else(|| marked().map(|(_, guest)| *guest))
        {
            Some(guest) => Some(guest),
            None if words.is_some() => words,
            None => (!looks_like_claude_code(&signs, environment)).then_some(&OTHER),
        }
    }

    pub fn host(&self) -> Host {
        self.host
    }
}

/// Whether Claude Code has certainly started this process. In the shell of another host's agent it inherits that host's
/// marks; and another host inherits Claude Code's from the shell of its agent, where both of these differ.
fn is_certainly_claude_code(signs: &Signs, environment: &Environment) -> bool {
    let variable = |name: &str| environment.get(name).and_then(|value| value.to_str());
    let session = variable("CLAUDE_CODE_SESSION_ID");
    // `claude-code_2-1-138_harness`; in the agent's shell it ends with `_agent`.
    let is_its_hook = |agent: &str| agent.starts_with("claude-code") && agent.ends_with("_harness");
    (session.is_some() && session == signs.session())
        || variable("AI_AGENT").is_some_and(is_its_hook)
}

/// Whether Claude Code has started this process, unless a mark or a word of another host says otherwise. Versions before
/// 2.1.138 may name neither their session nor their hooks.
fn looks_like_claude_code(signs: &Signs, environment: &Environment) -> bool {
    let is_set = |name: &str| environment.get(name).is_some();
    // `…/projects/-home-ada-atlas/<session>.jsonl`, below a folder that the user may choose.
    let mut parts = signs.transcript().unwrap_or_default().rsplit('/');
    let file = parts.next().and_then(|name| name.strip_suffix(".jsonl"));
    let is_its_transcript =
        file.is_some() && file == signs.session() && parts.nth(1) == Some("projects");
    // Another session's name is inherited from the shell of an agent, and so is everything else.
    let is_inherited = is_set("CLAUDE_CODE_SESSION_ID");
    let is_its_environment = is_set("CLAUDE_CODE_ENTRYPOINT") || is_set("CLAUDECODE");
    is_its_transcript || (is_its_environment && !is_inherited)
}

impl HostWords for Guest {
    /// Reads an event with keys in the spelling of Claude Code, of JavaScript or of Cursor.
    fn read(&self, json: &[u8]) -> Option<SessionEvent> {
        let mut event: Map<String, Value> = serde_json::from_slice(json).ok()?;
        for (theirs, ours) in [
            ("sessionId", "session_id"),
            ("hookEventName", "hook_event_name"),
            ("transcriptPath", "transcript_path"),
            ("agentId", "agent_id"),
            ("conversation_id", "session_id"),
        ] {
            if let Some(value) = event.remove(theirs) {
                event.entry(ours).or_insert(value);
            }
        }
        if let Some(first) = event.get("workspace_roots").and_then(|roots| roots.get(0)).cloned() {
            event.entry("cwd").or_insert(first);
        }
        if event.get("hook_event_name").is_some_and(|name| name == "sessionStart") {
            event.insert("hook_event_name".to_owned(), "SessionStart".into());
            event.entry("source").or_insert("startup".into());
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
    // As their documentation has it.
    const CURSORS: &str = r#"{"conversation_id":"s","generation_id":"g","model":"m","hook_event_name":"sessionStart","cursor_version":"3.1","workspace_roots":["/p","/q"],"user_email":null,"transcript_path":null,"is_background_agent":false,"composer_mode":"agent"}"#;

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
        check(CLAUDE, &["COPILOT_CLI=1", "CLAUDE_PROJECT_DIR=/p"], Some(&COPILOT));
        check(CLAUDE, &["COPILOT_PROJECT_DIR=/p"], Some(&COPILOT));
        check(CLAUDE, &["QWEN_CODE_SESSION_ID=s", "GEMINI_SESSION_ID=s"], Some(&OTHER));
        for mark in ["DROID_PROJECT_DIR=/p", "FACTORY_PROJECT_DIR=/p", "GEMINI_CLI=1", "CRUSH=1"] {
            check(CLAUDE, &[mark, "CLAUDECODE=1"], Some(&OTHER));
        }
        check(CLAUDE, &["CURSOR_VERSION=3"], Some(&CURSOR));
        check(CLAUDE, &["CURSOR_PROJECT_DIR=/p"], Some(&CURSOR));
        check(COPILOTS, &[], Some(&COPILOT));
        check(VS_CODE, &[], Some(&OTHER));
        check(GEMINI, &[], Some(&OTHER));
        check(GEMINI, &["CLAUDECODE=1"], Some(&OTHER));
        check(CODEXS, &[], Some(&CODEX));
        check(CURSORS, &["GEMINI_CLI=1"], Some(&CURSOR));
        // One host in the shell of another's agent.
        let outer = ["COPILOT_CLI=1", "CLAUDECODE=1", "CLAUDE_CODE_SESSION_ID=s"];
        check(CLAUDE, &outer, None);
        check(CLAUDE, &["COPILOT_CLI=1", "AI_AGENT=claude-code_2-1-138_harness"], None);
        let agent = ["COPILOT_CLI=1", "AI_AGENT=claude-code_2-1-138_agent"];
        check(COPILOTS, &agent, Some(&COPILOT));
        let inherited = ["COPILOT_CLI=1", "CLAUDECODE=1", "CLAUDE_CODE_SESSION_ID=outer"];
        check(COPILOTS, &inherited, Some(&COPILOT));
        // A later Claude Code may tell the time.
        check(GEMINI, &["CLAUDE_CODE_SESSION_ID=s"], None);
        for broken in ["", "{", "[]", "null", "7"] {
            check(broken, &["COPILOT_CLI=1"], None);
        }
    }

    #[test]
    fn whoever_does_not_show_to_be_claude_code_is_a_guest() {
        let elsewhere = CLAUDE.replace("/h/.claude/projects/p/s.jsonl", "/h/.continue/sessions/s");
        let other = CLAUDE.replace("p/s.jsonl", "p/t.jsonl");
        let without = CLAUDE.replace(r#""transcript_path":"/h/.claude/projects/p/s.jsonl","#, "");
        let null = CODEXS.replace(r#""/h/.codex/sessions/2026/11/18/rollout-1.jsonl""#, "null");
        for (json, guest) in
            [(&elsewhere, &OTHER), (&other, &OTHER), (&without, &OTHER), (&null, &CODEX)]
        {
            check(json, &[], Some(guest));
            check(json, &["CLAUDE_PROJECT_DIR=/p"], Some(guest));
            // In the shell of Claude Code's agent.
            check(json, &["CLAUDECODE=1", "CLAUDE_CODE_SESSION_ID=outer"], Some(guest));
            // What 2.1.138, 2.1.139 and 2.1.325 set for their hooks.
            check(json, &["AI_AGENT=claude-code_2-1-139_harness"], None);
            check(json, &["CLAUDE_CODE_SESSION_ID=s"], None);
        }
        for json in [&elsewhere, &other, &without] {
            check(json, &["CLAUDECODE=1"], None);
            check(json, &["CLAUDE_CODE_ENTRYPOINT=cli"], None);
        }
        check(CLAUDE, &[], None);
        // An earlier version in the shell of a later one's agent.
        check(CLAUDE, &["CLAUDECODE=1", "CLAUDE_CODE_SESSION_ID=outer"], None);
    }

    #[test]
    fn every_caller_is_read_and_answered_in_its_own_words() {
        let start = EventKind::Started(StartCause::New);
        for json in [CLAUDE, COPILOTS, VS_CODE, GEMINI, CODEXS, CURSORS] {
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
        let prompt = CURSORS.replace("sessionStart", "beforeSubmitPrompt");
        assert_eq!(CURSOR.read(prompt.as_bytes()), None);
    }
}
