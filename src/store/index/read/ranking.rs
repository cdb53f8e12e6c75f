//! The ranking of an index, and the quotes of its notes.

use rusqlite::{OptionalExtension, Row, params};

use crate::core::note::reference::Key;
use crate::core::quote::passage::Passage;
use crate::core::relevance::Relevance;
use crate::core::relevance::uncommitted::NamingNote;
use crate::store::index::ranking::READY;
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

/// What is read of a note beside its [`CARD_COLUMNS`].
const COLUMNS: &str = "q.card, q.prior";
const RANKED: &str = "SELECT n.id, f.vault, f.path, n.name, n.title, n.mtime_ns, n.excerpt, n.subject, q.card, q.prior, \
    r.activation, r.walk, r.sessions, r.age, r.linked, r.with_it FROM ranking r \
    CROSS JOIN notes n ON n.id = r.note CROSS JOIN folders f ON f.id = n.folder \
    CROSS JOIN quotes q ON q.note = r.note";

impl Index {
    /// The notes that a session most likely needs, best first.
    pub fn ranked(&self, limit: usize) -> Result<Vec<RankedCard>, IndexError> {
        let ready = self.ready(limit.min(READY))?;
        if ready.len() == limit {
            return Ok(ready);
        }
        let sql = format!("{RANKED} WHERE q.card <> '' ORDER BY r.place LIMIT ?1");
        let mut statement = self.connection.prepare_cached(&sql)?;
        let rows = statement.query_map(params![limit as i64], ranked)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The first notes of the ranking, as they are stored with it. Those without words are left out.
    fn ready(&self, limit: usize) -> Result<Vec<RankedCard>, IndexError> {
        let sql = "SELECT note, vault, folder, name, title, mtime_ns, '', NULL, card, prior, activation, walk, sessions, age, \
                   linked, with_it FROM ranking WHERE place <= ?1 AND card <> '' ORDER BY place LIMIT ?2";
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map(params![READY as i64, limit as i64], ranked)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// A note, in the ranking or not; `None` for one without words. What is not in the ranking has at most as much of its
    /// own as the last note in there.
    pub fn any_ranked(&self, note: NoteId) -> Result<Option<RankedCard>, IndexError> {
        let sql = format!("{RANKED} WHERE r.note = ?1 AND q.card <> ''");
        let mut statement = self.connection.prepare_cached(&sql)?;
        if let Some(card) = statement.query_row([note], ranked).optional()? {
            return Ok(Some(card));
        }
        let sql = "SELECT activation FROM ranking ORDER BY place DESC LIMIT 1";
        let mut statement = self.connection.prepare_cached(sql)?;
        let least: Option<f64> = statement.query_row([], |row| row.get(0)).optional()?;
        Ok(self.unranked(note)?.map(|mut card| {
            card.relevance.activation = least.unwrap_or_default();
            card
        }))
    }

    /// The newest notes that name files of code, at most `limit`.
    pub fn naming_files(&self, limit: usize) -> Result<Vec<NamingNote>, IndexError> {
        let sql = "SELECT note, files FROM named_files ORDER BY note DESC LIMIT ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map([limit as i64], |row| {
            let keys = row.get_ref(1)?.as_blob()?.as_chunks().0.iter();
            let files = keys.map(|key| Key(u32::from_le_bytes(*key))).collect();
            Ok(NamingNote { note: row.get(0)?, files })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// A note that is not in the ranking; `None` for one without words.
    pub fn unranked(&self, note: NoteId) -> Result<Option<RankedCard>, IndexError> {
        let sql = format!(
            "SELECT {CARD_COLUMNS}, {COLUMNS} FROM notes n JOIN folders f ON f.id = n.folder \
             JOIN quotes q ON q.note = n.id WHERE n.id = ?1 AND q.card <> ''"
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        Ok(statement.query_row([note], unranked).optional()?)
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

fn ranked(row: &Row<'_>) -> Result<RankedCard, rusqlite::Error> {
    let mut ranked = unranked(row)?;
    ranked.relevance.activation = row.get(10)?;
    ranked.relevance.walk = row.get(11)?;
    ranked.relevance.n_sessions = row.get::<_, i64>(12)? as usize;
    ranked.relevance.age = row.get::<_, i64>(13)? as usize;
    ranked.relevance.is_linked = row.get(14)?;
    ranked.relevance.n_with_it = row.get::<_, i64>(15)? as usize;
    Ok(ranked)
}

fn unranked(row: &Row<'_>) -> Result<RankedCard, rusqlite::Error> {
    let (note, card) = card(row)?;
    let relevance = Relevance { prior: row.get(9)?, ..Relevance::default() };
    Ok(RankedCard { note, card, quote: row.get(8)?, relevance })
}
