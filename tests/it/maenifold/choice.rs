//! Who is asked: what is named, else the index; never the program by itself. And where one reads why.

use std::fs;

use rusqlite::Connection;

use crate::support::maenifold_lab::{HOUR, Lab, answer, everything, faults, source, text};

#[track_caller]
fn check(lab: &Lab, more: &[&str], expect: (&str, &str), fault: &str) {
    let answer = lab.inject(more);
    let (by, because) = source(&answer);
    assert_eq!(by, expect.0, "{because}");
    assert!(because.contains(expect.1), "{because}");
    let faults = faults(&answer);
    assert_eq!(faults.is_empty(), fault.is_empty(), "{faults}");
    assert!(faults.contains(fault), "{faults}");
    assert!(text(&answer).contains("[[mast]]"), "{answer:#}");
}

#[test]
fn the_database_is_asked_if_it_knows_its_notes() {
    let lab = Lab::new();
    check(&lab, &[], ("database", "memory.db is up to date"), "");
    assert!(lab.calls().is_empty(), "nobody needs the program then");
}

#[test]
fn a_database_behind_its_notes_is_not_asked() {
    let lab = Lab::new();
    // Written again, with another time: the stay is 27 hours old in the database.
    lab.note("rigging/stay.md", "# Stay\n\nA [[Stay]] holds the [[Mast]].\n", 26 * HOUR);
    check(&lab, &[], ("index", "memory.db is behind its notes: 1 note"), "");
    lab.sync();
    check(&lab, &[], ("database", ""), "");
    lab.note("new.md", "# New\n\nA [[Rope]].\n", HOUR);
    check(&lab, &[], ("index", "memory.db is behind its notes"), "");
    lab.sync();
    fs::remove_file(lab.root().join("memory/hull/planks.md")).unwrap();
    check(&lab, &[], ("index", "memory.db is behind its notes"), "");
    // Whoever asks for it has it, and is told.
    check(&lab, &["--source", "database"], ("database", "--source says so"), "is behind its notes");
    assert!(lab.calls().is_empty(), "the program is asked by nobody");
}

#[test]
fn by_itself_nobody_starts_the_program() {
    let lab = Lab::new();
    lab.note("new.md", "# New\n\nA [[Rope]] of zephyr.\n", HOUR);
    let before = everything(&lab.root());
    for rank in ["notes", "frequency"] {
        // The first session has no index, the second has one.
        for _ in 0..2 {
            let mut command = lab.injection(&[]);
            command.env("KGCTX_RANK", rank).env("STAND_IN", "hang");
            let answer = answer(&command.output().unwrap());
            assert_eq!((source(&answer).0, faults(&answer).as_str()), ("index", ""), "{answer:#}");
            assert!(
                text(&answer).contains("[[rope]]") || text(&answer).contains("A Rope of zephyr")
            );
        }
        fs::remove_dir_all(lab.scratch.path().join("kgctx-home/cache")).unwrap();
    }
    assert!(lab.calls().is_empty(), "{:#?}", lab.calls());
    assert_eq!(everything(&lab.root()), before, "nothing of maenifold's is touched");
}

#[test]
fn before_the_first_index_the_database_answers() {
    let lab = Lab::new();
    lab.note("new.md", "# New\n\nA [[Rope]].\n", HOUR);
    for rank in ["notes", "frequency"] {
        let inject = || {
            let mut command = lab.injection(&[]);
            command.env("KGCTX_RANK", rank).env("KGCTX_DEADLINE_MS", "3000");
            answer(&command.output().unwrap())
        };
        inject();
        let cache = lab.scratch.path().join("kgctx-home/cache/index");
        let index =
            fs::read_dir(cache).unwrap().flatten().find(|entry| entry.path().join("lock").exists());
        let index = index.unwrap().path();
        // Another process makes it, and takes long.
        let lock = fs::File::open(index.join("lock")).unwrap();
        lock.lock().unwrap();
        fs::remove_file(index.join("index.db")).unwrap();
        let answer = inject();
        let (by, because) = source(&answer);
        assert_eq!(by, "database", "{answer:#}");
        assert!(
            because.starts_with("there is no index yet, and memory.db is behind its notes: 1"),
            "{because}"
        );
        let said = faults(&answer);
        assert!(
            said.contains(
                "it was not ready in time; this is from memory.db: there is no index yet"
            ),
            "{said}"
        );
        assert!(text(&answer).contains("[[mast]]"), "{answer:#}");
        lock.unlock().unwrap();
        assert_eq!(source(&inject()).0, "index");
        fs::remove_dir_all(lab.scratch.path().join("kgctx-home/cache")).unwrap();
    }
    assert!(lab.calls().is_empty());
}

#[test]
fn without_a_database_the_index_is_asked() {
    let lab = Lab::without_maenifold();
    check(&lab, &[], ("index", "there is no memory.db"), "");
    lab.sync();
    fs::rename(lab.root().join("memory.db"), lab.scratch.path().join("elsewhere.db")).unwrap();
    let at = lab.scratch.path().join("elsewhere.db");
    let output = lab.injection(&[]).env("MAENIFOLD_DATABASE_PATH", at).output().unwrap();
    assert_eq!(source(&answer(&output)).0, "database");
    check(&lab, &["--source", "database"], ("index", "there is no "), "there is no ");
    lab.install();
    let answer = lab.inject(&[]);
    assert_eq!(source(&answer).0, "index");
    assert!(text(&answer).contains("[[mast]]"));
    assert!(lab.calls().is_empty());
}

#[test]
fn a_broken_database_costs_a_line() {
    let lab = Lab::without_maenifold();
    let database = lab.root().join("memory.db");
    fs::write(&database, "").unwrap();
    check(&lab, &[], ("index", "empty"), "empty");
    fs::write(&database, "this is no database, and was never meant to be one").unwrap();
    check(&lab, &[], ("index", "memory.db"), "maenifold: ");
    fs::remove_file(&database).unwrap();
    let connection = Connection::open(&database).unwrap();
    connection.execute_batch("CREATE TABLE concepts (concept_name TEXT PRIMARY KEY)").unwrap();
    drop(connection);
    check(&lab, &[], ("index", "has no table file_content"), "maenifold: ");
}

#[test]
fn who_has_no_maenifold_hears_nothing_of_it() {
    let lab = Lab::new();
    fs::remove_dir_all(lab.root()).unwrap();
    lab.scratch.write("zephyr/docs/a.md", "# A\n\nThe [[Mast]] of zephyr.\n");
    check(&lab, &[], ("index", "there is no maenifold here"), "");
    assert!(lab.calls().is_empty() && !lab.root().exists());
    // Asked for by name, the program may make its folders.
    let answer = lab.inject(&["--source", "cli"]);
    assert!(text(&answer).contains("[[mast]]"), "{answer:#}");
    assert!(!lab.calls().is_empty());
}

#[test]
fn vaults_that_stand_for_all_others_stand_for_maenifold_too() {
    let lab = Lab::new();
    lab.scratch.write("notes/a.md", "# A\n\nThe [[Mast]] of zephyr.\n");
    let notes = lab.scratch.path().join("notes");
    let only = ["--vault", notes.to_str().unwrap()];
    check(&lab, &only, ("index", "not among the vaults"), "");
    let both = [&only[..], &["--source", "cli"]].concat();
    check(&lab, &both, ("index", "not among the vaults"), "not among the vaults");
    assert!(lab.calls().is_empty());
    let memory = lab.root().join("memory");
    check(&lab, &["--vault", memory.to_str().unwrap()], ("database", ""), "");
}

#[test]
fn a_note_is_not_told_by_two_sources() {
    let lab = Lab::new();
    let harbour = lab.root().join("memory/harbour");
    std::os::unix::fs::symlink(lab.root().join("memory"), lab.scratch.path().join("link")).unwrap();
    for other in [harbour, lab.scratch.path().join("home"), lab.scratch.path().join("link")] {
        let config = format!("[[vault]]\nname = \"other\"\npath = \"{}\"\n", other.display());
        lab.scratch.write("kgctx-home/config.toml", config);
        for wish in ["auto", "database", "cli"] {
            let answer = lab.inject(&["--source", wish]);
            assert_eq!(source(&answer).0, "index", "{answer:#}");
            assert!(source(&answer).1.contains("has notes of maenifold's memory"), "{answer:#}");
        }
    }
    assert!(lab.calls().is_empty());
}

#[test]
fn a_database_that_keeps_everybody_waiting_is_named() {
    let lab = Lab::new();
    let writer = Connection::open(lab.root().join("memory.db")).unwrap();
    writer.pragma_update(None, "journal_mode", "DELETE").unwrap();
    writer.execute_batch("BEGIN EXCLUSIVE").unwrap();
    for (deadline, more) in [("400", &[][..]), ("400", &["--source", "database"]), ("60000", &[])] {
        let mut command = lab.injection(more);
        let answer = answer(&command.env("KGCTX_DEADLINE_MS", deadline).output().unwrap());
        assert_ne!(source(&answer).0, "database", "{answer:#}");
        assert!(faults(&answer).contains("maenifold: "), "{answer:#}");
        assert!(text(&answer).contains("[[mast]]"), "{answer:#}");
    }
}

#[test]
fn names_that_maenifold_does_not_know_are_asked_of_the_index() {
    let lab = Lab::new();
    lab.scratch.write("kgctx-home/config.toml", "links = \"obsidian\"\n");
    check(&lab, &[], ("index", "obsidian"), "");
    lab.scratch.write(
        "kgctx-home/config.toml",
        "[[vault]]\npath = \"~/maenifold/memory\"\nname = \"mine\"\n",
    );
    check(&lab, &[], ("index", "has the name mine"), "");
}

#[test]
fn the_source_is_a_setting_of_the_user() {
    let lab = Lab::new();
    lab.scratch.write("kgctx-home/config.toml", "source = \"cli\"\n");
    check(&lab, &[], ("cli", "config.toml says so"), "");
    let output = lab.injection(&[]).env("KGCTX_SOURCE", "index").output().unwrap();
    assert_eq!(source(&answer(&output)), ("index", "KGCTX_SOURCE says so"));
    let output =
        lab.injection(&["--source", "auto"]).env("KGCTX_SOURCE", "index").output().unwrap();
    assert_eq!(source(&answer(&output)).0, "database");
    lab.scratch.write("zephyr/kgctx.toml", "source = \"index\"\n");
    let (code, said) =
        lab.scratch.fail(["--dir", "zephyr", "inject", "--session", "s", "--dry-run"]);
    assert_eq!(code, 2);
    assert!(said.contains("a project may not set source"), "{said}");
    fs::remove_file(lab.scratch.path().join("zephyr/kgctx.toml")).unwrap();
    lab.scratch.write("kgctx-home/config.toml", "source = \"maenifold\"\n");
    let (code, said) =
        lab.scratch.fail(["--dir", "zephyr", "inject", "--session", "s", "--dry-run"]);
    assert_eq!(code, 2);
    assert!(
        said.contains("config.toml:1:") && said.contains("write auto, index, database or cli"),
        "{said}"
    );
}

#[test]
fn the_choice_and_its_reason_can_be_read() {
    let lab = Lab::new();
    lab.inject(&[]);
    let explained = lab.command(&["explain"]).output().unwrap();
    let explained = String::from_utf8(explained.stdout).unwrap();
    let line = explained.lines().nth(2).unwrap();
    assert_eq!(line, "source database: memory.db is up to date");
    let doctor = lab.command(&["doctor"]).output().unwrap();
    let doctor = String::from_utf8(doctor.stdout).unwrap();
    let expect = "source     database: memory.db is up to date";
    assert!(doctor.contains(expect), "{doctor}");
    // One that misbehaves is named in both.
    let mut command = lab.injection(&["--source", "cli"]);
    answer(&command.env("STAND_IN", "abort").output().unwrap());
    let explained = lab.command(&["explain"]).output().unwrap();
    let explained = String::from_utf8(explained.stdout).unwrap();
    assert!(
        explained.contains("source index: --source says so, but maenifold failed: "),
        "{explained}"
    );
    assert!(explained.contains("maenifold: SearchMemories: maenifold crashed"), "{explained}");
}
