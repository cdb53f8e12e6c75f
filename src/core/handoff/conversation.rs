//! A conversation: the part of a session's record that the next session may need.

use crate::core::named::named;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Conversation {
    /// The number of prompts by a person.
    pub turns: usize,
    /// Whether its middle is not known, because the record is huge. What is counted then is the least that was.
    pub is_partial: bool,
    /// The first prompt.
    pub opening: Option<String>,
    /// The last messages, in order.
    pub messages: Vec<Message>,
    /// When the first and the last of all messages were written, in milliseconds since 1970.
    pub began_ms: Option<i64>,
    pub last_ms: Option<i64>,
    /// Changed files without duplicates, in the order of their first change.
    pub files_changed: Vec<String>,
    /// Commands that failed and have not succeeded since, the last failure last.
    pub failures: Vec<FailedCommand>,
    /// What is not done on the host's own list, what was begun first.
    pub todos: Vec<String>,
    /// What a person was asked by a tool, and did not answer.
    pub questions: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    pub role: Role,
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A person.
    User,
    /// The model.
    Assistant,
}

named!(Role { User = "user", Assistant = "assistant" });

/// A shell command that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedCommand {
    pub command: String,
    /// How it ended, like `exit code 1`.
    pub end: String,
    /// What it printed.
    pub output: String,
}

impl Conversation {
    /// The last message of a role, if there is one.
    pub fn last_of(&self, role: Role) -> Option<&Message> {
        self.messages.iter().rev().find(|message| message.role == role)
    }

    /// Whether the last word is the model's: nothing that a person said waits for an answer.
    pub fn is_answered(&self) -> bool {
        self.messages.last().is_some_and(|message| message.role == Role::Assistant)
    }
}
