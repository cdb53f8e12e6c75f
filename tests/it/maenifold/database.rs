//! maenifold's database as a source: every trap that lies in it, and that nothing about it ever changes.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant, SystemTime};

use kgctx::core::context::found::{ConceptDetail, FoundConcept, FoundNote};
use kgctx::core::context::rank::Ranking;
use kgctx::core::note::concept::Concept;
use kgctx::core::search::answer::{ContextAnswer, Match, RecentFilter, SearchHit};
use kgctx::core::time::{Timespan, Timestamp};
use kgctx::sources::context::ContextQuestion;
use kgctx::sources::recent::RecentQuestion;
use proptest::prelude::*;
use rusqlite::Connection;

use crate::support::Scratch;
use crate::support::maenifold_memory::Maenifold;
use crate::support::vault_generator::{self, END_SECONDS};

const HOUR: u64 = 3_600;
const DAY: u64 = 24 * HOUR;

/// Three notes and their database.
fn three_notes() -> Maenifold {
    let maenifold = Maenifold::new();
    let notes = [
        (
            "tech/auth-note.md",
            "---\ntitle: Auth Note\n---\n\nUsing [[OAuth2]] for [[authentication]] in [[kgctx]].\n",
            HOUR,
        ),
        (
            "rag-patterns.md",
            "# RAG\n\nHybrid search for [[authentication]] plus [[graph-rag]]. [[authentication]] again.\n",
            2 * HOUR,
        ),
        (
            "thinking/sequential/2026/11/14/session-1.md",
            "---\ntitle: Session\n---\n\nAnalysing [[graph-rag]] with [[kgctx]].\n",
            30 * HOUR,
        ),
    ];
    for (path, text, age) in notes {
        maenifold.note(path, text, END_SECONDS - age);
    }
    maenifold.sync();
    maenifold
}

fn uris(notes: &[FoundNote]) -> Vec<&str> {
    notes.iter().map(|note| note.uri.as_str()).collect()
}

fn names(concepts: &[Concept]) -> Vec<&str> {
    concepts.iter().map(Concept::as_str).collect()
}

fn searched(maenifold: &Maenifold, query: &str) -> Vec<String> {
    let found = maenifold.memory().unwrap().search(query, 5).unwrap();
    found.into_iter().map(|note| note.uri).collect()
}

fn lately(span: Timespan, filter: RecentFilter) -> RecentQuestion {
    let now = Some(Timestamp::from_seconds(END_SECONDS as i64));
    RecentQuestion { now, span, limit: 10, filter }
}

fn around<'a>(concept: &'a str, max_entities: usize) -> ContextQuestion<'a> {
    let now = Some(Timestamp::from_seconds(END_SECONDS as i64));
    ContextQuestion { now, concept, depth: 1, max_entities }
}

fn details(maenifold: &Maenifold, concepts: &[&str]) -> BTreeMap<Concept, ConceptDetail> {
    let found =
        |name: &&str| FoundConcept { concept: Concept::parse(name).unwrap(), signals: Vec::new() };
    let ranked: Vec<FoundConcept> = concepts.iter().map(found).collect();
    maenifold.memory().unwrap().details(&ranked, Ranking::Frequency.expansion()).unwrap()
}

/// Puts all questions; what they answer does not matter.
fn ask_all(maenifold: &Maenifold) -> Result<(), String> {
    let memory = maenifold.memory()?;
    let _ = memory.behind(&maenifold.listings());
    let recent = memory.recent(lately(Timespan::DAY, RecentFilter::All))?;
    memory.recent_answer(lately(Timespan::DAY, RecentFilter::Memory))?;
    memory.search("authentication graph", 5)?;
    memory.search_answer("kgctx", 5)?;
    memory.context(ContextQuestion { depth: 2, ..around("authentication", 10) })?;
    memory.context(around("nobody", 10))?;
    let found = recent.iter().flat_map(|note| note.concepts.clone());
    let ranked: Vec<FoundConcept> =
        found.map(|concept| FoundConcept { concept, signals: Vec::new() }).collect();
    memory.details(&ranked, Ranking::Frequency.expansion())?;
    memory.is_unchanged();
    Ok(())
}

/// Every file in a folder, with the sum of its bytes, its size and its time.
fn state(folder: &Path) -> BTreeMap<String, (String, u64, SystemTime)> {
    let entries = fs::read_dir(folder).unwrap().flatten();
    let files = entries.filter(|entry| entry.path().is_file());
    files
        .map(|entry| {
            let modified = entry.metadata().unwrap().modified().unwrap();
            let name = entry.file_name().into_string().unwrap();
            let bytes = fs::read(entry.path()).unwrap();
            (name, (blake3::hash(&bytes).to_string(), bytes.len() as u64, modified))
        })
        .collect()
}

#[test]
fn the_three_questions_are_answered() {
    let maenifold = three_notes();
    let memory = maenifold.memory().unwrap();
    assert_eq!(memory.behind(&maenifold.listings()), None);
    let found = memory.search("authentication", 5).unwrap();
    assert_eq!(uris(&found), ["memory://rag-patterns", "memory://tech/auth-note"]);
    assert_eq!(found[1].title, "Auth Note");
    assert_eq!(found[1].excerpt, "Using [[OAuth2]] for [[authentication]] in [[kgctx]].");
    assert_eq!(names(&found[0].concepts), ["authentication", "graph-rag"]);
    assert_eq!(found[0].modified, Timestamp::from_seconds((END_SECONDS - 2 * HOUR) as i64));
    assert_eq!(uris(&memory.search("Auth Note", 5).unwrap())[0], "memory://tech/auth-note");
    assert_eq!(
        uris(&memory.search("memory://rag-patterns", 1).unwrap()),
        ["memory://rag-patterns"]
    );
    let recent = memory.recent(lately(Timespan::DAY, RecentFilter::Memory)).unwrap();
    assert_eq!(uris(&recent), ["memory://tech/auth-note", "memory://rag-patterns"]);
    let details = details(&maenifold, &["authentication", "auth note", "kgctx", "nobody"]);
    let detail = &details[&Concept::parse("authentication").unwrap()];
    let neighbours: Vec<_> =
        detail.neighbours.iter().map(|l| (l.concept.as_str(), l.notes)).collect();
    assert_eq!((detail.notes, detail.note.clone()), (2, None));
    assert_eq!(neighbours, [("graph-rag", 1), ("kgctx", 1), ("oauth2", 1)]);
    assert_eq!(details.len(), 2, "what no note mentions is not known");
}

#[test]
fn recent_activity_is_maenifolds() {
    let maenifold = three_notes();
    maenifold.note("chat/c.md", "x", END_SECONDS - 2 * HOUR);
    maenifold.note("tech/tie.md", "x", END_SECONDS - HOUR);
    maenifold.sync();
    let memory = maenifold.memory().unwrap();
    let all = memory.recent(lately(Timespan::from_hours(48), RecentFilter::All)).unwrap();
    let all_uris = [
        "memory://tech/tie",
        "memory://tech/auth-note",
        "memory://chat/c",
        "memory://rag-patterns",
        "memory://thinking/sequential/2026/11/14/session-1",
    ];
    assert_eq!(uris(&all), all_uris);
    let thinking = memory.recent(lately(Timespan::from_hours(48), RecentFilter::Thinking)).unwrap();
    assert_eq!(uris(&thinking), all_uris[4..]);
    let notes = memory.recent(lately(Timespan::from_hours(48), RecentFilter::Memory)).unwrap();
    assert_eq!(uris(&notes), [all_uris[0], all_uris[1], all_uris[3]]);
    let none = memory.recent_answer(lately(Timespan::from_hours(0), RecentFilter::All)).unwrap();
    assert!(none.items.is_empty());
    assert_eq!(none.newest_older.unwrap().uri, "memory://tech/tie");
}

#[test]
fn context_is_maenifolds_with_its_decay() {
    let maenifold = Maenifold::new();
    let created = |days_ago: u64| {
        let moment = Timestamp::from_seconds((END_SECONDS - days_ago * DAY) as i64);
        format!("---\ncreated: {moment}\n---\n")
    };
    // Two notes of 128 days tie hub and old, one without a date ties hub and fresh: 2 × 0.1 against 1 × 1.
    for n in 0..2 {
        maenifold.note(
            &format!("old-{n}.md"),
            &format!("{}[[hub]] [[old]]", created(128)),
            END_SECONDS,
        );
    }
    maenifold.note("fresh.md", "[[hub]] [[fresh]]", END_SECONDS);
    // 32 days and 20 hours are 32 whole days: four past the grace, half of the weight.
    let moment = Timestamp::from_seconds((END_SECONDS - 32 * DAY - 20 * HOUR) as i64);
    maenifold.note(
        "half.md",
        &format!("---\ncreated: {moment}\n---\n[[hub]] [[half]]"),
        END_SECONDS,
    );
    // Thinking has seven days of grace, so that this is as much, and comes after it by its name.
    maenifold.note(
        "thinking/sequential/t.md",
        &format!("{}[[hub]] [[thought]]", created(11)),
        END_SECONDS,
    );
    maenifold.sync();
    let related = |limit: usize| -> Vec<String> {
        let answer = maenifold.memory().unwrap().context(around("Hub", limit)).unwrap();
        answer.related_concepts.iter().map(|related| related.name.to_string()).collect()
    };
    assert_eq!(related(10), ["fresh", "half", "thought", "old"]);
    assert_eq!(related(1), ["old"], "the most notes are taken before they are weighed");
    maenifold.tamper(&format!(
        "UPDATE file_content SET last_accessed = '{}' WHERE file_path LIKE '%old%'",
        Timestamp::from_seconds((END_SECONDS - DAY) as i64)
    ));
    assert_eq!(related(10), ["old", "fresh", "half", "thought"], "who was read lately is fresh");
    let answer = maenifold.memory().unwrap().context(around("hub", 1)).unwrap();
    assert_eq!(answer.related_concepts[0].uris, ["memory://old-0", "memory://old-1"]);
    assert_eq!((answer.related_concepts[0].files, answer.known), (2, true));
    let unknown = maenifold.memory().unwrap().context(around("hubb", 1)).unwrap();
    assert_eq!((unknown.known, names(&unknown.nearest)), (false, vec!["hub"]));
}

#[test]
fn words_of_a_former_text_find_nothing() {
    let maenifold = three_notes();
    maenifold.note("tech/auth-note.md", "About [[passkeys]] by now.", END_SECONDS);
    maenifold.sync();
    // The trap is there: a look at the ghost's text is an error.
    let ghost = maenifold.connection().query_row(
        "SELECT content FROM file_search WHERE file_search MATCH 'using'",
        [],
        |row| row.get::<_, String>(0),
    );
    assert!(ghost.is_err(), "the trap is there");
    assert_eq!(searched(&maenifold, "using"), [""; 0]);
    assert_eq!(searched(&maenifold, "about"), ["memory://tech/auth-note"]);
}

#[test]
fn a_row_number_that_is_used_again_does_not_lend_its_words() {
    let maenifold = three_notes();
    maenifold.note("z.md", "An obelisk of words.", END_SECONDS);
    maenifold.sync();
    maenifold.tamper(
        "DROP TRIGGER file_content_ad; DELETE FROM file_content WHERE file_path = 'memory://z'",
    );
    fs::remove_file(maenifold.root().join("memory/z.md")).unwrap();
    maenifold.note("other.md", "Other words altogether.", END_SECONDS);
    maenifold.sync();
    let hits: i64 = maenifold
        .connection()
        .query_row(
            "SELECT count(*) FROM file_search s JOIN file_content f ON f.rowid = s.rowid \
             WHERE file_search MATCH 'obelisk'",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(hits, 1, "the trap is there");
    assert_eq!(searched(&maenifold, "obelisk"), [""; 0]);
    assert_eq!(searched(&maenifold, "altogether"), ["memory://other"]);
}

#[test]
fn without_a_full_text_index_notes_are_read() {
    let maenifold = three_notes();
    maenifold.tamper("DROP TABLE file_search");
    assert_eq!(searched(&maenifold, "hybrid"), ["memory://rag-patterns"]);
    assert_eq!(searched(&maenifold, "hybri"), [""; 0]);
    let maenifold = three_notes();
    maenifold.tamper("UPDATE file_search_data SET block = x'00' WHERE id > 10");
    assert_eq!(searched(&maenifold, "hybrid"), ["memory://rag-patterns"]);
}

#[test]
fn a_folder_is_found_by_its_name_and_a_word_by_its_beginning() {
    let maenifold = three_notes();
    assert_eq!(searched(&maenifold, "tech"), ["memory://tech/auth-note"]);
    assert_eq!(searched(&maenifold, "hybri"), ["memory://rag-patterns"]);
}

#[test]
fn the_empty_concept_and_secrets_and_foreign_spellings_do_not_count() {
    let maenifold = three_notes();
    let secret = "api-key=9f8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c";
    for name in ["", "Not Normal", "-x-", secret] {
        maenifold.tamper(&format!(
            "INSERT INTO concepts (concept_name) VALUES ('{name}'); \
             INSERT INTO concept_mentions VALUES ('{name}', 'memory://rag-patterns', 99); \
             INSERT INTO concept_graph VALUES ('{name}', 'authentication', 99, '[]')"
        ));
    }
    let memory = maenifold.memory().unwrap();
    let found = memory.search("rag-patterns", 5).unwrap();
    assert_eq!(names(&found[0].concepts), ["authentication", "graph-rag"]);
    let answer = memory.context(around("authentication", 2)).unwrap();
    let related: Vec<&str> = answer.related_concepts.iter().map(|r| r.name.as_str()).collect();
    assert_eq!(related, ["graph-rag", "kgctx"], "and they take nobody's place");
}

#[test]
fn a_file_that_is_no_database_says_so() {
    let check = |bytes: Option<&[u8]>, expect: &str| {
        let maenifold = Maenifold::new();
        if let Some(bytes) = bytes {
            fs::write(maenifold.database(), bytes).unwrap();
        }
        let error = maenifold.memory().err().unwrap();
        assert!(error.contains(expect), "{error}");
        assert_eq!(maenifold.database().exists(), bytes.is_some(), "nothing is made");
    };
    check(None, "there is no database");
    check(Some(b""), "is empty");
    check(Some(b"# notes\n"), "not a SQLite database");
    check(Some(&[b"SQLite format 3\0".as_slice(), &[7; 5_000]].concat()), "not a SQLite database");
    let maenifold = Maenifold::new();
    fs::create_dir(maenifold.database()).unwrap();
    assert!(maenifold.memory().err().unwrap().contains("not a SQLite database"));
}

#[test]
fn a_table_that_is_not_there_is_named() {
    for table in ["file_content", "concepts", "concept_mentions", "concept_graph"] {
        let maenifold = three_notes();
        maenifold.tamper(&format!("PRAGMA foreign_keys = OFF; DROP TABLE {table}"));
        assert_eq!(
            maenifold.memory().err().unwrap(),
            format!("maenifold's database has no table {table}")
        );
        maenifold.tamper(&format!("CREATE VIEW {table} AS SELECT 1 AS file_path"));
        assert!(maenifold.memory().is_err(), "a view is no table");
    }
    let maenifold = three_notes();
    maenifold.tamper("ALTER TABLE concept_graph DROP COLUMN source_files");
    assert_eq!(
        maenifold.memory().err().unwrap(),
        "maenifold's database has no column concept_graph.source_files"
    );
}

#[test]
fn columns_of_later_versions_are_not_needed() {
    let maenifold = three_notes();
    for column in ["status", "file_md5", "file_size", "last_accessed"] {
        maenifold.tamper(&format!("ALTER TABLE file_content DROP COLUMN {column}"));
    }
    maenifold.tamper("DROP TABLE concept_communities");
    ask_all(&maenifold).unwrap();
    assert_eq!(searched(&maenifold, "hybrid"), ["memory://rag-patterns"]);
}

#[test]
fn values_that_make_no_sense_are_passed_over() {
    let maenifold = three_notes();
    maenifold.tamper(
        "PRAGMA foreign_keys = OFF; \
         UPDATE file_content SET title = NULL, content = NULL WHERE file_path LIKE '%auth-note'; \
         UPDATE file_content SET content = x'ff00', title = 7 WHERE file_path LIKE '%patterns'; \
         INSERT INTO file_content (file_path, last_indexed) VALUES (NULL, 'never'), (x'ff', 1), ('/etc/passwd', NULL), \
            ('memory://../x', NULL), ('memory://dateless', 'yesterday'); \
         INSERT INTO concept_mentions VALUES (x'ff', 'memory://tech/auth-note', 'many'); \
         UPDATE concept_graph SET source_files = NULL WHERE concept_b = 'kgctx'; \
         UPDATE concept_graph SET source_files = '[\"memory://x\", 7' WHERE concept_b = 'oauth2'; \
         INSERT INTO concept_graph VALUES ('authentication', 'b1', 'many', '{}'), ('authentication', 'b2', NULL, '[1]'), \
            ('authentication', 'b3', -4, NULL), ('authentication', 'authentication', 9, NULL), \
            ('authentication', 'b4', 9, '[\"/etc/passwd\", \"memory://../x\"]')",
    );
    ask_all(&maenifold).unwrap();
    let memory = maenifold.memory().unwrap();
    let found = memory.search("auth-note", 5).unwrap();
    assert_eq!((found[0].title.as_str(), found[0].excerpt.as_str()), ("auth-note", ""));
    let answer = memory.context(around("authentication", 10)).unwrap();
    let related: Vec<(&str, usize)> =
        answer.related_concepts.iter().map(|r| (r.name.as_str(), r.uris.len())).collect();
    assert_eq!(related, [("b4", 0), ("graph-rag", 1), ("kgctx", 0), ("oauth2", 0)]);
    assert!(memory.behind(&maenifold.listings()).unwrap().contains("gone"));
}

#[test]
fn tables_of_an_extension_that_is_not_there_do_no_harm() {
    let maenifold = three_notes();
    maenifold.tamper(
        "PRAGMA writable_schema = ON; \
         INSERT INTO sqlite_schema VALUES ('table', 'vec_concepts', 'vec_concepts', 0, \
            'CREATE VIRTUAL TABLE vec_concepts USING vec0(concept_name TEXT PRIMARY KEY, embedding FLOAT[384])')",
    );
    let error = maenifold.connection().execute_batch("SELECT * FROM vec_concepts").unwrap_err();
    assert!(error.to_string().contains("no such module"), "the trap is there: {error}");
    ask_all(&maenifold).unwrap();
    assert_eq!(searched(&maenifold, "hybrid"), ["memory://rag-patterns"]);
}

#[test]
fn a_database_that_is_staler_than_its_files_says_by_how_much() {
    let maenifold = three_notes();
    let behind = || maenifold.memory().unwrap().behind(&maenifold.listings());
    assert_eq!(behind(), None);
    // Hidden files are maenifold's notes, too, and no walk lists them.
    maenifold.note(".hidden/h.md", "x", END_SECONDS);
    maenifold.sync();
    assert_eq!(behind(), None);
    maenifold.note("tech/auth-note.md", "edited", END_SECONDS);
    assert_eq!(behind().unwrap(), "1 note is newer than it");
    maenifold.note("rag-patterns.md", "set back", END_SECONDS - 90 * DAY);
    maenifold.note("new.md", "x", END_SECONDS);
    assert_eq!(behind().unwrap(), "2 notes are newer than it, 1 it does not know");
    fs::remove_file(maenifold.root().join("memory/.hidden/h.md")).unwrap();
    maenifold.sync();
    assert_eq!(behind().unwrap(), "1 that it knows is gone");
}

#[test]
fn a_time_is_compared_as_finely_as_dotnet_has_it() {
    let maenifold = three_notes();
    let file = fs::File::options()
        .write(true)
        .open(maenifold.root().join("memory/rag-patterns.md"))
        .unwrap();
    let set = |nanos: u32| {
        let time = SystemTime::UNIX_EPOCH + Duration::new(END_SECONDS, nanos);
        file.set_times(fs::FileTimes::new().set_modified(time)).unwrap();
    };
    set(123_456_789);
    maenifold.sync();
    let behind = || maenifold.memory().unwrap().behind(&maenifold.listings());
    assert_eq!(behind(), None);
    set(123_456_700);
    assert_eq!(behind(), None);
    set(123_456_800);
    assert_eq!(behind().unwrap(), "1 note is newer than it");
}

#[test]
fn a_database_at_rest_stays_as_it_is() {
    let maenifold = three_notes();
    let before = state(maenifold.root());
    assert_eq!(before.len(), 1, "there is no log");
    for _ in 0..20 {
        ask_all(&maenifold).unwrap();
    }
    assert_eq!(state(maenifold.root()), before);
}

#[test]
fn what_a_living_writer_has_said_is_seen_and_its_log_stays_as_it_is() {
    let maenifold = three_notes();
    let writer = maenifold.connection();
    writer.pragma_update(None, "wal_autocheckpoint", 0).unwrap();
    maenifold.note("live.md", "A [[living]] note.", END_SECONDS);
    maenifold.sync_through(&writer);
    let before = state(maenifold.root());
    // SQLite lets all connections of a process share what they know, so that only another one shows what a reader does.
    let reader = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "maenifold_database::a_reader_in_a_process_of_its_own"])
        .env(READ, maenifold.root())
        .output()
        .unwrap();
    assert!(reader.status.success(), "{}", String::from_utf8_lossy(&reader.stdout));
    assert_eq!(state(maenifold.root()), before);
    writer.execute_batch("BEGIN IMMEDIATE; DELETE FROM file_content").unwrap();
    let before = state(maenifold.root());
    assert!(before["memory.db-wal"].1 > 0);
    for _ in 0..20 {
        ask_all(&maenifold).unwrap();
    }
    assert_eq!(searched(&maenifold, "living"), ["memory://live"]);
    assert_eq!(maenifold.memory().unwrap().behind(&maenifold.listings()), None);
    assert!(maenifold.memory().unwrap().is_unchanged());
    assert_eq!(state(maenifold.root()), before);
}

/// Names the memory that a process of its own is to read.
const READ: &str = "KGCTX_TEST_READ";

#[test]
fn a_reader_in_a_process_of_its_own() {
    let Some(root) = std::env::var_os(READ) else { return };
    let maenifold = Maenifold::at(root.into());
    for _ in 0..20 {
        ask_all(&maenifold).unwrap();
    }
    assert_eq!(searched(&maenifold, "living"), ["memory://live"]);
}

#[test]
fn all_answers_are_of_one_state() {
    let maenifold = three_notes();
    let writer = maenifold.connection();
    maenifold.note("live.md", "A [[living]] note.", END_SECONDS);
    maenifold.sync_through(&writer);
    let memory = maenifold.memory().unwrap();
    writer.execute_batch("DELETE FROM concept_graph").unwrap();
    assert_eq!(memory.context(around("kgctx", 10)).unwrap().related_concepts.len(), 3);
    assert!(memory.is_unchanged());
}

#[test]
fn a_write_to_a_database_that_was_at_rest_is_noticed() {
    let maenifold = three_notes();
    let memory = maenifold.memory().unwrap();
    assert!(memory.is_unchanged());
    let writer = maenifold.connection();
    writer.execute_batch("DELETE FROM concept_graph").unwrap();
    assert!(!memory.is_unchanged(), "there is a log");
    drop(writer);
    assert!(!memory.is_unchanged(), "the file has changed");
    assert!(maenifold.memory().unwrap().is_unchanged());
}

#[test]
fn a_log_that_a_dead_writer_left_is_read() {
    let maenifold = three_notes();
    let writer = maenifold.connection();
    writer.pragma_update(None, "wal_autocheckpoint", 0).unwrap();
    maenifold.note("live.md", "A [[living]] note.", END_SECONDS);
    maenifold.sync_through(&writer);
    let other = Maenifold::new();
    for ending in ["", "-wal"] {
        let name = format!("memory.db{ending}");
        fs::copy(maenifold.root().join(&name), other.root().join(&name)).unwrap();
    }
    let before = state(other.root());
    assert_eq!(searched(&other, "living"), ["memory://live"]);
    let mut after = state(other.root());
    // Its table of contents has to be made, as for everybody who opens it.
    after.remove("memory.db-shm");
    assert_eq!(after, before);
}

#[test]
fn a_log_that_may_not_be_read_leaves_the_file_which_says_that_it_is_behind() {
    let maenifold = three_notes();
    let writer = maenifold.connection();
    writer.pragma_update(None, "wal_autocheckpoint", 0).unwrap();
    maenifold.note("live.md", "A [[living]] note.", END_SECONDS);
    maenifold.sync_through(&writer);
    let other = Maenifold::new();
    for ending in ["", "-wal"] {
        let name = format!("memory.db{ending}");
        fs::copy(maenifold.root().join(&name), other.root().join(&name)).unwrap();
    }
    // Whoever runs this may be allowed to write everywhere, but nobody follows a link there.
    std::os::unix::fs::symlink("nowhere", other.root().join("memory.db-shm")).unwrap();
    let before = state(other.root());
    let memory = other.memory().unwrap();
    assert_eq!(uris(&memory.search("hybrid", 5).unwrap()), ["memory://rag-patterns"]);
    assert!(memory.search("living", 5).unwrap().is_empty());
    assert!(memory.behind(&[]).unwrap().contains("log"));
    assert!(memory.is_unchanged());
    assert_eq!(state(other.root()), before);
}

#[test]
fn a_path_may_have_any_character() {
    let maenifold = Maenifold::called("50% a?b#c &mode=rwc 日本");
    maenifold.note("a.md", "Some [[thing]].", END_SECONDS);
    maenifold.sync();
    let before = state(maenifold.root());
    assert_eq!(searched(&maenifold, "thing"), ["memory://a"]);
    let writer = maenifold.connection();
    writer.execute_batch("DELETE FROM concept_graph").unwrap();
    assert_eq!(searched(&maenifold, "thing"), ["memory://a"]);
    drop(writer);
    assert_eq!(state(maenifold.root()).len(), before.len());
}

#[test]
fn a_database_that_lets_nobody_in_is_given_up_in_time() {
    let maenifold = three_notes();
    let writer = maenifold.connection();
    let mode: String =
        writer.query_row("PRAGMA journal_mode = DELETE", [], |row| row.get(0)).unwrap();
    assert_eq!(mode, "delete");
    writer.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let before = state(maenifold.root());
    let started = Instant::now();
    let error = maenifold.memory().err().unwrap();
    assert!(error.contains("busy"), "{error}");
    assert!(started.elapsed() < Duration::from_secs(2));
    assert_eq!(state(maenifold.root()), before);
    writer.execute_batch("ROLLBACK").unwrap();
    assert_eq!(searched(&maenifold, "hybrid"), ["memory://rag-patterns"]);
}

#[test]
fn the_strongest_neighbours_are_found_by_number_and_name_however_many_there_are() {
    let maenifold = Maenifold::new();
    maenifold.note("a.md", "x", END_SECONDS);
    maenifold.sync();
    let connection = maenifold.connection();
    connection.execute_batch("PRAGMA foreign_keys = OFF; BEGIN").unwrap();
    tie(&connection, "hub", 6_000);
    tie(&connection, "small", 300);
    connection.execute_batch("COMMIT").unwrap();
    let sql = "SELECT iif(concept_a = ?1, concept_b, concept_a) AS other, co_occurrence_count FROM concept_graph \
               WHERE ?1 IN (concept_a, concept_b) ORDER BY co_occurrence_count DESC, other LIMIT 10";
    let mut statement = connection.prepare(sql).unwrap();
    let found = details(&maenifold, &["hub", "small"]);
    for (concept, detail) in found {
        let rows = statement.query_map([concept.as_str()], |row| Ok((row.get(0)?, row.get(1)?)));
        let expect: Vec<(String, u32)> = rows.unwrap().collect::<Result<_, _>>().unwrap();
        let neighbours = detail.neighbours.iter();
        let neighbours: Vec<(String, u32)> =
            neighbours.map(|link| (link.concept.to_string(), link.notes)).collect();
        assert_eq!(neighbours, expect, "{concept}");
    }
}

/// Ties a concept to others, some by many notes, in no order, with as many mentions as that takes and more.
fn tie(connection: &Connection, concept: &str, edges: usize) {
    let mut random = vault_generator::Random(3);
    let mention = |name: &str, notes: usize| {
        for note in 0..notes {
            let values = rusqlite::params![name, format!("memory://n{note}")];
            connection.execute("INSERT INTO concept_mentions VALUES (?, ?, 1)", values).unwrap();
        }
    };
    for n in 0..edges {
        let name = format!("{}-{}-{concept}", ["a", "x"][n % 2], random.below(1 << 40));
        let (a, b) = if n % 2 == 0 { (name.as_str(), concept) } else { (concept, name.as_str()) };
        let notes = 1 + (60 / (1 + random.below(60))).min(12);
        let sql = "INSERT INTO concept_graph VALUES (?, ?, ?, '[]')";
        connection.execute(sql, rusqlite::params![a, b, notes as i64]).unwrap();
        mention(&name, notes + random.below(4));
    }
    mention(concept, 60);
}

#[test]
fn the_same_memory_gives_the_same_answers_as_the_index() {
    let maenifold = Maenifold::new();
    vault_generator::generate(&maenifold.root().join("memory"), 120, 5);
    maenifold.sync();
    let memory = maenifold.memory().unwrap();
    let scratch = Scratch::new();
    let workspace = scratch.workspace(&maenifold.root().join("memory"));
    let without_vault = |uri: &str| uri.replacen("memory://memory/", "memory://", 1);
    let question = lately(Timespan::from_hours(24 * 20), RecentFilter::All);
    let expect = kgctx::sources::recent::recent(&workspace, question).unwrap().0.items;
    let found = memory.recent_answer(question).unwrap().items;
    assert_eq!(found.len(), 10);
    for (found, expect) in found.iter().zip(&expect) {
        let expect = (without_vault(&expect.uri), &expect.title, expect.modified, &expect.concepts);
        assert_eq!((found.uri.clone(), &found.title, found.modified, &found.concepts), expect);
    }
    // Not words that are tags, too: of these the database knows nothing.
    for query in ["auth service", "session layer", "größer", "Changed Auth-Service 107"] {
        let expect = kgctx::sources::search::search(&workspace, query, 5).unwrap().0.results;
        let found = memory.search_answer(query, 5).unwrap().results;
        let list = |hits: &[SearchHit]| -> Vec<(String, Match)> {
            hits.iter().map(|hit| (without_vault(&hit.uri), hit.matched)).collect()
        };
        assert_eq!(list(&found), list(&expect), "{query}");
    }
    for concept in ["auth service", "token service", "query design"] {
        let question = around(concept, 10);
        let expect = kgctx::sources::context::context(&workspace, question).unwrap().0;
        let found = memory.context(question).unwrap();
        // The same ones; their order goes by whole days here, and by dates there.
        let list = |answer: &ContextAnswer| -> BTreeMap<String, u32> {
            let related = answer.related_concepts.iter();
            related.map(|related| (related.name.to_string(), related.files)).collect()
        };
        assert_eq!((list(&found), found.known), (list(&expect), expect.known), "{concept}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn a_damaged_database_never_brings_anybody_down(damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..200)) {
        let maenifold = three_notes();
        let mut bytes = fs::read(maenifold.database()).unwrap();
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        fs::write(maenifold.database(), &bytes).unwrap();
        let _ = ask_all(&maenifold);
        prop_assert_eq!(fs::read(maenifold.database()).unwrap(), bytes);
    }
}
