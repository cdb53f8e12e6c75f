//! Builds a context from what was found: merge, rank, compose, pack, render. Pure: no thread, no file, no clock.

use crate::core::context::budget::{Budget, Size};
use crate::core::context::compose::compose;
use crate::core::context::found::Found;
use crate::core::context::pack::{Packed, pack};
use crate::core::context::rank::{Evidence, Ranking, rank};
use crate::core::context::receipt::{Entry, PartUse};
use crate::core::handoff::HandoffSection;
use crate::core::tokens::encoding::Encoding;

/// What a context is built for.
#[derive(Debug, Clone, Copy)]
pub struct ContextRequest<'a> {
    pub project: Option<&'a str>,
    /// What is said about handoffs, which comes first.
    pub handoff: Option<&'a HandoffSection>,
    pub ranking: Ranking,
    /// How tokens are counted.
    pub encoding: Encoding,
    pub budget: Budget,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Context {
    /// Empty if there is nothing to say, or no room to say it.
    pub text: String,
    /// The size of the whole text.
    pub used: Size,
    pub parts: Vec<PartUse>,
    /// All candidates in the order in which they got room, shown or omitted.
    pub entries: Vec<Entry>,
}

/// Builds the context. The same values give the same bytes.
pub fn build(request: &ContextRequest<'_>, found: &Found) -> Context {
    let ranked = rank(request.ranking, Evidence::of(&found.search, &found.recent, &found.details));
    let candidates = compose(&ranked, &found.details);
    let Packed { text, used, parts, shown } = pack(request, &candidates);
    let entries = candidates.into_iter().zip(shown);
    let entries = entries.map(|(candidate, shown)| Entry { candidate, shown }).collect();
    Context { text, used, parts, entries }
}

#[cfg(test)]
mod tests;
