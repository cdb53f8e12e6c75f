//! The stand-in for maenifold, held against what was read at maenifold's source: other tests trust it.

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

use crate::support::vault_generator;
use crate::support::{Scratch, maenifold};

mod failures;
mod rules;
mod samples;

/// The afternoon of the samples.
const NOW: &str = "2026-02-20T15:00:00Z";
/// The same in seconds.
const NOW_SECONDS: u64 = 1_771_599_600;
const DAY: u64 = 86_400;

const AUTH_NOTE: &str = "---\ntitle: Auth Note\n---\n\n# Auth Note\n\n## Decision\n\nUsing [[OAuth2]] for \
     [[authentication]] in [[kgctx]].\n\n## Next\n\nWire [[session-management]].\n";
const RAG_PATTERNS: &str = "---\ntitle: RAG Patterns\n---\n\n# RAG Patterns\n\nHybrid search for [[authentication]] plus \
     [[graph-rag]].\n";

/// A data root of maenifold.
struct Root {
    scratch: Scratch,
}

impl Root {
    fn fresh() -> Root {
        Root { scratch: Scratch::new() }
    }

    /// The two notes that the samples speak of, of 56 minutes and of ten days ago.
    fn of_the_samples() -> Root {
        let root = Root::fresh();
        root.write("tech/auth-note.md", AUTH_NOTE, 56 * 60);
        root.write("rag-patterns.md", RAG_PATTERNS, 10 * DAY);
        root
    }

    fn path(&self) -> PathBuf {
        self.scratch.path().join("root")
    }

    fn write(&self, note: &str, text: &str, seconds_ago: u64) {
        let path = self.path().join("memory").join(note);
        let name = path.file_name().unwrap().to_str().unwrap();
        vault_generator::write(path.parent().unwrap(), name, text, NOW_SECONDS - seconds_ago);
    }

    /// The program, about to run.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(maenifold());
        command.args(arguments).env_clear().env("MAENIFOLD_ROOT", self.path());
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("STAND_IN_NOW", NOW).env("TZ", "UTC");
        command
    }

    /// What it says, with variables that ask for something else.
    fn told(&self, variables: &[(&str, &str)], arguments: &[&str]) -> String {
        let output = self.output(variables, arguments);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn output(&self, variables: &[(&str, &str)], arguments: &[&str]) -> Output {
        self.command(arguments).envs(variables.iter().copied()).output().unwrap()
    }

    /// What a tool says as text.
    fn text(&self, tool: &str, payload: &str) -> String {
        self.told(&[], &["--tool", tool, "--payload", payload])
    }

    /// What a tool says when it is asked for JSON.
    fn json(&self, tool: &str, payload: &str) -> String {
        self.told(&[], &["--tool", tool, "--payload", payload, "--json"])
    }

    fn sync(&self) -> String {
        self.text("Sync", "{}")
    }

    /// What a question to the database returns, row by row in one column.
    fn ask(&self, question: &str) -> Vec<String> {
        let database = rusqlite::Connection::open(self.path().join("memory.db")).unwrap();
        let mut statement = database.prepare(question).unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    }

    fn change(&self, statements: &str) {
        let database = rusqlite::Connection::open(self.path().join("memory.db")).unwrap();
        database.execute_batch(statements).unwrap();
    }
}

/// The titles of a search, in their order.
fn titles(envelope: &str) -> Vec<String> {
    let envelope: Value = serde_json::from_str(envelope).unwrap();
    let results = envelope["data"]["results"].as_array().unwrap();
    results.iter().map(|result| result["title"].as_str().unwrap().to_owned()).collect()
}
