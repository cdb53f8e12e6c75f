//! A candidate: one line that a session's context could have, and everything that spoke for it.

use serde::{Deserialize, Serialize};

use crate::core::note::concept::Concept;
use crate::core::search::answer::Match;
use crate::core::time::Timestamp;

/// A note that a source found for a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundNote {
    /// The note's address.
    pub uri: String,
    /// Its title.
    pub title: String,
    /// Its first sentence.
    pub excerpt: String,
    /// What it mentions.
    pub concepts: Vec<Concept>,
    /// When it was last written.
    pub modified: Timestamp,
    /// Why it was found.
    pub signal: Signal,
}

/// One thing that speaks for a candidate: a source found a note that mentions it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "by")]
pub enum Signal {
    /// A search for the project's name.
    Search {
        /// The note's place in the answer, from 1.
        place: usize,
        /// How it matched.
        matched: Match,
    },
    /// A look at what changed lately.
    Recent {
        /// The note's place in the answer, from 1, the newest first.
        place: usize,
    },
}

/// A concept that found notes mention, with all that speaks for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundConcept {
    /// The concept.
    pub concept: Concept,
    /// Every found note that mentions it: once per source.
    pub signals: Vec<Signal>,
}

/// What is known about a concept beyond who mentions it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ConceptDetail {
    /// The note that goes by its name: address and first sentence.
    pub note: Option<(String, String)>,
    /// How many notes mention it.
    pub notes: u32,
    /// The concepts that share the most notes with it; only asked for where they are shown.
    pub neighbours: Vec<Link>,
}

/// A concept that shares notes with another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// The concept.
    pub concept: Concept,
    /// How many notes mention both.
    pub notes: u32,
}

/// The parts of a context, in the order in which they stand there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// What holds the others: heading, fence, footer.
    Frame,
    /// What the last session left for this one.
    Handoff,
    /// Related concepts.
    Concepts,
    /// Recent activity.
    Recent,
    /// Graph connections.
    Graph,
    /// Files that the handoff lists.
    Files,
}

impl Part {
    /// Every part.
    pub const ALL: [Part; 6] =
        [Part::Frame, Part::Handoff, Part::Concepts, Part::Recent, Part::Graph, Part::Files];

    /// The part's name.
    pub fn name(self) -> &'static str {
        match self {
            Part::Frame => "frame",
            Part::Handoff => "handoff",
            Part::Concepts => "concepts",
            Part::Recent => "recent",
            Part::Graph => "graph",
            Part::Files => "files",
        }
    }

    /// The part's name above its lines.
    pub fn title(self) -> &'static str {
        match self {
            Part::Frame => "Frame",
            Part::Handoff => "Handoff",
            Part::Concepts => "Related concepts",
            Part::Recent => "Recent activity",
            Part::Graph => "Graph connections",
            Part::Files => "Listed files",
        }
    }
}

/// One line that a context could have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Candidate {
    /// Where it belongs.
    pub part: Part,
    /// What it says.
    pub line: Line,
    /// What speaks for it.
    pub signals: Vec<Signal>,
}

/// What a candidate says, in pieces of which some may be left out where room is short.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Line {
    /// A concept or a note with a sentence about it.
    Described {
        /// What it is called.
        name: String,
        /// A sentence that may be shortened; empty where there is none.
        description: String,
        /// The note's address; empty where no note stands behind it.
        uri: String,
    },
    /// A concept and the concepts around it, of which the last may be left out.
    Connected {
        /// The concept.
        concept: Concept,
        /// Those around it, strongest first, never none.
        to: Vec<Link>,
    },
}
