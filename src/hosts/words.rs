//! Events and replies of the hosts that read our standard output.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::core::host::Host;
use crate::hosts::amplifier::Amplifier;
use crate::hosts::claude_code::{ClaudeCode, Guest};
use crate::system::environment::Environment;

/// The event and reply formats of one host.
pub trait HostWords: Sync {
    /// Parses an event; `None` for one that needs no reply and no record.
    fn read(&self, json: &[u8]) -> Option<SessionEvent>;

    /// The reply to an event that injects a context.
    fn context(&self, event: EventKind, text: &str) -> String;

    /// The host that really calls, if it is not the one for which the hook was installed.
    fn guest(&self, _json: &[u8], _environment: &Environment) -> Option<&'static Guest> {
        None
    }

    /// Whether the hook was installed for another host.
    fn is_guest(&self) -> bool {
        false
    }

    /// Whether the sender of an event reports later what became of the context, by its receipt. Otherwise the context is
    /// delivered with the last byte of the reply.
    fn is_confirmed(&self, _event: EventKind) -> bool {
        false
    }

    /// The reply to an event whose sender reports what became of the context.
    fn confirmed_context(&self, event: EventKind, text: &str, _receipt: Option<i64>) -> String {
        self.context(event, text)
    }

    /// Whether a session keeps its context when it is resumed.
    fn keeps_context(&self) -> bool {
        true
    }

    /// The transcript of a session that started in a folder, for a host that does not tell its place.
    fn transcript(
        &self,
        _environment: &Environment,
        _folder: &Path,
        _session: &str,
    ) -> Option<PathBuf> {
        None
    }

    /// The reply that tells the summariser of a compaction what to keep, if the host passes that on.
    fn to_summariser(&self, _text: &str) -> Option<String> {
        self.nothing()
    }

    /// Whether a session receives its context at a prompt, because replies to its start are lost.
    fn starts_at_prompt(&self) -> bool {
        false
    }

    /// The reply without a context, if the host needs one.
    fn nothing(&self) -> Option<String> {
        None
    }

    /// The reply without a context that tells the user something, and not the model, if the host supports that.
    fn notice(&self, _text: &str) -> Option<String> {
        self.nothing()
    }

    /// Whether the host shows that no person takes part in the session.
    fn is_scripted(&self, _environment: &Environment) -> bool {
        false
    }

    /// Exports a session's id to its shells, if the host supports that.
    fn name_session(&self, _session: &str) {}
}

/// An event of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionEvent {
    pub session: String,
    pub folder: PathBuf,
    /// The file may not exist yet.
    pub transcript: Option<PathBuf>,
    /// The time since the last response, in whole seconds.
    pub silence: Option<Duration>,
    pub kind: EventKind,
    /// The text of a prompt that waits.
    pub prompt: Option<String>,
    /// The model's last words, at the end of a turn: the transcript may not have them yet.
    pub answer: Option<String>,
    /// The most characters that the session takes, if its host limits them.
    pub max_chars: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventKind {
    /// The session starts or continues.
    Started(StartCause),
    /// A prompt waits for our reply.
    Prompted,
    /// A tool was used. The reply reaches the model before its next step.
    ToolUsed,
    /// A summary is about to replace the conversation. It may come to nothing.
    Compacting,
    /// The model has ended its turn. `is_working`: something that it started still runs in the background; `has_agents`:
    /// other agents are among it.
    TurnEnded { is_working: bool, has_agents: bool },
    /// `is_cleared`: the user cleared the session.
    Ended { is_cleared: bool },
    /// The context of this receipt is in the session.
    Delivered { receipt: i64 },
    /// The context of this receipt was not used.
    Released { receipt: i64 },
}

/// Why a session starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartCause {
    New,
    /// An earlier session, or a copy of one, continues.
    Resumed,
    /// The user cleared the session.
    Cleared,
    /// A summary replaced the conversation.
    Compacted,
}

/// The formats of a host; `None` for a host that does not read our standard output.
pub fn words(host: Host) -> Option<&'static dyn HostWords> {
    match host {
        Host::ClaudeCode => Some(&ClaudeCode),
        Host::Amplifier => Some(&Amplifier),
        Host::Plain | Host::Opencode | Host::Codex => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::named::Named;

    #[test]
    fn a_host_whose_context_is_delivered_when_written_has_words() {
        for host in Host::ALL {
            // A bridge in OpenCode confirms what it was given.
            let is_direct = host.facts().hook.is_some() && *host != Host::Opencode;
            assert_eq!(words(*host).is_some(), is_direct, "{host}");
        }
    }

    #[test]
    fn sessions_that_get_nothing_are_passed_over() {
        let read = |host: Host, json: &str| words(host).unwrap().read(json.as_bytes());
        let start = |more: &str| {
            format!(r#"{{"hook_event_name":"SessionStart","cwd":"/p","source":"fork",{more}}}"#)
        };
        let fork = read(Host::ClaudeCode, &start(r#""session_id":"s""#)).unwrap();
        let kind = EventKind::Started(StartCause::Resumed);
        assert_eq!((fork.session.as_str(), fork.kind), ("s", kind));
        assert_eq!(read(Host::ClaudeCode, &start(r#""session_id":" ""#)), None);
        assert_eq!(read(Host::ClaudeCode, &start(r#""session_id":"s","agent_id":"a""#)), None);
        assert_eq!(read(Host::ClaudeCode, r#"{"hook_event_name":"Stop"}"#), None);
        let end =
            r#"{"hook_event_name":"SessionEnd","session_id":"s","cwd":"/p","reason":"clear"}"#;
        let end = read(Host::ClaudeCode, end).unwrap();
        assert_eq!(end.kind, EventKind::Ended { is_cleared: true });
        let asked = r#"{"event":"prompt:submit","session_id":"s","prompt":"Why?"}"#;
        let (session, folder) = ("s".to_owned(), PathBuf::from("."));
        let (kind, prompt) = (EventKind::Prompted, Some("Why?".to_owned()));
        let prompted = SessionEvent {
            session,
            folder,
            transcript: None,
            silence: None,
            kind,
            prompt,
            answer: None,
            max_chars: None,
        };
        assert_eq!(read(Host::Amplifier, asked), Some(prompted));
        assert_eq!(read(Host::Amplifier, r#"{"event":"session:start","session_id":"s"}"#), None);
        let child = r#"{"event":"prompt:submit","session_id":"s","parent_id":"p"}"#;
        assert_eq!(read(Host::Amplifier, child), None);
    }
}
