//! The edges of the database's graph. A strong concept has thousands, of which few are ever shown.

use rusqlite::{OptionalExtension, Row};

use super::files::{concept, in_normal_form, integer, text};
use super::{Database, DatabaseError};
use crate::core::note::concept::Concept;

/// An edge from a concept to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edge {
    row: i64,
    /// The other concept.
    pub concept: Concept,
    /// How many notes mention both.
    pub notes: u32,
}

/// From how many edges on a concept is a strong one.
const STRONG_FROM: usize = 1_000;
/// How often other concepts are tried before all edges of a strong one are looked at after all.
const MOST_TRIES: usize = 3 * STRONG_FROM;

/// The best edges found so far.
struct Best {
    edges: Vec<Edge>,
    limit: usize,
}

impl Best {
    /// Whether an edge on so many notes could be among them. The weakest decides.
    fn has_room(&self, notes: u32) -> bool {
        self.edges.len() < self.limit || self.edges.last().is_some_and(|last| last.notes <= notes)
    }

    fn take(&mut self, edge: Edge, admits: impl Fn(&Concept) -> bool) {
        let at = self.edges.partition_point(|known| {
            known.notes > edge.notes || (known.notes == edge.notes && known.concept < edge.concept)
        });
        if at < self.limit && admits(&edge.concept) {
            self.edges.insert(at, edge);
            self.edges.truncate(self.limit);
        }
    }
}

impl Database {
    /// The edges of a concept that stand on the most notes, at most `limit`, ties by name: as maenifold takes them, which
    /// leaves ties to chance. Concepts that `admits` refuses take no place.
    pub fn edges(
        &self,
        around: &Concept,
        limit: usize,
        admits: impl Fn(&Concept) -> bool,
    ) -> Result<Vec<Edge>, DatabaseError> {
        if limit < STRONG_FROM
            && self.is_strong(around)?
            && let Some(edges) = self.edges_of_strong(around, limit, &admits)?
        {
            return Ok(edges);
        }
        // The rows are looked up in the order in which they lie: else every one of thousands would be another page. Each
        // is held against the best so far at once, and where the notes stand is not even read.
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
            if let Some(concept) = concept(row, other)?.filter(|other| other != around) {
                best.take(Edge { row: row.get(0)?, concept, notes }, &admits);
            }
        }
        Ok(best.edges)
    }

    fn is_strong(&self, concept: &Concept) -> Result<bool, DatabaseError> {
        let sql = "SELECT count(*) FROM (SELECT 1 FROM concept_graph WHERE concept_a = ?1 \
                   UNION ALL SELECT 1 FROM concept_graph WHERE concept_b = ?1 LIMIT ?2)";
        let mut statement = self.connection.prepare_cached(sql)?;
        let limit = STRONG_FROM as i64;
        let edges: i64 = statement.query_row((concept.as_str(), limit), |row| row.get(0))?;
        Ok(edges == limit)
    }

    /// The same for a concept with thousands of edges, each of which lies somewhere else: tries the concepts that stand in
    /// the most notes, one after the other. Two concepts share no more notes than the rarer one has, so that all others can
    /// be left out as soon as the best are stronger than that. `None` where that does not come about soon.
    fn edges_of_strong(
        &self,
        around: &Concept,
        limit: usize,
        admits: impl Fn(&Concept) -> bool,
    ) -> Result<Option<Vec<Edge>>, DatabaseError> {
        let frequencies = match self.frequencies.get() {
            Some(frequencies) => frequencies,
            None => {
                let counted = self.frequencies()?;
                self.frequencies.get_or_init(|| counted)
            }
        };
        let sql = "SELECT rowid, co_occurrence_count FROM concept_graph WHERE concept_a = ?1 AND concept_b = ?2";
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut best = Best { edges: Vec::new(), limit };
        for (mentions, concept) in frequencies.iter().take(MOST_TRIES) {
            if !best.has_room(*mentions) {
                return Ok(Some(best.edges));
            }
            // maenifold orders the two by UTF-16.
            for (a, b) in [(around, concept), (concept, around)] {
                let mut rows = statement.query([a.as_str(), b.as_str()])?;
                let Some(row) = rows.next()? else { continue };
                if let Some(notes) = count(row, 1)?.filter(|_| concept != around) {
                    let edge = Edge { row: row.get(0)?, concept: concept.clone(), notes };
                    best.take(edge, &admits);
                    break;
                }
            }
        }
        Ok(None)
    }

    /// Counts the notes of all concepts that more than one mentions, the most first. Every mention is looked at.
    fn frequencies(&self) -> Result<Vec<(u32, Concept)>, DatabaseError> {
        // Counted here: SQLite takes longer for that.
        let sql = "SELECT concept_name FROM concept_mentions ORDER BY concept_name";
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query([])?;
        let mut frequencies: Vec<(u32, Concept)> = Vec::new();
        let (mut name, mut notes) = (String::new(), 0);
        loop {
            let row = rows.next()?;
            let next = match row {
                Some(row) => text(row, 0)?,
                None => None,
            };
            if next == Some(name.as_str()) {
                notes += 1;
                continue;
            }
            if notes > 1 {
                frequencies.extend(in_normal_form(&name).map(|concept| (notes, concept)));
            }
            if row.is_none() {
                break;
            }
            name.clear();
            name.push_str(next.unwrap_or_default());
            notes = 1;
        }
        frequencies.sort_unstable_by(|(a_notes, a), (b_notes, b)| {
            b_notes.cmp(a_notes).then_with(|| a.cmp(b))
        });
        Ok(frequencies)
    }

    /// The addresses of all notes that an edge stands on, in the order in which they are kept; none where that is no list.
    pub fn notes_behind(&self, edge: &Edge) -> Result<Vec<String>, DatabaseError> {
        let sql = "SELECT source_files FROM concept_graph WHERE rowid = ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        let uris = statement
            .query_row([edge.row], |row| {
                Ok(text(row, 0)?.and_then(|list| serde_json::from_str::<Vec<String>>(list).ok()))
            })
            .optional()?;
        Ok(uris.flatten().unwrap_or_default())
    }
}

fn count(row: &Row<'_>, column: usize) -> Result<Option<u32>, rusqlite::Error> {
    Ok(integer(row, column)?.and_then(|count| u32::try_from(count).ok()))
}
