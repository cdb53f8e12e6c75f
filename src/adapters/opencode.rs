//! OpenCode's server: what it says, and how it is asked.

mod address;
mod error;
mod events;
mod hook;
mod http;
#[cfg(test)]
mod loopback;
mod no_reply;
mod server;
mod wire;

pub use address::{AddressError, Credentials, ServerAddress};
pub use error::ServerError;
pub use events::Scope;
pub use hook::{Answer, Given, Metadata, Notice, PROTOCOL, Question, QuestionError};
pub use no_reply::NoReply;
pub use server::OpencodeServer;
pub use wire::{
    Agent, Event, Health, Message, MessageInfo, MessageModel, MessageTime, Part, Provider, Session,
    SessionModel, SessionStatus, SessionTime,
};
