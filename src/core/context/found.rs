//! What the sources found for a session: notes, the concepts that they mention, and the graph around those.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::core::note::concept::Concept;
use crate::core::search::answer::Match;
use crate::core::time::Timestamp;

/// How many notes a search for the project's name adds.
pub const SEARCHED: usize = 5;
/// How many notes of the last day are added.
pub const RECENT: usize = 10;
/// How many neighbours of a concept are read.
pub const NEIGHBOURS: usize = 10;

/// All answers of the sources: what a context is built from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Found {
    /// Notes that match the project's name, best first.
    pub search: Vec<FoundNote>,
    /// Notes of the last day, newest first.
    pub recent: Vec<FoundNote>,
    pub details: ConceptDetails,
}

pub type ConceptDetails = BTreeMap<Concept, ConceptDetail>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundNote {
    pub uri: String,
    pub title: String,
    /// Its first sentence.
    pub excerpt: String,
    /// What it mentions.
    pub concepts: Vec<Concept>,
    pub modified: Timestamp,
    /// Why it was found.
    pub signal: Signal,
}

/// One thing that speaks for a concept or a note: a source found it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "by")]
pub enum Signal {
    /// A search for the project's name.
    Search {
        /// The note's place in the answer, from 1.
        place: usize,
        matched: Match,
    },
    /// A look at what changed lately.
    Recent {
        /// The note's place in the answer, from 1, the newest first.
        place: usize,
    },
}

/// A concept that found notes mention.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundConcept {
    pub concept: Concept,
    /// The signals of all found notes that mention it, in order, each once.
    pub signals: Vec<Signal>,
}

/// What a source knows about a concept itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ConceptDetail {
    /// The note with its name: address and first sentence.
    pub note: Option<(String, String)>,
    /// How many notes mention it.
    pub notes: u32,
    /// The concepts that share the most notes with it; read for the best concepts only.
    pub neighbours: Vec<Link>,
}

/// A concept that shares notes with another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    pub concept: Concept,
    /// How many notes mention both.
    pub notes: u32,
}
