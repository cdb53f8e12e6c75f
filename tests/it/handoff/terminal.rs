//! `kgctx handoff` on a real terminal, which `script` provides: what is shown there, and the editor.

use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::support::handoff_project::{Project, Said, said};
use crate::support::skips::skipped;

impl Project {
    /// Runs `kgctx handoff` on a terminal; `None` where there is nothing to make one with.
    fn on_terminal(&self, arguments: &str, editor: &str) -> Option<Said> {
        if Command::new("script").arg("--version").output().is_err() {
            skipped("no `script` to make a terminal with");
            return None;
        }
        let program = env!("CARGO_BIN_EXE_kgctx");
        let line = format!("'{program}' handoff {arguments}");
        let mut command = Command::new("script");
        command.args(["-qec", &line, "/dev/null"]).current_dir(self.path()).env_clear();
        command.env("HOME", self.scratch.home()).env("EDITOR", editor).env("SHELL", "/bin/sh");
        command.env("KGCTX_HOME", self.scratch.path().join("kgctx-home"));
        command.env("TMPDIR", self.scratch.home()).env("TERM", "xterm");
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        let mut said = said(&command.stdin(Stdio::null()).output().unwrap());
        said.out = said.out.replace("\r\n", "\n");
        Some(said)
    }

    /// An editor that does something to its file.
    fn editor(&self, work: &str) -> String {
        let path = self.scratch.write("editor.sh", format!("#!/bin/sh\n{work}\n"));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

const HOSTILE: &str = "\u{1b}[2J\u{1b}]0;title\u{7}\u{9b}31m\u{8}\u{202e}";

#[test]
fn p_3_33_nothing_that_somebody_wrote_steers_a_terminal() {
    // P-3.33
    let project = Project::new();
    project.write("hostile.txt", format!("content {HOSTILE} end\n"));
    let header = json!({
        "kind": "task", "goal": format!("goal {HOSTILE}"), "next_step": HOSTILE, "priority": "high",
        "files": ["hostile.txt", format!("gone {HOSTILE}")], "git_ref": HOSTILE,
    });
    let session = format!("ses {HOSTILE}");
    let id = project.leave(&session, &format!("{header}\nbody {HOSTILE} end\n"));
    let quoted = format!("--session \"$(printf '{}')\"", r"\033[2J\007");
    for arguments in [
        "list".to_owned(),
        "list --fields goal,session_id".to_owned(),
        format!("show {id}"),
        "log".to_owned(),
        format!("reconcile {id}"),
        format!("pickup {id} {quoted}"),
        format!("pickup {id}"),
        "list".to_owned(),
        format!("export {id}"),
        r#"archive "$(printf 'x\033[2J')""#.to_owned(),
        r#"list --fields "$(printf 'x\033[2J')""#.to_owned(),
        r#"create "$(printf 'x\033[2J')""#.to_owned(),
        r#"list --channel "$(printf 'x\033[2J')""#.to_owned(),
    ] {
        let Some(said) = project.on_terminal(&arguments, "true") else { return };
        // Our own colours are the only ones.
        let mut shown = said.out.replace("\u{1b}[0m", "");
        for ours in ["1", "2", "32", "33", "1;31"] {
            shown = shown.replace(&format!("\u{1b}[{ours}m"), "");
        }
        let is_control = |c: char| c.is_control() && c != '\n' && c != '\t' || c == '\u{202e}';
        assert!(!shown.contains(is_control), "{arguments}: {shown:?}");
        assert!(!shown.trim().is_empty(), "{arguments}");
    }
    // Elsewhere a text is as it was written.
    let shown = project.done(["show", &id]);
    assert!(shown.ends_with(&format!("body {HOSTILE} end\n")), "{shown:?}");
}

#[test]
fn an_editor_is_opened_where_nothing_is_piped() {
    let project = Project::new();
    let editor = project
        .editor("cp \"$2\" seen; test \"$1\" = --wait && printf 'Left by an editor\\n' > \"$2\"");
    let Some(said) = project.on_terminal("create", &format!("{editor} --wait")) else { return };
    assert_eq!(said.code, 0, "{}", said.out);
    assert!(project.done(["show"]).ends_with("---\nLeft by an editor\n"));
    let template = std::fs::read_to_string(project.path().join("seen")).unwrap();
    assert!(template.contains("## Next steps"), "{template}");
    let leftovers = || std::fs::read_dir(project.scratch.home()).unwrap().count();
    assert_eq!(leftovers(), 0);
    // Whoever changes nothing, or empties the file, or gives up, leaves nothing.
    for work in ["true", ": > \"$1\"", "false"] {
        let said = project.on_terminal("create", &project.editor(work)).unwrap();
        assert_eq!(said.code, 2, "{work}: {}", said.out);
        assert_eq!((project.documents().len(), leftovers()), (1, 0), "{work}");
    }
    let said = project.on_terminal("create", "/no/such/editor").unwrap();
    assert!(said.out.contains("the editor /no/such/editor failed: "), "{}", said.out);
}

#[test]
fn what_was_written_in_an_editor_is_not_lost_when_it_is_refused() {
    let project = Project::new();
    let editor = project.editor("printf -- '---\\nkind: task\\n---\\nAn hour of work\\n' > \"$1\"");
    let Some(said) = project.on_terminal("create", &editor) else { return };
    assert_eq!(said.code, 2);
    assert!(said.out.contains("a task needs goal and next_step"), "{}", said.out);
    let (_, path) = said.out.trim_end().rsplit_once("kgctx handoff create ").unwrap();
    assert!(std::fs::read_to_string(path).unwrap().ends_with("An hour of work\n"));
    project.done(["create", "--goal", "g", "--next", "n", path]);
}

#[test]
fn a_handoff_that_waits_for_another_process_says_so() {
    let project = Project::new();
    project.leave("first", "{\"goal\": \"first\", \"next_step\": \"go\"}\n");
    let state =
        rusqlite::Connection::open(project.scratch.path().join("kgctx-home/state/state.db"));
    let state = state.unwrap();
    state.execute_batch("BEGIN IMMEDIATE").unwrap();
    let Some(said) = project.on_terminal("create --goal g --next n", "true") else { return };
    assert_eq!(said.code, 3, "{said:?}");
    assert!(said.out.contains("Waiting for another process"), "{said:?}");
    let expected = "another process is writing kgctx's state; try again in a moment";
    assert!(said.out.contains(expected), "{said:?}");
    assert!(!said.out.contains("database is locked"), "{said:?}");
}
