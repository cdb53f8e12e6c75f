//! An explanation: a receipt in words, with the budget that each omitted line would have needed.

use serde::Serialize;

use crate::core::context::candidate::Part;
use crate::core::context::receipt::Receipt;

/// Why a session received this context.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    /// Every line of the context, in text order.
    pub lines: Vec<ExplainedLine>,
    /// The omitted lines, in the order in which they would have got room.
    pub near_misses: Vec<NearMiss>,
    pub receipt: Receipt,
    /// What the first prompt added.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supplement: Option<Box<Explanation>>,
    /// Whether no session was to get it.
    #[serde(skip)]
    pub is_dry_run: bool,
}

impl Explanation {
    /// What is known of its delivery.
    pub fn status(&self) -> &'static str {
        match self.receipt.delivered {
            true => "delivered",
            false if self.is_dry_run => "dry run",
            false => "no delivery recorded",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExplainedLine {
    pub part: Part,
    pub text: String,
    pub tokens: usize,
    pub shortened: bool,
    pub reason: String,
}

/// An omitted line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NearMiss {
    pub part: Part,
    pub text: String,
    pub tokens: usize,
    pub reason: String,
    /// A budget in tokens at which the line fits, perhaps shortened, while one token less is too few. `None` if the
    /// host's own limit keeps the line out.
    pub enters_at: Option<usize>,
}
