//! A handoff as the store knows it, and the lines of its log.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::core::handoff::{Consume, HandoffId, Kind, Occasion, Priority, Status};
use crate::core::time::Timestamp;

/// A row of the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandoffRecord {
    pub id: HandoffId,
    /// A project's key, or `@` and a channel that was named.
    pub scope: String,
    /// The channel that it was left in.
    pub channel: String,
    pub kind: Kind,
    pub occasion: Occasion,
    pub consume: Consume,
    pub priority: Priority,
    pub status: Status,
    /// Why it has this status.
    pub reason: Option<String>,
    /// The session that wrote it.
    pub session: Option<String>,
    /// Its id in the program that it was imported from.
    pub source_id: Option<String>,
    /// In one line.
    pub goal: Option<String>,
    /// Where its author worked.
    pub working_dir: Option<String>,
    pub created: Timestamp,
    pub created_by_pid: u32,
    pub expires: Option<Timestamp>,
    /// When it got its status.
    pub changed: Timestamp,
    pub changed_by_pid: u32,
    /// The session for which it got its status.
    pub changed_by: Option<String>,
    /// The handoff that took its place.
    pub superseded_by: Option<HandoffId>,
}

/// The names of the fields of [`HandoffRecord::to_json`], in the order of its values.
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

impl HandoffRecord {
    pub fn is_archived(&self) -> bool {
        matches!(self.status, Status::Consumed | Status::Expired | Status::Cleared)
    }

    /// The record as flat JSON without paths: those of [`FIELDS`] that it has.
    pub fn to_json(&self) -> Map<String, Value> {
        let at = |status: Status| json!((self.status == status).then_some(self.changed));
        let by =
            |status: Status| json!(self.changed_by.as_deref().filter(|_| self.status == status));
        let consumed_by_pid = (self.status == Status::Consumed).then_some(self.changed_by_pid);
        let values = [
            json!(self.id),
            json!(self.kind),
            json!(self.occasion),
            json!(self.status),
            json!(self.reason),
            json!(self.channel),
            json!(self.priority),
            json!(self.consume),
            json!(self.goal),
            json!(self.session),
            json!(self.source_id),
            json!(self.created),
            json!(self.created_by_pid),
            json!(self.expires),
            at(Status::Claimed),
            by(Status::Claimed),
            at(Status::Consumed),
            json!(consumed_by_pid),
            by(Status::Consumed),
            at(Status::Expired),
            at(Status::Cleared),
            json!(self.superseded_by),
        ];
        let fields = FIELDS.into_iter().zip(values).filter(|(_, value)| !value.is_null());
        fields.map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

/// A line of the log: one step in a handoff's life.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LogLine {
    pub at: Timestamp,
    /// Which handoff.
    pub id: String,
    /// The status before; `None` where there was no handoff.
    pub from: Option<Status>,
    /// The status after; `None` where there is no handoff any more.
    pub to: Option<Status>,
    pub pid: u32,
    pub session: Option<String>,
    pub reason: Option<String>,
}
