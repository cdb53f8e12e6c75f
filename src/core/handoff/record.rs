//! A handoff's row in the store, and the lines of its log.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::core::handoff::{Audience, Consume, HandoffId, Kind, Occasion, Priority, Status};
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
    pub audience: Audience,
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
    /// Whether the session that claims it is over. A list finds out; no row holds it.
    pub is_abandoned: bool,
}

/// A field of [`HandoffRecord::to_json`]: its name and its value.
pub type Field = (&'static str, fn(&HandoffRecord) -> Value);

pub const FIELDS: [Field; 24] = [
    ("id", |record| json!(record.id)),
    ("kind", |record| json!(record.kind)),
    ("type", |record| json!(record.occasion)),
    ("status", |record| json!(record.status)),
    ("reason", |record| json!(record.reason)),
    ("channel", |record| json!(record.channel)),
    ("priority", |record| json!(record.priority)),
    ("consume", |record| json!(record.consume)),
    ("audience", |record| json!(record.audience)),
    ("goal", |record| json!(record.goal)),
    ("session_id", |record| json!(record.session)),
    ("source_id", |record| json!(record.source_id)),
    ("created_at", |record| json!(record.created)),
    ("created_by_pid", |record| json!(record.created_by_pid)),
    ("expires_at", |record| json!(record.expires)),
    ("claimed_at", |record| record.once(Status::Claimed, &record.changed)),
    ("claimed_by_session", |record| record.once(Status::Claimed, &record.changed_by)),
    ("abandoned", |record| json!(record.is_abandoned.then_some(true))),
    ("consumed_at", |record| record.once(Status::Consumed, &record.changed)),
    ("consumed_by_pid", |record| record.once(Status::Consumed, &record.changed_by_pid)),
    ("consumed_by_session", |record| record.once(Status::Consumed, &record.changed_by)),
    ("expired_at", |record| record.once(Status::Expired, &record.changed)),
    ("cleared_at", |record| record.once(Status::Cleared, &record.changed)),
    ("superseded_by", |record| json!(record.superseded_by)),
];

impl HandoffRecord {
    pub fn is_archived(&self) -> bool {
        matches!(self.status, Status::Consumed | Status::Expired | Status::Cleared)
    }

    /// The record as flat JSON without paths: all [`FIELDS`] that have a value.
    pub fn to_json(&self) -> Map<String, Value> {
        let fields = FIELDS.iter().map(|(name, value)| ((*name).to_owned(), value(self)));
        fields.filter(|(_, value)| !value.is_null()).collect()
    }

    /// A fact about the last change, if that led to this status.
    fn once(&self, status: Status, fact: &impl Serialize) -> Value {
        json!((self.status == status).then_some(fact))
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
