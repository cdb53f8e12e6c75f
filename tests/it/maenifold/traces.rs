//! Nothing of maenifold's is changed by kgctx.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::SystemTime;

use rusqlite::Connection;
use sha2::{Digest, Sha256};

use super::{Lab, answer, source};

/// Every file and folder, with its time and what is in it.
fn everything(root: &Path) -> BTreeMap<PathBuf, (SystemTime, Vec<u8>)> {
    let mut all = BTreeMap::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        all.insert(folder.clone(), (folder.metadata().unwrap().modified().unwrap(), Vec::new()));
        for entry in fs::read_dir(&folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let hash = Sha256::digest(fs::read(&path).unwrap()).to_vec();
                all.insert(path, (entry.metadata().unwrap().modified().unwrap(), hash));
            }
        }
    }
    all
}

#[test]
fn a_thousand_runs_leave_no_trace() {
    let lab = Lab::new();
    let before = everything(&lab.root());
    assert!(before.len() > 10);
    let commands: [&[&str]; 8] = [
        &["inject", "--session", "s", "--dry-run", "--format", "json"],
        &["inject", "--session", "s", "--dry-run", "--format", "json", "--source", "database"],
        &["context", "mast", "--source", "database"],
        &["search", "zephyr", "--source", "database"],
        &["recent", "--source", "database"],
        &["search", "zephyr"],
        &["explain", "--dry-run"],
        &["inject", "--session", "s", "--dry-run", "--format", "json", "--source", "index"],
    ];
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for n in 0..250 {
                    let output = lab.command(commands[n % commands.len()]).output().unwrap();
                    assert!(output.status.success(), "{output:?}");
                }
            });
        }
    });
    assert_eq!(source(&lab.inject(&[])).0, "database");
    assert_eq!(everything(&lab.root()), before);
}

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
    assert!(super::text(&answer).contains("[[bowsprit]]"), "{answer:#}");
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
    let texts = [&lab.inject(&[]), &lab.inject(&[])].map(|answer| super::text(answer).to_owned());
    assert_eq!(texts, [super::text(&first), super::text(&first)]);
    assert_eq!(fs::read_dir(&remembered).unwrap().count(), 1);
    lab.note("bowsprit.md", "---\ntitle: Bowsprit\n---\n\nThe [[Bowsprit]] of zephyr.\n", 1_800);
    lab.sync();
    let written = lab.inject(&[]);
    assert_eq!(source(&written).0, "database");
    assert!(super::text(&written).contains("(memory://bowsprit)"));
    assert_eq!(super::text(&lab.inject(&["--source", "index"])), super::text(&written));
}
