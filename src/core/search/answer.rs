//! The answers to the questions about notes, in the shapes that session starters expect as JSON.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::core::extract::Extract;
use crate::core::named::named;
use crate::core::note::concept::Concept;
use crate::core::time::{self, Timestamp};

/// Notes that match a query, best first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SearchAnswer {
    pub query: String,
    pub results: Vec<SearchHit>,
}

/// One note that matches a query.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SearchHit {
    pub uri: String,
    /// The note's file; `None` if it is not on this machine.
    pub path: Option<String>,
    pub title: String,
    /// From 0 to 1, comparable within one answer only.
    pub score: f64,
    /// Why the note is here.
    pub matched: Match,
    /// The text around the first match.
    pub snippet: String,
    /// The note's concepts, most mentioned first.
    pub concepts: Vec<Concept>,
}

/// How a note matches a query, strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Match {
    /// The query is the note's address.
    Uri,
    /// The query is the note's title.
    Title,
    /// The query is one of the note's aliases.
    Alias,
    /// The query is the note's file name.
    File,
    /// The query is a concept that the note mentions.
    Concept,
    /// The note has the query's words, or forms of them.
    Text,
}

/// Notes changed within a span of time, newest first.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RecentAnswer {
    /// The moment from which the time is counted back.
    #[serde(skip)]
    pub now: Timestamp,
    pub items: Vec<RecentItem>,
    /// The newest note of all, told when none is recent enough.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newest_older: Option<RecentItem>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RecentItem {
    pub uri: String,
    /// The note's file; `None` if it is not on this machine.
    pub path: Option<String>,
    pub title: String,
    /// When its file was last written.
    #[serde(serialize_with = "time::known")]
    pub modified: Timestamp,
    /// The note's concepts, most mentioned first.
    pub concepts: Vec<Concept>,
}

/// Which notes recent activity is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecentFilter {
    All,
    /// Notes outside `thinking/`.
    Memory,
    /// Notes below `thinking/`.
    Thinking,
}

named!(RecentFilter { All = "all", Memory = "memory", Thinking = "thinking" });

/// What is around a concept in the graph.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ContextAnswer {
    /// The concept that was asked for, in normal form.
    pub concept: String,
    /// Whether any note mentions it.
    pub known: bool,
    /// Concepts that share notes with it, strongest first.
    pub related_concepts: Vec<RelatedConcept>,
    /// Concepts further away, nearest first; only with a depth above 1.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub expanded_concepts: Vec<Concept>,
    /// Addresses of the notes behind the relations, each once.
    pub file_references: Vec<String>,
    /// The files of these notes by their addresses, as far as they are on this machine.
    pub paths: BTreeMap<String, String>,
    /// Names close to one that is unknown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nearest: Vec<Concept>,
}

impl ContextAnswer {
    /// That nothing is known about a concept.
    pub fn unknown(concept: impl Into<String>) -> ContextAnswer {
        ContextAnswer {
            concept: concept.into(),
            known: false,
            related_concepts: Vec::new(),
            expanded_concepts: Vec::new(),
            file_references: Vec::new(),
            paths: BTreeMap::new(),
            nearest: Vec::new(),
        }
    }
}

/// A concept that shares notes with another.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RelatedConcept {
    pub name: Concept,
    /// How many notes mention both.
    pub files: u32,
    /// The newest of these notes, at most three.
    pub uris: Vec<String>,
}

/// What `kgctx read` found under a name.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum ReadAnswer {
    /// One note, with as much of its text as was asked for.
    Note {
        #[serde(flatten)]
        note: NamedNote,
        #[serde(serialize_with = "time::known")]
        modified: Timestamp,
        #[serde(flatten)]
        extract: Extract,
        /// The tokens of the answer as text, its frame included.
        tokens: usize,
    },
    /// No note, but a concept, with the notes that mention it, best first.
    Concept {
        concept: Concept,
        /// The number of all notes that mention it.
        mentions: u32,
        notes: Vec<QuotedNote>,
    },
    /// Several notes.
    Ambiguous { name: String, notes: Vec<NamedNote> },
    /// Nothing; names close to it.
    Unknown { name: String, nearest: Vec<Concept> },
}

/// A note without its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NamedNote {
    pub uri: String,
    pub path: String,
    pub title: String,
}

/// A note with a few words of its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct QuotedNote {
    #[serde(flatten)]
    pub note: NamedNote,
    pub quote: String,
}
