//! A session that runs in Claude Code: whether it is idle, and whether prompts wait in its queue.
//!
//! Claude Code keeps a file for each of its processes. Between two prompts it says `idle` for some 100 ms, so it must be
//! asked more than once. Prompts that were typed during a turn are in the transcript alone.

use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use crate::core::host::Host;
use crate::hosts::config_folder;
use crate::hosts::transcript::{Extract, each_line};
use crate::system::environment::Environment;
use crate::system::plain_file;
use crate::system::process::identity::Process;

/// Further back no prompt waits any more.
const QUEUE_BYTES: u64 = 4 * 1024 * 1024;

/// What Claude Code says about one of its processes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LiveSession {
    pub session_id: String,
    /// `idle`, `shell`, `busy` or `waiting`; missing in older versions.
    #[serde(default)]
    status: Option<String>,
}

impl LiveSession {
    /// Reads what is said about a process; `None` if nothing is.
    pub fn of(process: Process, environment: &Environment) -> Option<LiveSession> {
        let text = plain_file::read(&file(process, environment)?).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Whether it tells if it is idle.
    pub fn tells(&self) -> bool {
        self.status.is_some()
    }

    pub fn is_idle(&self) -> bool {
        self.status.as_deref() == Some("idle")
    }

    /// The same while a shell runs in the background.
    pub fn is_between_turns(&self) -> bool {
        self.is_idle() || self.status.as_deref() == Some("shell")
    }

    /// What it does instead of being idle, in words.
    pub fn doing(&self) -> &'static str {
        match self.status.as_deref() {
            Some("waiting") => "a dialog is open",
            Some("shell") => "a shell runs in the background",
            Some(_) => "a turn is under way",
            None => "Claude Code does not report whether it is idle",
        }
    }
}

fn file(process: Process, environment: &Environment) -> Option<PathBuf> {
    let install = Host::ClaudeCode.facts().install.as_ref()?;
    let folder = config_folder::global(install, environment)?.join("sessions");
    Some(folder.join(format!("{}.json", process.pid)))
}

/// Whether prompts wait for the end of the turn.
pub fn has_queued_prompts(transcript: &Path) -> io::Result<bool> {
    let mut n_queued = 0_i64;
    each_line(transcript, Extract::Last(QUEUE_BYTES), |line| {
        const MARK: &[u8] = b"\"queue-operation\"";
        if memchr::memmem::find(line, MARK).is_none() {
            return;
        }
        let Ok(line) = serde_json::from_slice::<Value>(line) else { return };
        if line["type"] == "queue-operation" {
            n_queued = match line["operation"].as_str() {
                Some("enqueue") => n_queued + 1,
                // More than the one that was taken up may be gone, for all that is known.
                Some("popAll") => 0,
                Some("dequeue" | "remove") => (n_queued - 1).max(0),
                _ => n_queued,
            };
        }
    })?;
    Ok(n_queued > 0)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_session_is_idle_only_if_it_says_so() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join(".claude/sessions");
        fs::create_dir_all(&folder).unwrap();
        let environment: Environment =
            [("HOME".into(), home.path().as_os_str().to_owned())].into_iter().collect();
        let process = Process::of_number(7);
        let said = |text: &str| {
            fs::write(folder.join("7.json"), text).unwrap();
            LiveSession::of(process, &environment)
        };
        assert_eq!(LiveSession::of(process, &environment), None);
        let idle = said(r#"{"pid":7,"sessionId":"s","status":"idle","tmux":"%0"}"#).unwrap();
        assert!(idle.is_idle() && idle.tells() && idle.session_id == "s");
        assert!(idle.is_between_turns());
        let shell = said(r#"{"sessionId":"s","status":"shell"}"#).unwrap();
        assert!(shell.is_between_turns() && !shell.is_idle());
        let waiting = said(r#"{"sessionId":"s","status":"waiting"}"#).unwrap();
        assert_eq!((waiting.is_idle(), waiting.doing()), (false, "a dialog is open"));
        let busy = said(r#"{"sessionId":"s","status":"busy"}"#).unwrap();
        assert!(!busy.is_idle() && !busy.is_between_turns());
        let old = said(r#"{"sessionId":"s"}"#).unwrap();
        assert!(!old.is_idle() && !old.tells());
        assert_eq!(said("{"), None);
    }

    #[test]
    fn r_4_26_a_prompt_waits_until_it_is_taken_up() {
        // R-4.26
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("t.jsonl");
        let check = |operations: &[&str], expected| {
            let line = |operation: &&str| {
                format!("{{\"type\":\"queue-operation\",\"operation\":\"{operation}\"}}\n")
            };
            fs::write(&file, operations.iter().map(line).collect::<String>()).unwrap();
            assert_eq!(has_queued_prompts(&file).unwrap(), expected, "{operations:?}");
        };
        check(&[], false);
        check(&["enqueue"], true);
        check(&["enqueue", "dequeue"], false);
        check(&["enqueue", "enqueue", "dequeue"], true);
        check(&["enqueue", "enqueue", "popAll"], false);
        check(&["dequeue", "enqueue"], true);
        assert!(has_queued_prompts(&folder.path().join("none")).is_err());
    }
}
