//! The main path on every system, Windows too: what a user does in the first hour, with the real program in an empty home. The fast tier looks
//! closer, and needs Unix.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say where")]
#![expect(clippy::disallowed_methods, reason = "tests set up the outside world themselves")]

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// A project with notes and git's files, and a home that has never seen kgctx.
struct Lab(TempDir);

impl Lab {
    fn new() -> Lab {
        let lab = Lab(tempfile::tempdir().unwrap());
        lab.write("home/.claude/settings.json", "{\"model\": \"opus\"}\n");
        lab.write("harbour/.git/HEAD", "ref: refs/heads/main\n");
        for folder in ["objects", "refs"] {
            fs::create_dir(lab.path("harbour/.git").join(folder)).unwrap();
        }
        lab.write(
            "harbour/docs/tides/gauge.md",
            "# Gauge\n\nThe [[Tide Gauge]] floats in a [[Well]].\n",
        );
        lab.write("harbour/docs/pilots.md", "# Pilots\n\nPilots read the [[Tide Gauge]] twice.\n");
        lab
    }

    fn path(&self, path: &str) -> PathBuf {
        path.split('/').fold(self.0.path().to_path_buf(), |folder, name| folder.join(name))
    }

    fn write(&self, path: &str, text: &str) {
        let file = self.path(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    /// The program in the project, with nothing of this machine's but what a system itself needs.
    fn kgctx(&self, arguments: &[&str], input: &str) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kgctx"));
        command.args(arguments).current_dir(self.path("harbour")).env_clear();
        command.env("HOME", self.path("home")).env("USERPROFILE", self.path("home"));
        for name in ["PATH", "SYSTEMROOT", "TEMP"] {
            command.envs(std::env::var_os(name).map(|value| (name, value)));
        }
        command.env("CLAUDECODE", "1").env("CLAUDE_CODE_ENTRYPOINT", "cli");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A command that reads nothing may have ended already.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        child.wait_with_output().unwrap()
    }

    fn run(&self, arguments: &[&str]) -> String {
        self.given(arguments, "")
    }

    fn given(&self, arguments: &[&str], input: &str) -> String {
        let output = self.kgctx(arguments, input);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.run(arguments)).unwrap()
    }

    /// What Claude Code's hook answers at an event of a session.
    fn hook(&self, event: &str, session: &str, more: Value) -> String {
        let mut told =
            json!({"hook_event_name": event, "session_id": session, "cwd": self.path("harbour")});
        told.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let output = self.kgctx(&["hook", "claude-code"], &told.to_string());
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }
}

#[test]
fn notes_have_addresses_with_slashes() {
    let lab = Lab::new();
    assert!(lab.run(&["index"]).contains("2 changed"));
    let found = lab.json(&["search", "floats", "--json"]);
    assert_eq!(found["results"][0]["uri"], "memory://docs/tides/gauge", "{found:#}");
    let file = PathBuf::from("docs").join("tides").join("gauge.md");
    let path = found["results"][0]["path"].as_str().unwrap();
    assert!(path.ends_with(file.to_str().unwrap()), "{path}");
    assert!(lab.run(&["recent"]).contains("memory://docs/tides/gauge"));
    assert!(lab.run(&["context", "Tide Gauge"]).contains("[[well]]"));
    let own = ["docs", "tides", "gauge.md"].iter().collect::<PathBuf>();
    for name in ["memory://docs/tides/gauge", "docs/tides/gauge.md", own.to_str().unwrap()] {
        assert!(lab.run(&["read", name]).contains("floats in a"), "{name}");
    }
    // A changed note is found at once, and one that is gone is not.
    lab.write("harbour/docs/tides/gauge.md", "# Gauge\n\nIt sank at the lighthouse.\n");
    assert!(lab.run(&["search", "lighthouse"]).contains("memory://docs/tides/gauge"));
    fs::remove_file(lab.path("harbour/docs/pilots.md")).unwrap();
    assert!(!lab.run(&["recent"]).contains("pilots"));
    // With other settings, a new index takes the place of the one in use.
    lab.write("harbour/kgctx.toml", "max_file_bytes = 100000\n");
    assert!(lab.run(&["index"]).contains("1 changed"));
    assert!(lab.run(&["search", "lighthouse"]).contains("memory://docs/tides/gauge"));
}

#[test]
fn a_session_gets_its_context_and_what_the_last_one_left() {
    let lab = Lab::new();
    assert!(lab.run(&["inject", "--session", "dry", "--dry-run"]).contains("Tide Gauge"));
    lab.run(&["install", "claude-code"]);
    lab.write("harbour/src/gauge.rs", "fn gauge() {}\n");
    let document =
        "---\ngoal: mend the gauge\nfiles: [src/gauge.rs]\n---\n\n## Next\n\nOil the float.\n";
    let created = lab.given(&["handoff", "create", "--json"], document);
    let created: Value = serde_json::from_str(&created).unwrap();
    let id = created["id"].as_str().unwrap();
    assert!(lab.run(&["handoff", "list"]).contains(id));
    assert!(lab.run(&["handoff", "show", id]).contains("Oil the float."));
    let reply = lab.hook("SessionStart", "first", json!({"source": "startup"}));
    assert!(reply.contains("Oil the float.") && reply.contains("Tide Gauge"), "{reply}");
    assert!(
        !lab.hook("SessionStart", "second", json!({"source": "startup"}))
            .contains("Oil the float.")
    );
    let next = lab.given(&["handoff", "create", "--json"], document);
    let next: Value = serde_json::from_str(&next).unwrap();
    let picked = lab.run(&["handoff", "pickup", next["id"].as_str().unwrap()]);
    assert!(picked.contains("Oil the float.") && picked.contains("fn gauge() {}"), "{picked}");
    assert_eq!(lab.hook("SessionEnd", "first", json!({"reason": "other"})), "");
}

#[test]
fn nothing_outside_of_the_project_is_listed() {
    let lab = Lab::new();
    lab.write("outside.md", "far away");
    let outside = lab.path("outside.md");
    for file in ["../outside.md", outside.to_str().unwrap()] {
        let document = format!("---\ngoal: look\nfiles: [{}]\n---\n\ntext\n", json!(file));
        let created = lab.given(&["handoff", "create", "--json"], &document);
        let created: Value = serde_json::from_str(&created).unwrap();
        let picked = lab.run(&["handoff", "pickup", created["id"].as_str().unwrap()]);
        assert!(!picked.contains("far away"), "{picked}");
    }
}

#[test]
fn it_is_set_up_looked_after_and_removed() {
    let lab = Lab::new();
    let settings = lab.read("home/.claude/settings.json");
    assert!(lab.run(&["init", "--yes"]).contains("docs"));
    assert!(lab.run(&["config"]).contains("token_limit"));
    assert!(lab.run(&["doctor"]).contains("docs"));
    lab.run(&["check"]);
    lab.run(&["install", "claude-code"]);
    let with: Value = serde_json::from_str(&lab.read("home/.claude/settings.json")).unwrap();
    let command = with["hooks"]["SessionStart"][0]["hooks"][0]["command"].as_str().unwrap();
    assert!(command.ends_with(" hook claude-code") && !command.contains('\\'), "{command}");
    assert!(lab.run(&["doctor"]).contains("Claude Code"));
    lab.run(&["uninstall", "claude-code"]);
    assert_eq!(lab.read("home/.claude/settings.json"), settings);
    let left = fs::read_dir(lab.path("home/.claude")).unwrap().count();
    assert_eq!(left, 1, "nothing of ours is left");
}

#[cfg(windows)]
#[test]
fn what_does_not_work_on_windows_says_so() {
    let lab = Lab::new();
    for arguments in [&["serve"][..], &["wrap", "--", "cmd"]] {
        let output = lab.kgctx(arguments, "");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(
            !output.status.success() && said.contains("does not work on Windows yet"),
            "{said}"
        );
    }
}

/// Junctions need no right that a user lacks.
#[cfg(windows)]
#[test]
fn a_junction_leads_to_no_note() {
    let lab = Lab::new();
    lab.write("elsewhere/far.md", "# Far\n\nfar away\n");
    let (link, target) = (lab.path("harbour/docs/linked"), lab.path("elsewhere"));
    let made = Command::new("cmd").args(["/c", "mklink", "/J"]).arg(&link).arg(&target).status();
    if made.unwrap().success() && !link.join("far.md").is_file() {
        assert!(std::env::var_os("WINEPREFIX").is_some(), "only Wine makes none");
        return;
    }
    lab.run(&["index"]);
    assert!(!lab.run(&["recent"]).contains("far"));
    lab.write("harbour/src/x.rs", "");
    let document = "---\ngoal: look\nfiles: [docs/linked/far.md]\n---\n\ntext\n";
    let created = lab.given(&["handoff", "create", "--json"], document);
    let created: Value = serde_json::from_str(&created).unwrap();
    let picked = lab.run(&["handoff", "pickup", created["id"].as_str().unwrap()]);
    assert!(!picked.contains("far away"), "{picked}");
}
