//! What was said in a session of OpenCode, kept in a file of ours until its handoff is written: OpenCode gives nothing of a
//! session that was deleted, nor after it has ended itself.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::core::handoff::conversation::{Conversation, FailedCommand, Message, Role};
use crate::core::named::Named;
use crate::core::secrets;
use crate::system::folders;
use crate::system::plain_file;

/// The folder of these files, in that of the state.
const FOLDER: &str = "said";

#[derive(Serialize, Deserialize)]
struct RawConversation {
    turns: usize,
    opening: Option<String>,
    began_ms: Option<i64>,
    last_ms: Option<i64>,
    messages: Vec<(String, String)>,
    #[serde(default)]
    files_changed: Vec<String>,
    /// Command, end and output of each.
    #[serde(default)]
    failures: Vec<(String, String, String)>,
    #[serde(default)]
    todos: Vec<String>,
}

/// Keeps what was said, masked. Returns the file; `None` for a session whose id is no name for one.
pub fn keep(state: &Path, session: &str, said: &Conversation) -> Option<PathBuf> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if session.is_empty() || !session.chars().all(is_plain) {
        return None;
    }
    let masked = |text: &str| secrets::mask(text).into_owned();
    let messages = said.messages.iter();
    let failure = |FailedCommand { command, end, output }: &FailedCommand| {
        (masked(command), end.clone(), masked(output))
    };
    let raw = RawConversation {
        turns: said.turns,
        opening: said.opening.as_deref().map(masked),
        began_ms: said.began_ms,
        last_ms: said.last_ms,
        messages: messages.map(|Message { role, text }| (role.to_string(), masked(text))).collect(),
        files_changed: said.files_changed.clone(),
        failures: said.failures.iter().map(failure).collect(),
        todos: said.todos.iter().map(|todo| masked(todo)).collect(),
    };
    let file = state.join(FOLDER).join(format!("{session}.json"));
    folders::write_own(&file, &serde_json::to_string(&raw).ok()?).ok()?;
    Some(file)
}

/// Whether a file is one of these.
pub fn is_one(file: &Path) -> bool {
    file.parent().and_then(Path::file_name).is_some_and(|folder| folder == FOLDER)
        && file.extension().is_some_and(|ending| ending == "json")
}

pub fn read(file: &Path) -> io::Result<Conversation> {
    let mut text = String::new();
    io::Read::read_to_string(&mut plain_file::open(file)?, &mut text)?;
    let raw: RawConversation = serde_json::from_str(&text)?;
    let message =
        |(role, text): (String, String)| Some(Message { role: Role::parse(&role)?, text });
    let failure = |(command, end, output)| FailedCommand { command, end, output };
    Ok(Conversation {
        turns: raw.turns,
        opening: raw.opening,
        began_ms: raw.began_ms,
        last_ms: raw.last_ms,
        messages: raw.messages.into_iter().filter_map(message).collect(),
        files_changed: raw.files_changed,
        failures: raw.failures.into_iter().map(failure).collect(),
        todos: raw.todos,
        ..Conversation::default()
    })
}

/// Forgets what was said. A file that cannot be removed does no harm.
pub fn forget(file: &Path) {
    if is_one(file) {
        let _ = fs::remove_file(file);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_said_comes_back_masked() {
        let folder = tempfile::tempdir().unwrap();
        let said = |text: &str| Message { role: Role::User, text: text.to_owned() };
        let conversation = Conversation {
            turns: 3,
            opening: Some("Why?".to_owned()),
            began_ms: Some(1),
            last_ms: Some(9),
            messages: vec![said("Why?"), said("password=hunter2hunter2")],
            ..Conversation::default()
        };
        let file = keep(folder.path(), "ses_1", &conversation).unwrap();
        assert!(is_one(&file) && !is_one(Path::new("/p/transcript.jsonl")));
        assert!(!fs::read_to_string(&file).unwrap().contains("hunter2"));
        let back = read(&file).unwrap();
        assert_eq!((back.turns, back.last_ms, back.messages.len()), (3, Some(9), 2));
        assert_eq!(back.opening, conversation.opening);
        forget(&file);
        assert!(read(&file).is_err());
        for name in ["", "../x", "a/b", "."] {
            assert_eq!(keep(folder.path(), name, &conversation), None, "{name}");
        }
    }
}
