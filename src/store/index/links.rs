//! The links between notes, in every way that people write them, in both directions.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension, Statement, ToSql, params};

use crate::core::note::reference::ReferenceKind;
use crate::core::note::{Remark, Remarks, without_extension};
use crate::core::text::nfc::nfc;
use crate::store::index::read::string_list;
use crate::store::index::rows;
use crate::store::index::{IndexError, NoteId};

/// The number of notes of one name that a reference leads to.
const SHARED_NAME: i64 = 5;
/// The number of newest notes that are read of those that refer to a name.
const MOST_BACK_LINKS: i64 = 100;
/// The number of a note's names that back-links are looked up by.
const MOST_NAMES: usize = 50;
/// A back-link says less than a link.
const BACK: f64 = 0.5;
/// What a shared tag says, divided among the notes that share it.
const TAGGED: f64 = 0.25;
/// A tag of more notes says nothing.
const MOST_TAGGED: usize = 20;

/// The keys of a note, and those that its text has, with their kinds.
pub(super) type Refers = (Vec<u32>, Vec<(u32, u8)>);

pub(super) fn refers(connection: &Connection, note: NoteId) -> Result<Option<Refers>, IndexError> {
    let sql = "SELECT keys, refs FROM quotes WHERE note = ?1";
    let row = connection
        .prepare_cached(sql)?
        .query_row([note], |row| Ok((row.get::<_, Vec<u8>>(0)?, row.get::<_, Vec<u8>>(1)?)));
    let key = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    Ok(row.optional()?.map(|(keys, refs)| {
        let keys = keys.chunks_exact(4).map(key).collect();
        (keys, refs.chunks_exact(5).map(|bytes| (key(bytes), bytes[4])).collect())
    }))
}

fn weight(kind: u8) -> f64 {
    if kind == ReferenceKind::Link as u8 { 1.0 } else { 0.5 }
}

/// The notes around a note, with the weights of the ways to them.
#[derive(Default)]
pub(super) struct Around {
    /// The notes that it refers to, and those that refer to it, which count half.
    pub(super) links: BTreeMap<NoteId, f64>,
    /// The notes that share a rare tag with it.
    tagged: BTreeMap<NoteId, f64>,
}

impl Around {
    pub(super) fn all(self) -> BTreeMap<NoteId, f64> {
        let Around { mut links, tagged } = self;
        for (other, weight) in tagged {
            *links.entry(other).or_default() += weight;
        }
        links
    }
}

/// The notes around a note.
pub(super) fn around(connection: &Connection, note: NoteId) -> Result<Around, IndexError> {
    let Some((keys, mut references)) = refers(connection, note)? else {
        return Ok(Around::default());
    };
    let tags: Vec<u32> = references
        .extract_if(.., |(_, kind)| *kind == ReferenceKind::Tag as u8)
        .map(|(key, _)| key)
        .collect();
    let links = links_of(connection, note, &keys, &references)?;
    Ok(Around { links, tagged: tagged(connection, note, &tags)? })
}

fn tagged(
    connection: &Connection,
    note: NoteId,
    tags: &[u32],
) -> Result<BTreeMap<NoteId, f64>, IndexError> {
    let mut tagged: BTreeMap<NoteId, f64> = BTreeMap::new();
    // Most tags are common, which one step tells.
    let mut common =
        connection.prepare_cached("SELECT 1 FROM refs WHERE key = ?1 LIMIT 1 OFFSET ?2")?;
    let mut sharing = connection.prepare_cached("SELECT note FROM refs WHERE key = ?1")?;
    for tag in tags {
        if common.exists(params![tag, MOST_TAGGED as i64])? {
            continue;
        }
        let rows = sharing.query_map([tag], |row| row.get(0))?;
        let notes: Vec<NoteId> = rows.collect::<Result<_, _>>()?;
        let n_others = notes.len() as f64 - 1.0;
        for other in notes.into_iter().filter(|other| *other != note) {
            *tagged.entry(other).or_default() += TAGGED / n_others;
        }
    }
    Ok(tagged)
}

fn links_of(
    connection: &Connection,
    note: NoteId,
    keys: &[u32],
    references: &[(u32, u8)],
) -> Result<BTreeMap<NoteId, f64>, IndexError> {
    let mut forward = Weights::default();
    let mut named = connection
        .prepare_cached("SELECT note FROM keys WHERE key = ?1 ORDER BY note DESC LIMIT ?2")?;
    for (key, kind) in references {
        forward.add(&mut named, &[key, &SHARED_NAME], weight(*kind))?;
    }
    // Wiki links are mentions of concepts, and a concept leads to the notes of its name.
    let mentioned = "SELECT a.note FROM mentions m JOIN concepts c ON c.id = m.concept \
                     JOIN names a ON a.name = c.name WHERE m.note = ?1";
    forward.add(&mut *connection.prepare_cached(mentioned)?, &[&note], 1.0)?;
    let mut back = Weights::default();
    let sql = "SELECT note, kind FROM refs WHERE key = ?1 ORDER BY note DESC LIMIT ?2";
    let mut referring = connection.prepare_cached(sql)?;
    for key in keys {
        let mut rows = referring.query(params![key, MOST_BACK_LINKS])?;
        while let Some(row) = rows.next()? {
            back.put(row.get(0)?, BACK * weight(row.get(1)?));
        }
    }
    let sql = "SELECT m.note FROM concepts c JOIN mentions m ON m.concept = c.id \
               WHERE c.name = ?1 ORDER BY m.note DESC LIMIT ?2";
    let mut mentioning = connection.prepare_cached(sql)?;
    for name in names_of(connection, note)? {
        back.add(&mut mentioning, &[&name, &MOST_BACK_LINKS], BACK)?;
    }
    let Weights(mut links) = forward;
    for (other, weight) in back.0 {
        *links.entry(other).or_default() += weight;
    }
    links.remove(&note);
    Ok(links)
}

/// The names of a note by which links lead to it, as concepts are written.
fn names_of(connection: &Connection, note: NoteId) -> Result<Vec<String>, IndexError> {
    let sql = "SELECT title, aliases, name, remarks FROM notes WHERE id = ?1";
    let names = connection.prepare_cached(sql)?.query_row([note], |row| {
        if Remarks::from_bits(row.get(3)?).has(Remark::Pointer) {
            return Ok(Vec::new());
        }
        let (title, file): (String, String) = (row.get(0)?, row.get(2)?);
        Ok(rows::names(&title, &string_list(row, 1)?, &nfc(without_extension(&file))))
    })?;
    let names = names.into_iter().take(MOST_NAMES);
    Ok(names.map(|(name, _)| name.as_str().to_owned()).collect())
}

/// Each linked note with its best weight: a note that is named in two ways is linked once.
#[derive(Default)]
struct Weights(BTreeMap<NoteId, f64>);

impl Weights {
    fn put(&mut self, note: NoteId, weight: f64) {
        let known = self.0.entry(note).or_default();
        *known = known.max(weight);
    }

    fn add(
        &mut self,
        notes: &mut Statement<'_>,
        question: &[&dyn ToSql],
        weight: f64,
    ) -> Result<(), IndexError> {
        let mut rows = notes.query(question)?;
        while let Some(row) = rows.next()? {
            self.put(row.get(0)?, weight);
        }
        Ok(())
    }
}
