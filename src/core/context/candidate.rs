//! A candidate: one line that a session's context could have, and everything that spoke for it.

use serde::{Deserialize, Serialize};

use crate::core::context::found::{Link, Signal};
use crate::core::note::concept::Concept;

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
