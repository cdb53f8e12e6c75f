//! Ranks what the sources found. Every ranking is a file of this folder and an arm of `Ranking::method`; receipts
//! name the ranking.
//!
//! A ranking runs twice: first without concept details, to decide which concepts the sources look up, and again when
//! the graph around these concepts is known.

mod frequency;
mod notes;

pub(super) use notes::signals as note_signals;
use serde::{Deserialize, Serialize};

use crate::core::context::compose::is_name;
use crate::core::context::found::{Found, FoundConcept, FoundNote, RankedNote};
use crate::core::context::merge::merge;
use crate::core::named::named;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ranking {
    /// The seed's: concepts by the number of found notes that mention them.
    Frequency,
    /// Notes by their relevance, quoted.
    #[default]
    Notes,
}

named!(Ranking { Frequency = "frequency", Notes = "notes" });

impl Ranking {
    fn method(self) -> Method {
        match self {
            Ranking::Frequency => frequency::METHOD,
            Ranking::Notes => notes::METHOD,
        }
    }

    pub fn description(self) -> &'static str {
        self.method().description
    }

    pub fn expansion(self) -> Expansion {
        self.method().expansion
    }
}

/// How much of the graph the sources read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expansion {
    /// The number of best concepts whose neighbours are read: at least those whose connections a context shows.
    pub n_concepts: usize,
    /// The number of neighbours of each. With few, the edges of a single note, of which a concept can have thousands,
    /// are seldom read.
    pub n_neighbours: usize,
}

/// The definition of a ranking.
struct Method {
    description: &'static str,
    /// The number of concepts that are kept: some notes link to thousands, and no context could hold all their names.
    n_concepts: usize,
    expansion: Expansion,
    /// The notes whose concepts count.
    speaks: for<'a> fn(&'a Found) -> Vec<&'a FoundNote>,
    order: for<'a> fn(Evidence<'a>) -> Ranked<'a>,
}

/// The input of a ranking: the found notes, their concepts, and the graph around these.
#[derive(Debug, Clone)]
pub struct Evidence<'a> {
    pub found: &'a Found,
    /// Every concept of the notes once, sorted by name.
    pub concepts: Vec<FoundConcept>,
}

/// Concepts and notes, best first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ranked<'a> {
    pub concepts: Vec<FoundConcept>,
    pub recent: Vec<&'a FoundNote>,
    pub notes: Vec<RankedNote>,
}

/// Ranks, and keeps the best concepts that have a displayable name. The details of `found` are empty in the first run,
/// before the sources have looked up the concepts.
pub fn rank(ranking: Ranking, found: &Found) -> Ranked<'_> {
    let method = ranking.method();
    let concepts = merge((method.speaks)(found));
    let ranked = (method.order)(Evidence { found, concepts });
    let named = ranked.concepts.into_iter().filter(|found| is_name(&found.concept));
    Ranked { concepts: named.take(method.n_concepts).collect(), ..ranked }
}

/// The concepts that the sources look up: the best ones, ranked without details.
pub fn shortlist(ranking: Ranking, found: &Found) -> Vec<FoundConcept> {
    rank(ranking, found).concepts
}
