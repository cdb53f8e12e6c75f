//! All that an index holds, by natural names instead of row numbers, so that two indexes can be compared row for row.

use std::path::Path;

use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags};

/// Every table as a query. Times of reading (`settled`, and with it a missing digest) are not part of the content.
const TABLES: &[(&str, &str)] = &[
    ("meta", "SELECT key, value FROM meta ORDER BY key"),
    ("folders", "SELECT vault, path FROM folders ORDER BY vault, path"),
    (
        "files",
        "SELECT f.vault, f.path, i.name, i.mtime_ns, i.ctime_ns, i.size, i.hash, i.note IS NULL, i.rejected
         FROM files i JOIN folders f ON f.id = i.folder ORDER BY 1, 2, 3",
    ),
    // In the order of ids, which is part of what must agree.
    (
        "notes",
        "SELECT f.vault, f.path, n.name, n.mtime_ns, n.title, n.subject, n.aliases, n.tags, n.sections, n.status, n.created,
                n.modified, n.fresh_until, n.excerpt, n.remarks, n.links, i.name
         FROM notes n JOIN folders f ON f.id = n.folder LEFT JOIN files i ON i.note = n.id ORDER BY n.id",
    ),
    (
        "names",
        "SELECT a.name, a.kind, f.vault, f.path, n.name FROM names a LEFT JOIN notes n ON n.id = a.note
         LEFT JOIN folders f ON f.id = n.folder ORDER BY 1, 2, 3, 4, 5",
    ),
    ("concepts", "SELECT name, notes, links FROM concepts ORDER BY name"),
    (
        "mentions",
        "SELECT f.vault, f.path, n.name, c.name, m.links FROM mentions m LEFT JOIN concepts c ON c.id = m.concept
         LEFT JOIN notes n ON n.id = m.note LEFT JOIN folders f ON f.id = n.folder ORDER BY 1, 2, 3, 4",
    ),
    (
        "edges",
        "SELECT min(x.name, y.name), max(x.name, y.name), e.notes, e.fading, e.a < e.b FROM edges e
         LEFT JOIN concepts x ON x.id = e.a LEFT JOIN concepts y ON y.id = e.b ORDER BY 1, 2",
    ),
    (
        "quotes",
        "SELECT f.vault, f.path, n.name, q.card, q.lines, q.prior, q.keys, q.refs FROM quotes q
         LEFT JOIN notes n ON n.id = q.note
         LEFT JOIN folders f ON f.id = n.folder ORDER BY 1, 2, 3",
    ),
    (
        "keys",
        "SELECT k.key, f.vault, f.path, n.name FROM keys k LEFT JOIN notes n ON n.id = k.note
         LEFT JOIN folders f ON f.id = n.folder ORDER BY 1, 2, 3, 4",
    ),
    (
        "refs",
        "SELECT r.key, r.kind, f.vault, f.path, n.name FROM refs r LEFT JOIN notes n ON n.id = r.note
         LEFT JOIN folders f ON f.id = n.folder ORDER BY 1, 2, 3, 4, 5",
    ),
    (
        "threads",
        "SELECT f.vault, f.path, n.name, t.at, t.bare FROM threads t LEFT JOIN notes n ON n.id = t.note
         LEFT JOIN folders f ON f.id = n.folder ORDER BY 1, 2, 3",
    ),
    (
        "named_files",
        "SELECT f.vault, f.path, n.name, x.files FROM named_files x LEFT JOIN notes n ON n.id = x.note
         LEFT JOIN folders f ON f.id = n.folder ORDER BY 1, 2, 3",
    ),
];

/// What an index remembers of earlier states of the notes, and what follows from it.
const HISTORY: &[(&str, &str)] = &[
    (
        "changes",
        "SELECT f.vault, f.path, n.name, c.at, c.prior FROM changes c LEFT JOIN notes n ON n.id = c.note
         LEFT JOIN folders f ON f.id = n.folder ORDER BY 1, 2, 3, 4",
    ),
    ("gone", "SELECT vault, folder, name, hash, last, changes FROM gone ORDER BY 1, 2, 3"),
    (
        "passages",
        "SELECT f.vault, f.path, n.name, q.passage FROM quotes q LEFT JOIN notes n ON n.id = q.note
         LEFT JOIN folders f ON f.id = n.folder ORDER BY 1, 2, 3",
    ),
    (
        "ranking",
        "SELECT r.place, f.vault, f.path, n.name, r.activation, r.walk, r.linked, r.sessions, r.age,
         r.vault, r.folder, r.name, r.title, r.mtime_ns, r.card, r.prior FROM ranking r
         LEFT JOIN notes n ON n.id = r.note LEFT JOIN folders f ON f.id = n.folder ORDER BY 1",
    ),
];

/// Reads what an index remembers.
pub(crate) fn history(index: &Path) -> String {
    let connection = Connection::open_with_flags(index, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let mut text = String::new();
    for (table, sql) in HISTORY {
        dump(&connection, table, sql, [], &mut text);
    }
    text
}

/// Reads all that an index holds, and checks that the file is sound.
pub(crate) fn snapshot(index: &Path, words: &[&str]) -> String {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
    let connection = Connection::open_with_flags(index, flags).unwrap();
    let sound: String =
        connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(sound, "ok");
    let mut text = String::new();
    for (table, sql) in TABLES {
        dump(&connection, table, sql, [], &mut text);
    }
    // Every word of every note, with its column and place.
    let vocabulary =
        "CREATE VIRTUAL TABLE temp.words USING fts5vocab(main, 'fulltext', 'instance')";
    connection.execute_batch(vocabulary).unwrap();
    let sql = "SELECT w.term, f.path, n.name, w.col, w.offset FROM temp.words w LEFT JOIN notes n ON n.id = w.doc
               LEFT JOIN folders f ON f.id = n.folder ORDER BY 1, 2, 3, 4, 5";
    dump(&connection, "words", sql, [], &mut text);
    for word in words {
        // Scores depend on the totals of the whole index, and so would tell a wrong one.
        let sql = "SELECT f.path, n.name, round(bm25(fulltext, 8.0, 4.0, 1.0), 9) FROM fulltext
                   LEFT JOIN notes n ON n.id = fulltext.rowid LEFT JOIN folders f ON f.id = n.folder
                   WHERE fulltext MATCH ?1 ORDER BY fulltext.rowid";
        dump(&connection, word, sql, [format!("\"{word}\"")], &mut text);
    }
    text
}

fn dump<P: rusqlite::Params>(
    connection: &Connection,
    table: &str,
    sql: &str,
    parameters: P,
    text: &mut String,
) {
    let mut statement = connection.prepare(sql).unwrap();
    let n_columns = statement.column_count();
    let mut rows = statement.query(parameters).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let values: Vec<String> =
            (0..n_columns).map(|n| show(&row.get::<_, Value>(n).unwrap())).collect();
        text.push_str(&format!("{table}: {}\n", values.join(" | ")));
    }
}

fn show(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::Integer(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Text(text) => format!("{text:?}"),
        Value::Blob(bytes) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
    }
}

/// Compares two snapshots and shows only where they differ.
#[track_caller]
pub(crate) fn assert_same(found: &str, expect: &str, when: &str) {
    if found != expect {
        let only = |a: &str, b: &str| -> Vec<String> {
            let other: std::collections::BTreeSet<&str> = b.lines().collect();
            a.lines().filter(|line| !other.contains(line)).take(20).map(str::to_owned).collect()
        };
        let (extra, missing) = (only(found, expect), only(expect, found));
        panic!(
            "{when}: the indexes differ\nonly in this one: {extra:#?}\nonly in a new one: {missing:#?}"
        );
    }
}
