//! `kgctx check`: from a checkout to a report, with real repositories.

mod action;
mod cost;
mod growth;
mod messages;
mod real_session;
mod reports;
mod reproducible;
mod rules;
mod sessions;
mod unusual_files;
mod writes;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::{Scratch, git, stderr};

/// The time of the first commit, and of a day.
const START: u64 = 1_780_000_000;
const DAY: u64 = 86_400;

/// A check knows no environment, so the ranking is set in the repository.
const BY_FREQUENCY: &str = "rank = \"frequency\"\n";

/// A scratch place with a repository called `atlas`.
struct Lab {
    scratch: Scratch,
}

impl Lab {
    fn new() -> Lab {
        let lab = Lab { scratch: Scratch::new() };
        fs::create_dir(lab.top()).unwrap();
        git(&lab.top(), &["init", "-q"]);
        lab
    }

    /// One with some notes, of which one was written a day after the others.
    fn with_notes() -> Lab {
        let lab = Lab::new();
        lab.note("atlas", "Serves map tiles with the [[renderer]] and the [[tile cache]].");
        lab.note("renderer", "The [[renderer]] turns [[vector data]] into tiles for atlas.");
        lab.commit("the first notes", 0);
        lab.note("tile-cache", "The [[tile cache]] of atlas keeps tiles by [[zoom level]].");
        lab.commit("another note", 2 * DAY);
        lab
    }

    /// The same, ranked by frequency.
    fn by_frequency() -> Lab {
        let lab = Lab::with_notes();
        lab.write("kgctx.toml", BY_FREQUENCY);
        lab
    }

    fn top(&self) -> PathBuf {
        self.scratch.path().join("atlas")
    }

    fn write(&self, path: &str, text: &str) {
        self.scratch.write(&format!("atlas/{path}"), text);
    }

    fn note(&self, name: &str, text: &str) {
        self.write(&format!(".kgctx/memory/{name}.md"), &format!("# {name}\n\n{text}\n"));
    }

    /// Commits everything, so many seconds after the start.
    fn commit(&self, message: &str, after: u64) {
        commit(&self.top(), message, after);
    }

    fn kgctx(&self, arguments: &[&str]) -> Command {
        let mut command = self.scratch.kgctx(["check"]);
        command.args(arguments).current_dir(self.top());
        command
    }

    /// Checks, and returns exit code and report.
    #[track_caller]
    fn check(&self, arguments: &[&str]) -> (i32, Value) {
        let output = self.kgctx(arguments).args(["--format", "json"]).output().unwrap();
        assert_eq!(stderr(&output), "");
        (output.status.code().unwrap(), serde_json::from_slice(&output.stdout).unwrap())
    }

    /// Checks, and expects that to be impossible.
    #[track_caller]
    fn refused(&self, arguments: &[&str]) -> (i32, String) {
        let output = self.kgctx(arguments).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "");
        (output.status.code().unwrap(), stderr(&output))
    }
}

fn commit(top: &Path, message: &str, after: u64) {
    git(top, &["add", "--all"]);
    let at = format!("{} +0000", START + after);
    let output = Command::new("git")
        .args(["-c", "user.name=Test", "-c", "user.email=test@example.com"])
        .args(["-c", "commit.gpgsign=false", "commit", "-q", "--allow-empty", "-m", message])
        .current_dir(top)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .envs([("GIT_COMMITTER_DATE", &at), ("GIT_AUTHOR_DATE", &at)])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
}

/// The names of entries of a part.
fn names(entries: &Value, part: &str) -> Vec<String> {
    let entries = entries.as_array().unwrap().iter().filter(|entry| entry["part"] == part);
    entries.map(|entry| entry["name"].as_str().unwrap().to_owned()).collect()
}

/// What was found of the core's own rules, as `path:line:column rule: message`.
fn findings(report: &Value) -> Vec<String> {
    let of_core = |rule: &str| {
        rule.starts_with("budget-") || matches!(rule, "unstable-output" | "config-unknown-key")
    };
    let findings = report["findings"].as_array().unwrap().iter();
    findings
        .filter(|finding| of_core(finding["rule"].as_str().unwrap()))
        .map(|finding| {
            let spot = &finding["spot"];
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            format!(
                "{}:{}:{} {}: {}",
                text(&spot["path"]),
                spot["line"],
                spot["column"],
                text(&finding["rule"]),
                text(&finding["message"])
            )
        })
        .collect()
}

fn remarks(report: &Value) -> Vec<&str> {
    report["remarks"].as_array().unwrap().iter().map(|remark| remark.as_str().unwrap()).collect()
}
