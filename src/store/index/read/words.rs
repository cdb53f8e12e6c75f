//! The full-text index: the notes that contain words, and their number. `core::search::words`
//! decides what to look up.

use rusqlite::params;

use crate::core::search::words::{self, TextMatch, WordSearch};
use crate::store::index::read::Index;
use crate::store::index::{IndexError, NoteId};

impl Index {
    /// The notes that contain the words of a query, with the strength of the match. A note can
    /// appear twice, for two reasons. Terms are FTS5 strings. Finds at most `limit` notes per kind
    /// of search.
    pub fn texts(
        &self,
        terms: &[String],
        limit: usize,
        common_from: i64,
    ) -> Result<Vec<TextMatch<NoteId>>, IndexError> {
        let counts = terms
            .iter()
            .map(|term| self.count_up_to(term, common_from))
            .collect::<Result<Vec<i64>, _>>()?;
        Ok(match words::plan(terms, &counts, common_from) {
            WordSearch::Nothing => Vec::new(),
            WordSearch::Rare { any, titled } => {
                let mut found = self.best(&any, limit)?;
                if let Some(titled) = titled {
                    found.extend(words::all_in_title(self.newest(&titled, limit)?));
                }
                found
            }
            WordSearch::Beginnings { any } => words::by_age(self.newest(&any, limit)?, words::SOME),
            WordSearch::Common { all, any } => match self.newest(&all, limit)? {
                notes if notes.is_empty() => words::by_age(self.newest(&any, limit)?, words::SOME),
                notes => words::by_age(notes, words::ALL),
            },
        })
    }

    /// Whether any note contains an FTS5 expression.
    pub fn has_text(&self, expression: &str) -> Result<bool, IndexError> {
        Ok(self.count_up_to(expression, 1)? > 0)
    }

    /// The notes that contain an FTS5 expression, best first: the newest ones if there are many.
    pub fn matching(
        &self,
        expression: &str,
        limit: usize,
        common_from: i64,
    ) -> Result<Vec<TextMatch<NoteId>>, IndexError> {
        if self.count_up_to(expression, common_from)? < common_from {
            return self.best(expression, limit);
        }
        Ok(words::by_age(self.newest(expression, limit)?, words::SOME))
    }

    pub(super) fn count_up_to(&self, term: &str, limit: i64) -> Result<i64, IndexError> {
        let sql = "SELECT count(*) FROM (SELECT 1 FROM fulltext WHERE fulltext MATCH ?1 LIMIT ?2)";
        let mut statement = self.connection.prepare_cached(sql)?;
        Ok(statement.query_row(params![term, limit], |row| row.get(0))?)
    }

    fn best(&self, expression: &str, limit: usize) -> Result<Vec<TextMatch<NoteId>>, IndexError> {
        let [title, labels, text] = words::COLUMN_WEIGHTS;
        let sql = format!(
            "SELECT rowid, -bm25(fulltext, {title:?}, {labels:?}, {text:?}) AS strength FROM fulltext \
             WHERE fulltext MATCH ?1 ORDER BY strength DESC, rowid DESC LIMIT ?2"
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        let rows = statement
            .query_map(params![expression, limit as i64], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn newest(&self, expression: &str, limit: usize) -> Result<Vec<NoteId>, IndexError> {
        let sql = "SELECT rowid FROM fulltext WHERE fulltext MATCH ?1 ORDER BY rowid DESC LIMIT ?2";
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map(params![expression, limit as i64], |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}
