//! Answers "which notes are about this?" from maenifold's database, with the ranking of the index.
//!
//! maenifold's own search cannot be reproduced from its database: it uses the first 30 files of a folder, and
//! vectors.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use super::{Memory, Place};
use crate::core::context::found::{FoundNote, Signal};
use crate::core::note::concept::Concept;
use crate::core::note::vault::SCHEME;
use crate::core::search::answer::{Match, SearchAnswer, SearchHit};
use crate::core::search::fulltext;
use crate::core::search::ranking::{Ranked, Reason, rank};
use crate::core::search::snippet;
use crate::core::search::words;
use crate::core::secrets;
use crate::sources::maenifold::memory_db::rarity;
use crate::sources::search::{CANDIDATES, COMMON_FROM, COMMON_FROM_AT_START, named};

/// The number of newest notes that are read if there is no full-text index.
const SCANNED: usize = 500;
/// The length of the part of a note in which words are searched.
const TEXT_CHARS: usize = 256 * 1024;
/// FTS5's own constant of bm25.
const K1: f64 = 1.2;
/// The weights of a word in a title, or in the name of a folder, relative to one in the text.
const TITLE_WEIGHT: f64 = 8.0;
const FOLDER_WEIGHT: f64 = 4.0;

/// A reason for a note: words that it contains according to the full-text index.
struct TextReason<'a> {
    reason: Reason<Place>,
    /// The words that must be verified in the note.
    words: Vec<&'a str>,
    /// Whether a text contains such a word, as a whole or as a beginning.
    has: fn(&str, &str) -> bool,
}

impl TextReason<'_> {
    fn new(note: Place, strength: f64, words: Vec<&str>) -> TextReason<'_> {
        let reason = Reason { note, matched: Match::Text, strength };
        TextReason { reason, words, has: fulltext::has_word }
    }
}

/// The notes that contain a word, with their bm25 score before the factor for the rarity of the word.
type Holders = BTreeMap<Place, f64>;

impl Memory {
    /// The notes that match a query best, for a session.
    pub fn search(&self, query: &str, limit: usize) -> Result<Vec<FoundNote>, String> {
        let ranked = self.best(query, limit, COMMON_FROM_AT_START)?;
        let found = ranked.into_iter().enumerate().map(|(n, Ranked { note, matched, .. })| {
            self.found(note, Signal::Search { place: n + 1, matched })
        });
        found.collect()
    }

    /// The notes that match a query, best first, in the form of an answer for a person.
    pub fn search_answer(&self, query: &str, limit: usize) -> Result<SearchAnswer, String> {
        let terms = fulltext::terms(query);
        let ranked = self.best(query, limit, COMMON_FROM)?;
        let hits = ranked.into_iter().map(|Ranked { note: place, matched, score }| {
            let note = &self.notes[place];
            let text = match self.thinking(place)? {
                Some(told) => told.body,
                None => self.database.text_start(note.row.row, TEXT_CHARS)?.unwrap_or_default(),
            };
            let snippet = snippet::snippet(&text, snippet::looked_for(matched, &terms));
            Ok(SearchHit {
                uri: note.row.uri.clone(),
                path: Some(self.file(note)),
                title: self.shown_title(place)?,
                score,
                matched,
                snippet: secrets::mask(&snippet).into_owned(),
                concepts: self.concepts_of(place)?,
            })
        });
        Ok(SearchAnswer { query: query.to_owned(), results: hits.collect::<Result<_, String>>()? })
    }

    fn best(
        &self,
        query: &str,
        limit: usize,
        common_from: usize,
    ) -> Result<Vec<Ranked<Place>>, String> {
        let terms = fulltext::terms(query);
        let candidates = limit.max(CANDIDATES);
        let sure = self.sure_reasons(query, candidates)?;
        let mut texts = self.texts(&terms, candidates, common_from);
        let mut verified: HashSet<Place> = HashSet::new();
        // Verifies only notes that would be shown; usually all of them contain their words.
        loop {
            let by_text = texts.iter().map(|text| text.reason);
            let mut ranked = rank(sure.iter().copied().chain(by_text));
            ranked.truncate(limit);
            let Some(next) = ranked.iter().find(|ranked| !verified.contains(&ranked.note)) else {
                return Ok(ranked);
            };
            self.verify(next.note, &mut texts)?;
            verified.insert(next.note);
        }
    }

    /// Removes the reasons that rely on words that the note does not contain.
    fn verify(&self, place: Place, texts: &mut Vec<TextReason<'_>>) -> Result<(), String> {
        if !texts.iter().any(|text| text.reason.note == place && !text.words.is_empty()) {
            return Ok(());
        }
        let note = &self.notes[place];
        let body = self.database.text_start(note.row.row, TEXT_CHARS)?.unwrap_or_default();
        let pieces = [note.title(), note.folder(), &body];
        texts.retain(|TextReason { reason, words, has }| {
            let holds = |word: &&str| pieces.iter().any(|piece| has(piece, word));
            reason.note != place || words.iter().all(holds)
        });
        Ok(())
    }

    /// The reasons that need no verification: address, names, concepts.
    fn sure_reasons(&self, query: &str, limit: usize) -> Result<Vec<Reason<Place>>, String> {
        let mut reasons = Vec::new();
        let trimmed = query.trim();
        if trimmed.starts_with(SCHEME)
            && let Some(&note) = self.places.get(trimmed.strip_suffix(".md").unwrap_or(trimmed))
        {
            reasons.push(Reason { note, matched: Match::Uri, strength: 1.0 });
        }
        let Some(name) = Concept::parse(query) else { return Ok(reasons) };
        for &(matched, note) in self.names.get(&name).into_iter().flatten().take(limit) {
            reasons.push(named(note, matched, self.notes[note].title(), query));
        }
        let mentioning = self.database.mentioning(&name)?.into_iter();
        let mut known: Vec<(Place, u32)> =
            mentioning.filter_map(|(uri, links)| Some((*self.places.get(&uri)?, links))).collect();
        known.sort_unstable_by(|a, b| b.cmp(a));
        reasons.extend(known.into_iter().take(limit).map(|(note, links)| Reason {
            note,
            matched: Match::Concept,
            strength: f64::from(links),
        }));
        Ok(reasons)
    }

    /// The notes that contain the words of a query, by the rules of the index: ranked by words in fewer than
    /// `common_from` notes; otherwise the newest notes with all words; otherwise those with any word; otherwise those
    /// with beginnings.
    fn texts<'a>(
        &self,
        terms: &'a [String],
        limit: usize,
        common_from: usize,
    ) -> Vec<TextReason<'a>> {
        let holders = self.holders(terms, common_from);
        let mut known: Vec<(&str, Holders)> =
            terms.iter().map(String::as_str).zip(holders).collect();
        known.retain(|(_, holders)| !holders.is_empty());
        known.sort_by_key(|(term, holders)| (holders.len(), *term));
        let mut ranked = 0;
        let is_rare = |(_, holders): &&(&str, Holders)| {
            ranked += holders.len();
            holders.len() < common_from && ranked <= 2 * common_from
        };
        let n_rare = known.iter().take_while(is_rare).count();
        if n_rare > 0 {
            return self.by_rarity(&known[..n_rare], n_rare == terms.len(), limit);
        }
        let Some(((_, first), rest)) = known.split_first() else {
            return self.by_beginnings(terms, limit);
        };
        let words: Vec<&str> = known.iter().map(|(term, _)| *term).collect();
        let has_rest = |place: &&Place| rest.iter().all(|(_, holders)| holders.contains_key(place));
        let all = first.keys().filter(has_rest).map(|&place| (place, words.clone()));
        let all = newest(all, words::ALL, limit);
        if !all.is_empty() {
            return all;
        }
        let any = known.iter().map(|(term, holders)| (*term, holders.keys().copied()));
        newest_of_any(any, limit)
    }

    fn by_rarity<'a>(
        &self,
        rare: &[(&'a str, Holders)],
        are_all: bool,
        limit: usize,
    ) -> Vec<TextReason<'a>> {
        let mut sums: BTreeMap<Place, f64> = BTreeMap::new();
        let mut reasons = Vec::new();
        for (term, holders) in rare {
            let rarity = rarity(self.notes.len() as f64, holders.len() as f64);
            for (&note, &share) in holders {
                let strength = rarity * share;
                *sums.entry(note).or_default() += strength;
                reasons.push(TextReason::new(note, strength, vec![*term]));
            }
        }
        let mut best: Vec<(Place, f64)> = sums.into_iter().collect();
        best.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| b.0.cmp(&a.0)));
        let best: HashSet<Place> = best.into_iter().take(limit).map(|(note, _)| note).collect();
        reasons.retain(|text| best.contains(&text.reason.note));
        if are_all {
            let has_all = |place: &Place| {
                let title = self.notes[*place].title();
                rare.iter().all(|(term, _)| fulltext::has_word(title, term))
            };
            let (_, first) = &rare[0];
            let titled = first.keys().rev().copied().filter(has_all).take(limit).collect();
            let titled = words::all_in_title(titled);
            reasons.extend(titled.map(|(note, strength)| TextReason::new(note, strength, vec![])));
        }
        reasons
    }

    fn by_beginnings<'a>(&self, terms: &'a [String], limit: usize) -> Vec<TextReason<'a>> {
        // The same minimum length as in the index, which counts the two quotes.
        let long = terms.iter().filter(|term| term.len() >= 3);
        let found = long.map(|term| {
            let rows = self.database.rows_with(&format!("\"{term}\"*")).unwrap_or_default();
            let places = rows.into_iter().filter_map(|row| self.by_row.get(&row).copied());
            (term.as_str(), places)
        });
        let mut texts = newest_of_any(found, limit);
        texts.iter_mut().for_each(|text| text.has = fulltext::has_beginning);
        texts
    }

    /// For every word, the notes that contain it.
    fn holders(&self, terms: &[String], common_from: usize) -> Vec<Holders> {
        // FTS5 treats a whole sentence of Chinese or Japanese as one word.
        let is_spaced = terms.iter().all(|t| matches!(fulltext::searchable(t), Cow::Borrowed(_)));
        let indexed = || terms.iter().map(|term| self.indexed_holders(term, common_from)).collect();
        let indexed: Option<Vec<Holders>> = is_spaced.then(indexed).flatten();
        let mut holders = indexed.unwrap_or_else(|| self.scanned_holders(terms));
        // A folder often has the name of the project, which its notes do not repeat.
        let mut folders: BTreeMap<&str, Vec<Place>> = BTreeMap::new();
        for (place, note) in self.notes.iter().enumerate() {
            folders.entry(note.folder()).or_default().push(place);
        }
        for (folder, places) in folders {
            for (term, holders) in terms.iter().zip(&mut holders) {
                if fulltext::has_word(folder, term) {
                    for &place in &places {
                        let share = holders.entry(place).or_default();
                        *share = share_of(times_of(*share) + FOLDER_WEIGHT);
                    }
                }
            }
        }
        holders
    }

    /// The notes that contain a word according to the database's full-text index; `None` if that is missing or
    /// broken.
    fn indexed_holders(&self, term: &str, common_from: usize) -> Option<Holders> {
        let phrase = format!("\"{term}\"");
        let rows = self.database.rows_with(&phrase).ok()?;
        // A common word does not rank, and computing bm25 would touch each of its notes.
        let found = if rows.len() < common_from {
            self.database.strengths(&phrase).ok()?
        } else {
            rows.into_iter().map(|row| (row, 0.0)).collect()
        };
        let known =
            found.into_iter().filter_map(|(row, share)| Some((*self.by_row.get(&row)?, share)));
        Some(known.collect())
    }

    fn scanned_holders(&self, terms: &[String]) -> Vec<Holders> {
        let mut holders = vec![Holders::new(); terms.len()];
        for (place, note) in self.notes.iter().enumerate().rev().take(SCANNED) {
            let text = self.database.text_start(note.row.row, TEXT_CHARS);
            let text = text.ok().flatten().unwrap_or_default();
            for (term, holders) in terms.iter().zip(&mut holders) {
                let in_title = fulltext::has_word(note.title(), term);
                let in_text = fulltext::has_word(&text, term);
                if in_title || in_text {
                    let times =
                        if in_title { TITLE_WEIGHT } else { 0.0 } + f64::from(u8::from(in_text));
                    holders.insert(place, share_of(times));
                }
            }
        }
        holders
    }
}

/// The newest of notes that are sorted oldest first, each a little weaker than the previous one, as in the index.
fn newest<'a>(
    notes: impl DoubleEndedIterator<Item = (Place, Vec<&'a str>)>,
    strength: f64,
    limit: usize,
) -> Vec<TextReason<'a>> {
    let notes = words::by_age(notes.rev().take(limit).collect(), strength).into_iter();
    notes.map(|((note, words), strength)| TextReason::new(note, strength, words)).collect()
}

/// The newest notes with any of some words. One of them is enough to be verified.
fn newest_of_any<'a>(
    found: impl Iterator<Item = (&'a str, impl Iterator<Item = Place>)>,
    limit: usize,
) -> Vec<TextReason<'a>> {
    let mut any: BTreeMap<Place, &str> = BTreeMap::new();
    for (word, places) in found {
        for place in places {
            any.entry(place).or_insert(word);
        }
    }
    newest(any.into_iter().map(|(place, word)| (place, vec![word])), words::SOME, limit)
}

/// The bm25 score of a word that occurs `times` in a note of average length; [`times_of`] is the inverse.
fn share_of(times: f64) -> f64 {
    times * (K1 + 1.0) / (times + K1)
}

fn times_of(share: f64) -> f64 {
    share * K1 / (K1 + 1.0 - share).max(0.01)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_leads_back_to_the_times() {
        for times in [0.5, 1.0, 4.0, 12.0] {
            assert!((times_of(share_of(times)) - times).abs() < 1e-6);
        }
    }
}
