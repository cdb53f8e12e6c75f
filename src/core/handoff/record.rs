//! A handoff's row in the store, and the lines of its log.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::core::handoff::{Consume, HandoffId, Kind, Occasion, Priority, Status};
use crate::core::time::Timestamp;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandoffRecord {
    pub id: HandoffId,
    /// A project's key, or `@` and the name of a channel.
    pub scope: String,
    pub channel: String,
    pub kind: Kind,
    pub occasion: Occasion,
    pub consume: Consume,
    pub priority: Priority,
    pub status: Status,
    /// The reason for the status.
    pub reason: Option<String>,
    /// The author.
    pub session: Option<String>,
    /// The id in the program from which it was imported.
    pub source_id: Option<String>,
    pub goal: Option<String>,
    /// The author's working folder.
    pub working_dir: Option<String>,
    pub created: Timestamp,
    pub created_by_pid: u32,
    pub expires: Option<Timestamp>,
    /// When the status changed.
    pub changed: Timestamp,
    pub changed_by_pid: u32,
    /// The session that caused the change.
    pub changed_by: Option<String>,
    pub superseded_by: Option<HandoffId>,
}

/// The field names of [`HandoffRecord::to_json`], in the order of its values.
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

    /// The record as flat JSON without paths: all [`FIELDS`] that have a value.
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

/// A line of the log: one step in the life of a handoff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LogLine {
    pub at: Timestamp,
    /// The id of the handoff.
    pub id: String,
    /// The status before the step; `None` if the step creates the handoff.
    pub from: Option<Status>,
    /// The status after the step; `None` if the step removes the handoff.
    pub to: Option<Status>,
    pub pid: u32,
    pub session: Option<String>,
    pub reason: Option<String>,
}
