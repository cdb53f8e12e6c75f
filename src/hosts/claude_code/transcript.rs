//! A Claude Code transcript: JSON lines that record a conversation. The format is undocumented, so
//! lines that do not parse are skipped one by one.

mod tools;

use std::io;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use tools::Tools;

use crate::core::handoff::conversation::{Conversation, Role};
use crate::core::time::Timestamp;
use crate::hosts::transcript::{Extract, blocks, each_line, say, shortened, words};

/// Prefixes of user messages that no person typed.
const NOT_TYPED: [&str; 6] = [
    "<local-command-",
    "<task-notification>",
    "<system-reminder>",
    "<bash-",
    "<ide_",
    "[Request interrupted by user",
];

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Line {
    r#type: String,
    subtype: Option<String>,
    is_sidechain: bool,
    agent_id: Option<String>,
    is_meta: bool,
    is_compact_summary: bool,
    is_api_error_message: bool,
    timestamp: Option<String>,
    message: Option<RawMessage>,
    /// What the host wrote down of a tool's result.
    tool_use_result: Value,
    attachment: Value,
}

#[derive(Deserialize)]
struct RawMessage {
    id: Option<String>,
    model: Option<String>,
    #[serde(default)]
    content: Value,
}

/// Reads a part of a transcript.
pub(in crate::hosts) fn read(file: &Path, extract: Extract) -> io::Result<Conversation> {
    let mut listener = Listener::default();
    each_line(file, extract, |line| listener.hear_line(line))?;
    Ok(listener.told())
}

/// Collects a conversation line by line.
#[derive(Default)]
struct Listener {
    heard: Conversation,
    tools: Tools,
    /// A command that was typed. The next lines show whether the model or Claude Code itself
    /// answers it.
    command: Option<String>,
    /// The id of the message that the model is writing: each of its blocks is one line.
    speaking: Option<String>,
}

impl Listener {
    fn hear_line(&mut self, line: &[u8]) {
        if let Ok(line) = serde_json::from_slice(line) {
            self.hear(line);
        }
    }

    fn told(self) -> Conversation {
        let mut heard = self.heard;
        self.tools.tell(&mut heard);
        heard
    }

    fn hear(&mut self, line: Line) {
        if line.is_sidechain || line.agent_id.is_some() {
            return;
        }
        match (line.r#type.as_str(), line.message) {
            ("user", Some(message)) => {
                self.speaking = None;
                if !line.is_meta && !line.is_compact_summary {
                    self.note_time(line.timestamp.as_deref());
                    self.hear_user(&message.content, &line.tool_use_result);
                }
            }
            ("assistant", Some(message)) => {
                let is_synthetic = message.model.as_deref() == Some("<synthetic>");
                if !line.is_api_error_message && !is_synthetic {
                    self.note_time(line.timestamp.as_deref());
                    self.hear_assistant(message);
                }
            }
            // A prompt that was typed during a turn, and that the model was shown before its end.
            ("attachment", _)
                if line.attachment["type"] == "queued_command"
                    && line.attachment["commandMode"] == "prompt" =>
            {
                self.note_time(line.timestamp.as_deref());
                self.hear_user(&line.attachment["prompt"], &Value::Null);
            }
            ("system", _) if line.subtype.as_deref() == Some("local_command") => {
                self.command = None;
            }
            _ => {}
        }
    }

    fn note_time(&mut self, at: Option<&str>) {
        let at = at.and_then(Timestamp::parse).map(Timestamp::milliseconds);
        self.heard.began_ms = self.heard.began_ms.or(at);
        self.heard.last_ms = at.or(self.heard.last_ms);
    }

    fn hear_user(&mut self, content: &Value, facts: &Value) {
        let has = |kind: &str| blocks(content).any(|block| block["type"] == kind);
        if has("tool_result") {
            for block in blocks(content).filter(|block| block["type"] == "tool_result") {
                self.tools.answered(block, &words(&block["content"], |_| true), facts);
            }
            return;
        }
        let text =
            words(content, |text| !NOT_TYPED.iter().any(|tag| text.trim_start().starts_with(tag)));
        if let Some(command) = command(&text) {
            self.command = Some(command);
            return;
        }
        if text.is_empty() && !has("image") {
            if words(content, |_| true).starts_with("<local-command-") {
                self.command = None;
            }
            return;
        }
        self.command = None;
        self.prompt(text);
    }

    fn prompt(&mut self, text: String) {
        self.heard.turns += 1;
        self.tools.prompted();
        if self.heard.turns == 1 {
            self.heard.opening = Some(shortened(text.clone()));
        }
        say(&mut self.heard, Role::User, text);
    }

    fn hear_assistant(&mut self, message: RawMessage) {
        if let Some(command) = self.command.take() {
            self.prompt(command);
        }
        for block in blocks(&message.content).filter(|block| block["type"] == "tool_use") {
            self.tools.called(block);
        }
        let text = words(&message.content, |_| true);
        let goes_on = message.id.is_some() && message.id == self.speaking;
        match self.heard.messages.last_mut() {
            Some(last) if goes_on && !text.is_empty() && last.role == Role::Assistant => {
                let whole = format!("{}\n{text}", std::mem::take(&mut last.text));
                last.text = shortened(whole);
            }
            _ => say(&mut self.heard, Role::Assistant, text),
        }
        self.speaking = message.id;
    }
}

/// Parses the record of a command into the text that was typed.
fn command(text: &str) -> Option<String> {
    let is_record = text.starts_with("<command-name>") || text.starts_with("<command-message>");
    let between = |tag: &str| {
        let (_, rest) = text.split_once(&format!("<{tag}>"))?;
        Some(rest.split_once(&format!("</{tag}>"))?.0.trim())
    };
    let name = between("command-name").filter(|_| is_record)?;
    let typed = format!("{name} {}", between("command-args").unwrap_or_default());
    Some(typed.trim_end().to_owned())
}

#[cfg(test)]
mod tests;
