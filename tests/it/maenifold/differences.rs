//! The same memory, asked of the index, of the database and of the program: the same concepts in the same order, but for
//! what `docs/maenifold.md` names.

use std::fs;

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::support::maenifold_lab::{self, HOUR, Lab, NOW};
use crate::support::{stderr, valid};

const SOURCES: [&str; 3] = ["index", "database", "cli"];

impl Lab {
    /// What a command says, which must succeed in silence.
    fn asked(&self, source: &str, schema: &str, arguments: &[&str]) -> Value {
        let more = ["--json", "--source", source];
        let output = self.command(&[arguments, &more].concat()).output().unwrap();
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        valid(schema, &answer);
        let is_no = answer["known"] == false || answer["results"] == json!([]);
        let code = Some(i32::from(is_no));
        assert_eq!((output.status.code(), stderr(&output).as_str()), (code, ""), "{source}");
        answer
    }

    /// The addresses of a search, best first, and what the notes mention.
    fn search(&self, source: &str, query: &str) -> Vec<(String, Vec<String>)> {
        let answer = self.asked(source, "search", &["search", query]);
        notes(&answer["results"])
    }

    fn recent(&self, source: &str) -> Vec<(String, Vec<String>)> {
        let question = ["recent", "--filter", "memory", "--now", NOW];
        notes(&self.asked(source, "recent", &question)["items"])
    }

    /// The concepts around one, with the number of common notes.
    fn around(&self, source: &str, concept: &str) -> Vec<(String, u64)> {
        let answer = self.asked(source, "context", &["context", concept, "--now", NOW]);
        let related = answer["relatedConcepts"].as_array().unwrap().iter();
        related.map(|one| (text(&one["name"]), one["files"].as_u64().unwrap())).collect()
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

fn notes(list: &Value) -> Vec<(String, Vec<String>)> {
    let concepts = |note: &Value| note["concepts"].as_array().unwrap().iter().map(text).collect();
    list.as_array().unwrap().iter().map(|note| (text(&note["uri"]), concepts(note))).collect()
}

/// Neighbours on equally many notes in the order of their names, which the program leaves to chance.
fn by_name_where_equal(mut neighbours: Vec<(String, u64)>) -> Vec<(String, u64)> {
    neighbours.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    neighbours
}

fn uris(notes: &[(String, Vec<String>)]) -> Vec<&str> {
    notes.iter().map(|(uri, _)| uri.as_str()).collect()
}

#[test]
fn all_three_sources_answer_the_three_questions_alike() {
    let lab = Lab::new();
    let [index, database, program] = SOURCES.map(|source| lab.search(source, "zephyr"));
    assert_eq!(
        uris(&index),
        ["memory://zephyr", "memory://rigging/mast", "memory://rigging/sail", "memory://hull/keel"]
    );
    assert_eq!(database, index);
    assert_eq!(program, index);
    let [index, database, program] = SOURCES.map(|source| lab.recent(source));
    assert_eq!(index.len(), 5);
    assert_eq!(database, index);
    assert_eq!(program, index);
    for concept in
        ["mast", "sail", "keel", "hull", "weather-report", "planks", "Harbour", "unknown"]
    {
        let [index, database, program] = SOURCES.map(|source| lab.around(source, concept));
        assert_eq!(index.is_empty(), concept == "unknown");
        assert_eq!(database, index, "{concept}");
        assert_eq!(by_name_where_equal(program), by_name_where_equal(index), "{concept}");
    }
}

#[test]
fn a_session_is_told_the_same_by_all_three() {
    let lab = Lab::new();
    let told = SOURCES.map(|source| {
        let common = ["explain", "--dry-run", "--now", NOW, "--budget", "4000"];
        let explained = lab.asked(source, "explain", &common);
        let receipt = &explained["receipt"];
        assert_eq!(receipt["source"]["source"], source);
        let entries = receipt["entries"].as_array().unwrap().iter();
        let names = entries.map(|entry| {
            let line = &entry["line"];
            let to = line["to"].as_array().into_iter().flatten();
            let to: Vec<String> = to.map(|link| text(&link["concept"])).collect();
            let name = line["name"].as_str().or(line["concept"].as_str()).unwrap();
            format!("{}: {name} {}", text(&entry["part"]), to.join(" "))
        });
        (receipt["found"].clone(), names.collect::<Vec<String>>())
    });
    assert!(told[0].1.len() > 15, "{:#?}", told[0].1);
    assert_eq!(uris_found(&told[1].0), uris_found(&told[0].0));
    assert_eq!(uris_found(&told[2].0), uris_found(&told[0].0));
    assert_eq!(told[1].1, told[0].1);
    assert_eq!(told[2].1, told[0].1);
}

/// maenifold's owner may have set how weights fade.
#[test]
fn the_decay_is_the_one_that_is_set() {
    let lab = Lab::new();
    for (note, created) in [("o1", "2020-01-01"), ("o2", "2020-01-02"), ("n1", "2026-02-01")] {
        let to = if note == "n1" { "new" } else { "old" };
        let text = format!("---\ntitle: {note}\ncreated: {created}\n---\n\n[[qq]] and [[{to}]].\n");
        lab.note(&format!("{note}.md"), &text, 40 * HOUR);
    }
    lab.sync();
    for (variables, first) in [
        (vec![], "new"),
        (vec![("MAENIFOLD_DECAY_GRACE_DAYS_DEFAULT", "100000")], "old"),
        (vec![("MAENIFOLD_DECAY_GRACE_DAYS_DEFAULT", "soon")], "new"),
        (vec![("MAENIFOLD_DECAY_FUNCTION", "exponential")], "new"),
        (
            vec![
                ("MAENIFOLD_DECAY_FUNCTION", "exponential"),
                ("MAENIFOLD_DECAY_HALF_LIFE_DAYS", "100000"),
            ],
            "old",
        ),
    ] {
        for source in ["database", "cli"] {
            let mut command = lab.command(&["context", "qq", "--json", "--source", source]);
            command.args(["--now", NOW]).envs(variables.iter().copied());
            let answer: Value = serde_json::from_slice(&command.output().unwrap().stdout).unwrap();
            assert_eq!(answer["relatedConcepts"][0]["name"], first, "{source} {variables:?}");
        }
    }
}

fn uris_found(found: &Value) -> Vec<String> {
    let found = found.as_array().unwrap().iter();
    found.map(|note| format!("{} {}", note["by"], note["uri"])).collect()
}

/// One row of the table in `docs/maenifold.md`: its name, and what shows it.
type Difference = (&'static str, fn());

const DIFFERENCES: [Difference; 15] = [
    ("links removed from a note", links_that_left_a_note),
    ("notes since the last Sync", notes_since_the_last_sync),
    ("title of a note without front matter", title_without_front_matter),
    ("hidden notes", hidden_notes),
    ("aliases", aliases),
    ("notes that only link to the search term", notes_that_only_link),
    ("how many notes mention a concept", how_many_notes),
    ("neighbours of equal strength", equally_strong_neighbours),
    ("age of a note, for its weight", age_of_a_note),
    ("time of last reading", time_of_last_reading),
    ("files of a relation", files_of_a_relation),
    ("an address as the query", address_as_query),
    ("notes of a context", notes_of_a_context),
    ("text of these notes", text_of_these_notes),
    ("open threads", open_threads),
];

#[test]
fn every_difference_is_named_in_the_guide_and_shown_here() {
    let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/maenifold.md");
    let guide = fs::read_to_string(guide).unwrap();
    let table = guide.split("| | index | database | program |").nth(1).unwrap();
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let named: Vec<&str> = rows.map(|row| row.split('|').nth(1).unwrap().trim()).collect();
    assert_eq!(named, DIFFERENCES.map(|(name, _)| name));
    for (_, show) in DIFFERENCES {
        show();
    }
}

fn links_that_left_a_note() {
    let lab = Lab::new();
    lab.note(
        "rigging/stay.md",
        "---\ntitle: Stay\n---\n\nA [[Stay]] holds the [[Mast]].\n",
        20 * HOUR,
    );
    lab.sync();
    let knows_hull =
        |source| lab.around(source, "stay").iter().any(|(name, _)| name == "weather-report");
    assert_eq!(SOURCES.map(knows_hull), [false, true, true]);
}

fn notes_since_the_last_sync() {
    let lab = Lab::new();
    lab.note("new.md", "# New\n\nzephyr has a [[Rope]].\n", HOUR / 2);
    let finds = |source| uris(&lab.search_of(source, "zephyr")).contains(&"memory://new");
    assert_eq!(SOURCES.map(finds), [true, false, true]);
    let is_recent = |source| uris(&lab.recent_of(source)).contains(&"memory://new");
    assert_eq!(SOURCES.map(is_recent), [true, false, false]);
}

impl Lab {
    /// As `search`, of a database that is behind its notes, which is said.
    fn search_of(&self, source: &str, query: &str) -> Vec<(String, Vec<String>)> {
        notes(&self.behind(source, &["search", query])["results"])
    }

    fn recent_of(&self, source: &str) -> Vec<(String, Vec<String>)> {
        notes(&self.behind(source, &["recent", "--now", NOW])["items"])
    }

    fn behind(&self, source: &str, arguments: &[&str]) -> Value {
        let more = ["--json", "--source", source];
        let output = self.command(&[arguments, &more].concat()).output().unwrap();
        let is_said = stderr(&output).contains("memory.db is behind its notes");
        assert_eq!(is_said, source == "database", "{output:?}");
        serde_json::from_slice(&output.stdout).unwrap()
    }
}

fn title_without_front_matter() {
    let lab = Lab::new();
    lab.note("plain.md", "# A heading\n\nOf [[Oak]].\n", HOUR);
    lab.sync();
    let title = |source| {
        let answer = lab.asked(source, "recent", &["recent", "--filter", "memory", "--now", NOW]);
        let items = answer["items"].as_array().unwrap();
        text(&items.iter().find(|item| item["uri"] == "memory://plain").unwrap()["title"])
    };
    assert_eq!(SOURCES.map(title), ["A heading", "plain", "A heading"]);
}

fn hidden_notes() {
    let lab = Lab::new();
    lab.note(".trash/old.md", "---\ntitle: Old\n---\n\nThe [[Oak]] of [[Bilge]].\n", HOUR);
    lab.sync();
    let knows = |source| lab.around(source, "oak").iter().any(|(name, _)| name == "bilge");
    assert_eq!(SOURCES.map(knows), [false, true, true]);
    let is_recent = |source| uris(&lab.recent(source)).contains(&"memory://.trash/old");
    assert_eq!(SOURCES.map(is_recent), [false, true, false]);
}

fn aliases() {
    let lab = Lab::new();
    lab.note("bow.md", "---\ntitle: Bow\naliases: [Prow]\n---\n\nThe front, [[Oak]].\n", HOUR);
    lab.sync();
    let finds = |source| !lab.search(source, "prow").is_empty();
    assert_eq!(SOURCES.map(finds), [true, false, false]);
}

fn notes_that_only_link() {
    let lab = Lab::new();
    lab.note(
        "a.md",
        "---\ntitle: A\n---\n\nThe weather report, weather and report; report weather.\n",
        HOUR,
    );
    lab.sync();
    let first = |source| lab.search(source, "weather report")[0].0.clone();
    let [index, database, program] = SOURCES.map(first);
    assert_ne!(index, "memory://a");
    assert_eq!(database, index);
    assert_eq!(program, "memory://a");
}

fn how_many_notes() {
    let lab = Lab::new();
    let tells = |source| {
        let answer = lab.inject(&["--source", source]);
        maenifold_lab::text(&answer).contains("[[hull]] - in ")
    };
    assert_eq!(SOURCES.map(tells), [true, true, false]);
}

/// The names around a concept, in order.
fn names(lab: &Lab, source: &str, concept: &str) -> Vec<String> {
    lab.around(source, concept).into_iter().map(|(name, _)| name).collect()
}

fn age_of_a_note() {
    let lab = Lab::new();
    // On the same day, but one of them an hour more than 40 days ago, and one an hour less.
    for (note, created) in [("aa", "2026-01-10T13:00:00Z"), ("zz", "2026-01-10T15:00:00Z")] {
        let text =
            format!("---\ntitle: {note}\ncreated: {created}\n---\n\n[[qq]] and [[{note}]].\n");
        lab.note(&format!("{note}.md"), &text, 40 * HOUR);
    }
    lab.sync();
    let [index, database, program] = SOURCES.map(|source| names(&lab, source, "qq"));
    assert_eq!(index, ["aa", "zz"]);
    assert_eq!(database, ["zz", "aa"]);
    assert_eq!(program, database);
}

fn time_of_last_reading() {
    let lab = Lab::new();
    for (note, created) in [("old", "2020-01-01T00:00:00Z"), ("young", "2026-02-01T00:00:00Z")] {
        let text =
            format!("---\ntitle: {note}\ncreated: {created}\n---\n\n[[qq]] and [[of-{note}]].\n");
        lab.note(&format!("{note}.md"), &text, 40 * HOUR);
    }
    lab.sync();
    let everywhere = |expect: [&str; 2]| SOURCES.map(|source| names(&lab, source, "qq") == expect);
    assert_eq!(everywhere(["of-young", "of-old"]), [true; 3]);
    let database = Connection::open(lab.root().join("memory.db")).unwrap();
    let sql = "UPDATE file_content SET last_accessed = '2026-02-19T13:00:00.0000000Z' WHERE file_path = 'memory://old'";
    assert_eq!(database.execute(sql, []).unwrap(), 1);
    drop(database);
    // Both count in full now, and the names decide.
    assert_eq!(everywhere(["of-old", "of-young"]), [false, true, true]);
}

fn files_of_a_relation() {
    let lab = Lab::new();
    for n in 0..4 {
        let text = format!("---\ntitle: N{n}\n---\n\n[[qq]] and [[rr]].\n");
        lab.note(&format!("n{n}.md"), &text, (40 - n) * HOUR);
    }
    lab.sync();
    let uris = |source| -> Vec<String> {
        let answer = lab.asked(source, "context", &["context", "qq", "--now", NOW]);
        answer["relatedConcepts"][0]["uris"].as_array().unwrap().iter().map(text).collect()
    };
    let [index, database, program] = SOURCES.map(uris);
    assert_eq!(index, ["memory://n3", "memory://n2", "memory://n1"]);
    assert_eq!(database, program);
    assert_ne!(database, index);
}

fn address_as_query() {
    let lab = Lab::new();
    let finds = |source| !lab.search(source, "memory://hull/planks").is_empty();
    assert_eq!(SOURCES.map(finds), [true, true, false]);
}

/// What a session is told of a memory by default, by source.
fn told_by_default(lab: &Lab) -> [String; 3] {
    SOURCES.map(|source| {
        let mut command = lab.injection(&["--source", source, "--budget", "4000"]);
        let answer = maenifold_lab::answer(&command.env_remove("KGCTX_RANK").output().unwrap());
        assert_eq!(maenifold_lab::source(&answer).0, source);
        maenifold_lab::text(&answer).to_owned()
    })
}

fn notes_of_a_context() {
    let told = told_by_default(&Lab::new()).map(|text| {
        ["memory://rigging/sail", "memory://harbour/pier"].map(|note| text.contains(note))
    });
    assert_eq!(told, [[true, true], [true, false], [true, false]]);
}

fn text_of_these_notes() {
    let lab = Lab::new();
    let more = "Each strand is laid against the other, and a splice holds as well as the rest. ";
    let text = format!(
        "---\ntitle: Rope\n---\n\nzephyr has a [[Rope]] of hemp.\n\n{}It is tarred twice a year.\n",
        more.repeat(3)
    );
    lab.note("rope.md", &text, HOUR);
    lab.sync();
    let told = told_by_default(&lab);
    assert!(told.iter().all(|text| text.contains("zephyr has a Rope of hemp.")), "{told:#?}");
    assert_eq!(told.map(|text| text.contains("tarred twice")), [true, false, false]);
}

fn open_threads() {
    let lab = Lab::new();
    let text = "---\ntype: sequential\nstatus: active\n---\n\n## Thought 0/2 [agent]\n\nIs the [[zephyr]] fast?\n";
    lab.note("thinking/sequential/2026/02/19/session-1771495200000-7.md", text, HOUR);
    lab.sync();
    let told = told_by_default(&lab).map(|text| text.contains("- Open threads: "));
    assert_eq!(told, [true, false, false]);
}

fn equally_strong_neighbours() {
    let lab = Lab::new();
    // Later names first in the database: they are written by the first note.
    lab.note(
        "0.md",
        "---\ntitle: Zero\n---\n\n[[mm]] with [[z1]] [[z2]] [[z3]] [[z4]] [[z5]] [[z6]].\n",
        40 * HOUR,
    );
    lab.note(
        "1.md",
        "---\ntitle: One\n---\n\n[[mm]] with [[a1]] [[a2]] [[a3]] [[a4]] [[a5]] [[a6]].\n",
        39 * HOUR,
    );
    lab.sync();
    let names = |source| -> Vec<String> {
        lab.around(source, "mm").into_iter().map(|(name, _)| name).collect()
    };
    let [index, database, program] = SOURCES.map(names);
    assert_eq!(index, ["a1", "a2", "a3", "a4", "a5", "a6", "z1", "z2", "z3", "z4"]);
    assert_eq!(database, index);
    assert_ne!(program, index);
    assert_eq!(program.len(), index.len());
}
