//! A Claude Code transcript: JSON lines that record a conversation. The format is undocumented, so
//! lines that do not parse are skipped one by one.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use crate::core::handoff::conversation::{Conversation, Message, Role};

/// The last messages are kept.
const MAX_MESSAGES: usize = 50;
/// The first files are kept.
const MAX_FILES: usize = 20;
/// Longer lines hold more than text. A prompt with an image is shorter.
const MAX_LINE_BYTES: u64 = 8 * 1024 * 1024;
/// Only the end of a longer file is read.
const MAX_FILE_BYTES: u64 = 256 * 1024 * 1024;
/// Far more of a message than is ever shown.
const MAX_TEXT_BYTES: usize = 16 * 1024;
/// Tools that change a file, each with the name of its path argument.
const CHANGING_TOOLS: [(&str, &str); 4] = [
    ("Edit", "file_path"),
    ("MultiEdit", "file_path"),
    ("Write", "file_path"),
    ("NotebookEdit", "notebook_path"),
];
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
    message: Option<RawMessage>,
}

#[derive(Deserialize)]
struct RawMessage {
    id: Option<String>,
    model: Option<String>,
    #[serde(default)]
    content: Value,
}

/// The time of the last write, in milliseconds since 1970.
pub fn last_written(file: &Path) -> Option<i64> {
    let modified = file.metadata().ok()?.modified().ok()?;
    let since_1970 = modified.duration_since(std::time::UNIX_EPOCH).ok()?;
    i64::try_from(since_1970.as_millis()).ok()
}

pub fn read(file: &Path) -> io::Result<Conversation> {
    let mut opened = File::open(file)?;
    let there = opened.metadata()?;
    if !there.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no file"));
    }
    let skipped = there.len().saturating_sub(MAX_FILE_BYTES);
    opened.seek(SeekFrom::Start(skipped))?;
    let mut reader = BufReader::new(opened);
    if skipped > 0 {
        reader.skip_until(b'\n')?;
    }
    // Limits the read: Claude Code may still be appending.
    understand(reader.take(MAX_FILE_BYTES))
}

fn understand(mut lines: impl BufRead) -> io::Result<Conversation> {
    let mut listener = Listener::default();
    let mut line = Vec::new();
    loop {
        line.clear();
        let n_read = lines.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut line)? as u64;
        if n_read == 0 {
            return Ok(listener.heard);
        }
        if n_read == MAX_LINE_BYTES && !line.ends_with(b"\n") {
            lines.skip_until(b'\n')?;
        } else if let Ok(line) = serde_json::from_slice(&line) {
            listener.hear(line);
        }
    }
}

/// Collects a conversation line by line.
#[derive(Default)]
struct Listener {
    heard: Conversation,
    /// A command that was typed. The next lines show whether the model or Claude Code itself
    /// answers it.
    command: Option<String>,
    /// The id of the message that the model is writing: each of its blocks is one line.
    speaking: Option<String>,
}

impl Listener {
    fn hear(&mut self, line: Line) {
        if line.is_sidechain || line.agent_id.is_some() {
            return;
        }
        match (line.r#type.as_str(), line.message) {
            ("user", Some(message)) => {
                self.speaking = None;
                if !line.is_meta && !line.is_compact_summary {
                    self.hear_user(&message.content);
                }
            }
            ("assistant", Some(message)) => {
                let is_synthetic = message.model.as_deref() == Some("<synthetic>");
                if !line.is_api_error_message && !is_synthetic {
                    self.hear_assistant(message);
                }
            }
            ("system", _) if line.subtype.as_deref() == Some("local_command") => {
                self.command = None;
            }
            _ => {}
        }
    }

    fn hear_user(&mut self, content: &Value) {
        let has = |kind: &str| blocks(content).any(|block| block["type"] == kind);
        if has("tool_result") {
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
        self.heard.turns += 1;
        self.say(Role::User, text);
    }

    fn hear_assistant(&mut self, message: RawMessage) {
        if let Some(command) = self.command.take() {
            self.heard.turns += 1;
            self.say(Role::User, command);
        }
        for block in blocks(&message.content).filter(|block| block["type"] == "tool_use") {
            let tool = CHANGING_TOOLS.iter().find(|(name, _)| block["name"] == *name);
            if let Some(file) = tool.and_then(|(_, key)| block["input"][key].as_str()) {
                self.change(file);
            }
        }
        let text = words(&message.content, |_| true);
        let goes_on = message.id.is_some() && message.id == self.speaking;
        match self.heard.messages.last_mut() {
            Some(last) if goes_on && !text.is_empty() && last.role == Role::Assistant => {
                last.text.push('\n');
                last.text.push_str(&text);
                shorten(&mut last.text);
            }
            _ => self.say(Role::Assistant, text),
        }
        self.speaking = message.id;
    }

    fn say(&mut self, role: Role, mut text: String) {
        if text.is_empty() {
            return;
        }
        let messages = &mut self.heard.messages;
        if messages.len() == MAX_MESSAGES {
            messages.remove(0);
        }
        shorten(&mut text);
        messages.push(Message { role, text });
    }

    fn change(&mut self, file: &str) {
        let files = &mut self.heard.files_changed;
        let is_new = !file.is_empty() && !files.iter().any(|known| known == file);
        if is_new && files.len() < MAX_FILES {
            files.push(file.to_owned());
        }
    }
}

fn blocks(content: &Value) -> impl Iterator<Item = &Value> {
    content.as_array().into_iter().flatten()
}

/// Joins the wanted texts of a message's content, which is a string or a list of blocks.
fn words(content: &Value, is_wanted: impl Fn(&str) -> bool) -> String {
    let texts = blocks(content).filter(|block| block["type"] == "text");
    let texts = texts.filter_map(|block| block["text"].as_str()).chain(content.as_str());
    let texts = texts.filter(|text| is_wanted(text)).map(str::trim);
    texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
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

fn shorten(text: &mut String) {
    text.truncate(text.floor_char_boundary(MAX_TEXT_BYTES));
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::time::{Duration, Instant};

    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn heard(lines: &[Value]) -> Conversation {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        understand(text.as_bytes()).unwrap()
    }

    fn user(content: impl Into<Value>) -> Value {
        json!({"type": "user", "message": {"role": "user", "content": content.into()}})
    }

    fn assistant(id: &str, block: Value) -> Value {
        json!({"type": "assistant", "message": {"id": id, "model": "m", "content": [block]}})
    }

    fn text(text: &str) -> Value {
        json!({"type": "text", "text": text})
    }

    fn said(conversation: &Conversation) -> Vec<String> {
        let said = |message: &Message| format!("{}: {}", message.role, message.text);
        conversation.messages.iter().map(said).collect()
    }

    fn recorded(name: &str) -> Conversation {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/transcripts");
        read(&folder.join(name)).unwrap()
    }

    #[test]
    fn a_recorded_transcript_is_understood() {
        let conversation = recorded("claude-code-2.1.325.jsonl");
        assert_eq!(
            said(&conversation),
            [
                "user: Please write it. [[write]] /home/ada/atlas/one.txt",
                "assistant: I will use a tool.",
                "assistant: pong",
                "user: Now a child. [[task]]",
                "assistant: I will use a tool.",
                "assistant: pong",
                "assistant: pong",
                "user: [[error]]",
                "user: Thanks",
            ]
        );
        assert_eq!(conversation.turns, 4);
        assert_eq!(conversation.files_changed, ["/home/ada/atlas/one.txt"]);
        // A sub-agent's own transcript holds nothing that a session said.
        assert_eq!(recorded("claude-code-2.1.325-subagent.jsonl"), Conversation::default());
    }

    #[test]
    fn only_what_a_person_or_the_model_said_counts() {
        let with = |mut line: Value, key: &str| {
            line[key] = json!(true);
            line
        };
        let conversation = heard(&[
            user("a prompt"),
            with(user("meta"), "isMeta"),
            with(user("summary"), "isCompactSummary"),
            with(user("child"), "isSidechain"),
            user(json!([{"type": "tool_result", "content": "result"}, text("beside it")])),
            user("<system-reminder>\nreminded\n</system-reminder>"),
            user("[Request interrupted by user]"),
            with(assistant("1", text("error")), "isApiErrorMessage"),
            json!({"type": "assistant", "message": {"model": "<synthetic>", "content": "synthetic"}}),
            assistant("2", json!({"type": "thinking", "thinking": "thought"})),
            json!({"type": "summary", "summary": "sum"}),
            json!({"type": "user", "agentId": "a1", "message": {"content": "child"}}),
            user(json!([
                text("<ide_opened_file>x</ide_opened_file>"),
                text("two"),
                text("blocks")
            ])),
            user(json!([{"type": "image", "source": {}}])),
        ]);
        assert_eq!(said(&conversation), ["user: a prompt", "user: two\nblocks"]);
        assert_eq!(conversation.turns, 3);
    }

    #[test]
    fn the_blocks_of_one_answer_are_one_message() {
        let conversation = heard(&[
            user("q"),
            assistant("1", text("first")),
            assistant("1", json!({"type": "tool_use", "name": "Read", "input": {}})),
            assistant("1", text("second")),
            assistant("2", text("third")),
            user(json!([{"type": "tool_result"}])),
            assistant("2", text("after a tool")),
        ]);
        assert_eq!(
            said(&conversation),
            ["user: q", "assistant: first\nsecond", "assistant: third", "assistant: after a tool"]
        );
    }

    #[test]
    fn a_command_is_a_prompt_if_the_model_answers_it() {
        let typed = |name: &str, args: &str| {
            user(format!(
                "<command-name>{name}</command-name>\n <command-message>x</command-message>\n\
                 <command-args>{args}</command-args>"
            ))
        };
        let local = json!({"type": "system", "subtype": "local_command", "content": "out"});
        let conversation = heard(&[
            typed("/review", "the cache"),
            assistant("1", text("reviewed")),
            typed("/cost", ""),
            local.clone(),
            typed("/compact", ""),
            user("<local-command-stdout>Compacted</local-command-stdout>"),
            assistant("2", text("done")),
            typed("/usage", ""),
            local,
            assistant("3", text("more")),
        ]);
        assert_eq!(
            said(&conversation),
            [
                "user: /review the cache",
                "assistant: reviewed",
                "assistant: done",
                "assistant: more"
            ]
        );
        assert_eq!(conversation.turns, 1);
    }

    #[test]
    fn h_0_17_the_last_fifty_messages_and_the_first_twenty_files_are_kept() {
        // H-0.17
        let mut lines = Vec::new();
        for n in 0..60 {
            lines.push(user(format!("prompt {n}")));
            let (name, key) = CHANGING_TOOLS[n % 4];
            let input = json!({key: format!("/p/{}", n / 2)});
            lines.push(assistant("x", json!({"type": "tool_use", "name": name, "input": input})));
        }
        let conversation = heard(&lines);
        assert_eq!(conversation.turns, 60);
        assert_eq!(conversation.messages.len(), 50);
        assert_eq!(conversation.messages[0].text, "prompt 10");
        let files: Vec<String> = (0..20).map(|n| format!("/p/{n}")).collect();
        assert_eq!(conversation.files_changed, files);
    }

    #[test]
    fn broken_lines_are_passed_over_one_by_one() {
        let good = user("good");
        let lines = format!(
            "{{\n\u{0}\n[]\n{good}\n{{\"type\":\"user\"}}\n{{\"type\":\"user\",\"message\":7}}\n\
             {{\"type\":7}}\n\n{}\n{good}",
            "[".repeat(100_000)
        );
        let mut bytes = lines.into_bytes();
        bytes.splice(0..0, *b"\xff\xfe\n");
        assert_eq!(said(&understand(bytes.as_slice()).unwrap()), ["user: good", "user: good"]);
        // The text after the longest line's limit belongs to that line.
        let absurd = format!("{}{good}\n{good}", " ".repeat(MAX_LINE_BYTES as usize));
        assert_eq!(said(&understand(absurd.as_bytes()).unwrap()), ["user: good"]);
        let long = user("é".repeat(MAX_TEXT_BYTES));
        assert_eq!(heard(&[long]).messages[0].text.len(), MAX_TEXT_BYTES);
    }

    #[test]
    fn a_huge_file_with_absurd_lines_costs_neither_time_nor_memory() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        writeln!(file, "{}", user("before")).unwrap();
        // One line of 200 million zeros, stored as a sparse file.
        let end = file.as_file().metadata().unwrap().len() + 200_000_000;
        file.as_file().set_len(end).unwrap();
        file.seek(SeekFrom::End(0)).unwrap();
        writeln!(file, "\n{}", user("after")).unwrap();
        let start = Instant::now();
        let conversation = read(file.path()).unwrap();
        assert_eq!(said(&conversation), ["user: before", "user: after"]);
        assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());

        // Only the end of a file over the limit is read.
        file.as_file().set_len(MAX_FILE_BYTES * 4).unwrap();
        file.seek(SeekFrom::End(0)).unwrap();
        writeln!(file, "\n{}", user("last")).unwrap();
        assert_eq!(said(&read(file.path()).unwrap()), ["user: last"]);
    }

    #[test]
    fn what_is_no_file_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        assert!(read(folder.path()).is_err() && read(&folder.path().join("none")).is_err());
        assert!(read(Path::new("/dev/zero")).is_err());
    }

    proptest! {
        #[test]
        fn no_line_makes_the_reader_panic(
            start in "(\\{\"type\":\"(user|assistant|system)\",\"message\":\\{\"content\":)?",
            rest in "\\PC{0,80}",
        ) {
            understand(format!("{start}{rest}}}}}\n").as_bytes()).unwrap();
        }
    }
}
