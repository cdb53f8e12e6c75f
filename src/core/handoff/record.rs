//! A handoff as the store knows it: where it is in its life, and who did what to it.

use serde::Serialize;

use crate::core::handoff::{Consume, HandoffId, Kind, Occasion, Priority, Status};
use crate::core::time::Timestamp;

/// What the store knows about a handoff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandoffRecord {
    /// Its name.
    pub id: HandoffId,
    /// Who shares it: a project's key, or `@` and a channel that was named.
    pub scope: String,
    /// The channel that it was left in.
    pub channel: String,
    /// Whom it is for.
    pub kind: Kind,
    /// How it came about.
    pub occasion: Occasion,
    /// What becomes of it when a session has it.
    pub consume: Consume,
    /// How urgent it is.
    pub priority: Priority,
    /// Where it is in its life.
    pub status: Status,
    /// Why it has this status.
    pub reason: Option<String>,
    /// Who wrote it.
    pub session: Option<String>,
    /// The id that it had elsewhere.
    pub source_id: Option<String>,
    /// What is to be reached, in one line.
    pub goal: Option<String>,
    /// Where its author worked.
    pub working_dir: Option<String>,
    /// When it was written.
    pub created: Timestamp,
    /// The process that wrote it.
    pub created_by_pid: u32,
    /// From when on it is too old.
    pub expires: Option<Timestamp>,
    /// When it got its status.
    pub changed: Timestamp,
    /// The process that gave it its status.
    pub changed_by_pid: u32,
    /// The session for which it got its status.
    pub changed_by: Option<String>,
    /// The one that came after it.
    pub superseded_by: Option<HandoffId>,
}

/// The names of all fields of a [`FlatRecord`].
pub const FIELDS: [&str; 22] = [
    "id",
    "kind",
    "type",
    "status",
    "reason",
    "channel",
    "priority",
    "consume",
    "goal",
    "session_id",
    "source_id",
    "created_at",
    "created_by_pid",
    "expires_at",
    "claimed_at",
    "claimed_by_session",
    "consumed_at",
    "consumed_by_pid",
    "consumed_by_session",
    "expired_at",
    "cleared_at",
    "superseded_by",
];

/// A handoff for who reads JSON: flat, and without paths.
#[derive(Debug, Serialize)]
pub struct FlatRecord<'a> {
    id: &'a HandoffId,
    kind: Kind,
    #[serde(rename = "type")]
    occasion: &'a Occasion,
    status: &'a Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    channel: &'a str,
    priority: Priority,
    consume: Consume,
    #[serde(skip_serializing_if = "Option::is_none")]
    goal: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source_id: Option<&'a str>,
    created_at: Timestamp,
    created_by_pid: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    claimed_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    claimed_by_session: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    consumed_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    consumed_by_pid: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    consumed_by_session: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expired_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cleared_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    superseded_by: Option<&'a HandoffId>,
}

impl HandoffRecord {
    /// Whether it is done with.
    pub fn is_archived(&self) -> bool {
        matches!(self.status, Status::Consumed | Status::Expired | Status::Cleared)
    }

    /// The record for who reads JSON.
    pub fn flat(&self) -> FlatRecord<'_> {
        let at = |status: Status| (self.status == status).then_some(self.changed);
        let by = |status: Status| {
            (self.status == status).then_some(self.changed_by.as_deref()).flatten()
        };
        FlatRecord {
            id: &self.id,
            kind: self.kind,
            occasion: &self.occasion,
            status: &self.status,
            reason: self.reason.as_deref(),
            channel: &self.channel,
            priority: self.priority,
            consume: self.consume,
            goal: self.goal.as_deref(),
            session_id: self.session.as_deref(),
            source_id: self.source_id.as_deref(),
            created_at: self.created,
            created_by_pid: self.created_by_pid,
            expires_at: self.expires,
            claimed_at: at(Status::Claimed),
            claimed_by_session: by(Status::Claimed),
            consumed_at: at(Status::Consumed),
            consumed_by_pid: (self.status == Status::Consumed).then_some(self.changed_by_pid),
            consumed_by_session: by(Status::Consumed),
            expired_at: at(Status::Expired),
            cleared_at: at(Status::Cleared),
            superseded_by: self.superseded_by.as_ref(),
        }
    }
}

/// A step in a handoff's life.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HandoffEvent {
    /// When.
    pub at: Timestamp,
    /// Which handoff.
    pub id: String,
    /// The status before; `None` where there was no handoff.
    pub from: Option<Status>,
    /// The status after; `None` where there is no handoff any more.
    pub to: Option<Status>,
    /// The process that did it.
    pub pid: u32,
    /// The session for which it was done.
    pub session: Option<String>,
    /// Why.
    pub reason: Option<String>,
}
