//! The results of the sources for one session: notes, their concepts, and the graph around these concepts.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::core::note::concept::Concept;
use crate::core::quote::passage::Passage;
use crate::core::search::answer::Match;
use crate::core::time::Timestamp;

/// The number of notes that a search for the project's name adds.
pub const SEARCHED: usize = 5;
/// The number of notes from the last day that are added.
pub const RECENT: usize = 10;
/// The concepts of this many best notes count.
pub const SPEAKING: usize = 20;

/// All results of the sources: the input of a context.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Found {
    /// Notes that match the project's name, best first.
    pub search: Vec<FoundNote>,
    /// Notes from the last day, newest first.
    pub recent: Vec<FoundNote>,
    pub details: ConceptDetails,
    /// The notes that the session most likely needs, best first.
    pub notes: Vec<RankedNote>,
    /// The sessions and workflows of maenifold's about the project that go on, most important first.
    pub threads: Vec<OpenThread>,
    /// `None` if nobody looked for uncommitted files.
    pub uncommitted: Option<Uncommitted>,
}

/// A session or workflow of maenifold's that goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenThread {
    pub uri: String,
    pub title: String,
    /// How far it is: `thought 2/5`.
    pub at: String,
    /// Whether it says nothing beside that and its title.
    pub is_bare: bool,
}

impl OpenThread {
    /// Whether a line about it needs no other about its note.
    pub fn says_all_of(&self, note: &FoundNote) -> bool {
        self.is_bare && self.uri == note.uri
    }
}

/// The uncommitted files that notes name, and those notes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Uncommitted {
    /// Paths from the top of the working tree, in order.
    pub files: Vec<String>,
    /// Best first.
    pub raised: Vec<RaisedNote>,
}

/// A note that names an uncommitted file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RaisedNote {
    /// Its relevance is that without the file.
    pub note: RankedNote,
    /// What it gains, in thousandths.
    pub gain: i64,
    /// The place of the file that it names best.
    pub file: usize,
}

/// A note that a session probably needs, with its quotes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RankedNote {
    /// Its excerpt is its card.
    pub note: FoundNote,
    /// The long quote; empty for notes that are never quoted at length.
    pub passage: Passage,
    /// In thousandths.
    pub relevance: i64,
}

pub type ConceptDetails = BTreeMap<Concept, ConceptDetail>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundNote {
    pub uri: String,
    pub title: String,
    /// The first sentence of the note.
    pub excerpt: String,
    /// The concepts that the note mentions.
    pub concepts: Vec<Concept>,
    pub modified: Timestamp,
    /// How the note was found.
    pub signal: Signal,
}

/// One reason for a concept or a note: a source found it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "by")]
pub enum Signal {
    /// A search for the project's name.
    Search {
        /// The rank in the result, from 1.
        place: usize,
        matched: Match,
    },
    /// The list of recently changed notes.
    Recent {
        /// The rank in the result, from 1, newest first.
        place: usize,
    },
    /// The relevance of a note for any session.
    Relevance {
        /// The rank, from 1.
        place: usize,
        /// The number of sessions in which the note changed.
        sessions: usize,
        /// The number of sessions since its last change.
        age: usize,
        /// The number of other notes that changed with it then, if they are too many for a session.
        #[serde(default, skip_serializing_if = "is_none")]
        together: usize,
        /// Whether its path is short, and its text long, where no change tells it from other notes.
        #[serde(default, skip_serializing_if = "is_false")]
        short_path: bool,
        #[serde(default, skip_serializing_if = "is_false")]
        long_text: bool,
        /// Whether links from notes that changed lead to it.
        #[serde(default, skip_serializing_if = "is_false")]
        linked: bool,
        /// Whether the session's prompt speaks of it.
        #[serde(default, skip_serializing_if = "is_false")]
        prompted: bool,
        /// Whether it has words of the branch's name.
        #[serde(default, skip_serializing_if = "is_false")]
        branch: bool,
        /// The place of the uncommitted file that it names, if that raised it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        uncommitted: Option<usize>,
    },
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
pub(super) fn is_false(value: &bool) -> bool {
    !value
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_none(n: &usize) -> bool {
    *n == 0
}

/// A concept that at least one found note mentions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundConcept {
    pub concept: Concept,
    /// The signals of all found notes that mention the concept, sorted, without duplicates.
    pub signals: Vec<Signal>,
}

/// What a source knows about one concept.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ConceptDetail {
    /// The note of the same name: address and first sentence.
    pub note: Option<(String, String)>,
    /// The number of notes that mention the concept.
    pub notes: u32,
    /// The concepts that share the most notes with this one; read only for the best concepts.
    pub neighbours: Vec<Link>,
}

/// A concept that shares notes with another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    pub concept: Concept,
    /// The number of notes that mention both.
    pub notes: u32,
}
