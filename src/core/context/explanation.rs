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
    pub receipt: Receipt,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExplainedLine {
    pub part: Part,
    pub text: String,
    pub tokens: usize,
    /// Whether it was shortened to fit.
    pub shortened: bool,
    pub reason: String,
}

/// A line that was left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NearMiss {
    pub part: Part,
    pub text: String,
    pub tokens: usize,
    pub reason: String,
    /// A budget at which it, perhaps shortened, is taken in, and one token less at which it is not; `None` where the host's
    /// own limit keeps it out.
    pub enters_at: Option<usize>,
}
