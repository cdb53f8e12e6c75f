//! A transcript of Amplifier's command line: one message per line, as the model's provider was given it. Messages of the system
//! are not in it.

use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use crate::core::handoff::conversation::{Conversation, Role};
use crate::hosts::transcript::{Extract, blocks, change, each_line, say, shortened, words};
use crate::system::environment::Environment;

const FILE: &str = "transcript.jsonl";
/// The folder of projects, below the home folder.
const PROJECTS: &str = ".amplifier/projects";
/// Tools that change a file, which they call `file_path`.
const CHANGING_TOOLS: [&str; 2] = ["write_file", "edit_file"];

#[derive(Default, Deserialize)]
#[serde(default)]
struct RawMessage {
    role: String,
    content: Value,
    tool_calls: Value,
    metadata: Value,
}

/// Where the command line keeps the transcript of a session that started in a folder. No variable moves it.
pub(super) fn place(environment: &Environment, folder: &Path, session: &str) -> Option<PathBuf> {
    let project = environment.home()?.join(PROJECTS).join(super::path_slug(folder));
    super::is_one_name(session).then(|| project.join("sessions").join(session).join(FILE))
}

/// Whether a file has the name of such a transcript.
pub fn is_one(file: &Path) -> bool {
    file.file_name().is_some_and(|name| name == FILE)
}

/// Reads a part of a transcript.
pub(in crate::hosts) fn read(file: &Path, extract: Extract) -> io::Result<Conversation> {
    let mut heard = Conversation::default();
    each_line(file, extract, |line| {
        if let Ok(message) = serde_json::from_slice(line) {
            hear(&mut heard, message);
        }
    })?;
    Ok(heard)
}

fn hear(heard: &mut Conversation, message: RawMessage) {
    // What a hook has put in is said by nobody.
    if message.metadata["source"] == "hook" {
        return;
    }
    let text = words(&message.content, |_| true);
    match message.role.as_str() {
        "user" => {
            heard.turns += 1;
            if heard.turns == 1 {
                heard.opening = Some(shortened(text.clone()));
            }
            say(heard, Role::User, text);
        }
        "assistant" => {
            let calls = message.tool_calls.as_array().into_iter().flatten();
            let calls = calls.map(|call| (&call["tool"], &call["arguments"]["file_path"]));
            let used = blocks(&message.content).filter(|block| block["type"] == "tool_call");
            let used = used.map(|block| (&block["name"], &block["input"]["file_path"]));
            for (tool, file) in calls.chain(used) {
                let is_change = CHANGING_TOOLS.iter().any(|name| tool == name);
                if let Some(file) = file.as_str().filter(|_| is_change) {
                    change(&mut heard.files_changed, file);
                }
            }
            say(heard, Role::Assistant, text);
        }
        // `tool`: what a tool has answered.
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;

    fn heard(lines: &[Value]) -> Conversation {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(FILE);
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        fs::write(&file, format!("{{broken\n{text}7\n")).unwrap();
        assert!(is_one(&file));
        read(&file, Extract::Last(1 << 20)).unwrap()
    }

    #[test]
    fn what_was_said_and_changed_is_heard() {
        let conversation = heard(&[
            json!({"role": "user", "content": "Serve old tiles"}),
            json!({"role": "assistant", "content": [
                {"type": "thinking", "thinking": "hm"},
                {"type": "text", "text": "I write it."},
                {"type": "tool_call", "id": "1", "name": "edit_file", "input": {"file_path": "b.rs"}},
            ], "tool_calls": [
                {"id": "1", "tool": "write_file", "arguments": {"file_path": "a.rs", "content": ""}},
                {"id": "2", "tool": "read_file", "arguments": {"file_path": "c.rs"}},
                {"id": "3", "tool": "write_file", "arguments": {}},
            ]}),
            json!({"role": "tool", "tool_call_id": "1", "content": "written"}),
            json!({"role": "user", "content": "REMINDER", "metadata": {"source": "hook"}}),
            json!({"role": "system", "content": "Knowledge Graph Context"}),
            json!({"role": "assistant", "content": "Done."}),
            json!({"role": "user", "content": [{"type": "text", "text": "Thanks"}]}),
            json!({"role": "assistant", "content": null}),
        ]);
        let said: Vec<String> = conversation
            .messages
            .iter()
            .map(|message| format!("{}: {}", message.role, message.text))
            .collect();
        assert_eq!(
            said,
            ["user: Serve old tiles", "assistant: I write it.", "assistant: Done.", "user: Thanks"]
        );
        assert_eq!(conversation.turns, 2);
        assert_eq!(conversation.files_changed, ["a.rs", "b.rs"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_transcript_is_below_the_home_folder_whatever_variables_say() {
        let variables = [("HOME", "/home/ada"), ("AMPLIFIER_HOME", "/a")];
        let environment = variables.iter().map(|&(k, v)| (k.into(), v.into())).collect();
        let place = |session| place(&environment, Path::new("/not/there"), session);
        let expected = "/home/ada/.amplifier/projects/-not-there/sessions/s-1/transcript.jsonl";
        assert_eq!(place("s-1"), Some(expected.into()));
        assert_eq!(place("../s"), None);
        assert_eq!(super::place(&Environment::default(), Path::new("/x"), "s"), None);
    }
}
