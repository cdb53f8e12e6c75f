//! OpenCode: its folders and configuration files, the bridge that runs in it, and its server.

mod address;
mod error;
mod events;
mod hook;
mod http;
mod no_reply;
mod places;
pub mod plugins;
pub mod said;
mod server;
mod tools;
mod wire;

pub use address::{AddressError, ServerAddress};
pub use error::ServerError;
pub use events::Scope;
pub use hook::{
    BridgeContext, BridgeNotice, BridgeQuestion, BridgeReply, BridgeRotation, Metadata,
};
pub use no_reply::NoReply;
pub use places::OpencodePlaces;
pub use server::OpencodeServer;
pub use wire::{Event, Health, Message, Session, SessionModel, is_of_context};

#[cfg(test)]
mod loopback_for_tests;
