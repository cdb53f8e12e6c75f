//! Sync: the database made from the notes, with maenifold's own mistakes: links that left a file stay, and so do the words
//! of its older text in the full-text table. No vectors and no communities are made, no session is declared abandoned, and
//! `file_md5` holds another hash.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::time::SystemTime;

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension};

use crate::Thrown;
use crate::markdown::{Markdown, links, normalized};
use crate::payload::Payload;
use crate::places::Places;

pub(crate) fn sync(places: &Places) -> Result<String, Thrown> {
    places.ensure_tables()?;
    let mut connection = places.open()?;
    let transaction = connection.transaction()?;
    let mut n_processed = 0;
    for path in Places::notes(&places.memory) {
        // A file that cannot be read does not stop the others.
        n_processed += i64::from(process(&transaction, places, &path).unwrap_or(false));
    }
    let known: Vec<String> = {
        let mut statement = transaction.prepare("SELECT file_path FROM file_content")?;
        statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?
    };
    for uri in known {
        if !places.note(&uri).is_some_and(|path| path.exists()) {
            remove(&transaction, &uri)?;
        }
    }
    let n_orphans = transaction.execute(
        "DELETE FROM concepts WHERE concept_name NOT IN (SELECT DISTINCT concept_name FROM concept_mentions)",
        [],
    )?;
    transaction.commit()?;
    let count = |table: &str| {
        connection
            .query_row(&format!("SELECT COUNT(*) FROM {table}"), [], |row| row.get::<_, i64>(0))
    };
    let (n_mentions, n_edges) = (count("concept_mentions")?, count("concept_graph")?);
    let orphans = if n_orphans > 0 {
        format!("- {n_orphans} ORPHANED concepts cleaned up\n")
    } else {
        String::new()
    };
    connection.execute_batch("VACUUM")?;
    Ok(format!(
        "Sync complete:\n- {n_processed} FILES processed\n- {n_mentions} CONCEPT mentions found\n\
         - {n_edges} CONCEPT relations created\n{orphans}- 0 COMMUNITIES detected (modularity 0.000)\n\
         - WARNING: sqlite-vec extension unavailable; semantic tooling disabled"
    ))
}

/// Brings one file into the database; whether there was anything to do.
fn process(connection: &Connection, places: &Places, path: &Path) -> Result<bool, Thrown> {
    let uri = places.uri(path);
    let metadata = fs::metadata(path)?;
    let indexed = round_trip(metadata.modified()?);
    let question =
        "SELECT last_indexed, file_md5, file_size FROM file_content WHERE file_path = ?1";
    type Known = (Option<String>, Option<String>, Option<i64>);
    let known: Option<Known> = connection
        .query_row(question, [&uri], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    if known.as_ref().is_some_and(|(last, _, _)| last.as_ref() == Some(&indexed)) {
        return Ok(false);
    }
    let note = Markdown::read(path)?;
    let (hash, size) = (hash(&fs::read(path)?), metadata.len() as i64);
    let is_same = known.is_some_and(|(_, known_hash, known_size)| {
        known_hash.as_ref() == Some(&hash) && known_size.is_none_or(|known| known == size)
    });
    if is_same {
        let update =
            "UPDATE file_content SET last_indexed = ?1, file_size = ?2 WHERE file_path = ?3";
        connection.execute(update, (&indexed, size, &uri))?;
        return Ok(false);
    }
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let title = note.front.get("title").filter(|title| !title.trim().is_empty()).unwrap_or(&stem);
    connection.execute(
        "INSERT OR REPLACE INTO file_content (file_path, title, content, last_indexed, status, file_md5, file_size) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        (&uri, title, &note.body, &indexed, note.front.get("status"), &hash, size),
    )?;
    let seen = round_trip(metadata.created().or_else(|_| metadata.modified())?);
    let names: Vec<String> = links(&note.body).iter().map(|name| normalized(name)).collect();
    let mut concepts: Vec<&String> = Vec::new();
    for name in &names {
        if !concepts.contains(&name) {
            concepts.push(name);
        }
    }
    for concept in &concepts {
        connection.execute(
            "INSERT OR IGNORE INTO concepts (concept_name, first_seen) VALUES (?1, ?2)",
            (concept, &seen),
        )?;
        let count = names.iter().filter(|name| name == concept).count() as i64;
        connection.execute(
            "INSERT OR REPLACE INTO concept_mentions (concept_name, source_file, mention_count) VALUES (?1, ?2, ?3)",
            (concept, &uri, count),
        )?;
    }
    for (at, one) in concepts.iter().enumerate() {
        for other in &concepts[at + 1..] {
            let is_ordered = one.encode_utf16().lt(other.encode_utf16());
            let (a, b) = if is_ordered { (one, other) } else { (other, one) };
            connect(connection, a, b, &uri)?;
        }
    }
    Ok(true)
}

fn connect(connection: &Connection, a: &str, b: &str, uri: &str) -> Result<(), Thrown> {
    let question = "SELECT source_files FROM concept_graph WHERE concept_a = ?1 AND concept_b = ?2";
    let known: Option<Option<String>> =
        connection.query_row(question, [a, b], |row| row.get(0)).optional()?;
    let mut files = match known.flatten() {
        Some(files) if !files.trim().is_empty() => Payload::strings(&files)?,
        _ => Vec::new(),
    };
    if !files.iter().any(|file| file == uri) {
        files.push(uri.to_owned());
        // REPLACE would give an edge a new place among its ties.
        connection.execute(
            "INSERT INTO concept_graph (concept_a, concept_b, co_occurrence_count, source_files) VALUES (?1, ?2, ?3, ?4) \
             ON CONFLICT DO UPDATE SET co_occurrence_count = excluded.co_occurrence_count, source_files = excluded.source_files",
            (a, b, files.len() as i64, list(&files)),
        )?;
    }
    Ok(())
}

fn remove(connection: &Connection, uri: &str) -> Result<(), Thrown> {
    connection.execute("DELETE FROM concept_mentions WHERE source_file = ?1", [uri])?;
    let edges: Vec<(String, String, String)> = {
        let question = "SELECT concept_a, concept_b, source_files FROM concept_graph WHERE source_files LIKE ?1";
        let mut statement = connection.prepare(question)?;
        let read = |row: &rusqlite::Row| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        statement.query_map([format!("%{uri}%")], read)?.collect::<Result<_, _>>()?
    };
    for (a, b, files) in edges {
        let mut files = Payload::strings(&files)?;
        files.retain(|file| file != uri);
        if files.is_empty() {
            let delete = "DELETE FROM concept_graph WHERE concept_a = ?1 AND concept_b = ?2";
            connection.execute(delete, [&a, &b])?;
        } else {
            connection.execute(
                "UPDATE concept_graph SET co_occurrence_count = ?3, source_files = ?4 WHERE concept_a = ?1 AND concept_b = ?2",
                (&a, &b, files.len() as i64, list(&files)),
            )?;
        }
    }
    connection.execute("DELETE FROM file_content WHERE file_path = ?1", [uri])?;
    Ok(())
}

fn list(files: &[String]) -> String {
    let files: Vec<String> = files.iter().map(|file| crate::json::string(file)).collect();
    format!("[{}]", files.join(","))
}

/// A moment in .NET's form for coming back: in UTC, with seven digits of a second.
fn round_trip(moment: SystemTime) -> String {
    let moment = Timestamp::try_from(moment).unwrap_or_default();
    let ticks = moment.subsec_nanosecond() / 100;
    format!("{}.{ticks:07}Z", moment.strftime("%Y-%m-%dT%H:%M:%S"))
}

fn hash(bytes: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}
