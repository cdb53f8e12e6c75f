//! Nothing of maenifold's is changed by kgctx.

use std::fs;
use std::path::PathBuf;
use std::thread;

use rusqlite::Connection;

use crate::support::maenifold_lab::{self, Lab, answer, everything, source};

#[test]
fn a_database_that_is_being_written_is_read_with_what_is_in_its_log() {
    let lab = Lab::new();
    let database = lab.root().join("memory.db");
    let writer = Connection::open(&database).unwrap();
    let mode: String = writer.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
    assert_eq!(mode, "wal");
    writer.pragma_update(None, "wal_autocheckpoint", 0).unwrap();
    let sql = "INSERT INTO concepts (concept_name) VALUES ('bowsprit');
        INSERT INTO concept_mentions (concept_name, source_file) VALUES ('bowsprit', 'memory://zephyr')";
    writer.execute_batch(sql).unwrap();
    let log = lab.root().join("memory.db-wal");
    let before = [fs::read(&database).unwrap(), fs::read(&log).unwrap()];
    assert!(!before[1].is_empty());
    let output = lab.injection(&[]).output().unwrap();
    let answer = answer(&output);
    assert_eq!(source(&answer).0, "database");
    assert!(maenifold_lab::text(&answer).contains("[[bowsprit]]"), "{answer:#}");
    assert!([fs::read(&database).unwrap(), fs::read(&log).unwrap()] == before);
    drop(writer);
}

#[test]
fn a_folder_that_may_not_be_written_is_read_all_the_same() {
    let lab = Lab::new();
    let made: Vec<PathBuf> = everything(&lab.root()).into_keys().collect();
    assert!(!made.iter().any(|path| path.to_string_lossy().contains("-shm")));
    for path in made.iter().rev() {
        let mut may = path.metadata().unwrap().permissions();
        may.set_readonly(true);
        fs::set_permissions(path, may).unwrap();
    }
    assert_eq!(source(&lab.inject(&[])).0, "database");
    #[expect(
        clippy::permissions_set_readonly_false,
        reason = "a folder of this test, which is to be removed"
    )]
    for path in &made {
        let mut may = path.metadata().unwrap().permissions();
        may.set_readonly(false);
        fs::set_permissions(path, may).unwrap();
    }
}

#[test]
fn what_is_remembered_of_the_database_is_forgotten_when_it_is_written() {
    let lab = Lab::new();
    let first = lab.inject(&[]);
    let remembered = lab.scratch.path().join("kgctx-home/cache/maenifold");
    assert!(!remembered.exists(), "it was written a moment ago, and may be again");
    thread::sleep(std::time::Duration::from_millis(3_100));
    let texts =
        [&lab.inject(&[]), &lab.inject(&[])].map(|answer| maenifold_lab::text(answer).to_owned());
    assert_eq!(texts, [maenifold_lab::text(&first), maenifold_lab::text(&first)]);
    assert_eq!(fs::read_dir(&remembered).unwrap().count(), 1);
    lab.note("bowsprit.md", "---\ntitle: Bowsprit\n---\n\nThe [[Bowsprit]] of zephyr.\n", 1_800);
    lab.sync();
    let written = lab.inject(&[]);
    assert_eq!(source(&written).0, "database");
    assert!(maenifold_lab::text(&written).contains("(memory://bowsprit)"));
    assert_eq!(
        maenifold_lab::text(&lab.inject(&["--source", "index"])),
        maenifold_lab::text(&written)
    );
}
