//! A line about a context that was made, for lists.

use serde::Serialize;

use crate::core::time::Timestamp;

/// The last context of a session, in short.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ContextSummary {
    pub session: String,
    pub moment: String,
    pub at: Timestamp,
    /// Whether the session received it.
    pub delivered: bool,
    pub host: String,
    pub tokens: i64,
    /// The tokens that it could have had.
    pub budget: i64,
}
