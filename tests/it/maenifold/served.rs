//! maenifold as a source of the service: the same contexts, also when the database is written and no note is.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::support::maenifold_lab::Lab;

/// A running service that follows a server which is not there.
struct Service(Child);

impl Service {
    /// Started by somebody on whose PATH there is no maenifold.
    fn start(lab: &Lab) -> Service {
        let mut command = lab.command(&["serve", "--server", "http://127.0.0.1:1"]);
        command.env("PATH", "/usr/bin:/bin").stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.starts_with("listening on "), "{line}");
        Service(child)
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The context of a session as OpenCode's bridge asks for it, and who answered about maenifold's notes.
fn hooked(lab: &Lab, id: &str, source: &str) -> (String, String) {
    let info = json!({"id": id, "directory": lab.scratch.path().join("zephyr"), "title": ""});
    let event = json!({"type": "session.created", "properties": {"info": info}});
    let mut command = lab.command(&["hook", "opencode"]);
    command.env("KGCTX_SOURCE", source).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let question = json!({"protocol": 1, "event": event}).to_string();
    child.stdin.take().unwrap().write_all(question.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let explained = lab.command(&["explain", "--session", id, "--json"]).output().unwrap();
    let explained: Value = serde_json::from_slice(&explained.stdout).unwrap();
    let by = explained["receipt"]["source"]["source"].as_str().unwrap().to_owned();
    (answer["text"].as_str().unwrap().to_owned(), by)
}

#[test]
fn the_service_asks_the_database_anew_when_it_was_written() {
    let lab = Lab::new();
    let alone = hooked(&lab, "alone", "auto");
    assert_eq!(alone.1, "database");
    let _service = Service::start(&lab);
    // The first few are made, and later ones are known.
    for n in 0..20 {
        assert_eq!(hooked(&lab, &format!("served-{n}"), "auto"), alone);
        thread::sleep(Duration::from_millis(20));
    }
    let database = Connection::open(lab.root().join("memory.db")).unwrap();
    let sql = "INSERT INTO concepts (concept_name) VALUES ('bowsprit');
        INSERT INTO concept_mentions (concept_name, source_file) VALUES ('bowsprit', 'memory://zephyr')";
    database.execute_batch(sql).unwrap();
    drop(database);
    let (text, by) = hooked(&lab, "written", "auto");
    assert_eq!(by, "database");
    assert!(text.contains("[[bowsprit]]") && !alone.0.contains("[[bowsprit]]"), "{text}");
}

#[test]
fn the_service_starts_the_program_of_who_asks() {
    let lab = Lab::new();
    let _service = Service::start(&lab);
    // A hook has little time, and the machine may be busy: then the index answers. Not always.
    let until = Instant::now() + Duration::from_secs(60);
    let mut n = 0;
    while hooked(&lab, &format!("s{n}"), "cli").1 != "cli" {
        assert!(Instant::now() < until, "{:#?}", lab.calls());
        n += 1;
    }
    // By now the service watches the notes, and keeps contexts of them: but not what a program said.
    for n in 0..10 {
        let n_calls = lab.calls().len();
        hooked(&lab, &format!("again{n}"), "cli");
        assert!(lab.calls().len() > n_calls);
    }
}
