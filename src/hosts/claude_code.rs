//! Claude Code: its hooks and its transcripts.

mod env_file;
mod event;
pub mod transcript;

pub use event::{ClaudeCodeEvent, StartSource, additional_context, fits};

use crate::hosts::words::{HostWords, SessionEnd, SessionEvent, SessionStart, StartCause};

/// The end reason after which a session leaves no handoff.
const CLEARED: &str = "clear";

pub struct ClaudeCode;

impl HostWords for ClaudeCode {
    fn read(&self, json: &[u8]) -> Option<SessionEvent> {
        // Without an id, sessions cannot be distinguished.
        let is_known =
            |session: &str, is_subagent: bool| !is_subagent && !session.trim().is_empty();
        match ClaudeCodeEvent::parse(json).ok()? {
            ClaudeCodeEvent::Start { session, cwd, source, transcript, silence, is_subagent } => {
                let cause = match source {
                    StartSource::Startup | StartSource::Other(_) => StartCause::New,
                    StartSource::Resume | StartSource::Fork => StartCause::Resumed,
                    StartSource::Clear => StartCause::Cleared,
                    StartSource::Compact => StartCause::Compacted,
                };
                is_known(&session, is_subagent).then_some(SessionEvent::Started(SessionStart {
                    session,
                    folder: cwd,
                    cause,
                    transcript,
                    silence,
                }))
            }
            ClaudeCodeEvent::End { session, cwd, reason, transcript, is_subagent } => {
                let is_cleared = reason == CLEARED;
                is_known(&session, is_subagent).then_some(SessionEvent::Ended(SessionEnd {
                    session,
                    folder: cwd,
                    is_cleared,
                    transcript,
                }))
            }
            ClaudeCodeEvent::Other(_) => None,
        }
    }

    fn context(&self, text: &str) -> String {
        additional_context(text)
    }

    fn name_session(&self, session: &str) {
        env_file::append(session);
    }
}
