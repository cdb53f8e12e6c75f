//! A candidate: one possible line of a context, with the signals that support it.

use serde::{Deserialize, Serialize};

use crate::core::context::found::{Link, Signal};
use crate::core::note::concept::Concept;
use crate::core::quote::passage::Passage;

/// The parts of a context, in the order of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// Heading, fence and footer.
    Frame,
    /// The handoff of the previous session.
    Handoff,
    /// Quoted notes.
    Notes,
    Concepts,
    Recent,
    Graph,
    /// The files that the handoff lists.
    Files,
}

impl Part {
    pub const ALL: [Part; 7] = [
        Part::Frame,
        Part::Handoff,
        Part::Notes,
        Part::Concepts,
        Part::Recent,
        Part::Graph,
        Part::Files,
    ];

    /// The name in receipts and reports.
    pub fn name(self) -> &'static str {
        match self {
            Part::Frame => "frame",
            Part::Handoff => "handoff",
            Part::Notes => "notes",
            Part::Concepts => "concepts",
            Part::Recent => "recent",
            Part::Graph => "graph",
            Part::Files => "files",
        }
    }

    /// The heading in reports.
    pub fn title(self) -> &'static str {
        match self {
            Part::Frame => "Frame",
            Part::Handoff => "Handoff",
            Part::Notes => "Notes",
            Part::Concepts => "Related concepts",
            Part::Recent => "Recent activity",
            Part::Graph => "Graph connections",
            Part::Files => "Listed files",
        }
    }
}

/// One possible line of a context.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Candidate {
    pub part: Part,
    pub line: Line,
    /// The reasons for this candidate.
    pub signals: Vec<Signal>,
}

/// The content of a candidate. Some pieces are optional, so that the line can be shortened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Line {
    /// A concept or a note, with a sentence about it.
    Described {
        name: String,
        /// A sentence that can be shortened; empty if there is no description.
        description: String,
        /// The note's address; empty if there is no note.
        uri: String,
    },
    /// A note with a quote from it.
    Quoted {
        /// The address.
        name: String,
        /// Empty if it says no more than the address.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        title: String,
        /// Can be shortened; empty for a note without words.
        quote: String,
        /// What a longer quote has, if there is room left at the end; empty if there is no more.
        #[serde(default, skip_serializing_if = "Passage::is_empty")]
        passage: Passage,
    },
    /// A concept and its neighbours. The last neighbours can be left out.
    Connected {
        concept: Concept,
        /// The neighbours, strongest first; never empty.
        to: Vec<Link>,
    },
}

/// The address of a quoted note and, if it says more, its title.
pub fn quoted_name(name: &str, title: &str) -> String {
    if title.is_empty() { name.to_owned() } else { format!("{name} {title}") }
}
