//! Builds a context from what the sources found: merge, rank, compose, pack, render. Pure: no thread, no file, no
//! clock.

use crate::core::context::budget::{Budget, Size};
use crate::core::context::candidate::{Candidate, Part};
use crate::core::context::compose::compose;
use crate::core::context::compose_notes::compose_notes;
use crate::core::context::found::Found;
use crate::core::context::pack::{Packed, pack};
use crate::core::context::rank::{Ranking, rank};
use crate::core::context::receipt::{Entry, PartUse};
use crate::core::handoff::HandoffSection;
use crate::core::session::Moment;
use crate::core::tokens::encoding::Encoding;

/// The input of [`build`], apart from what the sources found.
#[derive(Debug, Clone, Copy)]
pub struct ContextRequest<'a> {
    pub moment: &'a Moment,
    pub project: Option<&'a str>,
    /// The handoff section, which comes first in the text.
    pub handoff: Option<&'a HandoffSection>,
    pub ranking: Ranking,
    pub encoding: Encoding,
    pub budget: Budget,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Context {
    /// Empty if there is no content, or if none of it fits.
    pub text: String,
    pub used: Size,
    pub parts: Vec<PartUse>,
    /// All candidates, shown or omitted, in the order in which they get room.
    pub entries: Vec<Entry>,
}

impl Context {
    /// The number of notes that are quoted.
    pub fn n_notes(&self) -> usize {
        // The line about what goes on has no signals.
        let is_note = |entry: &&Entry| {
            let Candidate { part, signals, .. } = &entry.candidate;
            *part == Part::Notes && !signals.is_empty() && entry.shown.is_some()
        };
        self.entries.iter().filter(is_note).count()
    }
}

/// Builds the context. Deterministic: equal inputs give equal bytes.
pub fn build(request: &ContextRequest<'_>, found: &Found) -> Context {
    let ranked = rank(request.ranking, found);
    let candidates = match request.ranking {
        Ranking::Frequency => compose(&ranked, &found.details),
        Ranking::Notes => compose_notes(&ranked, found, request),
    };
    let Packed { text, used, parts, shown } = pack(request, &candidates);
    let entries = candidates.into_iter().zip(shown);
    let entries = entries.map(|(candidate, shown)| Entry { candidate, shown }).collect();
    Context { text, used, parts, entries }
}

#[cfg(test)]
mod tests;
