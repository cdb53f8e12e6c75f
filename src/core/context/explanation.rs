//! An explanation: a receipt in words, with the price of what was left out.

use serde::Serialize;

use crate::core::context::candidate::Part;
use crate::core::context::receipt::Receipt;

/// Why a session was given what it was given.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    /// Every line of the context, in the order of the text.
    pub lines: Vec<ExplainedLine>,
    /// What was left out, the first in line first.
    pub near_misses: Vec<NearMiss>,
    /// What all this is about.
    pub receipt: Receipt,
}

/// A line of the context.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExplainedLine {
    /// The part it stands in.
    pub part: Part,
    /// The line.
    pub text: String,
    /// What it takes up.
    pub tokens: usize,
    /// Whether it was shortened for want of room.
    pub shortened: bool,
    /// Why it is there.
    pub reason: String,
}

/// A line that was left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NearMiss {
    /// The part it would stand in.
    pub part: Part,
    /// The whole line.
    pub text: String,
    /// What it would take up.
    pub tokens: usize,
    /// Why it would be there.
    pub reason: String,
    /// A budget at which it, perhaps shortened, is taken in, and one token less at which it is not; `None` where the host's
    /// own limit keeps it out.
    pub enters_at: Option<usize>,
}
