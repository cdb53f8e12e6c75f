//! A conversation: the part of a session's messages that the next session may need.

use crate::core::named::named;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Conversation {
    /// The number of prompts by a person.
    pub turns: usize,
    /// The last messages, in order.
    pub messages: Vec<Message>,
    /// Changed files without duplicates, in the order of their first change.
    pub files_changed: Vec<String>,
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
