//! The ranking of an index: the notes that a session most likely needs, computed whenever the index is written.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Connection, OptionalExtension, params};

use crate::core::relevance::activation::{activations, seeds};
use crate::core::relevance::walk::{START_RESTART, walk};
use crate::core::relevance::{Relevance, ranked};
use crate::store::index::history::changes;
use crate::store::index::links::around;
use crate::store::index::{IndexError, NoteId};

/// No context shows more notes.
const RANKED: usize = 400;
/// A context of the default size shows fewer. What it shows of these notes is stored with the ranking.
pub(super) const READY: usize = 200;
/// The number of notes whose links are read.
const MOST_LOADED: usize = 100;

/// Ranks the notes and replaces the stored ranking.
pub(super) fn write_ranking(connection: &Connection) -> Result<(), IndexError> {
    let changes = changes(connection)?;
    let mut priors: BTreeMap<NoteId, f64> =
        changes.iter().map(|(change, prior)| (change.note, *prior)).collect();
    let changes: Vec<_> = changes.into_iter().map(|(change, _)| change).collect();
    let activations = activations(&changes);
    let seeds = seeds(&activations);
    let mut linked: BTreeSet<NoteId> = BTreeSet::new();
    let walk = walk(&seeds, START_RESTART, MOST_LOADED, |note| {
        let around = around(connection, note)?;
        linked.extend(around.links.keys());
        Ok::<_, IndexError>(around.all().into_iter().collect())
    })?;
    for &note in walk.keys() {
        if !priors.contains_key(&note) {
            let sql = "SELECT prior FROM quotes WHERE note = ?1";
            let prior = connection.prepare_cached(sql)?.query_row([note], |row| row.get(0));
            priors.extend(prior.optional()?.map(|prior: f64| (note, prior)));
        }
    }
    connection.execute("DELETE FROM ranking", [])?;
    let sql = "INSERT INTO ranking (place, note, activation, walk, linked, sessions, age, with_it) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    let mut row = connection.prepare_cached(sql)?;
    let ranked = ranked(&activations, &walk, &priors);
    for (place, (note, relevance)) in ranked.into_iter().take(RANKED).enumerate() {
        let Relevance { activation, walk, n_sessions, age, n_with_it, .. } = relevance;
        let place = place as i64 + 1;
        let (sessions, age) = (n_sessions as i64, age as i64);
        let is_linked = linked.contains(&note);
        let with_it = n_with_it as i64;
        row.execute(params![place, note, activation, walk, is_linked, sessions, age, with_it])?;
    }
    let sql = "UPDATE ranking SET (vault, folder, name, title, mtime_ns, card, prior) = \
               (SELECT f.vault, f.path, n.name, coalesce(n.subject, n.title), n.mtime_ns, q.card, q.prior FROM notes n \
               CROSS JOIN folders f ON f.id = n.folder CROSS JOIN quotes q ON q.note = n.id \
               WHERE n.id = ranking.note) WHERE place <= ?1";
    connection.prepare_cached(sql)?.execute([READY as i64])?;
    Ok(())
}
