//! The edges of the database's graph. A strong concept has thousands, but only a few are shown.

use rusqlite::Row;
use serde_json::from_str;

use super::files::{count, in_normal_form, is_no_secret, text};
use super::{Database, DatabaseError};
use crate::core::note::concept::Concept;

/// An edge from a concept to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edge {
    row: i64,
    pub concept: Concept,
    /// The number of notes that mention both.
    pub notes: u32,
}

/// The number of edges that makes a concept strong.
const STRONG_FROM: usize = 1_000;
/// The number of other concepts to try before falling back to a scan of all edges of a strong concept.
const MOST_TRIES: usize = 3 * STRONG_FROM;

/// The best edges found so far.
struct Best {
    edges: Vec<Edge>,
    limit: usize,
}

impl Best {
    /// Whether an edge with this many notes could be among the best.
    fn has_room(&self, notes: u32) -> bool {
        self.edges.len() < self.limit || self.edges.last().is_some_and(|last| last.notes <= notes)
    }

    fn take(&mut self, edge: Edge) {
        let at = self.edges.partition_point(|known| {
            known.notes > edge.notes || (known.notes == edge.notes && known.concept < edge.concept)
        });
        if at < self.limit && is_no_secret(&edge.concept) {
            self.edges.insert(at, edge);
            self.edges.truncate(self.limit);
        }
    }
}

impl Database {
    /// The edges of a concept with the most notes, at most `limit`; ties are sorted by name. maenifold selects the
    /// same ones, with ties in random order. Concepts whose names are secrets do not count.
    pub fn edges(&self, around: &Concept, limit: usize) -> Result<Vec<Edge>, DatabaseError> {
        if limit < STRONG_FROM
            && self.is_strong(around)?
            && let Some(edges) = self.edges_of_strong(around, limit)?
        {
            return Ok(edges);
        }
        // Reads the rows in storage order: otherwise each of thousands would need another page. Compares each row
        // with the best so far, and never reads the list of notes.
        let sql = "SELECT rowid, co_occurrence_count, concept_a, concept_b FROM concept_graph WHERE rowid IN \
                   (SELECT rowid FROM concept_graph WHERE concept_a = ?1 \
                    UNION ALL SELECT rowid FROM concept_graph WHERE concept_b = ?1)";
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query([around.as_str()])?;
        let mut best = Best { edges: Vec::new(), limit };
        while let Some(row) = rows.next()? {
            let Some(notes) = count(row, 1)?.filter(|&notes| best.has_room(notes)) else {
                continue;
            };
            let other = if text(row, 2)? == Some(around.as_str()) { 3 } else { 2 };
            let concept = text(row, other)?.and_then(in_normal_form);
            if let Some(concept) = concept.filter(|other| other != around) {
                best.take(Edge { row: row.get(0)?, concept, notes });
            }
        }
        Ok(best.edges)
    }

    fn is_strong(&self, concept: &Concept) -> Result<bool, DatabaseError> {
        let sql = "SELECT 1 FROM concept_graph WHERE concept_a = ?1 \
                   UNION ALL SELECT 1 FROM concept_graph WHERE concept_b = ?1 LIMIT 1 OFFSET ?2";
        let mut statement = self.connection.prepare_cached(sql)?;
        Ok(statement.exists((concept.as_str(), STRONG_FROM as i64 - 1))?)
    }

    /// Like [`Database::edges`], for a concept with thousands of scattered edges: tries the concepts with the most
    /// notes one by one. Two concepts share no more notes than the rarer one has, so the search ends as soon as the
    /// best edges are stronger than that. `None` if that takes too many tries.
    fn edges_of_strong(
        &self,
        around: &Concept,
        limit: usize,
    ) -> Result<Option<Vec<Edge>>, DatabaseError> {
        if self.frequencies.get().is_none() {
            let _ = self.frequencies.set(self.frequencies()?);
        }
        let frequencies = self.frequencies.get().into_iter().flatten();
        let sql = "SELECT rowid, co_occurrence_count FROM concept_graph WHERE concept_a = ?1 AND concept_b = ?2";
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut best = Best { edges: Vec::new(), limit };
        for (mentions, concept) in frequencies.take(MOST_TRIES) {
            if !best.has_room(*mentions) {
                return Ok(Some(best.edges));
            }
            // maenifold orders the two names by UTF-16, so both orders are tried.
            for (a, b) in [(around, concept), (concept, around)] {
                let mut rows = statement.query([a.as_str(), b.as_str()])?;
                let Some(row) = rows.next()? else { continue };
                if let Some(notes) = count(row, 1)?.filter(|_| concept != around) {
                    best.take(Edge { row: row.get(0)?, concept: concept.clone(), notes });
                    break;
                }
            }
        }
        Ok(None)
    }

    /// The number of notes of all concepts with more than one, highest first. Scans all mentions.
    fn frequencies(&self) -> Result<Vec<(u32, Concept)>, DatabaseError> {
        // Counting here is faster than in SQLite.
        let sql = "SELECT concept_name FROM concept_mentions ORDER BY concept_name";
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query([])?;
        let mut counted: Vec<(u32, String)> = Vec::new();
        while let Some(row) = rows.next()? {
            let name = text(row, 0)?.unwrap_or_default();
            match counted.last_mut() {
                Some((notes, last)) if last == name => *notes += 1,
                Some((1, last)) => name.clone_into(last),
                _ => counted.push((1, name.to_owned())),
            }
        }
        let several = counted.into_iter().filter(|(notes, _)| *notes > 1);
        let mut frequencies: Vec<(u32, Concept)> =
            several.filter_map(|(notes, name)| Some((notes, in_normal_form(&name)?))).collect();
        frequencies.sort_unstable_by(|(a_notes, a), (b_notes, b)| {
            b_notes.cmp(a_notes).then_with(|| a.cmp(b))
        });
        Ok(frequencies)
    }

    /// The addresses of all notes behind an edge, in stored order; empty if the column is not a list.
    pub fn notes_behind(&self, edge: &Edge) -> Result<Vec<String>, DatabaseError> {
        let sql = "SELECT source_files FROM concept_graph WHERE rowid = ?1";
        let list = |row: &Row<'_>| Ok(text(row, 0)?.and_then(|list| from_str(list).ok()));
        Ok(self.select(sql, [edge.row], list)?.pop().unwrap_or_default())
    }
}
