//! A receipt: what a session received and why, and what was omitted.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::core::context::budget::{Budget, Size};
use crate::core::context::candidate::{Candidate, Part};
use crate::core::context::found::{Signal, is_false};
use crate::core::context::rank::Ranking;
use crate::core::context::uncommitted::UncommittedRecord;
use crate::core::handoff::{Handoff, HandoffSection};
use crate::core::host::Host;
use crate::core::named::named;
use crate::core::session::Moment;
use crate::core::source::SourceChoice;
use crate::core::time::Timestamp;
use crate::core::tokens::encoding::Encoding;

/// A context, ready for delivery, and its receipt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Injection {
    /// The exact bytes; empty if there is no content or none of it fits.
    pub text: String,
    /// The id of the stored receipt; `None` if it is not stored.
    pub id: Option<i64>,
    /// When the text becomes outdated: when the first of its recent notes stops being recent, or at once if a slow
    /// source answered. `None` if it never does.
    pub good_until: Option<Timestamp>,
    pub receipt: Receipt,
}

/// How a context was built.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Receipt {
    pub session: String,
    #[serde(default)]
    pub moment: Moment,
    /// The project's name; `None` outside a project.
    pub project: Option<String>,
    pub project_key: String,
    pub at: Timestamp,
    /// Whether the session received it; `false` for a dry run.
    pub delivered: bool,
    pub host: Host,
    pub ranking: Ranking,
    pub encoding: Encoding,
    /// Which source answered about the notes of maenifold's memory, and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceChoice>,
    pub budget: Budget,
    /// The tokens of the session's budget that are kept for a supplement at the first prompt.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub kept_tokens: usize,
    /// Whether the session's prompt was known.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_prompted: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handoff: Option<HandoffSection>,
    pub used: Size,
    /// The SHA-256 of the text, in hexadecimal.
    pub sha256: String,
    /// The size of each part; they add up to `used`.
    pub parts: Vec<PartUse>,
    /// The notes that a search or the last day brought, to which the candidates' signals refer. A signal of relevance
    /// refers to the entry of its note.
    pub found: Vec<FoundRef>,
    /// All candidates, shown or omitted, in the order in which they got room.
    pub entries: Vec<Entry>,
    /// What uncommitted files changed; `None` if nobody looked for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncommitted: Option<UncommittedRecord>,
    pub faults: Vec<Fault>,
    /// The duration of each stage. Stages can run in parallel.
    pub stages: Vec<Stage>,
}

impl Receipt {
    /// The handoff that the session received; `None` if it did not fit.
    pub fn shown_handoff(&self) -> Option<&Handoff> {
        let has_room = self.parts.iter().any(|part| part.name == Part::Handoff);
        match &self.handoff {
            Some(HandoffSection::Handoff(handoff)) if has_room => Some(handoff),
            _ => None,
        }
    }

    pub fn omitted(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| entry.shown.is_none())
    }

    /// The handoff, if it did not fit.
    pub fn omitted_handoff(&self) -> Option<&Handoff> {
        match &self.handoff {
            Some(HandoffSection::Handoff(handoff)) if self.shown_handoff().is_none() => {
                Some(handoff)
            }
            _ => None,
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(tokens: &usize) -> bool {
    *tokens == 0
}

/// The size of one part of a context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartUse {
    pub name: Part,
    pub tokens: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundRef {
    /// The source, and the rank in its result.
    #[serde(flatten)]
    pub signal: Signal,
    pub uri: String,
}

/// A candidate, with how it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    #[serde(flatten)]
    pub candidate: Candidate,
    /// `None` if it was omitted.
    pub shown: Option<Shown>,
}

/// How much of a candidate is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    /// One of the line's extents, 0 the shortest; `None` for the whole line.
    pub extent: Option<usize>,
    pub tokens: usize,
}

/// A part of the work that failed or timed out. The rest continued without it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    pub source: FaultSource,
    /// The cause and, if there is one, the remedy.
    pub reason: String,
}

/// What failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FaultSource {
    Project,
    Settings,
    Vault,
    Maenifold,
    Index,
    Search,
    Recent,
    Notes,
    Graph,
    Handoff,
    Receipt,
}

named!(FaultSource {
    Project = "project",
    Settings = "settings",
    Vault = "vault",
    Maenifold = "maenifold",
    Index = "index",
    Search = "search",
    Recent = "recent",
    Notes = "notes",
    Graph = "graph",
    Handoff = "handoff",
    Receipt = "receipt",
});

impl Fault {
    pub fn new(source: FaultSource, reason: impl ToString) -> Fault {
        Fault { source, reason: reason.to_string() }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    pub name: String,
    /// Rounded to microseconds.
    pub ms: f64,
}

impl Stage {
    pub fn new(name: &str, took: Duration) -> Stage {
        Stage { name: name.to_owned(), ms: (took.as_secs_f64() * 1e6).round() / 1e3 }
    }
}
