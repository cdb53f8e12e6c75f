//! The reader: everything that is asked of an index. Never writes.

use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::core::note::Remarks;
use crate::core::note::concept::Concept;
use crate::core::note::freshness::FadingDays;
use crate::core::note::listing::{FolderListing, Skipped};
use crate::core::search::answer::Match;
use crate::core::time::{Day, Timestamp};
use crate::store::index::changes;
use crate::store::index::rows::NameKind;
use crate::store::index::{IndexError, NoteId, Totals};

/// What it is worth when all words stand in the title. In a small vault every word is common, and bm25 alone says
/// next to nothing.
const TITLE_HAS_ALL: f64 = 3.0;
/// Title and labels say more about a note than its text.
const BM25: &str = "-bm25(fulltext, 8.0, 4.0, 1.0)";

/// An index, open for reading.
pub struct Index {
    connection: Connection,
}

/// What an answer shows of a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteCard {
    /// The place of the vault in the list of vaults.
    pub vault: usize,
    /// The path below the vault's root.
    pub path: String,
    /// The title.
    pub title: String,
    /// When the file was last written.
    pub modified: Timestamp,
    /// The first sentence.
    pub excerpt: String,
}

/// A concept that shares notes with another.
#[derive(Debug, Clone, PartialEq)]
pub struct Neighbour {
    /// Its row.
    id: i64,
    /// Its name.
    pub name: Concept,
    /// How many notes mention both.
    pub notes: u32,
}

impl Index {
    pub(super) fn new(connection: Connection) -> Index {
        connection.set_prepared_statement_cache_capacity(64);
        Index { connection }
    }

    /// Asks several things of one and the same state of the index, whatever others write meanwhile.
    pub fn consistently<T>(
        &self,
        question: impl FnOnce(&Index) -> Result<T, IndexError>,
    ) -> Result<T, IndexError> {
        let transaction = self.connection.unchecked_transaction()?;
        let answer = question(self);
        drop(transaction);
        answer
    }

    /// Tells states of the index apart, as this connection sees them: another one after every change by somebody else.
    pub fn version(&self) -> Result<i64, IndexError> {
        Ok(self.connection.pragma_query_value(None, "data_version", |row| row.get(0))?)
    }

    /// Whether the index knows all that is listed, and no more.
    pub fn is_current(&self, listings: &[FolderListing]) -> Result<bool, IndexError> {
        changes::is_current(&self.connection, listings)
    }

    /// How many things the index holds.
    pub fn totals(&self) -> Result<Totals, IndexError> {
        read_totals(&self.connection)
    }

    /// How many files turned out to be no notes.
    pub fn rejected(&self) -> Result<Skipped, IndexError> {
        let count = |reason: i64| {
            let sql = "SELECT count(*) FROM files WHERE rejected = ?1";
            self.connection.query_row(sql, [reason], |row| row.get::<_, i64>(0))
        };
        Ok(Skipped { binary: count(1)? as u64, unreadable: count(2)? as u64, ..Skipped::default() })
    }

    /// Every note with remarks: vault, path, remarks.
    pub fn remarks(&self) -> Result<Vec<(usize, String, Remarks)>, IndexError> {
        let sql = "SELECT f.vault, f.path, n.name, n.remarks FROM notes n JOIN folders f ON f.id = n.folder \
                   WHERE n.remarks <> 0 ORDER BY f.vault, f.path, n.name";
        let mut statement = self.connection.prepare(sql)?;
        let rows = statement.query_map([], |row| {
            let path = join(&row.get::<_, String>(1)?, &row.get::<_, String>(2)?);
            Ok((row.get::<_, i64>(0)? as usize, path, Remarks::from_bits(row.get(3)?)))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The note at a place.
    pub fn note_at(&self, vault: usize, path: &str) -> Result<Option<NoteId>, IndexError> {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let sql = "SELECT i.note FROM folders f JOIN files i ON i.folder = f.id \
                   WHERE f.vault = ?1 AND f.path = ?2 AND i.name = ?3";
        let mut statement = self.connection.prepare_cached(sql)?;
        let note = statement
            .query_row(params![vault as i64, folder, name], |row| row.get(0))
            .optional()?;
        Ok(note.flatten())
    }

    /// The newest notes that go by a name, at most `limit`, best kind of name first, with their titles.
    pub fn named(
        &self,
        name: &Concept,
        limit: usize,
    ) -> Result<Vec<(NoteId, Match, String)>, IndexError> {
        let sql = "SELECT a.note, a.kind, n.title FROM names a JOIN notes n ON n.id = a.note \
                   WHERE a.name = ?1 ORDER BY a.kind, a.note DESC LIMIT ?2";
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map(params![name.as_str(), limit as i64], |row| {
            let matched = match row.get::<_, i64>(1)? {
                kind if kind == NameKind::Title as i64 => Match::Title,
                kind if kind == NameKind::Alias as i64 => Match::Alias,
                _ => Match::File,
            };
            Ok((row.get(0)?, matched, row.get(2)?))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The note that goes by a name: the newest of those that have it as title, else as alias, else as file name.
    pub fn own_note(&self, name: &Concept) -> Result<Option<NoteCard>, IndexError> {
        // In the table's own order, and the best taken here: to sort in SQLite makes a table of its own each time. A
        // name like `readme` may be that of thousands.
        let sql = "SELECT kind, note FROM names WHERE name = ?1 ORDER BY note DESC LIMIT 100";
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map([name.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let mut best: Option<(i64, NoteId)> = None;
        for row in rows {
            let (kind, note) = row?;
            if best.is_none_or(|(best, _)| kind < best) {
                best = Some((kind, note));
            }
        }
        best.map(|(_, note)| self.card(note)).transpose()
    }

    /// The newest notes that mention a concept, at most `limit`, with the number of their links to it.
    pub fn mentioning(
        &self,
        concept: &Concept,
        limit: usize,
    ) -> Result<Vec<(NoteId, u32)>, IndexError> {
        let sql = "SELECT m.note, m.links FROM concepts c CROSS JOIN mentions m ON m.concept = c.id \
                   WHERE c.name = ?1 ORDER BY m.note DESC LIMIT ?2";
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map(params![concept.as_str(), limit as i64], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The notes that hold the words of a query, with how well they match: a note may come twice, for two reasons.
    /// Terms are FTS5 strings.
    ///
    /// At most `limit` for each way of searching. Ranked by bm25 over the words that stand in fewer than `common_from`
    /// notes: bm25 has to look at every one of them, and a common word says little about any. A query of nothing but common
    /// words finds the newest notes that have all of them: cost stays bounded however large the vault. Words that
    /// stand nowhere are tried as beginnings.
    pub fn texts(
        &self,
        terms: &[String],
        limit: usize,
        common_from: i64,
    ) -> Result<Vec<(NoteId, f64)>, IndexError> {
        let mut known: Vec<(i64, &String)> = Vec::new();
        for term in terms {
            let notes = self.count_up_to(term, common_from)?;
            if notes > 0 {
                known.push((notes, term));
            }
        }
        known.sort();
        let mut rare: Vec<&str> = Vec::new();
        let mut ranked = 0;
        for (notes, term) in &known {
            ranked += notes;
            if *notes >= common_from || ranked > 2 * common_from {
                break;
            }
            rare.push(term);
        }
        if !rare.is_empty() {
            let mut found = self.best(&rare.join(" OR "), limit)?;
            if rare.len() == terms.len() {
                let titled =
                    self.newest(&format!("{{title}} : ({})", rare.join(" AND ")), 0.0, limit)?;
                found.extend(titled.into_iter().map(|(note, _)| (note, TITLE_HAS_ALL)));
            }
            return Ok(found);
        }
        if known.is_empty() {
            let beginnings: Vec<String> = terms
                .iter()
                .filter(|term| term.len() >= 5)
                .map(|term| format!("{term}*"))
                .collect();
            return if beginnings.is_empty() {
                Ok(Vec::new())
            } else {
                self.newest(&beginnings.join(" OR "), 0.5, limit)
            };
        }
        let common: Vec<&str> = known.iter().map(|(_, term)| term.as_str()).collect();
        let all = self.newest(&common.join(" AND "), 1.0, limit)?;
        if all.is_empty() { self.newest(&common.join(" OR "), 0.5, limit) } else { Ok(all) }
    }

    fn count_up_to(&self, term: &str, limit: i64) -> Result<i64, IndexError> {
        let sql = "SELECT count(*) FROM (SELECT 1 FROM fulltext WHERE fulltext MATCH ?1 LIMIT ?2)";
        Ok(self
            .connection
            .prepare_cached(sql)?
            .query_row(params![term, limit], |row| row.get(0))?)
    }

    fn best(&self, expression: &str, limit: usize) -> Result<Vec<(NoteId, f64)>, IndexError> {
        let sql = format!(
            "SELECT rowid, {BM25} AS strength FROM fulltext WHERE fulltext MATCH ?1 \
             ORDER BY strength DESC, rowid DESC LIMIT ?2"
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        let rows = statement
            .query_map(params![expression, limit as i64], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn newest(
        &self,
        expression: &str,
        strength: f64,
        limit: usize,
    ) -> Result<Vec<(NoteId, f64)>, IndexError> {
        let sql = "SELECT rowid FROM fulltext WHERE fulltext MATCH ?1 ORDER BY rowid DESC LIMIT ?2";
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map(params![expression, limit as i64], |row| row.get(0))?;
        let notes = rows.collect::<Result<Vec<NoteId>, _>>()?;
        let step = strength / (2 * notes.len().max(1)) as f64;
        Ok(notes
            .into_iter()
            .enumerate()
            .map(|(n, note)| (note, strength - n as f64 * step))
            .collect())
    }

    /// What to show of a note.
    pub fn card(&self, note: NoteId) -> Result<NoteCard, IndexError> {
        let sql = format!("{CARD} WHERE n.id = ?1");
        Ok(self.connection.prepare_cached(&sql)?.query_row([note], |row| Ok(card(row)?.1))?)
    }

    /// Calls `take` with notes from the newest on, until it returns `false`.
    pub fn newest_first(
        &self,
        mut take: impl FnMut(NoteId, NoteCard) -> bool,
    ) -> Result<(), IndexError> {
        let mut statement =
            self.connection.prepare_cached(&format!("{CARD} ORDER BY n.id DESC"))?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let (note, card) = card(row)?;
            if !take(note, card) {
                break;
            }
        }
        Ok(())
    }

    /// A note's concepts, most mentioned first, ties by name.
    pub fn concepts_of(&self, note: NoteId) -> Result<Vec<Concept>, IndexError> {
        let sql = "SELECT c.name FROM mentions m JOIN concepts c ON c.id = m.concept \
                   WHERE m.note = ?1 ORDER BY m.links DESC, c.name";
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map([note], |row| row.get(0).map(Concept::from_normal_form))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// All concepts, in no particular order.
    pub fn concepts(&self) -> Result<Vec<Concept>, IndexError> {
        let mut statement = self.connection.prepare("SELECT name FROM concepts")?;
        let rows = statement.query_map([], |row| row.get(0).map(Concept::from_normal_form))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The row of a concept, if any note mentions it.
    pub fn concept(&self, concept: &Concept) -> Result<Option<i64>, IndexError> {
        Ok(self.concept_and_notes(concept)?.map(|(row, _)| row))
    }

    /// The row of a concept and how many notes mention it.
    pub fn concept_and_notes(&self, concept: &Concept) -> Result<Option<(i64, u32)>, IndexError> {
        let sql = "SELECT id, notes FROM concepts WHERE name = ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        Ok(statement.query_row([concept.as_str()], row).optional()?)
    }

    /// The concepts that share the most notes with one, at most `limit`, in maenifold's order.
    ///
    /// maenifold takes the edges with the most notes first, and only then orders them by weight: the sum of what
    /// their notes count for today. Ties go by name, where maenifold leaves them to chance.
    pub fn neighbours(
        &self,
        concept: i64,
        limit: usize,
        today: Day,
    ) -> Result<Vec<Neighbour>, IndexError> {
        let mut found: Vec<(Neighbour, FadingDays)> = Vec::new();
        self.collect_strong_edges(concept, limit, &mut found)?;
        if found.len() < limit {
            let room = limit - found.len();
            self.collect_weak_edges(concept, room, &mut found)?;
        }
        found.sort_by(|(a, _), (b, _)| b.notes.cmp(&a.notes).then_with(|| a.name.cmp(&b.name)));
        found.truncate(limit);
        let weight =
            |(neighbour, fading): &(Neighbour, FadingDays)| fading.weight(neighbour.notes, today);
        found.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
        Ok(found.into_iter().map(|(neighbour, _)| neighbour).collect())
    }

    /// Collects edges of more than one note, as many as `limit` on each side and the ties of the last one.
    fn collect_strong_edges(
        &self,
        concept: i64,
        limit: usize,
        found: &mut Vec<(Neighbour, FadingDays)>,
    ) -> Result<(), IndexError> {
        for (here, there) in [("a", "b"), ("b", "a")] {
            let sql = format!(
                "SELECT e.{there}, c.name, e.notes, e.fading FROM edges e INDEXED BY strong_edges_by_{here} \
                 CROSS JOIN concepts c ON c.id = e.{there} WHERE e.{here} = ?1 AND e.notes > 1 ORDER BY e.notes DESC"
            );
            let mut statement = self.connection.prepare_cached(&sql)?;
            let mut rows = statement.query([concept])?;
            let mut taken = 0;
            let mut least = u32::MAX;
            while let Some(row) = rows.next()? {
                let notes: u32 = row.get(2)?;
                if taken >= limit && notes < least {
                    break;
                }
                taken += 1;
                least = notes;
                let name = Concept::from_normal_form(row.get(1)?);
                found.push((Neighbour { id: row.get(0)?, name, notes }, fading(row, 3)?));
            }
        }
        Ok(())
    }

    /// Collects the `room` edges of a single note whose names come first. There may be thousands, all alike.
    fn collect_weak_edges(
        &self,
        concept: i64,
        room: usize,
        found: &mut Vec<(Neighbour, FadingDays)>,
    ) -> Result<(), IndexError> {
        let mut first: Vec<(Neighbour, FadingDays)> = Vec::new();
        for (here, there) in [("a", "b"), ("b", "a")] {
            let sql = format!(
                "SELECT e.{there}, c.name, e.fading FROM edges e \
                 CROSS JOIN concepts c ON c.id = e.{there} WHERE e.{here} = ?1 AND e.notes = 1"
            );
            let mut statement = self.connection.prepare_cached(&sql)?;
            let mut rows = statement.query([concept])?;
            while let Some(row) = rows.next()? {
                let name = row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?;
                let at = first.partition_point(|(neighbour, _)| neighbour.name.as_str() < name);
                if at < room {
                    let name = Concept::from_normal_form(name.to_owned());
                    first.insert(
                        at,
                        (Neighbour { id: row.get(0)?, name, notes: 1 }, fading(row, 2)?),
                    );
                    first.truncate(room);
                }
            }
        }
        found.append(&mut first);
        Ok(())
    }

    /// The newest notes that mention both a concept and its neighbour, at most three.
    pub fn shared_notes(
        &self,
        concept: i64,
        neighbour: &Neighbour,
    ) -> Result<Vec<NoteId>, IndexError> {
        let notes = |concept: i64| -> Result<i64, rusqlite::Error> {
            let mut statement =
                self.connection.prepare_cached("SELECT notes FROM concepts WHERE id = ?1")?;
            statement.query_row([concept], |row| row.get(0))
        };
        let (rarer, other) = if notes(concept)? <= notes(neighbour.id)? {
            (concept, neighbour.id)
        } else {
            (neighbour.id, concept)
        };
        let sql = "SELECT m.note FROM mentions m INDEXED BY mentions_by_concept WHERE m.concept = ?1 \
                   AND EXISTS (SELECT 1 FROM mentions o WHERE o.note = m.note AND o.concept = ?2) \
                   ORDER BY m.note DESC LIMIT 3";
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map([rarer, other], |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

impl Neighbour {
    /// The row of the concept.
    pub fn id(&self) -> i64 {
        self.id
    }
}

const CARD: &str = "SELECT n.id, f.vault, f.path, n.name, n.title, n.mtime_ns, n.excerpt \
    FROM notes n CROSS JOIN folders f ON f.id = n.folder";

fn card(row: &Row<'_>) -> Result<(NoteId, NoteCard), rusqlite::Error> {
    let card = NoteCard {
        vault: row.get::<_, i64>(1)? as usize,
        path: join(&row.get::<_, String>(2)?, &row.get::<_, String>(3)?),
        title: row.get(4)?,
        modified: Timestamp(row.get(5)?),
        excerpt: row.get(6)?,
    };
    Ok((row.get(0)?, card))
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

/// Reads the days of an edge from a column.
fn fading(row: &Row<'_>, column: usize) -> Result<FadingDays, IndexError> {
    let bytes = row.get_ref(column)?.as_blob().map_err(rusqlite::Error::from)?;
    FadingDays::from_bytes(bytes)
        .ok_or_else(|| IndexError::Damaged("an edge's days cannot be read".to_owned()))
}

pub(super) fn read_totals(connection: &Connection) -> Result<Totals, IndexError> {
    let mut statement = connection.prepare_cached("SELECT value FROM meta WHERE key = ?1")?;
    let mut value = |key: &str| statement.query_row([key], |row| row.get::<_, i64>(0));
    Ok(Totals {
        notes: value("notes")?,
        concepts: value("concepts")?,
        links: value("links")?,
        edges: value("edges")?,
        remarked: value("remarked")?,
    })
}

/// Reads a JSON array of texts from a column.
pub(super) fn string_list(row: &Row<'_>, column: usize) -> Result<Vec<String>, rusqlite::Error> {
    let text: String = row.get(column)?;
    serde_json::from_str(&text).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error))
    })
}
