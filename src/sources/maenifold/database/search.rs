//! Answers "which notes are about this?" from maenifold's database, with the ranking of the index.
//!
//! maenifold's own search cannot be reproduced from its database: it uses the first 30 files of a folder, and
//! vectors.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::{Memory, Place, reason};
use crate::core::context::found::{FoundNote, Signal};
use crate::core::note::concept::Concept;
use crate::core::note::vault::SCHEME;
use crate::core::search::answer::{Match, SearchAnswer, SearchHit};
use crate::core::search::fulltext;
use crate::core::search::ranking::{Ranked, Reason, rank};
use crate::core::search::snippet;
use crate::core::secrets;
use crate::sources::maenifold::memory_db::rarity;

/// Words of the project's name in this many notes or more do not rank, as in the index.
const COMMON_FROM: usize = 100;
/// The same limit if a person waits for the answer.
const COMMON_FROM_FOR_PEOPLE: usize = 1_000;
/// The minimum number of candidates from each way of searching.
const CANDIDATES: usize = 50;
/// The strength of a title that contains all words, as in the index.
const TITLE_HAS_ALL: f64 = 3.0;
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
struct TextReason {
    note: Place,
    strength: f64,
    /// The words that must be verified in the note.
    words: Vec<Word>,
}

/// A word of the query, by its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Word {
    Whole(usize),
    Beginning(usize),
}

/// The notes that contain a word, with their bm25 score before the factor for the rarity of the word.
type Holders = BTreeMap<Place, f64>;

impl Memory {
    /// The notes that match a query best, for a session.
    pub fn search(&self, query: &str, limit: usize) -> Result<Vec<FoundNote>, String> {
        let ranked = self.best(query, limit, COMMON_FROM)?;
        let found = ranked.into_iter().enumerate().map(|(n, ranked)| {
            self.found(ranked.note, Signal::Search { place: n + 1, matched: ranked.matched })
        });
        found.collect()
    }

    /// The notes that match a query, best first, in the form of an answer for a person.
    pub fn search_answer(&self, query: &str, limit: usize) -> Result<SearchAnswer, String> {
        let terms = fulltext::terms(query);
        let ranked = self.best(query, limit, COMMON_FROM_FOR_PEOPLE)?;
        let hits = ranked.into_iter().map(|Ranked { note: place, matched, score }| {
            let note = &self.notes[place];
            let text = self.database.text_start(note.row.row, TEXT_CHARS).map_err(reason)?;
            let snippet = snippet::snippet(&text.unwrap_or_default(), &terms);
            Ok(SearchHit {
                uri: note.row.uri.clone(),
                title: note.title().to_owned(),
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
        let mut texts = self.texts(&terms, candidates, common_from)?;
        let mut verified: HashSet<Place> = HashSet::new();
        // Verifies only notes that would be shown; usually all of them contain their words.
        loop {
            let text = |text: &TextReason| Reason {
                note: text.note,
                matched: Match::Text,
                strength: text.strength,
            };
            let mut ranked = rank(sure.iter().copied().chain(texts.iter().map(text)));
            ranked.truncate(limit);
            let Some(next) = ranked.iter().find(|ranked| !verified.contains(&ranked.note)) else {
                return Ok(ranked);
            };
            self.verify(next.note, &terms, &mut texts)?;
            verified.insert(next.note);
        }
    }

    /// Removes the reasons that rely on words that the note does not contain.
    fn verify(
        &self,
        place: Place,
        terms: &[String],
        texts: &mut Vec<TextReason>,
    ) -> Result<(), String> {
        let doubtful = |text: &TextReason| text.note == place && !text.words.is_empty();
        if !texts.iter().any(doubtful) {
            return Ok(());
        }
        let note = &self.notes[place];
        let body = self.database.text_start(note.row.row, TEXT_CHARS).map_err(reason)?;
        let pieces = [note.title(), note.folder(), body.as_deref().unwrap_or_default()];
        let holds = |word: &Word| match *word {
            Word::Whole(n) => pieces.iter().any(|piece| fulltext::has_word(piece, &terms[n])),
            Word::Beginning(n) => {
                pieces.iter().any(|piece| fulltext::has_beginning(piece, &terms[n]))
            }
        };
        texts.retain(|text| text.note != place || text.words.iter().all(holds));
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
        for &(matched, note) in self.names.named(&name).iter().take(limit) {
            // Two titles can have the same name; the one with the spelling of the query is stronger.
            let title = self.notes[note].title().trim().to_lowercase();
            let strength = if title == trimmed.to_lowercase() { 1.0 } else { 0.0 };
            reasons.push(Reason { note, matched, strength });
        }
        let mentioning = self.database.mentioning(&name).map_err(reason)?;
        let known = mentioning.into_iter();
        let mut known: Vec<(Place, u32)> =
            known.filter_map(|(uri, links)| Some((*self.places.get(&uri)?, links))).collect();
        known.sort_unstable_by(|a, b| b.cmp(a));
        known.truncate(limit);
        reasons.extend(known.into_iter().map(|(note, links)| Reason {
            note,
            matched: Match::Concept,
            strength: f64::from(links),
        }));
        Ok(reasons)
    }

    /// The notes that contain the words of a query, by the rules of the index: ranked by words in fewer than
    /// `common_from` notes; otherwise the newest notes with all words; otherwise those with any word; otherwise those
    /// with beginnings.
    fn texts(
        &self,
        terms: &[String],
        limit: usize,
        common_from: usize,
    ) -> Result<Vec<TextReason>, String> {
        let mut holders: Vec<(usize, usize, Holders)> = Vec::new();
        for (n, notes) in self.holders(terms, common_from).into_iter().enumerate() {
            if !notes.is_empty() {
                holders.push((notes.len(), n, notes));
            }
        }
        holders.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| terms[a.1].cmp(&terms[b.1])));
        let mut ranked = 0;
        let n_rare = holders
            .iter()
            .take_while(|(notes, ..)| {
                ranked += notes;
                *notes < common_from && ranked <= 2 * common_from
            })
            .count();
        if n_rare > 0 {
            return Ok(self.by_rarity(terms, &holders[..n_rare], limit));
        }
        if holders.is_empty() {
            return Ok(self.by_beginnings(terms, limit));
        }
        let words: Vec<Word> = holders.iter().map(|&(_, n, _)| Word::Whole(n)).collect();
        let (_, _, first) = &holders[0];
        let rest = &holders[1..];
        let all =
            first.keys().copied().filter(|place| rest.iter().all(|h| h.2.contains_key(place)));
        let all: BTreeSet<Place> = all.collect();
        if !all.is_empty() {
            return Ok(newest(&all, 1.0, limit, |_| words.clone()));
        }
        let any: BTreeSet<Place> = holders.iter().flat_map(|h| h.2.keys().copied()).collect();
        let held = |place: Place| {
            let of = holders.iter().find(|h| h.2.contains_key(&place));
            of.map(|&(_, n, _)| Word::Whole(n)).into_iter().collect()
        };
        Ok(newest(&any, 0.5, limit, held))
    }

    fn by_rarity(
        &self,
        terms: &[String],
        rare: &[(usize, usize, Holders)],
        limit: usize,
    ) -> Vec<TextReason> {
        let mut sums: BTreeMap<Place, f64> = BTreeMap::new();
        let mut reasons = Vec::new();
        for (n_notes, n, notes) in rare {
            let rarity = rarity(self.notes.len() as f64, *n_notes as f64);
            for (&note, &share) in notes {
                let strength = rarity * share;
                *sums.entry(note).or_default() += strength;
                reasons.push(TextReason { note, strength, words: vec![Word::Whole(*n)] });
            }
        }
        let mut best: Vec<(Place, f64)> = sums.into_iter().collect();
        best.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| b.0.cmp(&a.0)));
        let best: HashSet<Place> = best.into_iter().take(limit).map(|(note, _)| note).collect();
        reasons.retain(|reason| best.contains(&reason.note));
        if rare.len() == terms.len() {
            let has_all = |place: &Place| {
                let title = self.notes[*place].title();
                terms.iter().all(|term| fulltext::has_word(title, term))
            };
            let (_, _, first) = &rare[0];
            let titled = first.keys().rev().copied().filter(has_all).take(limit);
            reasons.extend(titled.map(|note| TextReason {
                note,
                strength: TITLE_HAS_ALL,
                words: Vec::new(),
            }));
        }
        reasons
    }

    fn by_beginnings(&self, terms: &[String], limit: usize) -> Vec<TextReason> {
        let mut found: BTreeMap<Place, Word> = BTreeMap::new();
        // The same minimum length as in the index, which counts the two quotes.
        for (n, term) in terms.iter().enumerate().filter(|(_, term)| term.len() >= 3) {
            let rows = self.database.rows_with(&format!("{}*", quoted(term))).unwrap_or_default();
            for place in rows.iter().filter_map(|row| self.by_row.get(row)) {
                found.entry(*place).or_insert(Word::Beginning(n));
            }
        }
        let notes = found.keys().copied().collect();
        newest(&notes, 0.5, limit, |place| found.get(&place).copied().into_iter().collect())
    }

    /// For every word, the notes that contain it.
    fn holders(&self, terms: &[String], common_from: usize) -> Vec<Holders> {
        // FTS5 treats a whole sentence of Chinese or Japanese as one word.
        let is_spaced = terms.iter().all(|t| matches!(fulltext::searchable(t), Cow::Borrowed(_)));
        let indexed: Option<Vec<Holders>> = if is_spaced {
            terms.iter().map(|term| self.indexed_holders(term, common_from)).collect()
        } else {
            None
        };
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
        let rows = self.database.rows_with(&quoted(term)).ok()?;
        // A common word does not rank, and computing bm25 would touch each of its notes.
        let found = if rows.len() < common_from {
            self.database.strengths(&quoted(term)).ok()?
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

/// The newest of `notes`, each a little weaker than the previous one, as in the index.
fn newest(
    notes: &BTreeSet<Place>,
    strength: f64,
    limit: usize,
    words: impl Fn(Place) -> Vec<Word>,
) -> Vec<TextReason> {
    let notes: Vec<Place> = notes.iter().rev().copied().take(limit).collect();
    let step = strength / (2 * notes.len().max(1)) as f64;
    let reason = |(n, note): (usize, Place)| TextReason {
        note,
        strength: strength - n as f64 * step,
        words: words(note),
    };
    notes.into_iter().enumerate().map(reason).collect()
}

/// The bm25 score of a word that occurs `times` in a note of average length; [`times_of`] is the inverse.
fn share_of(times: f64) -> f64 {
    times * (K1 + 1.0) / (times + K1)
}

fn times_of(share: f64) -> f64 {
    share * K1 / (K1 + 1.0 - share).max(0.01)
}

fn quoted(term: &str) -> String {
    format!("\"{}\"", term.replace('"', "\"\""))
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
