//! The sessions and workflows of maenifold's that go on, and which of them are about a project.

use rusqlite::{OptionalExtension, params};

use crate::core::note::concept::Concept;
use crate::store::index::read::{CARD_COLUMNS, Index, NoteCard, card};
use crate::store::index::{IndexError, NoteId};

/// A session or workflow that goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadCard {
    pub note: NoteId,
    pub card: NoteCard,
    /// How far it is: `thought 2/5`.
    pub at: String,
    /// Whether it says nothing beside that and its subject.
    pub is_bare: bool,
}

/// How much a note has to do with a concept, least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Nearness {
    Far,
    /// At least half of its concepts share a note with it.
    Near,
    Mentions,
}

impl Index {
    /// The newest sessions and workflows that go on, at most `limit`.
    pub fn threads(&self, limit: usize) -> Result<Vec<ThreadCard>, IndexError> {
        let sql = format!(
            "SELECT {CARD_COLUMNS}, t.at, t.bare FROM threads t CROSS JOIN notes n ON n.id = t.note \
             CROSS JOIN folders f ON f.id = n.folder ORDER BY t.note DESC LIMIT ?1"
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        let rows = statement.query_map([limit as i64], |row| {
            let (note, card) = card(row)?;
            Ok(ThreadCard { note, card, at: row.get(8)?, is_bare: row.get(9)? })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// How much a note has to do with a concept.
    pub fn nearness(&self, note: NoteId, concept: &Concept) -> Result<Nearness, IndexError> {
        let sql = "SELECT id FROM concepts WHERE name = ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        let concept: Option<i64> =
            statement.query_row([concept.as_str()], |row| row.get(0)).optional()?;
        let Some(concept) = concept else { return Ok(Nearness::Far) };
        let sql = "SELECT count(*), total(m.concept = ?2), total(EXISTS (SELECT 1 FROM edges e \
                   WHERE e.a = min(m.concept, ?2) AND e.b = max(m.concept, ?2))) FROM mentions m WHERE m.note = ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        let counts = statement.query_row(params![note, concept], |row| {
            Ok((row.get::<_, i64>(0)? as f64, row.get::<_, f64>(1)?, row.get::<_, f64>(2)?))
        })?;
        Ok(match counts {
            (_, itself, _) if itself > 0.0 => Nearness::Mentions,
            (all, _, shared) if shared > 0.0 && shared * 2.0 >= all => Nearness::Near,
            _ => Nearness::Far,
        })
    }
}
