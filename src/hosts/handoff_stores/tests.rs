//! Stores of other programs on a real file system.

use std::os::unix::fs::symlink;
use std::process::Command;

use serde_json::json;

use super::*;
use crate::core::handoff::foreign::WhyLeftOut;

/// A file with the keys of spx.
const SESSION: &str = "---\npriority: high\nspecs: []\nfiles: []\n---\nx\n";

struct Lab(tempfile::TempDir);

impl Lab {
    fn new() -> Lab {
        let lab = Lab(tempfile::tempdir().unwrap());
        fs::create_dir_all(lab.path("atlas/src")).unwrap();
        lab
    }

    fn path(&self, below: &str) -> PathBuf {
        dunce::canonicalize(self.0.path()).unwrap().join(below)
    }

    fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn look(&self, tool: Tool, now: &str) -> HandoffStore {
        let home = self.path("home").into_os_string();
        let environment: Environment = [("HOME".into(), home)].into_iter().collect();
        let request = crate::workspace::Request {
            dir: Some(self.path("atlas")),
            environment: Some(environment.clone()),
            ..Default::default()
        };
        let project = crate::workspace::Surroundings::find(&request).unwrap().project;
        look(tool, &project, &environment, Timestamp::parse(now).unwrap())
    }

    fn manifest(&self, channel: &str, id: &str, status: &str, folder: &str) {
        let (folder, created) = (self.path(folder), "2026-02-02T06:45:30+00:00");
        let current = json!({"id": id, "session_id": "s", "created_at": created, "created_by_pid": 7,
            "working_dir": folder, "type": "auto", "status": status});
        let manifest = json!({"channel": channel, "current": current});
        self.write(&format!("home/.claude/handoff/{channel}.manifest.json"), manifest.to_string());
    }

    fn document(&self, channel: &str, id: &str) {
        let text = format!("<!-- HANDOFF-ID: {id} -->\n<!-- SESSION: s -->\n\nText");
        self.write(&format!("home/.claude/handoff/{channel}-CURRENT.md"), text);
    }
}

fn waiting(store: &HandoffStore) -> Vec<&str> {
    store.waiting.iter().map(|one| one.name.as_deref().unwrap()).collect()
}

fn left_out(store: &HandoffStore) -> Vec<(&str, WhyLeftOut)> {
    store.left_out.iter().map(|one| (one.source_id.as_str(), one.why)).collect()
}

#[test]
fn the_folder_of_a_session_of_spx_is_its_status() {
    let lab = Lab::new();
    assert!(lab.look(Tool::Spx, "2026-02-02").folders.is_empty());
    for (folder, name) in [("todo", "b"), ("todo", "a"), ("doing", "c"), ("archive", "d")] {
        lab.write(&format!("atlas/.spx/sessions/{folder}/{name}.md"), SESSION);
    }
    lab.write("atlas/.spx/sessions/todo/.hidden.md", SESSION);
    lab.write("atlas/.spx/sessions/todo/notes.txt", SESSION);
    let store = lab.look(Tool::Spx, "2026-02-02");
    assert_eq!(waiting(&store), ["a", "b"]);
    assert_eq!(left_out(&store), [("c", WhyLeftOut::Doing), ("d", WhyLeftOut::Archived)]);
    assert!(store.failed.is_empty());
}

#[test]
fn a_file_in_the_queue_of_spx_that_is_no_session_is_no_task() {
    let lab = Lab::new();
    for (name, text) in [
        ("README", "# Queue\n\nWhat waits.\n"),
        ("about", "---\ntitle: Queue\n---\n\nWhat waits.\n"),
        ("named-by-hand", SESSION),
        ("2026-11-17_07-52-34", "no front matter"),
    ] {
        lab.write(&format!("atlas/.spx/sessions/todo/{name}.md"), text);
    }
    let store = lab.look(Tool::Spx, "2026-02-02");
    assert_eq!(waiting(&store), ["2026-11-17_07-52-34", "named-by-hand"]);
    assert!(store.failed.is_empty() && store.left_out.is_empty());
}

#[test]
fn no_link_leads_out_of_a_store_and_no_pipe_holds_anybody_up() {
    let lab = Lab::new();
    lab.write("secret", "secret");
    lab.write("atlas/.spx/sessions/todo/a.md", SESSION);
    let todo = lab.path("atlas/.spx/sessions/todo");
    symlink(lab.path("secret"), todo.join("b.md")).unwrap();
    symlink("a.md", todo.join("c.md")).unwrap();
    symlink("nowhere", todo.join("d.md")).unwrap();
    symlink("/dev/zero", todo.join("e.md")).unwrap();
    fs::create_dir(todo.join("f.md")).unwrap();
    assert!(Command::new("mkfifo").arg(todo.join("g.md")).status().unwrap().success());
    let store = lab.look(Tool::Spx, "2026-02-02");
    assert_eq!(waiting(&store), ["a", "c"]);
    assert_eq!(store.failed.len(), 5, "{:#?}", store.failed);
    for (failed, (name, why)) in store.failed.iter().zip([
        ("b.md", "out of the store"),
        ("d.md", "cannot be read"),
        ("e.md", "out of the store"),
        ("f.md", "not a regular file"),
        ("g.md", "not a regular file"),
    ]) {
        assert!(failed.contains(name) && failed.contains(why), "{failed}");
    }
    // Nor does the whole queue.
    fs::rename(lab.path("atlas/.spx"), lab.path("elsewhere")).unwrap();
    symlink(lab.path("elsewhere"), lab.path("atlas/.spx")).unwrap();
    let store = lab.look(Tool::Spx, "2026-02-02");
    assert!(store.waiting.is_empty() && store.failed.len() == 1, "{:?}", store.failed);
}

#[test]
fn worktrees_and_bare_repositories_share_the_queue_of_spx() {
    let lab = Lab::new();
    fs::create_dir_all(lab.path("pool.git")).unwrap();
    lab.write("pool.git/HEAD", "ref: refs/heads/main\n");
    let places = spx::places(&[lab.path("pool.git"), lab.path("pool-a")]);
    let expected = ["pool.git/.spx/sessions", "pool-a/.spx/sessions", ".spx/sessions"];
    assert_eq!(places, expected.map(|place| lab.path(place)));
}

#[test]
fn a_manifest_says_what_waits_and_for_whom() {
    let lab = Lab::new();
    let now = "2026-02-02T08:45:30Z";
    assert!(lab.look(Tool::ClaudeAutoHandoff, now).folders.is_empty());
    for (channel, status, folder) in [
        ("a", "active", "atlas"),
        ("b", "active", "atlas/src"),
        ("c", "consumed", "atlas"),
        ("d", "expired", "atlas"),
        ("e", "cleared", "atlas"),
        ("f", "active", "home"),
        // The folder is gone.
        ("g", "active", "atlas/gone"),
        ("h", "active", "gone"),
    ] {
        let id = format!("HO-20260202-064530-{channel}");
        lab.manifest(channel, &id, status, folder);
        lab.document(channel, &id);
    }
    lab.write("home/.claude/handoff/archive/HO-20260202-064530-c.md", "x");
    lab.write("home/.claude/handoff/archive/HO-20260201-064530-a.md", "x");
    let store = lab.look(Tool::ClaudeAutoHandoff, now);
    let id = |channel: &str| format!("HO-20260202-064530-{channel}");
    // Outside of a repository every folder is a project of its own.
    assert_eq!(waiting(&store), [id("a"), id("g")]);
    let expected = [
        (id("b"), WhyLeftOut::OtherProject),
        (id("c"), WhyLeftOut::Consumed),
        (id("d"), WhyLeftOut::Expired),
        (id("e"), WhyLeftOut::Archived),
        (id("f"), WhyLeftOut::OtherProject),
        (id("h"), WhyLeftOut::OtherProject),
        ("HO-20260201-064530-a".to_owned(), WhyLeftOut::Archived),
    ];
    assert_eq!(left_out(&store), expected.each_ref().map(|(id, why)| (id.as_str(), *why)));
    assert!(store.failed.is_empty(), "{:?}", store.failed);
    // Two hours, and not a second more.
    let later = lab.look(Tool::ClaudeAutoHandoff, "2026-02-02T08:45:31Z");
    assert!(waiting(&later).is_empty());
}

#[test]
fn manifests_that_do_not_fit_their_documents_are_named() {
    let lab = Lab::new();
    let now = "2026-02-02T07:00:00Z";
    lab.manifest("a", "HO-20260202-064530-a", "active", "atlas");
    lab.document("a", "HO-20260202-064530-other");
    lab.manifest("b", "HO-20260202-064530-b", "active", "atlas");
    lab.write("home/.claude/handoff/c.manifest.json", r#"{"current": {"working_dir": "/a"b"}}"#);
    lab.manifest("d", "HO-20260202-064530-d", "later", "atlas");
    lab.manifest("e", "HO-20260202-064530-e", "active", "atlas");
    lab.document("e", "HO-20260202-064530-e");
    lab.write("home/.claude/handoff/f.manifest.json", r#"{"channel": "f"}"#);
    let pipe = lab.path("home/.claude/handoff/g.manifest.json");
    assert!(Command::new("mkfifo").arg(pipe).status().unwrap().success());
    // By its channel, by its manifest and by its document these are this project's.
    lab.write("home/.claude/handoff/atlas.manifest.json", "");
    let folder = lab.path("atlas");
    let folder = folder.display();
    let cut = format!(r#"{{"current": {{"working_dir": "{folder}", "id": "#);
    lab.write("home/.claude/handoff/h.manifest.json", cut);
    lab.write("home/.claude/handoff/i.manifest.json", "[]");
    lab.write("home/.claude/handoff/i-CURRENT.md", format!("<!-- WORKING-DIR: {folder} -->\nx"));
    lab.write("home/.claude/handoff/j.manifest.json", format!("{folder}-2 {folder}.d"));
    let store = lab.look(Tool::ClaudeAutoHandoff, now);
    assert_eq!(waiting(&store), ["HO-20260202-064530-e"]);
    let named = |all: &[String], expected: &[[&str; 2]]| {
        assert_eq!(all.len(), expected.len(), "{all:#?}");
        for (one, parts) in all.iter().zip(expected) {
            assert!(parts.iter().all(|part| one.contains(part)), "{one}");
        }
    };
    named(
        &store.failed,
        &[
            ["HO-20260202-064530-other", "HO-20260202-064530-a"],
            ["atlas.manifest.json is not a manifest", "atlas-CURRENT.md"],
            ["b-CURRENT.md does not exist", "HO-20260202-064530-b"],
            ["HO-20260202-064530-d", "later"],
            ["h.manifest.json is not a manifest", "h-CURRENT.md"],
            ["i.manifest.json is not a manifest", "i-CURRENT.md"],
        ],
    );
    named(
        &store.remarks,
        &[
            ["c.manifest.json is not a manifest", "c-CURRENT.md"],
            ["g.manifest.json", "not a regular file"],
            ["j.manifest.json is not a manifest", "j-CURRENT.md"],
        ],
    );
}
