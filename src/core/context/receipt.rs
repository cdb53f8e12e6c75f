//! A receipt: what a session was given, why, and what was left out.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::core::context::budget::{Budget, Size};
use crate::core::context::candidate::{Candidate, Part};
use crate::core::context::found::Signal;
use crate::core::context::rank::Ranking;
use crate::core::handoff::{Handoff, HandoffSection};
use crate::core::host::Host;
use crate::core::named::named;
use crate::core::session::Moment;
use crate::core::source::SourceChoice;
use crate::core::time::Timestamp;
use crate::core::tokens::encoding::Encoding;

/// A context, ready to be delivered, and its receipt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Injection {
    /// The very bytes; empty where there is nothing to say or no room to say it.
    pub text: String,
    /// The number under which the receipt is kept, if it is.
    pub id: Option<i64>,
    /// When some of its recent activity will no longer be recent; `None` where there is none.
    pub good_until: Option<Timestamp>,
    /// How it came about.
    pub receipt: Receipt,
}

/// How a context came about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Receipt {
    /// The session it was made for.
    pub session: String,
    /// The moment of the session.
    #[serde(default)]
    pub moment: Moment,
    /// The project's name; `None` outside of any.
    pub project: Option<String>,
    /// The project's unique name.
    pub project_key: String,
    /// When it was made.
    pub at: Timestamp,
    /// Whether the session got it. A dry run delivers nothing.
    pub delivered: bool,
    /// For which host.
    pub host: Host,
    /// How candidates were ranked.
    pub ranking: Ranking,
    /// How tokens were counted.
    pub encoding: Encoding,
    /// Who answered about the notes of maenifold's memory, and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceChoice>,
    /// How much room there was.
    pub budget: Budget,
    /// What is said about handoffs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handoff: Option<HandoffSection>,
    /// How much was used.
    pub used: Size,
    /// The text's SHA-256, in hexadecimal.
    pub sha256: String,
    /// What each part takes up; they add up to `used`.
    pub parts: Vec<PartUse>,
    /// The notes that the sources found, to which the candidates' signals refer.
    pub found: Vec<FoundRef>,
    /// All candidates, in the order in which room was given to them, and what became of them.
    pub entries: Vec<Entry>,
    /// What went wrong on the way.
    pub faults: Vec<Fault>,
    /// How long each stage took. Stages may run side by side.
    pub stages: Vec<Stage>,
}

impl Receipt {
    /// The handoff that the session was given, if there was room for it.
    pub fn shown_handoff(&self) -> Option<&Handoff> {
        let has_room = self.parts.iter().any(|part| part.name == Part::Handoff);
        match &self.handoff {
            Some(HandoffSection::Handoff(handoff)) if has_room => Some(handoff),
            _ => None,
        }
    }

    /// The candidates for which there was no room.
    pub fn omitted(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| entry.shown.is_none())
    }

    /// The handoff for which there was no room.
    pub fn omitted_handoff(&self) -> Option<&Handoff> {
        match &self.handoff {
            Some(HandoffSection::Handoff(handoff)) if self.shown_handoff().is_none() => {
                Some(handoff)
            }
            _ => None,
        }
    }
}

/// What one part of a context takes up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartUse {
    /// The part.
    pub name: Part,
    /// Its tokens.
    pub tokens: usize,
}

/// A note that a source found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundRef {
    /// Which source, and where in its answer.
    #[serde(flatten)]
    pub signal: Signal,
    /// The note's address.
    pub uri: String,
}

/// A candidate and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The candidate.
    #[serde(flatten)]
    pub candidate: Candidate,
    /// How it stands in the context; `None` for one that was left out.
    pub shown: Option<Shown>,
}

/// How much of a candidate stands in a context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    /// Which of the line's lengths, 0 the shortest; `None` where nothing was left out of it.
    pub extent: Option<usize>,
    /// What it takes up.
    pub tokens: usize,
}

/// Something that failed or came too late. The rest went on without it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    pub source: FaultSource,
    /// How, and where there is one, the way out.
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
    Graph = "graph",
    Handoff = "handoff",
    Receipt = "receipt",
});

impl Fault {
    pub fn new(source: FaultSource, reason: impl ToString) -> Fault {
        Fault { source, reason: reason.to_string() }
    }
}

/// How long one stage took.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    pub name: String,
    /// To the microsecond.
    pub ms: f64,
}

impl Stage {
    pub fn new(name: &str, took: Duration) -> Stage {
        Stage { name: name.to_owned(), ms: (took.as_secs_f64() * 1e6).round() / 1e3 }
    }
}
