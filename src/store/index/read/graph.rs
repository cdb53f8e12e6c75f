//! The graph in an index: concepts, their neighbours, and the notes that they share.

use rusqlite::{OptionalExtension, Row};

use crate::core::note::concept::Concept;
use crate::core::note::freshness::FadingDays;
use crate::core::time::Day;
use crate::store::index::read::Index;
use crate::store::index::{IndexError, NoteId};

#[derive(Debug, Clone, PartialEq)]
pub struct Neighbour {
    pub id: i64,
    pub name: Concept,
    /// The number of notes that mention both.
    pub notes: u32,
}

impl Index {
    /// The row of a concept; `None` if no note mentions it.
    pub fn concept(&self, concept: &Concept) -> Result<Option<i64>, IndexError> {
        Ok(self.concept_and_notes(concept)?.map(|(row, _)| row))
    }

    /// The row of a concept, and the number of notes that mention it.
    pub fn concept_and_notes(&self, concept: &Concept) -> Result<Option<(i64, u32)>, IndexError> {
        let sql = "SELECT id, notes FROM concepts WHERE name = ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        Ok(statement.query_row([concept.as_str()], row).optional()?)
    }

    /// The concepts that share the most notes with a concept, at most `limit`, in maenifold's
    /// order.
    ///
    /// maenifold first takes the edges with the most notes, and then sorts them by weight: the sum
    /// of their notes' current weights. Ties are sorted by name, where maenifold's order is
    /// undefined.
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

    /// Collects edges with more than one note: up to `limit` on each side, and the ties of the last
    /// one.
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

    /// Collects the first `room` edges with a single note, by name. There can be thousands of them,
    /// all with the same weight.
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

fn fading(row: &Row<'_>, column: usize) -> Result<FadingDays, IndexError> {
    let bytes = row.get_ref(column)?.as_blob().map_err(rusqlite::Error::from)?;
    FadingDays::from_bytes(bytes)
        .ok_or_else(|| IndexError::Damaged("an edge's days cannot be read".to_owned()))
}
