//! The real Copilot CLI beside the real Claude Code, on one throw-away machine without a model and without a network. It
//! runs the hooks of a trusted project's Claude Code settings, as `kgctx install claude-code --project` writes them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::claude_code::lab::{Lab, program_of};
use crate::support::skips::skipped;

/// The version with which its events were recorded. Installing it is `.ci/copilot`'s work.
const VERSION: &str = "1.0.102";
const CANARY: &str = "CANARY-7f3a";
const BANNER: &str = "=== HANDOFF LOADED";

/// The program, if it can be had.
fn program() -> Option<PathBuf> {
    let mut command = Command::new("bash");
    command.args([".ci/copilot", VERSION]).current_dir(env!("CARGO_MANIFEST_DIR"));
    let output = command.output().unwrap();
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr).into_owned();
        skipped(&format!("no Copilot CLI {VERSION}: {why}"));
        return None;
    }
    Some(PathBuf::from(String::from_utf8(output.stdout).unwrap().trim()))
}

/// A project with a note, the hooks of `install claude-code --project`, and handoffs that are for any session.
fn lab() -> Lab {
    let lab = Lab::with_kgctx(None, &["install", "claude-code", "--project"]);
    lab.scratch.write("kgctx-home/config.toml", "[handoff]\naudience = \"any\"\n");
    fs::create_dir(lab.project().join("docs")).unwrap();
    let note = format!("# App\n\n{CANARY} is [[Here]].\n");
    fs::write(lab.project().join("docs/a.md"), note).unwrap();
    lab
}

/// Runs a prompt in Copilot CLI. Returns all that it printed, and the texts of its requests.
fn prompt(lab: &Lab, program: &Path, variables: &[(&str, &str)]) -> (String, Vec<String>) {
    let mut command = lab.command(program);
    command.envs(variables.iter().copied());
    command.args(["--trust-folder", "-p", "hello"]);
    command.env("COPILOT_OFFLINE", "true").env("COPILOT_MODEL", "gpt-4.1");
    let url = format!("{}/v1", lab.model.url());
    command.env("COPILOT_PROVIDER_BASE_URL", url).env("COPILOT_PROVIDER_API_KEY", "none");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let printed = [output.stdout, output.stderr].concat();
    (String::from_utf8(printed).unwrap(), lab.model.told())
}

fn handoff(lab: &Lab, id: &str) -> Value {
    serde_json::from_str(&lab.type_kgctx(&["handoff", "show", "--json", id])).unwrap()
}

/// What Copilot CLI wrote down about its sessions, hooks included.
fn hook_events(lab: &Lab) -> String {
    let sessions = lab.scratch.home().join(".copilot/session-state");
    let folders = fs::read_dir(sessions).unwrap().flatten();
    let events = folders.map(|folder| fs::read_to_string(folder.path().join("events.jsonl")));
    events.map(Result::unwrap_or_default).collect()
}

/// Leaves a handoff, and returns its id.
fn leave(lab: &Lab) -> String {
    let create = ["handoff", "create", "--json", "--goal", "GOAL", "--next", "NEXT"];
    let created: Value = serde_json::from_str(&lab.type_kgctx(&create)).unwrap();
    created["id"].as_str().unwrap().to_owned()
}

#[test]
fn copilot_and_claude_code_in_one_project_get_what_they_honour() {
    let Some(program) = program() else { return };
    let lab = lab();
    let id = &leave(&lab);

    let (printed, requests) = prompt(&lab, &program, &[]);
    let [request] = requests.as_slice() else { panic!("{} requests", requests.len()) };
    assert_eq!(request.matches(CANARY).count(), 1, "its notes, once");
    assert!(!request.contains(BANNER) && !request.contains("GOAL"), "and no handoff");
    assert!(printed.starts_with("MOCK-REPLY"), "{printed}");
    for ours in ["kgctx", "Usage", "additionalContext", CANARY] {
        assert!(!printed.contains(ours), "{ours} is printed into the session: {printed}");
    }
    assert_eq!(handoff(&lab, id)["status"], "active");
    let events = hook_events(&lab);
    assert_eq!(events.matches("\"hook.start\"").count(), 3, "the hooks are run: {events}");
    assert!(!events.contains("\"success\":false"), "{events}");

    // Claude Code is given it, in the same project and by the same hooks.
    assert_eq!(lab.run(&["-p", "hello"]).trim(), "MOCK-REPLY");
    let told = lab.model.told();
    let [request] = told.as_slice() else { panic!("{} requests", told.len()) };
    assert_eq!((request.matches(CANARY).count(), request.matches(BANNER).count()), (1, 1));
    assert_eq!(handoff(&lab, id)["status"], "consumed");

    // Once: neither of them sees it again.
    let (_, requests) = prompt(&lab, &program, &[]);
    assert!(requests.len() == 1 && !requests[0].contains(BANNER));
    lab.run(&["-p", "hello"]);
    assert!(!lab.model.told()[0].contains(BANNER));
    let left = lab.type_kgctx(&["handoff", "list", "--all", "--json"]);
    let left: Value = serde_json::from_str(&left).unwrap();
    assert_eq!(left["handoffs"].as_array().unwrap().len(), 1, "no end left another one");
}

/// Either of them may run in a shell of the other's agent, with the variables that are set there.
#[test]
fn each_is_recognised_in_a_shell_of_the_other() {
    let Some(program) = program() else { return };
    let lab = lab();
    let id = leave(&lab);
    let in_claude_code = [
        ("CLAUDECODE", "1"),
        ("CLAUDE_CODE_SESSION_ID", "outer"),
        ("AI_AGENT", "claude-code_2-1-325_agent"),
    ];
    let (_, requests) = prompt(&lab, &program, &in_claude_code);
    assert!(requests.len() == 1 && requests[0].contains(CANARY) && !requests[0].contains(BANNER));
    assert_eq!(handoff(&lab, &id)["status"], "active");
    for version in ["2.1.325", "2.1.138"] {
        let id = leave(&lab);
        let mut claude = lab.command(&program_of(version));
        claude.env("COPILOT_CLI", "1").env("COPILOT_AGENT_SESSION_ID", "outer");
        lab.run_command(claude, &["-p", "hello"], "");
        let told = lab.model.told();
        assert!(told.len() == 1 && told[0].contains(BANNER), "{version}");
        assert_eq!(handoff(&lab, &id)["status"], "consumed", "{version}");
    }
}

#[test]
fn hooks_of_an_older_kgctx_print_nothing_into_copilots_sessions() {
    let Some(program) = program() else { return };
    let lab = lab();
    let file = lab.project().join(".claude/settings.local.json");
    let written = fs::read_to_string(&file).unwrap();
    // Copilot CLI ignores the arguments, and runs `kgctx` alone.
    let exec = "\"kgctx\", \"args\": [\"hook\", \"claude-code\"]";
    let exec = written.replace("\"kgctx hook claude-code\"", exec);
    assert_ne!(exec, written);
    fs::write(&file, exec).unwrap();
    let (printed, requests) = prompt(&lab, &program, &[]);
    assert!(requests.len() == 1 && !requests[0].contains("kgctx"), "{requests:#?}");
    assert!(printed.starts_with("MOCK-REPLY") && !printed.contains("kgctx"), "{printed}");
    let events = hook_events(&lab);
    assert!(events.contains("\"hook.start\"") && !events.contains("\"success\":false"), "{events}");
}
