//! A state that is damaged: sessions go on, `doctor` names the way out, and the way out works.

use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::support::handoff_lab::{KILL_AT, Lab, TEXT, assert_whole, context, documents, given};
use crate::support::{stderr, valid};

/// A project with notes, two waiting handoffs, one that was given, and one of another channel.
struct Left {
    lab: Lab,
    given: String,
    task: String,
    current: String,
    elsewhere: String,
}

impl Left {
    fn new() -> Left {
        let lab = Lab::new();
        lab.scratch.write("zephyr/docs/zephyr.md", "# Zephyr\n\nOf [[zephyr]] and its [[sail]].\n");
        let given = lab.leave(TEXT);
        assert!(lab.start("first").unwrap().contains(&given));
        let task = lab.create(&["--task", "--goal", "Ship", "--next", "Test", "--body", TEXT]);
        let current = lab.leave(TEXT);
        let elsewhere = lab.create(&["--channel", "other", "--body", TEXT]);
        Left { lab, given, task, current, elsewhere }
    }

    fn folder(&self) -> PathBuf {
        self.lab.scratch.path().join("kgctx-home/state")
    }

    fn file(&self) -> PathBuf {
        self.folder().join("state.db")
    }

    /// Writes everything from the log into the database.
    fn settle(&self) {
        let empty = "PRAGMA wal_checkpoint(TRUNCATE)";
        self.lab.state().query_row(empty, [], |_| Ok(())).unwrap();
    }

    fn doctor(&self) -> Value {
        let output = self.lab.kgctx(["doctor", "--json"]).output().unwrap();
        let said: Value = serde_json::from_slice(&output.stdout).unwrap();
        let checks = said["checks"].as_array().unwrap().iter();
        checks.clone().find(|check| check["name"] == "state").unwrap().clone()
    }

    fn repair(&self) -> Value {
        let repaired = self.lab.handoff(&["reconcile", "--repair"]);
        valid("handoff-reconcile", &repaired);
        repaired
    }

    /// Every document is there and known, and the next session gets the one that waits.
    #[track_caller]
    fn assert_repaired(&self, what: &str) {
        assert_eq!(documents(&self.lab.scratch).len(), 4, "{what}");
        assert_whole(&self.lab);
        let status = |id: &str| self.lab.status(id).unwrap();
        assert_eq!(status(&self.current), "active", "{what}");
        assert_eq!(status(&self.task), "active", "{what}");
        assert_ne!(status(&self.given), "active", "{what}");
        assert_eq!(self.doctor()["verdict"], "ok", "{what}");
        assert!(self.lab.start("after").unwrap().contains(&self.current), "{what}");
    }
}

fn overwrite(file: &Path, at: u64, bytes: &[u8]) {
    let mut file = fs::File::options().write(true).open(file).unwrap();
    file.seek(SeekFrom::Start(at)).unwrap();
    file.write_all(bytes).unwrap();
}

/// Overwrites the first page of a table.
fn overwrite_table(left: &Left, table: &str, bytes: &[u8]) {
    left.settle();
    let sql = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
    let page: u32 = left.lab.state().query_row(sql, [table], |row| row.get(0)).unwrap();
    overwrite(&left.file(), u64::from(page - 1) * 4096, bytes);
}

/// Replaces the state with something that is no file.
fn replace(left: &Left, with: &str) {
    left.settle();
    for file in ["state.db", "state.db-wal", "state.db-shm"] {
        let _ = fs::remove_file(left.folder().join(file));
    }
    match with {
        "a folder" => fs::create_dir(left.file()).unwrap(),
        "a folder with something in it" => {
            fs::create_dir_all(left.file().join("kept")).unwrap();
        }
        "a pipe" => {
            assert!(Command::new("mkfifo").arg(left.file()).status().unwrap().success());
        }
        "a link that leads nowhere" => {
            std::os::unix::fs::symlink("/nowhere/state.db", left.file()).unwrap();
        }
        "somebody else's database" => {
            let other = Connection::open(left.file()).unwrap();
            other.execute_batch("CREATE TABLE theirs (x); PRAGMA user_version = 99").unwrap();
        }
        with => fs::write(left.file(), with.repeat(300)).unwrap(),
    }
}

/// A kind of damage, and how it is done.
type Damage = (&'static str, fn(&Left));

const DAMAGES: &[Damage] = &[
    ("zeros in the header", |left| {
        left.settle();
        overwrite(&left.file(), 0, &[0; 100]);
    }),
    ("a wild version", |left| {
        left.settle();
        overwrite(&left.file(), 60, &[0x7f; 4]);
    }),
    ("an older version than it is", |left| {
        left.lab.state().pragma_update(None, "user_version", 2).unwrap();
    }),
    ("truncated", |left| {
        left.settle();
        let length = fs::metadata(left.file()).unwrap().len();
        let file = fs::File::options().write(true).open(left.file()).unwrap();
        file.set_len(length / 2 / 4096 * 4096).unwrap();
    }),
    ("random bytes in the middle", |left| {
        let noise = (0..4096_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8);
        overwrite_table(left, "handoffs", &noise.collect::<Vec<u8>>());
    }),
    ("random bytes where no session looks", |left| {
        overwrite_table(left, "endings", &[0xa5; 4096]);
    }),
    ("a missing table", |left| left.lab.state().execute_batch("DROP TABLE claims").unwrap()),
    ("a missing index", |left| {
        left.lab.state().execute_batch("DROP INDEX handoffs_current").unwrap();
    }),
    ("a missing column", |left| {
        left.lab.state().execute_batch("ALTER TABLE handoffs DROP COLUMN goal").unwrap();
    }),
    ("a folder in the place of the log", |left| {
        left.settle();
        for file in ["state.db-wal", "state.db-shm"] {
            let _ = fs::remove_file(left.folder().join(file));
        }
        fs::create_dir(left.folder().join("state.db-wal")).unwrap();
    }),
    ("no database at all", |left| replace(left, "no database at all\n")),
    ("a folder", |left| replace(left, "a folder")),
    ("a folder with something in it", |left| replace(left, "a folder with something in it")),
    ("a pipe", |left| replace(left, "a pipe")),
    ("a link that leads nowhere", |left| replace(left, "a link that leads nowhere")),
    ("somebody else's database", |left| replace(left, "somebody else's database")),
];

#[test]
fn a_damaged_state_is_set_aside_and_a_new_one_knows_all_documents() {
    for (what, damage) in DAMAGES {
        let left = Left::new();
        damage(&left);
        let before = documents(&left.lab.scratch);
        let start = Instant::now();
        let text = left.lab.start("meanwhile").unwrap_or_else(|| panic!("{what}: no context"));
        assert!(text.contains("[[sail]]"), "{what}: {text}");
        assert!(start.elapsed() < Duration::from_millis(1_500), "{what}: {:?}", start.elapsed());
        // What a session has is not given again; a state that still knew gave it with the notes.
        if text.contains(&left.current) {
            left.lab.leave(TEXT);
        }
        let doctor = left.doctor();
        assert_eq!(doctor["verdict"], "warn", "{what}: {doctor}");
        let way_out = doctor["wayOut"].as_str().unwrap();
        assert!(way_out.contains("`kgctx handoff reconcile --repair`"), "{what}: {way_out}");
        let (code, said) = left.lab.refused(&["reconcile"]);
        assert!(code == 3 && said.contains("reconcile --repair"), "{what}: {code} {said}");
        let repaired = left.repair();
        let aside = PathBuf::from(repaired["set_aside"].as_str().unwrap());
        assert!(fs::symlink_metadata(&aside).is_ok(), "{what}: {repaired}");
        let n = documents(&left.lab.scratch).len();
        assert!(n >= before.len(), "{what}");
        assert_eq!(repaired["adopted"].as_array().unwrap().len(), n, "{what}: {repaired}");
        assert_whole(&left.lab);
        assert_eq!(left.doctor()["verdict"], "ok", "{what}");
        assert_eq!(left.lab.status(&left.elsewhere).as_deref(), Some("active"), "{what}");
        let listed = left.lab.handoff(&["list"]);
        assert_eq!(listed["handoffs"].as_array().unwrap().len(), 2, "{what}: {listed}");
        assert!(left.lab.start("after").unwrap().contains(TEXT), "{what}");
        assert_eq!(left.repair()["set_aside"], json!(null), "{what}: once is enough");
        assert!(!left.folder().join("repair").exists(), "{what}: nothing is left behind");
    }
}

#[test]
fn what_the_documents_cannot_tell_is_said_and_what_can_be_read_is_kept() {
    let left = Left::new();
    left.lab.sql(
        "INSERT INTO installations (file, version, sha256, folders_made) VALUES (x'2f61', '1', x'00', 2)",
    );
    left.lab.state().execute_batch("DROP TABLE handoff_receivers").unwrap();
    let output = left.lab.kgctx(["handoff", "reconcile", "--repair"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(said.contains("do not record claims"), "{said}");
    assert!(said.contains("moved aside") && said.contains("damaged-"), "{said}");
    assert!(said.contains(&left.elsewhere), "{said}");
    assert!(said.ends_with("3 handoffs are correct\n"), "{said}");
    assert!(said.contains("state.db was damaged: it has no handoff_receivers."), "{said}");
    assert_eq!(stderr(&output), "");
    let sql = "SELECT folders_made FROM installations WHERE file = x'2f61'";
    let made: i64 = left.lab.state().query_row(sql, [], |row| row.get(0)).unwrap();
    assert_eq!(made, 2);
    // The given one is older than the one that waits, so both ways it is not given again; the old state says so, too.
    assert_eq!(left.lab.status(&left.given).as_deref(), Some("cleared"));
    left.assert_repaired("a missing table");
}

#[test]
fn what_was_given_is_not_given_again_as_long_as_the_old_state_tells_it() {
    let lab = Lab::new();
    let id = lab.leave(TEXT);
    assert!(lab.start("first").unwrap().contains(&id));
    lab.state().execute_batch("DROP TABLE claims").unwrap();
    lab.handoff(&["reconcile", "--repair"]);
    assert_eq!(lab.status(&id).as_deref(), Some("cleared"));
    assert_eq!(lab.start("second"), None);
    assert_whole(&lab);
}

#[test]
fn a_damaged_log_costs_what_was_in_it_and_no_document() {
    let damages: [Damage; 4] = [
        ("zeros at its start", |left| overwrite(&left.folder().join("state.db-wal"), 0, &[0; 64])),
        ("noise in the middle", |left| {
            let log = left.folder().join("state.db-wal");
            let length = fs::metadata(&log).unwrap().len();
            overwrite(&log, length / 2, &[0xa5; 5_000]);
        }),
        ("truncated", |left| {
            let log = left.folder().join("state.db-wal");
            let length = fs::metadata(&log).unwrap().len();
            fs::File::options().write(true).open(&log).unwrap().set_len(length / 3).unwrap();
        }),
        ("gone", |left| fs::remove_file(left.folder().join("state.db-wal")).unwrap()),
    ];
    for (what, damage) in damages {
        let left = Left::new();
        damage(&left);
        let _ = fs::remove_file(left.folder().join("state.db-shm"));
        assert!(left.lab.start("meanwhile").unwrap().contains("[[sail]]"), "{what}");
        left.repair();
        left.lab.handoff(&["reconcile", "--repair", "--channel", "other"]);
        assert_eq!(documents(&left.lab.scratch).len(), 4, "{what}");
        assert_whole(&left.lab);
        assert_eq!(left.lab.status(&left.task).as_deref(), Some("active"), "{what}");
    }
}

#[test]
fn a_newer_state_is_left_alone_and_sessions_go_on_without_handoffs() {
    let left = Left::new();
    left.settle();
    let state = left.lab.state();
    let version: i64 = state.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    drop(state);
    left.lab.state().pragma_update(None, "user_version", 99).unwrap();
    left.settle();
    let before = fs::read(left.file()).unwrap();
    for event in ["start-startup", "start-compact", "start-clear"] {
        let output = given(left.lab.hook(), &left.lab.event(event, "s"));
        let text = context(&output).unwrap_or_else(|| panic!("{event}: {output:?}"));
        assert!(text.contains("[[sail]]") && !text.contains(TEXT), "{text}");
        assert!(left.lab.faults("s").contains("written by a newer version of kgctx"), "{event}");
    }
    let doctor = left.doctor();
    assert_eq!(doctor["verdict"], "warn");
    assert!(doctor["wayOut"].as_str().unwrap().starts_with("update this one"), "{doctor}");
    let (code, said) = left.lab.refused(&["reconcile", "--repair"]);
    assert!(code == 3 && said.contains("newer version"), "{said}");
    assert_eq!(fs::read(left.file()).unwrap(), before);
    left.lab.state().pragma_update(None, "user_version", version).unwrap();
    assert!(left.lab.start("t").unwrap().contains(&left.current));
}

#[test]
fn a_repair_that_is_killed_loses_no_document_and_the_next_one_ends_it() {
    for point in [
        "repair:begun",
        "state:uncommitted",
        "repair:made",
        "repair:complete",
        "repair:log-aside",
        "repair:aside",
        "repair:swapped",
    ] {
        for what in [
            "zeros in the header",
            "random bytes in the middle",
            "a missing table",
            "a missing column",
            "a folder",
        ] {
            let left = Left::new();
            let (_, damage) = DAMAGES.iter().find(|(name, _)| *name == what).unwrap();
            // What is missing is then missing only in the log.
            left.settle();
            damage(&left);
            // A log beside it, which the new state must not take for its own.
            let log = left.folder().join("state.db-wal");
            if !log.exists() {
                fs::write(&log, "no log").unwrap();
            }
            let mut repair = left.lab.kgctx(["handoff", "reconcile", "--repair"]);
            let output = repair.env(KILL_AT, point).stdin(Stdio::null()).output().unwrap();
            assert_eq!(output.status.signal(), Some(9), "{point}, {what}: {output:?}");
            assert_eq!(documents(&left.lab.scratch).len(), 4, "{point}, {what}");
            assert!(left.lab.start("meanwhile").unwrap().contains("[[sail]]"), "{point}, {what}");
            let repaired = left.repair();
            let is_done = point == "repair:swapped";
            assert_eq!(repaired["set_aside"].is_null(), is_done, "{point}, {what}: {repaired}");
            left.lab.handoff(&["reconcile", "--repair", "--channel", "other"]);
            assert_eq!(documents(&left.lab.scratch).len(), 4, "{point}, {what}");
            assert_whole(&left.lab);
            assert_eq!(left.doctor()["verdict"], "ok", "{point}, {what}");
            assert_ne!(left.lab.status(&left.given).as_deref(), Some("active"), "{point}, {what}");
            assert!(!left.folder().join("repair").exists(), "{point}, {what}");
        }
    }
}

#[test]
fn sessions_start_while_the_state_is_repaired() {
    let left = Left::new();
    (DAMAGES[0].1)(&left);
    let mut repair = left.lab.kgctx(["handoff", "reconcile", "--repair"]);
    let mut repair =
        repair.env("KGCTX_TEST_HOLD_AT", "repair:made").stdout(Stdio::null()).spawn().unwrap();
    let made = left.folder().join("repair/state.db");
    let until = Instant::now() + Duration::from_secs(10);
    while fs::metadata(&made).map_or(0, |made| made.len()) < 8_192 && Instant::now() < until {
        thread::sleep(Duration::from_millis(5));
    }
    thread::sleep(Duration::from_millis(100));
    let start = Instant::now();
    let text = left.lab.start("meanwhile").unwrap();
    assert!(start.elapsed() < Duration::from_millis(1_500), "{:?}", start.elapsed());
    assert!(text.contains("[[sail]]") && !text.contains(TEXT), "{text}");
    let pid = repair.id().to_string();
    assert!(Command::new("kill").args(["-CONT", &pid]).status().unwrap().success());
    assert!(repair.wait().unwrap().success());
    left.assert_repaired("held");
    assert!(left.lab.faults("meanwhile").contains("the state was busy"));
}

#[test]
fn several_may_repair_at_once() {
    let left = Left::new();
    (DAMAGES[0].1)(&left);
    thread::scope(|scope| {
        for n in 0..4 {
            let left = &left;
            scope.spawn(move || left.repair());
            scope.spawn(move || {
                for i in 0..4 {
                    // A session may be the first to get what waits.
                    let text = left.lab.start(&format!("s-{n}-{i}")).unwrap();
                    assert!(text.contains("[[sail]]"), "{text}");
                }
            });
        }
    });
    assert_whole(&left.lab);
    assert_eq!(documents(&left.lab.scratch).len(), 4);
    assert_eq!(left.lab.status(&left.task).as_deref(), Some("active"));
    let aside = fs::read_dir(left.folder()).unwrap().flatten();
    let aside = aside.filter(|entry| entry.file_name().to_string_lossy().starts_with("damaged-"));
    assert_eq!(aside.count(), 1, "it was repaired once");
}

#[test]
fn a_list_without_a_state_names_the_documents_that_are_left() {
    let lab = Lab::new();
    lab.leave("Ship it.");
    let list =
        || String::from_utf8(lab.kgctx(["handoff", "list"]).output().unwrap().stdout).unwrap();
    assert!(!list().contains("reconcile"), "{}", list());
    let state = lab.scratch.path().join("kgctx-home/state");
    for ending in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(state.join(format!("state.db{ending}")));
    }
    let said = list();
    let hint = "The state does not know 1 document; `kgctx handoff reconcile --repair` registers what is left.";
    assert!(said.contains(hint), "{said}");
    lab.handoff(&["reconcile", "--repair"]);
    assert!(!list().contains("does not know"), "{}", list());
}
