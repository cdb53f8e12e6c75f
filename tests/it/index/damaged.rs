//! An index that is damaged, foreign or old is made again: with a notice for people, and the right answer for all.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use crate::support::vault_generator::{self, Random};
use crate::support::{Scratch, stderr};

fn vault_with_index() -> (Scratch, PathBuf) {
    let scratch = Scratch::new();
    vault_generator::generate(&scratch.path().join("vault"), 120, 31);
    let answer = scratch.json(["--vault", "vault", "index", "--json"]);
    let index = PathBuf::from(answer["index"].as_str().unwrap());
    (scratch, index)
}

/// Asks a question; returns the answer and what was said about it.
fn ask(scratch: &Scratch) -> (String, String) {
    let output = scratch
        .kgctx(["--vault", "vault", "context", "auth service", "--now", "2026-11-15", "--json"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    (String::from_utf8_lossy(&output.stdout).into_owned(), stderr(&output))
}

#[track_caller]
fn check(break_it: impl Fn(&Path), notice: &str) {
    let (scratch, index) = vault_with_index();
    let (expect, silence) = ask(&scratch);
    assert_eq!(silence, "");
    break_it(&index);
    let (answer, said) = ask(&scratch);
    assert_eq!(answer, expect);
    assert!(said.starts_with("kgctx: the index was rebuilt: "), "{said:?}");
    assert!(said.contains(notice), "{said}");
    assert_eq!(ask(&scratch), (expect, String::new()));
}

#[test]
fn a_foreign_file_is_replaced() {
    check(
        |index| {
            fs::write(index, "not a database at all, but longer than a header would be").unwrap()
        },
        "not an index",
    );
    check(
        |index| {
            fs::remove_file(index).unwrap();
            Connection::open(index)
                .unwrap()
                .execute_batch("CREATE TABLE meta (x); CREATE TABLE notes (y)")
                .unwrap();
        },
        "not an index",
    );
    check(|index| fs::write(index, "").unwrap(), "not an index");
}

#[test]
fn a_truncated_file_is_replaced() {
    for share in [3, 2] {
        check(
            |index| {
                let file = File::options().write(true).open(index).unwrap();
                file.set_len(file.metadata().unwrap().len() / share / 4096 * 4096).unwrap();
            },
            "damaged",
        );
    }
}

#[test]
fn an_old_index_is_replaced() {
    check(
        |index| Connection::open(index).unwrap().execute_batch("PRAGMA user_version = 0").unwrap(),
        "another version",
    );
    check(
        |index| {
            Connection::open(index)
                .unwrap()
                .execute_batch("UPDATE meta SET value = 'older' WHERE key = 'fingerprint'")
                .unwrap();
        },
        "another version",
    );
}

#[test]
fn a_missing_file_is_made_without_a_word() {
    let (scratch, index) = vault_with_index();
    let (expect, _) = ask(&scratch);
    fs::remove_dir_all(index.parent().unwrap()).unwrap();
    assert_eq!(ask(&scratch), (expect.clone(), String::new()));
    // The link is there, what it leads to is not.
    fs::remove_file(index.canonicalize().unwrap()).unwrap();
    assert_eq!(ask(&scratch), (expect, String::new()));
}

#[test]
fn the_summary_of_a_damaged_index_is_of_a_new_one() {
    // Found by the question, and found by an update that has a note to write.
    for edit in [false, true] {
        let (scratch, index) = vault_with_index();
        std::thread::sleep(std::time::Duration::from_millis(25));
        scratch.json(["--vault", "vault", "index", "--json"]);
        let connection = Connection::open(&index).unwrap();
        connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
        let sql = "SELECT rootpage FROM sqlite_schema WHERE name = 'files'";
        let root: i64 = connection.query_row(sql, [], |row| row.get(0)).unwrap();
        drop(connection);
        let mut file = File::options().write(true).open(&index).unwrap();
        file.seek(SeekFrom::Start((root as u64 - 1) * 8_192)).unwrap();
        file.write_all(&[0xee; 64]).unwrap();
        drop(file);
        if edit {
            scratch.write("vault/concepts/auth-service.md", "[[edited]]");
        }
        let output = scratch.kgctx(["--vault", "vault", "index", "--json"]).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        assert!(stderr(&output).contains("rebuilt"), "edit {edit}: {output:?}");
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(answer["notes"], 120);
        assert_eq!(scratch.json(["--vault", "vault", "index", "--json"])["changed"], 0);
    }
}

#[test]
fn overwritten_pages_never_crash_and_are_mended_by_a_full_index() {
    let (scratch, index) = vault_with_index();
    let (expect, _) = ask(&scratch);
    let mut random = Random(3);
    for _ in 0..25 {
        let length = fs::metadata(&index).unwrap().len();
        let mut file = File::options().read(true).write(true).open(&index).unwrap();
        for _ in 0..6 {
            let page = 8_192 * (random.next() % (length / 8_192));
            file.seek(SeekFrom::Start(page)).unwrap();
            let mut head = [0; 64];
            file.read_exact(&mut head).unwrap();
            head.iter_mut().for_each(|byte| *byte ^= random.next() as u8);
            file.seek(SeekFrom::Start(page)).unwrap();
            file.write_all(&head).unwrap();
        }
        drop(file);
        // Whatever is noticed is mended; a page that nobody needed for this answer may go unnoticed.
        ask(&scratch);
        scratch.kgctx(["--vault", "vault", "index", "--full"]).output().unwrap();
        assert_eq!(ask(&scratch), (expect.clone(), String::new()));
    }
}

#[test]
fn only_the_user_may_read_the_index() {
    let (_scratch, index) = vault_with_index();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&index), 0o600);
    for folder in index.ancestors().skip(1).take_while(|folder| !folder.ends_with("kgctx-home")) {
        assert_eq!(mode(folder), 0o700, "{}", folder.display());
    }
}
