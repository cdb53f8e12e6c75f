//! The ranking of an index: the notes that a session most likely needs, computed whenever the index is written.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use rusqlite::{Connection, OptionalExtension, params};

use crate::core::note::reference::ReferenceKind;
use crate::core::relevance::activation::{activations, seeds};
use crate::core::relevance::walk::{Neighbourhood, START_RESTART};
use crate::core::relevance::{Relevance, ranked};
use crate::store::index::history::changes;
use crate::store::index::{IndexError, NoteId};

/// No context shows more notes.
const RANKED: usize = 400;
/// The number of notes whose links are read.
const EXPANDED: usize = 200;
/// The number of notes of one name that a reference leads to.
const SHARED_KEY: i64 = 5;
/// The number of newest notes that are read of those that refer to a name.
const MOST_BACK_LINKS: i64 = 100;

/// Ranks the notes and replaces the stored ranking.
pub(super) fn write_ranking(connection: &Connection) -> Result<(), IndexError> {
    let changes = changes(connection)?;
    let mut priors: BTreeMap<NoteId, f64> =
        changes.iter().map(|(change, prior)| (change.note, *prior)).collect();
    let changes: Vec<_> = changes.into_iter().map(|(change, _)| change).collect();
    let activations = activations(&changes);
    let seeds = seeds(&activations);
    let walk = neighbourhood(connection, &seeds)?.walk(&seeds, START_RESTART);
    for &note in walk.keys() {
        if !priors.contains_key(&note) {
            let sql = "SELECT prior FROM quotes WHERE note = ?1";
            let prior = connection.prepare_cached(sql)?.query_row([note], |row| row.get(0));
            priors.extend(prior.optional()?.map(|prior: f64| (note, prior)));
        }
    }
    connection.execute("DELETE FROM ranking", [])?;
    let sql = "INSERT INTO ranking (place, note, activation, walk, prior, sessions, age) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let mut row = connection.prepare_cached(sql)?;
    let ranked = ranked(&activations, &walk, &priors);
    for (place, (note, relevance)) in ranked.into_iter().take(RANKED).enumerate() {
        let Relevance { activation, walk, prior, n_sessions, age } = relevance;
        let place = place as i64 + 1;
        let (sessions, age) = (n_sessions as i64, age as i64);
        row.execute(params![place, note, activation, walk, prior, sessions, age])?;
    }
    Ok(())
}

/// The notes around some notes, and their links.
fn neighbourhood(
    connection: &Connection,
    seeds: &[(NoteId, f64)],
) -> Result<Neighbourhood, IndexError> {
    let mut notes = Neighbourhood::default();
    let mut queue: VecDeque<NoteId> = seeds.iter().map(|(note, _)| *note).collect();
    let mut known: BTreeSet<NoteId> = queue.iter().copied().collect();
    let mut n_expanded = 0;
    while let Some(note) = queue.pop_front().filter(|_| n_expanded < EXPANDED) {
        n_expanded += 1;
        for (other, weight) in links_of(connection, note)? {
            notes.link(note, other, weight);
            if known.insert(other) {
                queue.push_back(other);
            }
        }
    }
    Ok(notes)
}

/// The keys of a note, and those that its text has, with their kinds.
type Refers = (Vec<u32>, Vec<(u32, u8)>);

pub(super) fn refers(connection: &Connection, note: NoteId) -> Result<Option<Refers>, IndexError> {
    let sql = "SELECT keys, refs FROM refers WHERE note = ?1";
    let row = connection
        .prepare_cached(sql)?
        .query_row([note], |row| Ok((row.get::<_, Vec<u8>>(0)?, row.get::<_, Vec<u8>>(1)?)));
    let key = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    Ok(row.optional()?.map(|(keys, refs)| {
        let keys = keys.chunks_exact(4).map(key).collect();
        (keys, refs.chunks_exact(5).map(|bytes| (key(bytes), bytes[4])).collect())
    }))
}

/// The notes that a note refers to, and those that refer to it, which count half.
fn links_of(connection: &Connection, note: NoteId) -> Result<Vec<(NoteId, f64)>, IndexError> {
    let Some((keys, references)) = refers(connection, note)? else { return Ok(Vec::new()) };
    let weight = |kind: u8| if kind == ReferenceKind::Link as u8 { 1.0 } else { 0.5 };
    // A note that is named in two ways, by path and by title, is linked once.
    let mut forward: BTreeMap<NoteId, f64> = BTreeMap::new();
    let mut named = connection.prepare_cached("SELECT note FROM keys WHERE key = ?1 LIMIT ?2")?;
    for (key, kind) in references {
        let mut rows = named.query(params![key, SHARED_KEY])?;
        while let Some(row) = rows.next()? {
            let known = forward.entry(row.get(0)?).or_default();
            *known = known.max(weight(kind));
        }
    }
    let mut back: BTreeMap<NoteId, f64> = BTreeMap::new();
    let sql = "SELECT note, kind FROM refs WHERE key = ?1 ORDER BY note DESC LIMIT ?2";
    let mut referring = connection.prepare_cached(sql)?;
    for key in keys {
        let mut rows = referring.query(params![key, MOST_BACK_LINKS])?;
        while let Some(row) = rows.next()? {
            let known = back.entry(row.get(0)?).or_default();
            *known = known.max(0.5 * weight(row.get(1)?));
        }
    }
    for (other, weight) in back {
        *forward.entry(other).or_default() += weight;
    }
    forward.remove(&note);
    Ok(forward.into_iter().collect())
}
