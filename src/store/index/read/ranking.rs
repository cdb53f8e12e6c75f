//! The ranking of an index, and the quotes of its notes.

use rusqlite::params;

use crate::core::quote::passage::Passage;
use crate::core::relevance::Relevance;
use crate::store::index::read::{CARD_COLUMNS, Index, NoteCard, card};
use crate::store::index::{IndexError, NoteId};

/// A note in the ranking, with what a context quotes of it.
#[derive(Debug, Clone, PartialEq)]
pub struct RankedCard {
    pub note: NoteId,
    pub card: NoteCard,
    pub quote: String,
    pub relevance: Relevance,
}

impl Index {
    /// The notes that a session most likely needs, best first.
    pub fn ranked(&self, limit: usize) -> Result<Vec<RankedCard>, IndexError> {
        let sql = format!(
            "SELECT {CARD_COLUMNS}, q.card, r.activation, r.walk, r.prior, r.sessions, r.age FROM ranking r \
             CROSS JOIN notes n ON n.id = r.note CROSS JOIN folders f ON f.id = n.folder \
             CROSS JOIN quotes q ON q.note = r.note WHERE q.card <> '' ORDER BY r.place LIMIT ?1"
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        let rows = statement.query_map(params![limit as i64], |row| {
            let (note, card) = card(row)?;
            let relevance = Relevance {
                activation: row.get(8)?,
                walk: row.get(9)?,
                prior: row.get(10)?,
                n_sessions: row.get::<_, i64>(11)? as usize,
                age: row.get::<_, i64>(12)? as usize,
            };
            Ok(RankedCard { note, card, quote: row.get(7)?, relevance })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The short quote of a note.
    pub fn quote(&self, note: NoteId) -> Result<String, IndexError> {
        let mut statement =
            self.connection.prepare_cached("SELECT card FROM quotes WHERE note = ?1")?;
        Ok(statement.query_row([note], |row| row.get(0))?)
    }

    /// The long quote of a note.
    pub fn passage(&self, note: NoteId) -> Result<Passage, IndexError> {
        let sql = "SELECT passage FROM quotes WHERE note = ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        let json: String = statement.query_row([note], |row| row.get(0))?;
        serde_json::from_str(&json).map_err(|error| IndexError::Damaged(error.to_string()))
    }
}
