//! Ranks what the sources found. Every ranking is a file of this folder and an arm of `Ranking::method`; receipts
//! name the ranking.
//!
//! A ranking runs twice: first without concept details, to decide which concepts the sources look up, and again when
//! the graph around these concepts is known.

mod frequency;

use serde::{Deserialize, Serialize};

use crate::core::context::compose::is_name;
use crate::core::context::found::{ConceptDetails, FoundConcept, FoundNote};
use crate::core::context::merge::merge;

/// The number of concepts that are kept: some notes link to thousands, and no context could hold all their names.
const CONCEPTS: usize = 256;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ranking {
    #[default]
    Frequency,
}

impl Ranking {
    fn method(self) -> Method {
        match self {
            Ranking::Frequency => frequency::METHOD,
        }
    }

    pub fn description(self) -> &'static str {
        self.method().description
    }

    /// The number of best concepts whose neighbours the sources read.
    pub fn n_expanded(self) -> usize {
        self.method().n_expanded
    }
}

/// The definition of a ranking.
struct Method {
    description: &'static str,
    /// At least the number of concepts whose connections a context shows.
    n_expanded: usize,
    order: for<'a> fn(Evidence<'a>) -> Ranked<'a>,
}

/// The input of a ranking: the found notes, their concepts, and the graph around these.
#[derive(Debug, Clone)]
pub struct Evidence<'a> {
    pub search: &'a [FoundNote],
    pub recent: &'a [FoundNote],
    /// Every concept of the notes once, sorted by name.
    pub concepts: Vec<FoundConcept>,
    /// Empty in the first run, before the sources have looked up the concepts.
    pub details: &'a ConceptDetails,
}

impl<'a> Evidence<'a> {
    pub fn of(
        search: &'a [FoundNote],
        recent: &'a [FoundNote],
        details: &'a ConceptDetails,
    ) -> Evidence<'a> {
        Evidence { search, recent, concepts: merge(search.iter().chain(recent)), details }
    }
}

/// Concepts and recent notes, best first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ranked<'a> {
    pub concepts: Vec<FoundConcept>,
    pub recent: Vec<&'a FoundNote>,
}

/// Ranks, and keeps the best concepts that have a displayable name.
pub fn rank(ranking: Ranking, evidence: Evidence<'_>) -> Ranked<'_> {
    let Ranked { concepts, recent } = (ranking.method().order)(evidence);
    let named = concepts.into_iter().filter(|found| is_name(&found.concept));
    Ranked { concepts: named.take(CONCEPTS).collect(), recent }
}

/// The concepts that the sources look up: the best ones, ranked without details.
pub fn shortlist(
    ranking: Ranking,
    search: &[FoundNote],
    recent: &[FoundNote],
) -> Vec<FoundConcept> {
    rank(ranking, Evidence::of(search, recent, &ConceptDetails::new())).concepts
}
