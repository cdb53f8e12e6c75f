//! A client for OpenCode's HTTP API.

use std::collections::BTreeMap;
use std::time::Duration;

use futures::Stream;
use serde::de::DeserializeOwned;

use super::address::{Credentials, ServerAddress, percent_encoded};
use super::error::{ServerError, ServerResult, is_kind};
use super::events::{self, Scope};
use super::no_reply::NoReply;
use super::wire::{Agent, Event, Health, Message, Provider, Providers, Session, SessionStatus};
use crate::core::time_limits;

/// The most sessions per request; the server sends the last changed ones first.
const MAX_SESSIONS: usize = 1_000;

/// A client of one OpenCode server. Every request has its own connection and the same time limit.
///
/// Needs a tokio runtime with time and I/O. A host name is resolved on a blocking thread of that
/// runtime, which can outlive the limit: end such a runtime with `shutdown_background`.
#[derive(Debug, Clone)]
pub struct OpencodeServer {
    pub address: ServerAddress,
    pub(super) credentials: Option<Credentials>,
    pub(super) limit: Duration,
}

impl OpencodeServer {
    /// `limit` is the time for each reply, or for the start of an event stream.
    pub fn new(
        address: ServerAddress,
        credentials: Option<Credentials>,
        limit: Duration,
    ) -> OpencodeServer {
        OpencodeServer { address, credentials, limit }
    }

    pub async fn health(&self) -> ServerResult<Health> {
        self.get("/global/health").await
    }

    /// Fetches a session of any folder.
    pub async fn session(&self, id: &str) -> ServerResult<Session> {
        self.get(&session_path(id)?).await
    }

    /// Fetches a session's last `limit` messages, oldest first.
    pub async fn messages(&self, id: &str, limit: usize) -> ServerResult<Vec<Message>> {
        self.get(&format!("{}/message?limit={limit}", session_path(id)?)).await
    }

    /// Fetches the states of a folder's sessions. A session that is missing from the reply is idle.
    pub async fn statuses(&self, directory: &str) -> ServerResult<BTreeMap<String, SessionStatus>> {
        self.get(&in_folder("/session/status", directory)).await
    }

    /// Fetches the agents that a prompt in a folder may name.
    pub async fn agents(&self, directory: &str) -> ServerResult<Vec<Agent>> {
        self.get(&in_folder("/agent", directory)).await
    }

    /// Fetches the providers and models that a prompt in a folder may name.
    pub async fn providers(&self, directory: &str) -> ServerResult<Vec<Provider>> {
        let answer: Providers = self.get(&in_folder("/config/providers", directory)).await?;
        Ok(answer.providers)
    }

    /// Fetches the sessions without a parent that changed since `ms` (milliseconds since 1970), in
    /// all folders. An older OpenCode only returns those of its own folder.
    pub async fn sessions_since(&self, ms: u64) -> ServerResult<Vec<Session>> {
        let query = format!("start={ms}&roots=true&limit={MAX_SESSIONS}");
        let mut sessions: Vec<Session> =
            match self.get(&format!("/experimental/session?{query}")).await {
                Err(ServerError::NotApi { .. } | ServerError::NotFound { .. }) => {
                    self.get(&format!("/session?{query}")).await?
                }
                answer => answer?,
            };
        // OpenCode ignores query parameters that it does not know.
        sessions.retain(|session| session.parent_id.is_none() && session.time.updated >= ms);
        Ok(sessions)
    }

    /// Stores a message and returns its id. After [`ServerError::Silent`] the message may or may
    /// not be stored.
    pub async fn inject(&self, id: &str, message: &NoReply) -> ServerResult<String> {
        let path = format!("{}/message", session_path(id)?);
        let body = serde_json::to_vec(message).map_err(|cause| self.broken(&cause))?;
        let stored: Message = self.ask(&path, Some(body)).await?;
        Ok(stored.info.id)
    }

    /// Opens the event stream, heartbeats included. Without an event for too long, the stream
    /// yields [`ServerError::Lost`]. An error is the last item; if the server closes the connection
    /// properly, the stream just ends.
    pub async fn events(
        &self,
        scope: &Scope,
    ) -> Result<impl Stream<Item = ServerResult<Event>> + Send + use<>, ServerError> {
        let path = match scope {
            Scope::Everywhere => "/global/event".to_owned(),
            Scope::OwnFolder => "/event".to_owned(),
            Scope::Folder(directory) => in_folder("/event", directory),
        };
        let answer = self.open(&path).await?;
        let address = self.address.to_string();
        if answer.status.is_success() && is_kind(&answer.content_type, "text/event-stream") {
            return Ok(events::read(answer.body, address, time_limits::LONGEST_SILENCE));
        }
        let answer = self.read(answer).await?;
        Err(ServerError::of_answer(address.clone(), &answer)
            .unwrap_or_else(|| ServerError::not_api(address, &answer.content_type)))
    }

    async fn get<T: DeserializeOwned>(&self, path: &str) -> ServerResult<T> {
        self.ask(path, None).await
    }

    async fn ask<T: DeserializeOwned>(&self, path: &str, body: Option<Vec<u8>>) -> ServerResult<T> {
        let answer = self.exchange(path, body).await?;
        match ServerError::of_answer(self.address.to_string(), &answer) {
            Some(error) => Err(error),
            None => serde_json::from_slice(&answer.body).map_err(|cause| self.broken(&cause)),
        }
    }
}

/// Accepts only ids that cannot change the meaning of the path.
fn session_path(id: &str) -> ServerResult<String> {
    let random = id.strip_prefix("ses_").unwrap_or_default();
    if random.is_empty() || !random.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Err(ServerError::NoSessionId { id: id.to_owned() });
    }
    Ok(format!("/session/{id}"))
}

fn in_folder(path: &str, directory: &str) -> String {
    format!("{path}?directory={}", percent_encoded(directory))
}

#[cfg(test)]
mod tests;
