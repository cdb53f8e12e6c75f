//! Blends the answers of two sources with disjoint notes into one.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::core::context::found::{
    ConceptDetail, ConceptDetails, FoundConcept, FoundNote, Link, RECENT, SEARCHED, Signal,
};
use crate::core::context::rank::Expansion;
use crate::core::note::concept::Concept;
use crate::core::time::Timestamp;
use crate::sources::local_index::LocalIndex;
use crate::sources::source::{NotesQuestion, RankedNotes, SharedSource, Source, SourceAnswer};

/// A source for some notes, and the index of all others. Either can be missing.
pub(crate) struct Blended {
    pub(crate) beside: Option<SharedSource>,
    pub(crate) index: Option<LocalIndex>,
}

impl Blended {
    fn ask<T: Default>(
        &self,
        ask: impl Fn(&dyn Source) -> SourceAnswer<T>,
        blend: impl Fn(T, T) -> T,
    ) -> SourceAnswer<T> {
        let of_index = self.index.as_ref().map_or(Ok(T::default()), |index| ask(index))?;
        match &self.beside {
            Some(beside) => Ok(blend(ask(&**beside)?, of_index)),
            None => Ok(of_index),
        }
    }

    /// [`Source::recent`] for another thread, through another connection; `None` without an index, or with one that
    /// no other connection has.
    pub(crate) fn recent_elsewhere(
        &self,
        now: Option<Timestamp>,
    ) -> Option<impl FnOnce() -> SourceAnswer<Vec<FoundNote>> + use<>> {
        let local = self.index.as_ref().filter(|local| !local.index.is_in_memory())?;
        let workspace = Arc::clone(&local.workspace);
        let beside = self.beside.clone();
        Some(move || {
            let index = workspace.last_index()?;
            Blended { beside, index: Some(LocalIndex { workspace, index }) }.recent(now)
        })
    }
}

impl Source for Blended {
    fn search(&self, project: Option<&str>) -> SourceAnswer<Vec<FoundNote>> {
        self.ask(|source| source.search(project), |a, b| searched(a, b, SEARCHED))
    }

    fn recent(&self, now: Option<Timestamp>) -> SourceAnswer<Vec<FoundNote>> {
        self.ask(|source| source.recent(now), |a, b| recent(a, b, RECENT))
    }

    fn notes(&self, question: &NotesQuestion<'_>) -> SourceAnswer<RankedNotes> {
        self.index
            .as_ref()
            .map_or_else(|| Ok(RankedNotes::default()), |index| index.notes(question))
    }

    fn around(
        &self,
        concepts: &[FoundConcept],
        expansion: Expansion,
    ) -> SourceAnswer<ConceptDetails> {
        let most = expansion.n_neighbours;
        self.ask(|source| source.around(concepts, expansion), |a, b| details(a, b, most))
    }
}

/// The best notes of two searches, ordered by kind of match, then by rank. Ties keep the first search first.
pub(crate) fn searched(
    first: Vec<FoundNote>,
    second: Vec<FoundNote>,
    limit: usize,
) -> Vec<FoundNote> {
    let mut all: Vec<FoundNote> = first.into_iter().chain(second).collect();
    // Names before words, as within one search. The sort is stable.
    all.sort_by_key(|note| match note.signal {
        Signal::Search { place, matched } => (Some(matched), place),
        Signal::Recent { place } | Signal::Relevance { place, .. } => (None, place),
    });
    all.truncate(limit);
    number(&mut all);
    all
}

/// The newest notes of two lists; ties are ordered by address.
pub(crate) fn recent(
    first: Vec<FoundNote>,
    second: Vec<FoundNote>,
    limit: usize,
) -> Vec<FoundNote> {
    let mut all: Vec<FoundNote> = first.into_iter().chain(second).collect();
    all.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| a.uri.cmp(&b.uri)));
    all.truncate(limit);
    number(&mut all);
    all
}

/// Makes the order of notes their rank.
pub(crate) fn number(notes: &mut [FoundNote]) {
    for (n, note) in notes.iter_mut().enumerate() {
        let (Signal::Search { place, .. }
        | Signal::Recent { place }
        | Signal::Relevance { place, .. }) = &mut note.signal;
        *place = n + 1;
    }
}

/// Merges what two sources know about concepts. Their notes are disjoint, so the numbers add up.
pub(crate) fn details(
    mut first: ConceptDetails,
    second: ConceptDetails,
    n_neighbours: usize,
) -> ConceptDetails {
    for (concept, ConceptDetail { note, notes, neighbours }) in second {
        let detail = first.entry(concept).or_default();
        detail.note = detail.note.take().or(note);
        detail.notes = detail.notes.saturating_add(notes);
        let known = std::mem::take(&mut detail.neighbours);
        detail.neighbours = links(known.into_iter().chain(neighbours), n_neighbours);
    }
    first
}

/// Copies the neighbours of a concept from `second` if `details` has none.
pub(crate) fn add_missing_neighbours(details: &mut ConceptDetails, second: &ConceptDetails) {
    for (concept, detail) in second.iter().filter(|(_, known)| !known.neighbours.is_empty()) {
        let known = details.entry(concept.clone()).or_default();
        if known.neighbours.is_empty() {
            known.neighbours.clone_from(&detail.neighbours);
        }
    }
}

/// The links with the most notes, ties by name. Links to the same concept add up.
pub(crate) fn links(links: impl Iterator<Item = Link>, limit: usize) -> Vec<Link> {
    let mut sums: BTreeMap<Concept, u32> = BTreeMap::new();
    for Link { concept, notes } in links {
        let sum = sums.entry(concept).or_default();
        *sum = sum.saturating_add(notes);
    }
    let mut links: Vec<Link> =
        sums.into_iter().map(|(concept, notes)| Link { concept, notes }).collect();
    links.sort_by(|a, b| b.notes.cmp(&a.notes).then_with(|| a.concept.cmp(&b.concept)));
    links.truncate(limit);
    links
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::search::answer::Match;
    use crate::core::time::Timestamp;
    use proptest::prelude::*;

    fn note(uri: &str, seconds: i64, signal: Signal) -> FoundNote {
        FoundNote {
            uri: uri.to_owned(),
            title: String::new(),
            excerpt: String::new(),
            concepts: Vec::new(),
            modified: Timestamp::from_seconds(seconds),
            signal,
        }
    }

    fn uris(notes: &[FoundNote]) -> Vec<&str> {
        notes.iter().map(|note| note.uri.as_str()).collect()
    }

    #[test]
    fn the_best_match_of_either_search_comes_first() {
        let by = |uri: &str, place, matched| note(uri, 0, Signal::Search { place, matched });
        let first =
            vec![by("a", 1, Match::Concept), by("b", 2, Match::Text), by("c", 3, Match::Text)];
        let second = vec![by("x", 1, Match::Title), by("y", 2, Match::Text)];
        let blended = searched(first, second, 4);
        assert_eq!(uris(&blended), ["x", "a", "b", "y"]);
        let places: Vec<Signal> = blended.iter().map(|note| note.signal).collect();
        let expect = [Match::Title, Match::Concept, Match::Text, Match::Text];
        for (n, (signal, matched)) in places.into_iter().zip(expect).enumerate() {
            assert_eq!(signal, Signal::Search { place: n + 1, matched });
        }
    }

    #[test]
    fn the_newest_of_either_list_comes_first() {
        let at = |uri: &str, seconds| note(uri, seconds, Signal::Recent { place: 1 });
        let blended = recent(vec![at("b", 5), at("old", 1)], vec![at("new", 9), at("a", 5)], 3);
        assert_eq!(uris(&blended), ["new", "a", "b"]);
        assert_eq!(blended[2].signal, Signal::Recent { place: 3 });
    }

    fn link(name: &str, notes: u32) -> Link {
        Link { concept: Concept::from_normal_form(name.to_owned()), notes }
    }

    #[test]
    fn what_two_sources_know_adds_up() {
        let concept = || Concept::from_normal_form("mast".to_owned());
        let detail = |note: Option<&str>, notes, neighbours| ConceptDetail {
            note: note.map(|uri| (uri.to_owned(), String::new())),
            notes,
            neighbours,
        };
        let first =
            BTreeMap::from([(concept(), detail(None, 2, vec![link("sail", 2), link("keel", 1)]))]);
        let second = BTreeMap::from([
            (
                concept(),
                detail(Some("memory://docs/mast"), 3, vec![link("keel", 2), link("rope", 1)]),
            ),
            (Concept::from_normal_form("rope".to_owned()), detail(None, 1, Vec::new())),
        ]);
        let blended = details(first, second, 2);
        let mast = &blended[&concept()];
        assert_eq!(mast.note.as_ref().unwrap().0, "memory://docs/mast");
        assert_eq!((mast.notes, &mast.neighbours), (5, &vec![link("keel", 3), link("sail", 2)]));
        assert_eq!(blended.len(), 2);
    }

    proptest! {
        #[test]
        fn links_of_two_sources_have_no_order_and_lose_no_note(
            first in prop::collection::vec(("[a-e]", 1..9u32), 0..6),
            second in prop::collection::vec(("[a-e]", 1..9u32), 0..6),
        ) {
            let made = |list: &[(String, u32)]| list.iter().map(|(name, n)| link(name, *n)).collect::<Vec<_>>();
            let linked = |a: &[(String, u32)], b| links(made(a).into_iter().chain(made(b)), 10);
            let one = linked(&first, &second);
            prop_assert_eq!(&one, &linked(&second, &first));
            let sum: u32 = first.iter().chain(&second).map(|(_, n)| n).sum();
            prop_assert_eq!(one.iter().map(|link| link.notes).sum::<u32>(), sum);
        }
    }
}
