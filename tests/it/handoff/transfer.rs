//! Handoffs of other tools: taken in, written for them, and Amplifier's hook.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::handoff_project::{Project, Said, fed};
use crate::support::valid;

const SECTIONS: &str = "## Accomplished\n\nTiles are drawn.\n";

/// What Amplifier's own hook writes.
fn amplifier_text(session: &str, day: u32) -> String {
    format!(
        "---\nsession_id: {session}\ntimestamp: 2026-02-{day:02}T10:11:12.123456+00:00\nproject: atlas\n\
         duration_turns: 7\nfiles_changed:\n  []\n---\n\n{SECTIONS}"
    )
}

impl Project {
    /// Leaves a handoff as Amplifier does, below a folder of its projects.
    fn amplified(&self, projects: &str, slug: &str, session: &str, text: &str) -> PathBuf {
        self.scratch.write(&format!("{projects}/{slug}/sessions/{session}/handoff.md"), text)
    }

    /// The slug that Amplifier's command line makes of the project's whole path.
    fn path_slug(&self) -> String {
        self.path().to_string_lossy().replace('/', "-")
    }

    /// Tells Amplifier's hook something.
    fn hook(&self, event: impl AsRef<[u8]>) -> Value {
        let mut command = self.scratch.kgctx(["hook", "amplifier"]);
        command.current_dir(self.path());
        let Said { code, out, err } = fed(command, event.as_ref());
        assert_eq!((code, err.as_str()), (0, ""));
        assert_eq!(out.lines().count(), 1, "{out}");
        serde_json::from_str(&out).unwrap()
    }

    #[track_caller]
    fn imported(&self, variables: &[(&str, &Path)]) -> Value {
        let mut command = self.command(["import", "--amplifier", "--json"]);
        command.envs(variables.iter().copied());
        let imported = serde_json::from_str(&fed(command, b"").done()).unwrap();
        valid("handoff-import", &imported);
        imported
    }
}

#[test]
fn h_0_12_amplifiers_folder_is_where_its_variables_say() {
    // H-0.12: for reading and for writing.
    let project = Project::new();
    for (n, projects) in ["home/.amplifier/projects", "amp/projects", "other"].iter().enumerate() {
        let session = format!("s{n}");
        project.amplified(projects, "atlas", &session, &amplifier_text(&session, 1));
    }
    let amplifier_home = project.scratch.path().join("amp");
    let projects = project.scratch.path().join("other");
    let both = [("AMPLIFIER_HOME", &*amplifier_home), ("AMPLIFIER_PROJECTS_DIR", &*projects)];
    let sources = |variables: &[(&str, &Path)]| {
        let imported = project.imported(variables)["imported"].as_array().unwrap().clone();
        let ids = imported.iter().map(|one| one["source_id"].as_str().unwrap().to_owned());
        ids.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>()
    };
    // Its command line keeps its sessions in the home folder, whatever they say.
    assert_eq!(sources(&both), ["s0", "s2"]);
    assert_eq!(sources(&both[..1]), ["s1"]);
    assert_eq!(sources(&[]), Vec::<String>::new());
    let id = project.leave("mine", "text");
    for (variables, below) in [
        (&both[..], projects.clone()),
        (&both[..1], amplifier_home.join("projects")),
        (&[], project.scratch.home().join(".amplifier/projects")),
    ] {
        let mut command = project.command(["export", "--amplifier", &id]);
        command.envs(variables.iter().copied());
        let written = below.join("atlas/sessions/mine/handoff.md");
        assert_eq!(fed(command, b"").done(), format!("written: {}\n", written.display()));
        assert!(fs::read_to_string(written).unwrap().ends_with("\n---\n\ntext"));
    }
}

#[test]
fn h_0_13_a_project_is_called_as_its_folder() {
    // H-0.13
    let project = Project::new();
    let linked = project.scratch.path().join("linked");
    symlink(project.path(), &linked).unwrap();
    let id = project.leave("mine", "text");
    let trailing = format!("{}/", linked.display());
    for folder in [trailing.as_str(), "src", "."] {
        let out = project.done(["export", "--amplifier", &id, "--dir", folder]);
        assert!(out.contains("/projects/atlas/sessions/mine/handoff.md"), "{folder}: {out}");
    }
    // Where there is no folder, there is no name.
    let mut command = project.command(["create", "--body", "x", "--session", "rootless"]);
    assert!(command.current_dir("/").output().unwrap().status.success());
    let mut command = project.command(["export", "--amplifier"]);
    let out = fed(
        {
            command.current_dir("/");
            command
        },
        b"",
    )
    .done();
    assert!(out.contains("/projects/unknown/sessions/rootless/handoff.md"), "{out}");
}

#[test]
fn h_0_14_both_layouts_of_amplifier_are_read() {
    // H-0.14, H-0.15
    let project = Project::new();
    let projects = "home/.amplifier/projects";
    project.amplified(projects, "atlas", "short", &amplifier_text("short", 2));
    project.amplified(projects, &project.path_slug(), "whole", &amplifier_text("whole", 3));
    project.amplified(projects, "another", "foreign", &amplifier_text("foreign", 4));
    let silent = format!(
        "---\nproject: atlas\nduration_minutes: 12\nfiles_changed:\n  - a b.rs\n---\n{SECTIONS}"
    );
    project.amplified(projects, "atlas", "untold", &silent);
    let imported = project.imported(&[]);
    assert_eq!((&imported["warnings"], &imported["failed"]), (&json!([]), &json!([])), "H-0.15");
    let sources: Vec<_> =
        imported["imported"].as_array().unwrap().iter().map(|one| &one["source_id"]).collect();
    assert_eq!(sources, ["short", "whole", "untold"], "the oldest first");
    let shown = |n: usize| {
        let id = imported["imported"][n]["id"].as_str().unwrap();
        project.json("handoff-show", &["show", "--json", id])
    };
    let whole = shown(1);
    assert_eq!([&whole["session_id"], &whole["source_id"]], ["whole", "whole"]);
    let document = &whole["document"];
    valid("handoff", document);
    assert_eq!(document["created_at"], "2026-02-03T10:11:12.123456Z");
    assert_eq!(
        [&document["project"], &document["type"], &document["consume"]],
        ["atlas", "end", "sticky"]
    );
    assert_eq!([&document["duration_turns"], &document["files_changed"]], [&json!(7), &json!([])]);
    assert_eq!(whole["body"].as_str().unwrap().trim_start(), SECTIONS);
    let untold = shown(2);
    assert_eq!(untold["document"]["files_changed"], json!(["a b.rs"]));
    assert_eq!([&untold["session_id"], &untold["status"]], ["untold", "active"]);
    // What was taken in is not taken in again.
    let again = project.imported(&[]);
    assert_eq!((&again["imported"], &again["known"]), (&json!([]), &json!(3)));
    insta::assert_snapshot!(project.done(["import", "--amplifier"]), @"0 handoffs imported; 3 known already");
}

#[test]
fn h_0_15_what_amplifier_writes_comes_back_as_it_was() {
    // H-0.15
    let project = Project::new();
    let projects = "home/.amplifier/projects";
    let path = project.amplified(projects, "atlas", "amp-1", &amplifier_text("amp-1", 2));
    let id = project.imported(&[])["imported"][0]["id"].as_str().unwrap().to_owned();
    let other = project.scratch.path().join("other");
    let mut command = project.command(["export", "--amplifier", &id]);
    let out = fed(
        {
            command.env("AMPLIFIER_PROJECTS_DIR", &other);
            command
        },
        b"",
    )
    .done();
    let written = fs::read_to_string(out.trim_end().strip_prefix("written: ").unwrap()).unwrap();
    insta::assert_snapshot!("amplifier_handoff", written);
    // What another program has written there is not replaced.
    let before = fs::read(&path).unwrap();
    let message = project.say(["export", "--amplifier", &id]).refused(3);
    assert!(message.contains("is already there, with other content"), "{message}");
    assert_eq!(fs::read(&path).unwrap(), before);
    // Nor does a session's name lead anywhere else.
    let hostile = project.leave("../../../victim", "x");
    let message = project.say(["export", "--amplifier", &hostile]).refused(3);
    assert!(message.contains("is not the name of a single folder"), "{message}");
}

#[test]
fn p_3_5_files_with_any_header_are_taken_in() {
    // P-3.2, P-3.4, P-3.5, P-3.24
    let project = Project::new();
    let write =
        |name: &str, text: &[u8]| project.scratch.write(name, text).to_str().unwrap().to_owned();
    let files = [
        write("2026-01-13_08-01-05.md", b"---\npriority: high\nkind: task\ntags: [a]\nbranch: b\n---\nThird\n"),
        write("a/handoff.md", b"<!-- HANDOFF-ID: HO-20260202-064530-c74cc080 -->\n<!-- CREATED: 2026-02-02T06:45:30Z -->\nFirst\n"),
        write("b/handoff.md", b"---\nfiles: a\ntags: [b, 7, {}]\n---\nOdd\n"),
        write("c/handoff.md", b"---\ngoal: [\n---\nMalformed\n"),
        write("d/empty.md", b" \n"),
        write("e/latin.md", b"Gr\xf6\xdfe"),
        write("f/gone.md", b""),
        write("g/long.md", "x".repeat(1024 * 1024 - 10).as_bytes()),
        write("h/last.md", b"Last\n"),
    ];
    fs::remove_file(&files[6]).unwrap();
    let arguments: Vec<&str> =
        ["import", "--json"].into_iter().chain(files.iter().map(String::as_str)).collect();
    let said = project.say(&arguments);
    assert_eq!(said.code, 1, "P-3.24");
    let imported: Value = serde_json::from_str(&said.out).unwrap();
    valid("handoff-import", &imported);
    let sources: Vec<_> = imported["imported"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["source_id"].as_str().unwrap())
        .collect();
    assert_eq!(sources[..2], ["2026-01-13_08-01-05", "HO-20260202-064530-c74cc080"]);
    assert!(
        sources[2].starts_with("handoff-")
            && sources[3].starts_with("handoff-")
            && sources[2] != sources[3]
    );
    assert_eq!(sources.len(), 5, "one that fails does not keep the others out");
    let warnings: Vec<_> =
        imported["warnings"].as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
    assert_eq!(
        warnings.iter().filter(|one| one.starts_with(&files[2])).count(),
        3,
        "P-3.5: {warnings:?}"
    );
    assert_eq!(
        warnings.iter().filter(|one| one.starts_with(&files[3])).count(),
        1,
        "P-3.4: {warnings:?}"
    );
    assert_eq!(warnings.len(), 4);
    assert_eq!(imported["failed"].as_array().unwrap().len(), 4, "{imported:#}");
    for file in &files[4..8] {
        assert!(said.err.contains(file.as_str()), "{}", said.err);
    }
    // By the name that it had, it is found and picked up.
    let out = project.done(["pickup", "2026-01-13_08-01-05"]);
    assert!(out.contains("git_ref: \"b\"") && out.contains("Third\n"), "P-3.2: {out}");
    let malformed = imported["imported"][3]["id"].as_str().unwrap();
    assert!(project.done(["show", malformed]).ends_with("Malformed\n"), "P-3.4");
    let odd = project
        .json("handoff-show", &["show", "--json", imported["imported"][2]["id"].as_str().unwrap()]);
    assert_eq!(
        [&odd["document"]["files"], &odd["document"]["tags"]],
        [&json!([]), &json!(["b"])],
        "P-3.5"
    );
}

#[test]
fn a_document_can_be_written_to_a_file() {
    let project = Project::new();
    let id = project.leave("author", "# Left\n");
    let shown = project.done(["show", &id]);
    assert_eq!(project.done(["export"]), shown);
    let file = project.scratch.path().join("out.md");
    let file_name = file.to_str().unwrap();
    assert_eq!(project.done(["export", &id, "--to", file_name]), format!("written: {file_name}\n"));
    assert_eq!(fs::read_to_string(&file).unwrap(), shown);
    project.say(["export", "--to", "/no/such/folder/out.md"]).refused(3);
    // What comes back to where it was is not there twice; elsewhere it is taken in.
    let back = project.json("handoff-import", &["import", "--json", file_name]);
    assert_eq!((&back["imported"], &back["known"]), (&json!([]), &json!(1)));
    let elsewhere = ["import", "--json", "--channel", "elsewhere", file_name];
    let taken = project.json("handoff-import", &elsewhere);
    assert_eq!(taken["imported"][0]["source_id"], id.as_str());
}

#[test]
fn h_0_21_amplifier_is_answered_once_per_session() {
    // H-0.21
    let project = Project::new();
    let go_on = json!({"action": "continue"});
    let event = |name: &str, session: &str| json!({"event": name, "session_id": session, "working_directory": project.path()});
    let tell = |event: &Value| project.hook(event.to_string());
    let id = project.leave("author", "Go on with the tiles\n");
    // At a session's start nothing is said, and nothing is used up: it would be thrown away.
    assert_eq!(tell(&event("session:start", "amp-1")), go_on);
    assert_eq!(tell(&event("tool:pre", "amp-1")), go_on);
    // Nor is a helper's session given anything.
    let mut child = event("prompt:submit", "amp-child");
    child["parent_id"] = json!("amp-1");
    assert_eq!(tell(&child), go_on);
    assert_eq!(project.status(&id), "active");
    let answer = tell(&event("prompt:submit", "amp-1"));
    assert_eq!(answer["action"], "inject_context");
    assert_eq!(answer["context_injection_role"], "system");
    assert_eq!(answer.as_object().unwrap().len(), 3);
    let text = answer["context_injection"].as_str().unwrap();
    assert!(
        text.contains(&format!("=== HANDOFF LOADED (ID: {id}) ==="))
            && text.contains("Go on with the tiles"),
        "{text}"
    );
    assert_eq!(project.status(&id), "consumed");
    for _ in 0..2 {
        assert_eq!(tell(&event("prompt:submit", "amp-1")), go_on, "once per session");
    }
    for garbage in [
        &b""[..],
        b"\0",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe",
        b"{\"event\": 7}",
        b"{\"event\": \"prompt:submit\"}",
        b"{\"event\": \"prompt:submit\", \"session_id\": \"\"}",
        b"{\"event\": \"prompt:submit\", \"session_id\": \"s\", \"cwd\": \"/no/such/folder\"}",
    ] {
        assert_eq!(project.hook(garbage), go_on, "{}", String::from_utf8_lossy(garbage));
    }
}

#[test]
fn h_0_21_where_nothing_is_to_be_said_amplifier_goes_on() {
    // H-0.21: where kgctx is switched off, what waits keeps waiting.
    let project = Project::new();
    let id = project.leave("author", "text");
    project.scratch.write("kgctx-home/config.toml", "enabled = false\n");
    let event = json!({"event": "prompt:submit", "session_id": "amp-1", "cwd": project.path()});
    assert_eq!(project.hook(event.to_string()), json!({"action": "continue"}));
    fs::remove_file(project.scratch.path().join("kgctx-home/config.toml")).unwrap();
    assert_eq!(project.status(&id), "active");
}
