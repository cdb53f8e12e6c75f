//! A conversation: what was said in a session, as much of it as the next one may have to know.

/// What was said in a session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Conversation {
    /// How many prompts a person gave.
    pub turns: usize,
    /// The last of what was said, in order.
    pub messages: Vec<Message>,
    /// Files that were changed, each once, in the order of their first change.
    pub files_changed: Vec<String>,
}

/// Something that was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    pub role: Role,
    /// The words.
    pub text: String,
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A person.
    User,
    /// The model.
    Assistant,
}

impl Role {
    /// The name as it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Role::User => "user",
            Role::Assistant => "assistant",
        }
    }
}
