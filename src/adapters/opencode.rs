//! OpenCode: what its server says and how it is asked, and what the bridge inside of it asks.

mod hook;
mod wire;

pub use hook::{Answer, Given, Metadata, Notice, PROTOCOL, Question, QuestionError};
pub use wire::{Session, SessionModel, SessionTime};
